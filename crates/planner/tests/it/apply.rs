//! Applying: once for a key, in time, on what was previewed, and not for somebody who has gone away.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::BoxFuture;
use planner::{Applied, Planner, ReadTool, Watch};
use serde_json::{Value, json};

use crate::world::{World, act, apply, apply_watched, bad, good, id_of, step_in};

fn new_goal() -> Value {
    json!([{ "action": "goal.create", "params": { "title": "Once" } }])
}

#[tokio::test]
async fn a_repeated_call_with_the_same_key_returns_the_same_bytes_and_does_nothing_twice() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &new_goal()).await;
    let first = world.apply_as(&ann, id_of(&preview), "k").await;
    assert_eq!(good(&first)["results"][0]["success"], true);
    for _ in 0..3 {
        assert_eq!(world.apply_as(&ann, id_of(&preview), "k").await, first);
    }
    assert_eq!((world.count("planner.goals").await, world.count("planner.changes").await), (1, 1));
}

#[tokio::test]
async fn the_key_is_looked_up_before_the_expiry_of_the_preview() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &new_goal()).await;
    world.advance(299);
    let first = world.apply_as(&ann, id_of(&preview), "k").await;
    world.advance(24 * 3600);
    assert_eq!(world.apply_as(&ann, id_of(&preview), "k").await, first, "a day later and never `Preview expired`");
}

#[tokio::test]
async fn another_key_for_an_applied_preview_and_a_used_key_for_another_preview_are_refused() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (one, other) = (world.preview(&ann, &new_goal()).await, world.preview(&ann, &new_goal()).await);
    good(&world.apply_as(&ann, id_of(&one), "a").await);
    assert_eq!(bad(&world.apply_as(&ann, id_of(&one), "b").await)["error"], "Preview already applied");
    let reused = bad(&world.apply_as(&ann, id_of(&other), "a").await);
    assert_eq!(reused["error"], "Idempotency key already used for another preview");
    good(&world.apply_as(&ann, id_of(&other), "b").await);
    assert_eq!(world.count("planner.goals").await, 2);
}

#[tokio::test]
async fn another_persons_key_means_nothing() {
    let world = World::new().await;
    let (ann, bob) = (world.caller("ann").await, world.caller("bob").await);
    let (hers, his) = (world.preview(&ann, &new_goal()).await, world.preview(&bob, &new_goal()).await);
    good(&world.apply_as(&ann, id_of(&hers), "k").await);
    good(&world.apply_as(&bob, id_of(&his), "k").await);
    assert_eq!(bad(&world.apply_as(&bob, id_of(&hers), "k2").await)["error"], "Preview not found");
}

#[tokio::test]
async fn a_preview_is_marked_expired_however_many_others_are_overdue() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    let older = "jsonb_build_object('preview_id', gen_random_uuid(), 'expires_at', p.expires_at - interval '1 minute')";
    let many = format!(
        "insert into planner.previews select (jsonb_populate_record(p, {older})).* from planner.previews p, generate_series(1, 1000)"
    );
    assert_eq!(world.try_run(&many).await.unwrap(), 1000);
    world.advance(300);
    assert_eq!(bad(&world.apply_as(&ann, id_of(&preview), "k").await)["error"], "Preview expired");
    assert_eq!(world.count("planner.previews where status = 'expired'").await, 1001);
}

#[tokio::test]
async fn a_preview_lives_for_five_minutes_and_is_marked_expired_though_its_apply_is_refused() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &new_goal()).await;
    world.advance(300);
    for _ in 0..2 {
        let refused = bad(&world.apply_as(&ann, id_of(&preview), "k").await);
        assert_eq!(refused["error"], "Preview expired");
        assert!(refused.get("results").is_none(), "{refused}");
        assert_eq!(world.rows("select status from planner.previews").await, [json!({ "status": "expired" })]);
    }
    assert_eq!(world.count("planner.goals").await, 0);
}

#[tokio::test]
async fn a_second_call_waits_for_the_first_and_gets_its_answer() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &new_goal()).await;
    let there = Planner::new(world.test.another());
    let mut owner = world.test.owner().await;
    sqlx::raw_sql("begin; lock table planner.goals in access exclusive mode").execute(&mut owner).await.unwrap();
    let calls =
        async { tokio::join!(apply(&world.planner, &ann, id_of(&preview), "k"), apply(&there, &ann, id_of(&preview), "k")) };
    let release = async {
        world.test.until_waiting(2).await;
        sqlx::raw_sql("rollback").execute(&mut owner).await.unwrap();
    };
    let ((here, there), ()) = tokio::join!(calls, release);
    assert_eq!(here, there);
    good(&here);
    assert_eq!(world.count("planner.goals").await, 1);
}

#[tokio::test]
async fn what_changed_since_the_preview_makes_it_stale_and_is_named() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b"]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let rename = |kind: &str, id: i64| json!({ "action": format!("{kind}.update"), "params": { (format!("{kind}_id")): id, "title": "Other" } });
    let at_first = json!({ "action": "step.create", "params": { "goal_id": goal, "title": "S", "order": 0 } });
    let reorder = json!({ "action": "step.reorder", "params": { "step_id": steps[0], "order": 1 } });
    // What was previewed, what somebody did meanwhile, and what is stale then.
    for (previewed, meanwhile, entity, id) in [
        (act("goal.complete", goal), rename("goal", goal), "goal", goal),
        (act("step.complete", steps[0]), rename("step", steps[0]), "step", steps[0]),
        (act("habit.mark_completed", habit), rename("habit", habit), "habit", habit),
        (step_in(goal, "S"), rename("goal", goal), "goal", goal),
        (at_first.clone(), step_in(goal, "meanwhile"), "goal", goal),
        (reorder, at_first.clone(), "goal", goal),
        (act("goal.delete", goal), step_in(goal, "meanwhile"), "goal", goal),
        (act("goal.delete", goal), rename("step", steps[1]), "step", steps[1]),
    ] {
        let preview =
            world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "before it" } }, previewed])).await;
        world.change(&ann, &json!([meanwhile])).await;
        let before = world.everything().await;
        let refused = bad(&world.apply_as(&ann, id_of(&preview), "k").await);
        assert_eq!(refused["error"], "Preview stale", "{previewed}");
        let stale = &refused["stale"][0];
        assert_eq!((&stale["entity"], &stale["id"]), (&json!(entity), &json!(id)), "{refused}");
        assert!(stale["previewed_version"].as_i64() < stale["current_version"].as_i64(), "{refused}");
        let results = json!([
            { "action": "goal.create", "success": false, "not_reached": true },
            { "action": previewed["action"], "success": false, "error": "Preview stale" },
        ]);
        assert_eq!((&refused["results"], &refused["failed_action"]["index"]), (&results, &json!(1)), "{refused}");
        assert_eq!(world.everything().await, before);
    }
}

#[tokio::test]
async fn what_a_preview_did_not_look_at_may_change() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b"]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let yesterday = json!({ "action": "habit.mark_completed", "params": { "habit_id": habit, "date": "2026-03-01" } });
    for (place, (previewed, meanwhile)) in [
        (step_in(goal, "at the end"), step_in(goal, "meanwhile")),
        (act("step.complete", steps[0]), act("step.complete", steps[1])),
        (act("step.reopen", steps[0]), json!({ "action": "step.reorder", "params": { "step_id": steps[1], "order": 0 } })),
        (act("habit.mark_completed", habit), yesterday),
    ]
    .into_iter()
    .enumerate()
    {
        let preview = world.preview(&ann, &json!([previewed])).await;
        world.change(&ann, &json!([meanwhile])).await;
        good(&world.apply_as(&ann, id_of(&preview), &format!("k{place}")).await);
    }
    assert_eq!(world.steps(goal).await, "b a meanwhile at the end");
}

#[tokio::test]
async fn what_is_gone_since_the_preview_is_not_found() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a"]).await;
    let preview = world.preview(&ann, &json!([act("step.complete", steps[0])])).await;
    world.change(&ann, &json!([act("goal.delete", goal)])).await;
    let refused = bad(&world.apply_as(&ann, id_of(&preview), "k").await);
    assert_eq!((&refused["error"], &refused["failed_action"]["field"]), (&json!("Step not found"), &json!("step_id")));
}

/// Goes away when it is asked for the nth time whether it has.
#[derive(Default)]
struct Leaving {
    at: usize,
    asked: AtomicUsize,
    told: Mutex<Vec<(usize, usize, String)>>,
}

impl Watch for Leaving {
    fn progress(&self, done: usize, total: usize, message: &str) {
        self.told.lock().unwrap().push((done, total, message.to_owned()));
    }

    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.at
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        if self.at == 0 { Box::pin(std::future::ready(())) } else { Box::pin(std::future::pending()) }
    }
}

#[tokio::test]
async fn whoever_goes_away_before_the_commit_gets_nothing_done_and_may_come_back() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a"]).await;
    let preview = world.preview(&ann, &json!([act("step.complete", steps[0]), act("goal.complete", goal)])).await;
    let before = world.everything().await;
    // Before each of the two actions, and last of all right before the commit.
    for at in 1..=3 {
        let leaving = Leaving { at, ..Leaving::default() };
        assert_eq!(apply_watched(&world.planner, &ann, id_of(&preview), "k", &leaving).await, Applied::Cancelled);
        assert_eq!(leaving.asked.into_inner(), at);
        assert_eq!(world.everything().await, before);
    }
    let staying = Leaving { at: 4, ..Leaving::default() };
    let Applied::Answered(answer) = apply_watched(&world.planner, &ann, id_of(&preview), "k", &staying).await else {
        panic!("it stayed");
    };
    assert_eq!(good(&answer)["xp"], json!({ "change": 125, "total": 125 }));
    let told = staying.told.into_inner().unwrap();
    assert_eq!(told, [(1, 2, "step.complete".to_owned()), (2, 2, "goal.complete".to_owned())], "it grows");
}

#[tokio::test]
async fn whoever_goes_away_while_waiting_for_the_turn_never_has_it() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let previews = [world.preview(&ann, &new_goal()).await, world.preview(&ann, &new_goal()).await];
    // The turn is held by an apply that waits for the database.
    let mut owner = world.test.owner().await;
    sqlx::raw_sql("begin; lock table planner.goals in exclusive mode").execute(&mut owner).await.unwrap();
    let (planner, caller, first) = (world.planner.clone(), ann.clone(), id_of(&previews[0]).to_owned());
    let working = tokio::spawn(async move { apply(&planner, &caller, &first, "k").await });
    world.test.until_waiting(1).await;
    let gone = Leaving::default();
    assert_eq!(apply_watched(&world.planner, &ann, id_of(&previews[1]), "l", &gone).await, Applied::Cancelled);
    assert_eq!(gone.asked.into_inner(), 0, "nothing had begun");
    sqlx::raw_sql("rollback").execute(&mut owner).await.unwrap();
    good(&working.await.unwrap());
    assert_eq!(world.count("planner.goals").await, 1);
}

#[tokio::test]
async fn a_preview_that_is_being_applied_does_not_expire_on_the_way() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &new_goal()).await;
    let other = world.preview(&ann, &new_goal()).await;
    let mut tx = world.test.db.begin(ann.workspace).await.unwrap();
    let begin = "select planner.begin_apply($1, $2, $3::uuid, 'k')";
    let bound = sqlx::query(begin).bind(ann.workspace.uuid()).bind(ann.person).bind(id_of(&preview));
    bound.execute(&mut *tx).await.unwrap();
    world.advance(301);
    world.try_run("select planner.expire_previews()").await.unwrap();
    tx.rollback().await.unwrap();
    let status = |id: &str| format!("select status from planner.previews where preview_id = '{id}'");
    assert_eq!(world.rows(&status(id_of(&preview))).await, [json!({ "status": "pending" })]);
    assert_eq!(world.rows(&status(id_of(&other))).await, [json!({ "status": "expired" })]);
}

#[tokio::test]
async fn a_day_that_was_marked_since_the_preview_makes_it_stale_and_another_day_does_not() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let mark = |day: &str| json!({ "action": "habit.mark_completed", "params": { "habit_id": habit, "date": day } });
    let rename = json!({ "action": "habit.update", "params": { "habit_id": habit, "title": "Jog" } });
    let preview = world.preview(&ann, &json!([rename, mark("2026-03-01")])).await;
    let unrelated = world.preview(&ann, &json!([mark("2026-02-28")])).await;
    world.change(&ann, &json!([mark("2026-03-01")])).await;
    let refused = bad(&world.apply_as(&ann, id_of(&preview), "k").await);
    assert_eq!((&refused["error"], &refused["failed_action"]["index"]), (&json!("Preview stale"), &json!(1)), "{refused}");
    let stale = json!([{ "entity": "habit", "id": habit, "title": "Run", "part": "mark", "date": "2026-03-01", "previewed_version": 0, "current_version": 1 }]);
    assert_eq!(refused["stale"], stale);
    good(&world.apply_as(&ann, id_of(&unrelated), "l").await);
}

#[tokio::test]
async fn a_new_step_that_is_moved_in_the_same_batch_depends_on_the_order_it_is_moved_in() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b"]).await;
    let add = json!({ "action": "step.create", "client_action_id": "c", "params": { "goal_id": goal, "title": "c" } });
    let moved = json!({ "action": "step.reorder", "params": { "step_id": "$ref:c", "order": 1 } });
    let preview = world.preview(&ann, &json!([add, moved])).await;
    world.change(&ann, &json!([{ "action": "step.reorder", "params": { "step_id": steps[1], "order": 0 } }])).await;
    let refused = bad(&world.apply_as(&ann, id_of(&preview), "k").await);
    assert_eq!((&refused["error"], &refused["stale"][0]["part"]), (&json!("Preview stale"), &json!("steps")), "{refused}");
    world.change(&ann, &json!([add, moved])).await;
    assert_eq!(world.steps(goal).await, "b c a");
}

#[tokio::test]
async fn an_apply_leaves_its_trace_in_history_journal_and_on_the_bus() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let applied = world.change(&ann, &new_goal()).await;
    let history = world.read(&ann, ReadTool::GetHistory, json!({})).await;
    let batch = &history["batches"][0];
    assert_eq!((&batch["preview_id"], &batch["xp"], &batch["undone_by"]), (&applied["preview_id"], &json!(0), &Value::Null));
    assert_eq!((&batch["actions"][0]["action"], &batch["actions"][0]["title"]), (&json!("goal.create"), &json!("Once")));
    assert_eq!(history["next"], Value::Null);
    let journal = world.rows("select action, subject, trace_id from ops.journal where source = 'planner' order by id").await;
    let words: Vec<&str> = journal.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(words, ["person_began", "preview_made", "batch_applied"]);
    assert_eq!((&journal[2]["subject"], &journal[2]["trace_id"]), (&applied["preview_id"], &json!(ann.trace_id.as_str())));
    let told = world.rows("select payload->>'type' as type from bus.messages where topic = 'planner' order by xid, id").await;
    let told: Vec<&str> = told.iter().map(|row| row["type"].as_str().unwrap()).collect();
    assert_eq!(told, words, "everything in the journal is published");
}

#[tokio::test]
async fn a_batch_is_told_to_the_outside_when_it_is_applied_and_once() {
    let world = World::new().await;
    testkit::events::subscribe(&world.test, world.workspace).await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "Learn" } }])).await;
    assert_eq!(testkit::events::types(&world.test).await, "");
    for _ in 0..2 {
        good(&world.apply_as(&ann, id_of(&preview), "key").await);
    }
    let told = testkit::events::told(&world.test).await;
    assert_eq!((told.len(), told[0].0.as_str()), (1, "batch.applied"));
    let data = &told[0].1;
    assert_eq!((&data["batch_id"], &data["actions"]), (&json!(id_of(&preview)), &json!(1)), "{data}");
    assert_eq!(data.get("undoes"), None);
    world.undo(&ann, &preview).await;
    assert!(testkit::events::told(&world.test).await.iter().any(|(_, data)| data["undoes"] == json!(id_of(&preview))));
}
