//! The monitor: error rate, answers that are late, who is told, and what is forgotten.

use platform::jobs::{Registry, Runner};
use serde_json::json;
use shopbot::{alerts::Teller, monitor};

use crate::world::World;

fn runner(world: &World) -> Runner {
    let mut registry = Registry::new();
    let tools = world.tools.clone();
    shopbot::alerts::register(
        &mut registry,
        Teller { db: tools.db.clone(), telegram: tools.telegram, max: tools.max, secrets: tools.secrets },
    );
    shopbot::upkeep::register(&mut registry, &tools.db);
    Runner::new(tools.db, registry, "test".to_owned())
}

#[tokio::test]
async fn an_error_rate_above_the_bots_threshold_is_told_once_and_again_only_after_a_while() {
    let world = World::new().await;
    let runner = runner(&world);
    runner.register().await.unwrap();
    world.set_bot("alert_chat_id = '900', alert_min_messages = 10").await;
    world.control("chats", json!({ "provider": "max", "target": "1", "state": "blocked" })).await;
    for n in 0..9 {
        world.says(&format!("{}", 1 + n % 3), "доставка").await;
    }
    world.drain().await;
    assert_eq!(monitor::check_alerts(&world.test.db).await.unwrap(), 0, "nine messages are too few to judge");
    world.says("4", "доставка").await;
    world.drain().await;
    for _ in 0..3 {
        monitor::check_alerts(&world.test.db).await.unwrap();
        runner.drain().await.unwrap();
    }
    let told = world.received("max", "900").await;
    assert_eq!(told, ["team: of 10 messages to the max bot in the last 15 minutes, 3 went wrong. The console says how."]);
    world.advance(901);
    monitor::check_alerts(&world.test.db).await.unwrap();
    let cleared = world.rows("select alert, cleared_at is not null as is_over from shopbot.bot_alerts").await;
    assert_eq!(cleared, [json!({ "alert": "error_rate", "is_over": true })]);
}

#[tokio::test]
async fn updates_that_cannot_be_read_count_as_errors() {
    let world = World::new().await;
    world.set_bot("alert_min_messages = 5").await;
    for n in 0..5 {
        world.ask(&format!("select shopbot.keep_poison($ws, 'max', null, 'x', repeat('{n}', 64), 'x')")).await;
    }
    let rate = world.rows("select * from shopbot.error_rate($ws, 'max')").await;
    assert_eq!(rate, [json!({ "messages": 5, "errors": 5, "rate": 1.0 })]);
    assert_eq!(monitor::check_alerts(&world.test.db).await.unwrap(), 1);
}

#[tokio::test]
async fn an_answer_that_waits_for_more_than_five_minutes_raises_an_alert() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.run("update shopbot.bots set closed_until = platform.now() + interval '1 hour'").await;
    world.advance(299);
    assert_eq!(monitor::check_alerts(&world.test.db).await.unwrap(), 0);
    world.advance(2);
    assert_eq!(monitor::check_alerts(&world.test.db).await.unwrap(), 1);
    let alerts = world.rows("select alert, details->'count' as n from shopbot.bot_alerts").await;
    assert_eq!(alerts, [json!({ "alert": "late_answers", "n": 1 })]);
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
    shopbot::upkeep::run(&world.test.db).await.unwrap();
    assert_eq!(world.ask("select count(*) from shopbot.bot_inbox").await, json!(2));
    world.advance(2 * 86400);
    shopbot::upkeep::run(&world.test.db).await.unwrap();
    assert_eq!(world.rows("select chat_id from shopbot.bot_inbox").await, [json!({ "chat_id": "2" })]);
    assert_eq!(world.statuses().await, "queued");
    assert_eq!(world.ask("select count(*) from shopbot.bot_state").await, json!(0));
    assert_eq!(world.ask("select count(*) from shopbot.bot_poison").await, json!(0));
}
