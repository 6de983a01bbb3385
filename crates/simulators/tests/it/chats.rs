//! The states a Telegram chat can be in, and the words for each.

use serde_json::{Value, json};

use crate::harness::{CHANNEL, Sim};

async fn refusal_in(sim: &Sim, chat: Value) -> (u16, String) {
    let target = chat["target"].clone();
    let mut wish = chat;
    wish["provider"] = json!("telegram");
    sim.control("chats", wish).await;
    sim.telegram_refusal("sendMessage", json!({"chat_id": target, "text": "x"})).await
}

#[tokio::test]
async fn every_state_of_a_chat_has_its_own_refusal() {
    let sim = Sim::start().await;
    for (chat, status, description) in [
        (json!({"target": CHANNEL, "state": "unknown"}), 400, "Bad Request: chat not found"),
        (json!({"target": CHANNEL, "state": "kicked"}), 403, "Forbidden: bot was kicked from the channel chat"),
        (json!({"target": -5, "state": "kicked", "type": "group"}), 403, "Forbidden: bot was kicked from the group chat"),
        (json!({"target": CHANNEL, "state": "left"}), 403, "Forbidden: bot is not a member of the channel chat"),
        (json!({"target": 7, "state": "blocked"}), 403, "Forbidden: bot was blocked by the user"),
        (json!({"target": CHANNEL, "state": "no_rights"}), 400, "Bad Request: need administrator rights in the channel chat"),
        (
            json!({"target": -6, "state": "no_rights", "type": "supergroup"}),
            400,
            "Bad Request: not enough rights to send text messages to the chat",
        ),
        (json!({"target": "@somewhere", "state": "unknown"}), 400, "Bad Request: chat not found"),
    ] {
        assert_eq!(refusal_in(&sim, chat).await, (status, description.to_owned()));
    }
    for (chat_id, description) in
        [(json!(""), "chat_id is empty"), (json!("x y"), "chat not found"), (json!(0), "chat not found")]
    {
        let refusal = sim.telegram_refusal("sendMessage", json!({"chat_id": chat_id, "text": "x"})).await;
        assert_eq!(refusal, (400, format!("Bad Request: {description}")));
    }
}

#[tokio::test]
async fn a_migrated_group_names_its_new_id_and_the_new_chat_takes_messages() {
    let sim = Sim::start().await;
    let wish = json!({"provider": "telegram", "target": -777, "state": "migrated", "to": CHANNEL});
    sim.control("chats", wish).await;
    let (status, body) = sim.telegram("sendMessage", json!({"chat_id": -777, "text": "x"})).await;
    assert_eq!(status, 400);
    assert_eq!(body["description"], "Bad Request: group chat was upgraded to a supergroup chat");
    assert_eq!(body["parameters"], json!({"migrate_to_chat_id": CHANNEL}));
    let message = sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
    assert_eq!(message["chat"]["type"], "supergroup");
}

#[tokio::test]
async fn a_flooded_chat_tells_how_long_to_wait_as_often_as_it_was_told_to() {
    let sim = Sim::start().await;
    let wish = json!({"provider": "telegram", "target": CHANNEL, "state": "flood", "seconds": 7, "times": 2});
    sim.control("chats", wish).await;
    for _ in 0..2 {
        let request = sim.client.post(sim.method_url("sendMessage")).json(&json!({"chat_id": CHANNEL, "text": "x"}));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["retry-after"], "7");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["description"], "Too Many Requests: retry after 7");
        assert_eq!(body["parameters"], json!({"retry_after": 7}));
    }
    sim.telegram_ok("sendMessage", json!({"chat_id": CHANNEL, "text": "x"})).await;
}

#[tokio::test]
async fn a_public_name_and_its_id_are_one_chat() {
    let sim = Sim::start().await;
    let by_name = sim.telegram_ok("sendMessage", json!({"chat_id": "@News", "text": "x"})).await;
    let id = by_name["chat"]["id"].clone();
    let by_id = sim.telegram_ok("sendMessage", json!({"chat_id": id, "text": "y"})).await;
    assert_eq!(by_id["chat"]["username"], "News");
    assert_eq!(by_id["message_id"], 2);
    assert_eq!(sim.telegram_ok("getChat", json!({"chat_id": "@news"})).await["id"], id);
}

#[tokio::test]
async fn a_bot_sees_its_own_rights_in_a_chat() {
    let sim = Sim::start().await;
    let me = json!({"chat_id": CHANNEL, "user_id": 123_456});
    let member = sim.telegram_ok("getChatMember", me.clone()).await;
    assert_eq!((&member["status"], &member["can_post_messages"]), (&json!("administrator"), &json!(true)));
    sim.control("chats", json!({"provider": "telegram", "target": CHANNEL, "state": "no_rights"})).await;
    assert_eq!(sim.telegram_ok("getChatMember", me).await["status"], "member");
}
