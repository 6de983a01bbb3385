//! The monitor: error rate, answers that are late, who is told, and what is forgotten.

use platform::{
    alerts::{self, PLATFORM, StorageLimits},
    retention,
};
use serde_json::json;
use shopbot::alerts::ALERTS;
use testkit::alerts::ToldAlerts;

use crate::world::World;

/// One look for trouble; how many alerts were told.
async fn check(world: &World) -> i32 {
    alerts::check(&world.test.db, &[ALERTS], &StorageLimits::default()).await
}

async fn forget(world: &World) {
    retention::run(&world.test.db, &shopbot::retention::rules()).await.unwrap();
}

#[tokio::test]
async fn an_error_rate_above_the_bots_threshold_is_told_once_and_again_only_after_a_while() {
    let world = World::new().await;
    let told = ToldAlerts::default();
    let runner = told.runner(&world.test.db, &[ALERTS]);
    world.set_bot("alert_min_messages = 10").await;
    world.run("update shopbot.bots set alert_chat_id = case provider when 'max' then '900' else '901' end").await;
    world.control("chats", json!({ "provider": "max", "target": "1", "state": "blocked" })).await;
    for n in 0..9 {
        world.says(&format!("{}", 1 + n % 3), "доставка").await;
    }
    world.drain().await;
    assert_eq!(check(&world).await, 0, "nine messages are too few to judge");
    world.says("4", "доставка").await;
    world.drain().await;
    for _ in 0..3 {
        check(&world).await;
        runner.drain().await.unwrap();
    }
    let expected = "team: too many messages to the bot go wrong\n\
                    - max: of 10 messages in the last 15 minutes, 3 went wrong, since 2026-03-02 09:00 UTC\n\
                    The page says how.\n\
                    https://console.test/console/bots";
    assert_eq!((told.at("900"), told.at("901")), (vec![expected.to_owned()], vec![expected.to_owned()]), "through both bots");
    world.advance(901);
    check(&world).await;
    let cleared = world.rows("select alert, cleared_at is not null as is_over from ops.alerts").await;
    assert_eq!(cleared, [json!({ "alert": "error_rate", "is_over": true })]);
}

#[tokio::test]
async fn updates_that_cannot_be_read_count_as_errors() {
    let world = World::new().await;
    world.set_bot("alert_min_messages = 5").await;
    for n in 0..5 {
        world.ask(&format!("select shopbot.keep_poison($ws, 'max', null, 'x', repeat('{n}', 64), 'x')")).await;
    }
    let rate = world.rows("select * from shopbot.error_rate($ws, shopbot.first_bot($ws, 'max'))").await;
    assert_eq!(rate, [json!({ "messages": 5, "errors": 5, "rate": 1.0 })]);
    assert_eq!(check(&world).await, 1);
}

#[tokio::test]
async fn an_answer_that_waits_for_more_than_five_minutes_raises_an_alert() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.run("update shopbot.bots set closed_until = platform.now() + interval '1 hour'").await;
    world.advance(299);
    assert_eq!(check(&world).await, 0);
    world.advance(2);
    assert_eq!(check(&world).await, 1);
    let alerts = world.rows("select alert, count as n from ops.alerts").await;
    assert_eq!(alerts, [json!({ "alert": "late_answers", "n": 1 })]);
}

#[tokio::test]
async fn a_bot_whose_token_cannot_be_read_raises_an_alert_that_the_other_bot_tells() {
    let world = World::new().await;
    world.run("update core.bots set secret_ref = 'env:NO_SUCH_VARIABLE' where provider = 'max'").await;
    world.run("update shopbot.bots set alert_chat_id = '901' where provider = 'telegram'").await;
    world.says("1", "доставка").await;
    let check = async || alerts::check(&world.test.db, &[ALERTS, PLATFORM], &StorageLimits::default()).await;
    assert_eq!(check().await, 0, "nothing was sent yet");
    world.drain().await;
    assert_eq!(check().await, 1);
    let told = ToldAlerts::default();
    told.runner(&world.test.db, &[ALERTS, PLATFORM]).drain().await.unwrap();
    let text = told.at("901").remove(0);
    assert!(text.contains("missing or refused\n- max: the variable NO_SUCH_VARIABLE is not set"), "{text}");
    let shown = shopbot::reads::alerts(&mut world.test.db.begin(world.workspace).await.unwrap()).await.unwrap();
    assert_eq!((shown.len(), shown[0].subject.as_str(), shown[0].alert.as_str()), (1, "max", "bot_without_token"));
    world
        .run(&format!(
            "update core.bots set secret_ref = 'file:{}' where provider = 'max'",
            world.files.path().join("max").display()
        ))
        .await;
    world.advance(120);
    world.drain().await;
    check().await;
    assert_eq!(world.ask("select count(*) from ops.alerts where cleared_at is null").await, json!(0));
}

#[tokio::test]
async fn a_bot_that_is_switched_off_is_in_no_trouble() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.advance(301);
    assert_eq!(check(&world).await, 1);
    world.run("update core.bots set enabled = false where provider = 'max'").await;
    check(&world).await;
    assert_eq!(world.ask("select count(*) from ops.alerts where cleared_at is null").await, json!(0));
}

#[tokio::test]
async fn what_was_raised_before_alerts_had_one_table_is_moved() {
    let world = World::new().await;
    let migration = shopbot::SQL.migrations.iter().find(|file| file.name == "0006_alerts").unwrap();
    world
        .run(
            "create table shopbot.bot_alerts (workspace_id uuid, provider text, alert text, raised_at timestamptz, told_at timestamptz,
                                              cleared_at timestamptz, details jsonb not null default '{}')",
        )
        .await;
    world
        .run(
            "insert into shopbot.bot_alerts select $ws, p, 'late_answers', platform.now(), platform.now(), c, '{\"count\": 3}'
               from (values ('max', null), ('telegram', platform.now())) v (p, c)",
        )
        .await;
    sqlx::raw_sql(migration.text).execute(&mut world.test.owner().await).await.unwrap();
    let moved = world.rows("select alert, subject, count, told_at is not null as is_told from ops.alerts").await;
    assert_eq!(moved, [json!({ "alert": "late_answers", "subject": "max", "count": 3, "is_told": true })]);
}

#[tokio::test]
async fn messages_answers_and_idle_conversations_are_forgotten_on_schedule_and_what_is_unanswered_is_not() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.drain().await;
    world.run("update shopbot.bots set closed_until = platform.now() + interval '100 days'").await;
    world.says("2", "доставка").await;
    world.ask("select shopbot.keep_poison($ws, 'max', null, 'x', repeat('a', 64), 'x')").await;
    world.advance(29 * 86400);
    forget(&world).await;
    assert_eq!(world.ask("select count(*) from shopbot.bot_inbox").await, json!(2));
    world.advance(2 * 86400);
    forget(&world).await;
    assert_eq!(world.rows("select chat_id from shopbot.bot_inbox").await, [json!({ "chat_id": "2" })]);
    assert_eq!(world.statuses().await, "queued");
    assert_eq!(world.ask("select count(*) from shopbot.bot_state").await, json!(0));
    assert_eq!(world.ask("select count(*) from shopbot.bot_poison").await, json!(0));
}
