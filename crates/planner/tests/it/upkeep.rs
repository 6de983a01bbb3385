//! What is kept and what is forgotten.

use std::time::Duration;

use planner::EngineSettings;
use serde_json::json;

use crate::world::{World, bad, code, good, id_of};

const DAY: i64 = 24 * 3600;

async fn forget(world: &World, settings: EngineSettings) {
    platform::retention::run(&world.test.db, &planner::retention::rules(settings)).await.unwrap();
}

#[tokio::test]
async fn an_answer_is_kept_for_as_long_as_the_setting_says_and_then_the_retry_is_told() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    let first = world.apply_as(&ann, id_of(&preview), "k").await;
    let settings = EngineSettings { results_kept: Duration::from_hours(48) };
    world.advance(2 * DAY);
    forget(&world, settings).await;
    assert_eq!(world.apply_as(&ann, id_of(&preview), "k").await, first);
    world.advance(1);
    forget(&world, settings).await;
    assert_eq!(bad(&world.apply_as(&ann, id_of(&preview), "k").await)["error"], "Preview already applied");
    // The batch is still what undo needs.
    let undo = good(&world.undo_as(&ann, id_of(&preview)).await);
    good(&world.apply_as(&ann, id_of(&undo), "undo").await);
    assert_eq!(world.count("planner.goals").await, 0);
}

#[tokio::test]
async fn answers_are_kept_for_a_day_at_least() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    let first = world.apply_as(&ann, id_of(&preview), "k").await;
    world.advance(DAY);
    forget(&world, EngineSettings { results_kept: Duration::ZERO }).await;
    assert_eq!(world.apply_as(&ann, id_of(&preview), "k").await, first);
    assert_eq!(code(&world.try_run("select planner.forget(1, '23 hours')").await.unwrap_err()), "ZG002");
}

#[tokio::test]
async fn a_preview_that_was_not_applied_goes_a_day_after_it_expired() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    world.change(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    world.advance(300);
    forget(&world, EngineSettings::default()).await;
    let statuses = world.rows("select status from planner.previews order by status").await;
    assert_eq!(statuses, [json!({ "status": "applied" }), json!({ "status": "expired" })]);
    world.advance(DAY);
    forget(&world, EngineSettings::default()).await;
    assert_eq!(world.count("planner.previews").await, 2, "not yet");
    world.advance(1);
    forget(&world, EngineSettings::default()).await;
    assert_eq!(world.rows("select status from planner.previews").await, [json!({ "status": "applied" })]);
}

#[tokio::test]
async fn a_preview_goes_only_along_its_edges() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    world.change(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    let back = "update planner.previews set status = 'pending', applied_at = null, last_change_id = null, result = null, idempotency_key = null";
    assert_eq!(code(&world.try_run(back).await.unwrap_err()), "ZP003");
}

#[tokio::test]
async fn the_request_log_is_kept_for_ninety_days() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let log = format!(
        "select planner.log_request('{ws}', gen_random_uuid(), {person}, gen_random_uuid(), 'get_xp', '{{}}'),
                planner.log_response('{ws}', gen_random_uuid(), '{{}}', 1, null)",
        ws = ann.workspace,
        person = ann.person
    );
    world.try_run("select platform.upkeep_journals()").await.unwrap();
    world.try_run(&log).await.unwrap();
    let kept = async || (world.count("planner.mcp_requests").await, world.count("planner.mcp_responses").await);
    world.advance(89 * DAY);
    world.try_run("select platform.upkeep_journals()").await.unwrap();
    assert_eq!(kept().await, (1, 1));
    // The week that its partition spans.
    world.advance(9 * DAY);
    world.try_run("select platform.upkeep_journals()").await.unwrap();
    assert_eq!(kept().await, (0, 0));
}
