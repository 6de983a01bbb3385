//! The watchdog: what stalled ends as an error, once, and everybody hears of it.

use std::time::Duration;

use actions::{http::ChatSettings, watchdog};
use serde_json::json;
use sqlx::Connection;

use crate::world::World;

const TWO_HOURS: i64 = 2 * 3600;

#[tokio::test]
async fn an_action_that_processes_for_longer_than_two_hours_ends_as_an_error_with_the_code_timeout_and_is_published() {
    let world = World::new().await;
    world.start("a", json!({ "displayText": "Слушаем…", "payload": { "progress": 0.4 } })).await;
    let mut watching = world.watch("c").await;
    world.advance(TWO_HOURS - 1);
    assert_eq!(
        watchdog::look(&world.test.db).await.unwrap(),
        0,
        "half an hour, an hour, almost two: the watchdog leaves it alone"
    );
    world.advance(1);
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 1);
    let event = watching.next().await.unwrap();
    assert_eq!((&event["type"], &event["action"]["status"]), (&json!("bot_action"), &json!("error")));
    assert_eq!(event["action"]["payload"], json!({ "progress": 0.4, "code": "timeout" }));
    assert_eq!(event["action"].get("displayText"), None, "the text said what was being done");
    assert_eq!(world.get("/api/chat/actions?chatId=c").await["actions"], json!([]));
    assert_eq!(world.get("/api/chat/actions?chatId=c&recent=5").await["recent"][0]["payload"]["code"], "timeout");
    assert_eq!(world.journal("a").await, "action_started action_timeout");
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 0);
}

#[tokio::test]
async fn an_action_that_the_watchdog_ends_is_told_to_the_outside_and_one_that_ends_by_itself_is_not() {
    let world = World::new().await;
    testkit::events::subscribe(&world.test, world.workspace).await;
    world.start("a", json!({ "displayText": "Слушаем…" })).await;
    world.start("b", json!({})).await;
    world.update("b", "done", json!({})).await;
    world.advance(TWO_HOURS);
    watchdog::look(&world.test.db).await.unwrap();
    let data = json!({
        "action_id": "a", "chat_id": "c", "action_type": "transcribe_audio", "started_at": "2026-03-02T09:00:00.000000Z",
        "deadline": "2026-03-02T11:00:00.000000Z",
    });
    assert_eq!(testkit::events::told(&world.test).await, [("action.timed_out".to_owned(), data)]);
}

#[tokio::test]
async fn a_repeated_start_is_no_heartbeat() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.advance(TWO_HOURS - 1);
    world.start("a", json!({})).await;
    world.update("a", "processing", json!({ "payload": { "progress": 0.9 } })).await;
    world.advance(1);
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 1);
}

#[tokio::test]
async fn the_longest_processing_is_a_setting() {
    let processing_max = Duration::from_mins(1);
    let world = World::with(ChatSettings { processing_max, ..ChatSettings::default() }).await;
    world.start("a", json!({})).await;
    world.advance(60);
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 1);
}

#[tokio::test]
async fn a_late_done_after_a_timeout_loses_and_is_kept_in_the_journal_as_late() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.advance(TWO_HOURS);
    watchdog::look(&world.test.db).await.unwrap();
    let (outcome, action) = world.update("a", "done", json!({ "payload": { "pages": 3 } })).await;
    assert_eq!(
        (outcome.as_str(), &action["status"], &action["payload"]["code"]),
        ("ignored", &json!("error"), &json!("timeout"))
    );
    assert_eq!(world.journal("a").await, "action_started action_timeout action_late");
    let late = &world.rows("select data from ops.journal where action = 'action_late'").await[0]["data"];
    assert_eq!((&late["late_status"], &late["status"], &late["code"]), (&json!("done"), &json!("error"), &json!("timeout")));
    assert_eq!(world.published("c").await.len(), 2);
}

#[tokio::test]
async fn of_many_watchdogs_each_overdue_action_has_one() {
    let world = World::new().await;
    for n in 0..250 {
        world.start(&format!("a{n}"), json!({})).await;
    }
    world.advance(TWO_HOURS);
    let processes = [world.test.another(), world.test.another(), world.test.another()];
    let looks = processes.iter().map(watchdog::look);
    let ended: i32 = futures::future::join_all(looks).await.into_iter().map(Result::unwrap).sum();
    assert_eq!(ended + watchdog::look(&world.test.db).await.unwrap(), 250);
    assert_eq!(world.rows("select from ops.journal where action = 'action_timeout'").await.len(), 250);
    assert_eq!(world.published("c").await.len(), 500);
}

#[tokio::test]
async fn an_action_that_is_being_ended_at_that_moment_is_left_alone() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.advance(TWO_HOURS);
    let mut worker = world.test.owner().await;
    let mut held = worker.begin().await.unwrap();
    let query = "select actions.update_action($1, 'a', 'done')->>'outcome'";
    let outcome: String = sqlx::query_scalar(query).bind(world.workspace.uuid()).fetch_one(&mut *held).await.unwrap();
    assert_eq!(outcome, "changed");
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 0);
    held.commit().await.unwrap();
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 0);
    assert_eq!(world.journal("a").await, "action_started action_done");
}

#[tokio::test]
async fn an_ending_that_comes_while_the_watchdog_ends_it_waits_and_is_late() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.advance(TWO_HOURS);
    let mut watchdog = world.test.db.begin_system().await.unwrap();
    let ended: i32 = sqlx::query_scalar("select actions.expire_overdue()").fetch_one(&mut *watchdog).await.unwrap();
    assert_eq!(ended, 1);
    let (db, workspace) = (world.test.another(), world.workspace);
    let waiting = tokio::spawn(async move {
        let query = "select actions.update_action($1, 'a', 'done')->>'outcome'";
        sqlx::query_scalar::<_, String>(query).bind(workspace.uuid()).fetch_one(db.pool()).await.unwrap()
    });
    world.test.until_waiting(1).await;
    watchdog.commit().await.unwrap();
    assert_eq!(waiting.await.unwrap(), "ignored");
    assert_eq!(world.journal("a").await, "action_started action_timeout action_late");
    assert_eq!(world.published("c").await.len(), 2);
}

#[tokio::test]
async fn a_full_payload_makes_room_for_the_code() {
    let world = World::new().await;
    world.start("a", json!({ "payload": { "text": "x".repeat(32_740) } })).await;
    world.advance(TWO_HOURS);
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 1);
    assert_eq!(world.published("c").await[1]["payload"], json!({ "code": "timeout" }));
}

#[tokio::test]
async fn an_error_that_comes_after_a_timeout_is_late_too_and_takes_nothing_from_it() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.advance(TWO_HOURS);
    watchdog::look(&world.test.db).await.unwrap();
    for _ in 0..2 {
        let (outcome, action) =
            world.update("a", "error", json!({ "displayText": "Нет звука", "payload": { "code": "no_audio" } })).await;
        assert_eq!((outcome.as_str(), &action["payload"]), ("ignored", &json!({ "code": "timeout" })));
    }
    assert_eq!(world.journal("a").await, "action_started action_timeout action_late");
    assert_eq!(world.published("c").await.len(), 2);
    // Whoever says so before the watchdog looks ends it as before, however late.
    world.start("b", json!({})).await;
    world.advance(TWO_HOURS);
    world.update("b", "error", json!({})).await;
    assert_eq!(world.update("b", "error", json!({})).await.0, "unchanged");
    assert_eq!(world.update("b", "error", json!({ "payload": { "code": "no_audio" } })).await.0, "changed");
    assert_eq!(world.journal("b").await, "action_started action_error action_changed");
}

#[tokio::test]
async fn a_bot_that_says_timeout_of_itself_may_repeat_it() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.advance(TWO_HOURS);
    let own = json!({ "payload": { "code": "timeout" } });
    assert_eq!(world.update("a", "error", own.clone()).await.0, "changed");
    assert_eq!(world.update("a", "error", own).await.0, "unchanged", "the watchdog did not end it");
    assert_eq!(watchdog::look(&world.test.db).await.unwrap(), 0);
    assert_eq!(world.journal("a").await, "action_started action_error");
}
