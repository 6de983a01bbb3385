//! Events that the shop bot tells the outside, so that a colleague learns of them.

use serde_json::json;
use testkit::events::{subscribe, told, types};

use crate::world::World;

#[tokio::test]
async fn a_scenario_that_came_to_its_end_is_told_of_with_its_captured_answers_redacted() {
    let world = World::new().await;
    subscribe(&world.test, world.workspace).await;
    for text in ["оформить возврат", "12345", "брак, пишите anna@example.org"] {
        assert_eq!(types(&world.test).await, "");
        world.says("5", text).await;
    }
    let data = json!({
        "provider": "max", "chat_id": "5", "trace_id": "trace", "intent": "return", "rule_id": "reason", "rule_version": 1,
        "answers": { "order_number": "12345", "reason": "брак, пишите [email]" },
    });
    assert_eq!(told(&world.test).await, [("bot.scenario_finished".to_owned(), data)]);
}

#[tokio::test]
async fn a_scenario_that_was_left_or_never_ended_is_not_told_of() {
    let world = World::new().await;
    subscribe(&world.test, world.workspace).await;
    world.says("5", "оформить возврат").await;
    world.says("5", "доставка").await;
    world.advance(3600);
    world.says("5", "доставка").await;
    assert_eq!(types(&world.test).await, "");
}

#[tokio::test]
async fn a_conversation_that_is_handed_over_is_told_of_with_the_message_redacted() {
    let world = World::new().await;
    subscribe(&world.test, world.workspace).await;
    for text in ["эээ", "ммм", "позвоните: anna@example.org"] {
        world.says("5", text).await;
    }
    let data = json!({
        "provider": "max", "chat_id": "5", "trace_id": "trace", "message": "позвоните: [email]", "state": "default", "why": { "fallbacks": 3 },
    });
    assert_eq!(told(&world.test).await, [("bot.escalated".to_owned(), data)]);
}
