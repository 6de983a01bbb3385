//! getChatMember tells what the test said about a person.

use serde_json::{Value, json};

use crate::harness::{CHANNEL, Sim, TOKEN};

async fn member(sim: &Sim, user_id: i64) -> Value {
    sim.telegram_ok("getChatMember", json!({"chat_id": CHANNEL, "user_id": user_id})).await
}

async fn set(sim: &Sim, user_id: i64, status: &str) {
    let body = json!({"provider": "telegram", "target": CHANNEL, "user_id": user_id, "status": status});
    sim.control("members", body).await;
}

#[tokio::test]
async fn a_person_has_the_status_that_was_set_and_is_a_member_otherwise() {
    let sim = Sim::start().await;
    assert_eq!(member(&sim, 5).await["status"], "member");
    for (status, field) in [
        ("creator", Some("is_anonymous")),
        ("administrator", Some("can_delete_messages")),
        ("member", None),
        ("restricted", Some("can_send_messages")),
        ("left", None),
        ("kicked", Some("until_date")),
    ] {
        set(&sim, 5, status).await;
        let found = member(&sim, 5).await;
        assert_eq!((&found["status"], &found["user"]["id"]), (&json!(status), &json!(5)));
        assert!(field.is_none_or(|field| !found[field].is_null()), "{found}");
    }
    assert_eq!(member(&sim, 6).await["status"], "member");
}

#[tokio::test]
async fn an_unknown_person_is_not_found() {
    let sim = Sim::start().await;
    set(&sim, 5, "unknown").await;
    let refusal = sim.telegram_refusal("getChatMember", json!({"chat_id": CHANNEL, "user_id": 5})).await;
    assert_eq!(refusal, (400, "Bad Request: user not found".to_owned()));
}

#[tokio::test]
async fn the_bot_itself_can_be_made_a_member_or_sent_away() {
    let sim = Sim::start().await;
    let id: i64 = TOKEN.split(':').next().unwrap().parse().unwrap();
    assert_eq!(member(&sim, id).await["status"], "administrator");
    set(&sim, id, "left").await;
    let found = member(&sim, id).await;
    assert_eq!((&found["status"], &found["user"]["is_bot"]), (&json!("left"), &json!(true)));
}

#[tokio::test]
async fn a_person_may_have_a_name() {
    let sim = Sim::start().await;
    let user = json!({"first_name": "Анна", "username": "anna"});
    let body = json!({"provider": "telegram", "target": CHANNEL, "user_id": 5, "status": "creator", "user": user});
    sim.control("members", body).await;
    let found = member(&sim, 5).await;
    assert_eq!((&found["user"]["first_name"], &found["user"]["username"]), (&json!("Анна"), &json!("anna")));
}
