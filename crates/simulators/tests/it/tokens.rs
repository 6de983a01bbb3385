//! Telegram tokens and methods: malformed, revoked, percent-encoded, unknown.

use serde_json::json;

use crate::harness::{Sim, TOKEN, answer};

#[tokio::test]
async fn a_malformed_token_is_not_found_and_a_revoked_one_is_unauthorized() {
    let sim = Sim::start().await;
    let get_me = |token: &str| answer(sim.client.get(format!("{}/telegram/bot{token}/getMe", sim.base)));
    assert_eq!(get_me(TOKEN).await.0, 200);
    let (status, body) = get_me("not-a-token").await;
    assert_eq!((status, &body["description"]), (404, &json!("Not Found")));
    sim.control("tokens", json!({"provider": "telegram", "token": TOKEN, "valid": false})).await;
    let (status, body) = get_me(TOKEN).await;
    assert_eq!((status, &body["description"]), (401, &json!("Unauthorized")));
    sim.control("tokens", json!({"provider": "telegram", "token": TOKEN, "valid": true})).await;
    assert_eq!(get_me(TOKEN).await.0, 200);
}

#[tokio::test]
async fn the_colon_of_a_token_may_be_percent_encoded() {
    let sim = Sim::start().await;
    let url = format!("{}/telegram/bot{}/getMe", sim.base, TOKEN.replace(':', "%3A"));
    assert_eq!(answer(sim.client.get(url)).await.1["result"]["id"], 123_456);
}

#[tokio::test]
async fn methods_are_found_in_any_case_and_unknown_ones_are_named_so() {
    let sim = Sim::start().await;
    assert_eq!(sim.telegram_ok("GETME", json!({})).await["is_bot"], true);
    let refusal = sim.telegram_refusal("sendTelepathy", json!({})).await;
    assert_eq!(refusal, (404, "Not Found: method not found".to_owned()));
}

#[tokio::test]
async fn get_me_carries_every_flag_a_strict_client_needs() {
    let sim = Sim::start().await;
    let me = sim.telegram_ok("getMe", json!({})).await;
    for flag in [
        "can_join_groups",
        "can_read_all_group_messages",
        "supports_inline_queries",
        "can_connect_to_business",
        "has_main_web_app",
        "has_topics_enabled",
        "allows_users_to_create_topics",
        "can_manage_bots",
        "supports_guest_queries",
        "supports_join_request_queries",
    ] {
        assert!(me[flag].is_boolean(), "{flag}");
    }
}
