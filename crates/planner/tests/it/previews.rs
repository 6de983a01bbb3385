//! What a preview tells, and that it changes nothing.

use serde_json::{Value, json};

use crate::world::{World, act, step_in};

#[tokio::test]
async fn a_preview_says_what_would_change_and_changes_nothing() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a"]).await;
    let before = (world.everything().await, world.count("planner.changes").await);
    let preview = world
        .preview(
            &ann,
            &json!([
                { "action": "goal.update", "params": { "goal_id": goal, "title": "Renamed", "due_date": "2026-05-01" } },
                { "action": "step.create", "client_action_id": "s", "params": { "goal_id": goal, "title": "b", "order": 0 } },
                { "action": "step.complete", "params": { "step_id": "$ref:s" } },
                act("step.delete", steps[0]),
                { "action": "goal.create", "params": { "title": "Unnamed" } },
            ]),
        )
        .await;
    assert_eq!((world.everything().await, world.count("planner.changes").await), before);
    assert_eq!(preview["expires_at"], "2026-03-02T09:05:00.000000Z");
    let actions = preview["actions"].as_array().unwrap();
    assert_eq!(
        actions[0]["changes"],
        json!([
            { "field": "title", "before": "A goal", "after": "Renamed" },
            { "field": "due_date", "before": null, "after": "2026-05-01" },
        ])
    );
    let ids: Vec<&Value> = actions.iter().map(|action| &action["id"]).collect();
    assert_eq!(ids, [&json!(goal), &json!("$ref:s"), &json!("$ref:s"), &json!(steps[0]), &Value::Null], "no number is promised");
    assert_eq!(actions[2]["changes"], json!([{ "field": "completed", "before": false, "after": true }]));
    assert_eq!((&actions[2]["xp"], &actions[2]["entity"]), (&json!(25), &json!("step")));
    assert_eq!(preview["xp"], json!({ "before": 0, "change": 25, "after": 25 }));
    let diff = preview["diff"].as_str().unwrap();
    for line in [
        "1. Update goal “A goal”",
        "   title: \"A goal\" → \"Renamed\"",
        "   + due_date: \"2026-05-01\"",
        "2. Create step “b” in goal “Renamed”, place 0",
        "3. Complete step “b” (+25 XP)",
        "4. Delete step “a”",
        "   - title: \"a\"",
        "XP: 0 → 25 (+25)",
    ] {
        assert!(diff.lines().any(|found| found == line), "{line}\n{diff}");
    }
}

#[tokio::test]
async fn a_deleted_goal_shows_the_steps_that_go_with_it() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, _) = world.goal(&ann, &["a", "b"]).await;
    let preview = world.preview(&ann, &json!([act("goal.delete", goal)])).await;
    assert_eq!(preview["actions"][0]["summary"], "Delete goal “A goal” with 2 steps");
    let steps = json!({ "field": "steps", "before": ["a", "b"], "after": [] });
    assert!(preview["actions"][0]["changes"].as_array().unwrap().contains(&steps), "{preview}");
}

#[tokio::test]
async fn what_does_not_exist_or_cannot_be_done_is_refused_and_no_preview_is_made() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a"]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    world.change(&ann, &json!([act("goal.complete", goal), act("habit.mark_completed", habit)])).await;
    let previews = world.count("planner.previews").await;
    for (action, error) in [
        (act("goal.complete", 999), "Goal not found"),
        (act("step.complete", 999), "Step not found"),
        (act("habit.archive", 999), "Habit not found"),
        (step_in(999, "S"), "Goal not found"),
        (act("goal.complete", goal), "Goal already completed"),
        (act("step.reopen", steps[0]), "Step is not completed"),
        (act("habit.mark_completed", habit), "Habit already completed"),
        (json!({ "action": "habit.unmark", "params": { "habit_id": habit, "date": "2026-03-01" } }), "Habit is not completed"),
    ] {
        let refused = world.refuse(&ann, &json!([{ "action": "goal.create", "params": { "title": "before it" } }, action])).await;
        assert_eq!((&refused["error"], &refused["failed_action"]["index"]), (&json!(error), &json!(1)));
        assert!(refused["hint"].is_string(), "{refused}");
    }
    world.change(&ann, &json!([act("goal.reopen", goal), act("habit.archive", habit)])).await;
    for (action, error) in [
        (act("goal.reopen", goal), "Goal is not completed"),
        (act("habit.archive", habit), "Habit already archived"),
        (json!({ "action": "habit.mark_completed", "params": { "habit_id": habit, "date": "2026-03-01" } }), "Habit is archived"),
    ] {
        assert_eq!(world.refuse(&ann, &json!([action])).await["error"], error);
    }
    assert_eq!(world.count("planner.previews").await, previews + 1);
}

#[tokio::test]
async fn an_action_that_cannot_follow_an_earlier_one_of_its_batch_makes_a_preview_that_would_fail() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b"]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let rename = json!({ "action": "step.update", "client_action_id": "late", "params": { "step_id": steps[0], "title": "…" } });
    for (actions, error) in [
        (json!([act("step.delete", steps[0]), rename]), "Step not found"),
        (json!([act("step.complete", steps[0]), act("step.complete", steps[0])]), "Step already completed"),
        (json!([act("goal.delete", goal), act("step.complete", steps[1])]), "Step not found"),
        (json!([act("goal.delete", goal), step_in(goal, "S")]), "Goal not found"),
        (json!([act("habit.mark_completed", habit), act("habit.mark_completed", habit)]), "Habit already completed"),
        (json!([act("habit.archive", habit), act("habit.mark_completed", habit)]), "Habit is archived"),
    ] {
        let preview = world.preview(&ann, &actions).await;
        assert_eq!((&preview["would_fail"]["index"], &preview["would_fail"]["error"]), (&json!(1), &json!(error)), "{preview}");
        assert_eq!(preview["xp"]["change"], 0, "nothing would be done: {preview}");
        assert_eq!(preview["actions"][1]["summary"], format!("Would fail: {error}"));
    }
    let preview = world.preview(&ann, &json!([act("step.delete", steps[0]), rename, act("goal.complete", goal)])).await;
    assert_eq!(
        preview["would_fail"],
        json!({ "action": "step.update", "client_action_id": "late", "index": 1, "error": "Step not found" })
    );
    assert_eq!(preview["actions"][2]["summary"], "Would not be reached");
    // Another day of the same habit is another matter, and so is a step of a goal that got one more.
    let yesterday = json!({ "action": "habit.unmark", "params": { "habit_id": habit, "date": "2026-03-01" } });
    assert_eq!(
        world.refuse(&ann, &json!([act("habit.mark_completed", habit), yesterday])).await["error"],
        "Habit is not completed"
    );
    world.change(&ann, &json!([act("goal.complete", goal)])).await;
    assert_eq!(
        world.refuse(&ann, &json!([step_in(goal, "S"), act("goal.complete", goal)])).await["error"],
        "Goal already completed"
    );
}

#[tokio::test]
async fn a_mark_is_for_today_where_the_person_is_and_never_for_tomorrow() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let on = |date: &str| json!([{ "action": "habit.mark_completed", "params": { "habit_id": habit, "date": date } }]);
    let refused = world.refuse(&ann, &on("2026-03-03")).await;
    assert_eq!(
        (&refused["error"], &refused["hint"]),
        (&json!("date is in the future"), &json!("today is 2026-03-02 where the person is"))
    );
    // The day is that of the preview, though it is applied after midnight.
    world.advance(14 * 3600 + 58 * 60);
    let preview = world.preview(&ann, &json!([act("habit.mark_completed", habit)])).await;
    world.advance(4 * 60);
    world.apply_as(&ann, preview["preview_id"].as_str().unwrap(), "k").await;
    assert_eq!(world.rows("select day from planner.marks").await, [json!({ "day": "2026-03-02" })]);
}

#[tokio::test]
async fn an_update_before_it_makes_an_action_that_cannot_be_done_no_less_knowable() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let (goal, _) = world.goal(&ann, &[]).await;
    world.change(&ann, &json!([act("goal.complete", goal)])).await;
    let rename = |kind: &str, id: i64| json!({ "action": format!("{kind}.update"), "params": { (format!("{kind}_id")): id, "title": "T" } });
    let unmark = json!({ "action": "habit.unmark", "params": { "habit_id": habit, "date": "2026-03-01" } });
    assert_eq!(world.refuse(&ann, &json!([rename("habit", habit), unmark])).await["error"], "Habit is not completed");
    assert_eq!(
        world.refuse(&ann, &json!([rename("goal", goal), act("goal.complete", goal)])).await["error"],
        "Goal already completed"
    );
}

#[tokio::test]
async fn a_goal_has_at_most_a_thousand_steps() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, _) = world.goal(&ann, &["first"]).await;
    let fill = format!(
        "insert into planner.steps (workspace_id, goal_id, person_id, title, \"order\")
         select workspace_id, goal_id, person_id, 'more', n from planner.goals, generate_series(1, 998) n where goal_id = {goal}"
    );
    world.try_run(&fill).await.unwrap();
    world.change(&ann, &json!([step_in(goal, "the last")])).await;
    assert_eq!(world.refuse(&ann, &json!([step_in(goal, "one too many")])).await["error"], "Goal has too many steps");
    let deleted = world.change(&ann, &json!([act("goal.delete", goal)])).await;
    assert_eq!(world.count("planner.steps").await, 0);
    world.undo(&ann, &deleted).await;
    assert_eq!(world.count("planner.steps").await, 1000);
}
