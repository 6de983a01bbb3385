//! Rate limits are off until a test switches them on; then they answer as the providers do.

use serde_json::json;

use crate::harness::Sim;

#[tokio::test]
async fn nothing_is_limited_by_default() {
    let sim = Sim::start().await;
    for _ in 0..50 {
        sim.telegram_ok("sendMessage", json!({"chat_id": 1, "text": "x"})).await;
    }
}

#[tokio::test]
async fn a_chat_over_its_limit_floods_while_another_chat_still_passes() {
    let sim = Sim::start().await;
    sim.control("limits", json!({"provider": "telegram", "per_chat_per_second": 1})).await;
    let statuses = async |chat_id: i64| {
        let mut statuses = Vec::new();
        for _ in 0..20 {
            statuses.push(sim.telegram("sendMessage", json!({"chat_id": chat_id, "text": "x"})).await.0);
        }
        statuses
    };
    assert!(statuses(1).await.contains(&429));
    assert_eq!(statuses(2).await[0], 200);
}

#[tokio::test]
async fn a_token_over_its_limit_is_answered_429_without_a_delay_to_wait() {
    let sim = Sim::start().await;
    sim.control("limits", json!({"provider": "max", "per_token_per_second": 1})).await;
    let mut refused = None;
    for _ in 0..20 {
        let (status, body) = sim.max("GET", "/me", None).await;
        refused = refused.or((status == 429).then_some(body));
    }
    assert_eq!(refused.map(|body| body["code"].clone()), Some(json!("too.many.requests")));
}
