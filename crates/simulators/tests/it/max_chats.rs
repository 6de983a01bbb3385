//! The states a MAX chat can be in, and the answers about chats.

use serde_json::json;

use crate::harness::Sim;

#[tokio::test]
async fn every_state_of_a_max_chat_has_its_own_refusal() {
    let sim = Sim::start().await;
    for (target, state, path, expected) in [
        ("-5", "unknown", "/messages?chat_id=-5", (404, "chat.not.found", "Chat -5 not found")),
        ("user:8", "unknown", "/messages?user_id=8", (404, "dialog.not.found", "Dialog not found")),
        ("-5", "blocked", "/messages?chat_id=-5", (403, "chat.denied", "Key: error.dialog.suspended, args: [-5,].")),
        ("-5", "no_rights", "/messages?chat_id=-5", (403, "chat.denied", "chat.send.msg.no.permission.because.not.admin")),
        ("-5", "flood", "/messages?chat_id=-5", (429, "too.many.requests", "Too many requests")),
    ] {
        sim.control("chats", json!({"provider": "max", "target": target, "state": state})).await;
        let (status, code, message) = sim.max_refusal("POST", path, json!({"text": "x"})).await;
        assert_eq!((status, code.as_str(), message.as_str()), expected);
    }
    sim.max_send(-5, json!({"text": "the flood is over"})).await;
    let refusal = sim.max_refusal("POST", "/messages?chat_id=0", json!({"text": "x"})).await;
    assert_eq!(refusal, (403, "chat.denied".to_owned(), "Invalid chatId: 0".to_owned()));
}

#[tokio::test]
async fn a_chat_tells_about_itself_and_about_the_bots_rights() {
    let sim = Sim::start().await;
    sim.control("chats", json!({"provider": "max", "target": -5, "type": "chat", "title": "Team"})).await;
    let (_, chat) = sim.max("GET", "/chats/-5", None).await;
    assert_eq!((&chat["type"], &chat["title"], &chat["status"]), (&json!("chat"), &json!("Team"), &json!("active")));
    let (_, membership) = sim.max("GET", "/chats/-5/members/me", None).await;
    assert!(membership["permissions"].as_array().unwrap().contains(&json!("write")));
    sim.control("chats", json!({"provider": "max", "target": -5, "state": "no_rights"})).await;
    assert_eq!(sim.max("GET", "/chats/-5/members/me", None).await.1["is_admin"], false);
    assert_eq!(sim.max("POST", "/chats/-6/actions", Some(json!({"action": "typing_on"}))).await.1["success"], true);
    assert_eq!(sim.max("GET", "/chats", None).await.0, 404, "removed by the provider");
}
