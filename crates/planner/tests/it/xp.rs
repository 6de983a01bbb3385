//! XP: a ledger that is only added to, and whose sum is the total.

use planner::ReadTool;
use serde_json::json;

use crate::world::{World, act, code, object};

#[tokio::test]
async fn completing_gives_and_reopening_takes_back_exactly_what_was_given() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a"]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let given = world
        .change(&ann, &json!([act("step.complete", steps[0]), act("goal.complete", goal), act("habit.mark_completed", habit)]))
        .await;
    let each: Vec<i64> = given["results"].as_array().unwrap().iter().map(|result| result["xp"].as_i64().unwrap()).collect();
    assert_eq!(each, [25, 100, 10]);
    assert_eq!(given["xp"], json!({ "change": 135, "total": 135 }));
    let taken =
        world.change(&ann, &json!([act("habit.unmark", habit), act("goal.reopen", goal), act("step.reopen", steps[0])])).await;
    assert_eq!(taken["xp"], json!({ "change": -135, "total": 0 }));
    let entries = world.rows("select amount, takes_back from planner.xp_entries order by entry_id").await;
    assert_eq!(entries.len(), 6, "nothing is ever removed");
    assert!(entries[3..].iter().all(|entry| entry["takes_back"].is_number()));
}

#[tokio::test]
async fn what_is_reopened_takes_back_its_own_award_even_if_awards_are_worth_more_by_then() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (_, steps) = world.goal(&ann, &["a"]).await;
    world.change(&ann, &json!([act("step.complete", steps[0])])).await;
    world
        .try_run("create or replace function planner.award_of(p_kind text) returns int language sql immutable as 'select 1000'")
        .await
        .unwrap();
    let taken = world.change(&ann, &json!([act("step.reopen", steps[0])])).await;
    assert_eq!(taken["xp"], json!({ "change": -25, "total": 0 }));
}

#[tokio::test]
async fn what_is_deleted_keeps_what_it_earned() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a"]).await;
    world
        .change(
            &ann,
            &json!([
                act("step.complete", steps[0]),
                act("step.delete", steps[0]),
                act("goal.complete", goal),
                act("goal.delete", goal)
            ]),
        )
        .await;
    assert_eq!(world.xp(&ann).await, 125);
}

#[tokio::test]
async fn a_summary_tells_where_xp_came_from_by_kind_and_by_the_days_of_the_person() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b"]).await;
    world.change(&ann, &json!([act("step.complete", steps[0]), act("goal.complete", goal)])).await;
    world.advance(24 * 3600);
    world.change(&ann, &json!([act("step.complete", steps[1])])).await;
    // Nine in the morning UTC is still the day before in Honolulu.
    world.planner.set_time_zone(&ann, &object(json!({ "time_zone": "Pacific/Honolulu" }))).await.unwrap();
    let there = world.read(&ann, ReadTool::GetXp, json!({})).await;
    assert_eq!(there["by_day"], json!([{ "date": "2026-03-01", "xp": 125 }, { "date": "2026-03-02", "xp": 25 }]));
    world.planner.set_time_zone(&ann, &object(json!({ "time_zone": "UTC" }))).await.unwrap();
    let xp = world.read(&ann, ReadTool::GetXp, json!({})).await;
    assert_eq!((&xp["total"], &xp["by_kind"]), (&json!(150), &json!({ "goal": 100, "step": 50, "habit": 0 })));
    assert_eq!(xp["by_day"], json!([{ "date": "2026-03-02", "xp": 125 }, { "date": "2026-03-03", "xp": 25 }]));
    assert_eq!(xp["recent"][0]["amount"], 25);
    world.advance(30 * 24 * 3600);
    let xp = world.read(&ann, ReadTool::GetXp, json!({})).await;
    assert_eq!((&xp["by_day"], &xp["total"]), (&json!([]), &json!(150)));
}

#[tokio::test]
async fn history_and_ledger_are_only_added_to_and_nothing_is_taken_back_twice() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (_, steps) = world.goal(&ann, &["a"]).await;
    world.change(&ann, &json!([act("step.complete", steps[0])])).await;
    world.change(&ann, &json!([act("step.reopen", steps[0])])).await;
    for statement in [
        "update planner.xp_entries set amount = 1000",
        "delete from planner.xp_entries",
        "update planner.changes set after = null",
        "delete from planner.changes",
        "truncate planner.changes",
    ] {
        assert_eq!(code(&world.try_run(statement).await.unwrap_err()), "ZP001", "{statement}");
    }
    let again = "insert into planner.xp_entries (workspace_id, person_id, amount, entity, entity_id, takes_back, preview_id, action_index)
                 select workspace_id, person_id, amount, entity, entity_id, takes_back, preview_id, action_index
                   from planner.xp_entries where takes_back is not null";
    let error = world.try_run(again).await.unwrap_err();
    assert_eq!(error.as_database_error().and_then(|error| error.constraint()), Some("xp_is_taken_back_once"));
}

#[tokio::test]
async fn what_a_model_reads_about_xp_is_what_is_given() {
    let world = World::new().await;
    for (kind, action) in [("goal", "goal.complete"), ("step", "step.complete"), ("habit", "habit.mark_completed")] {
        let given = world.rows(&format!("select planner.award_of('{kind}') as xp")).await[0]["xp"].clone();
        let about = planner::model::spec::find(action).unwrap().about;
        assert!(about.ends_with(&format!(" {given} XP.")), "{action}: {about}");
    }
}
