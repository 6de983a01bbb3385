//! Messages, their history, the list of chats, and what is forgotten when.

use std::fmt::Write;

use platform::retention;
use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn a_message_that_is_sent_again_changes_nothing_and_its_id_stands_for_no_other() {
    let world = World::new().await;
    let body = json!({ "messageId": "m1", "text": "Привет", "metadata": { "a": 1 } });
    let (status, first) = world.post("/api/chats/c/messages", body.clone()).await;
    assert_eq!((status, &first["data"]["outcome"]), (201, &json!("created")));
    let message = &first["data"]["message"];
    assert_eq!((&message["seq"], &message["role"], &message["chatId"]), (&json!(1), &json!("user"), &json!("c")));
    let (status, again) = world.post("/api/chats/c/messages", body).await;
    assert_eq!((status, &again["data"]["message"], &again["data"]["outcome"]), (200, message, &json!("unchanged")));
    let (status, other) = world.post("/api/chats/c/messages", json!({ "messageId": "m1", "text": "Другое" })).await;
    assert_eq!((status, &other["error"]["details"]["code"]), (409, &json!("actions.other_message")));
    assert_eq!(
        world.post("/api/chats/d/messages", json!({ "messageId": "m1", "text": "Другое" })).await.0,
        201,
        "in its own chat"
    );
    assert_eq!(world.say("c", "ещё").await, 2, "no number was lost");
}

#[tokio::test]
async fn history_is_read_by_pages_newest_first_each_message_once() {
    let world = World::new().await;
    for n in 1..=7 {
        assert_eq!(world.say("c", &n.to_string()).await, n);
    }
    let mut seen = Vec::new();
    let mut path = "/api/chats/c/messages?limit=3".to_owned();
    loop {
        let page = world.get(&path).await;
        seen.extend(page["messages"].as_array().unwrap().iter().map(|message| message["seq"].as_i64().unwrap()));
        let Some(next) = page["next"].as_i64() else { break };
        path = format!("/api/chats/c/messages?limit=3&before={next}");
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(world.get("/api/chats/nobody/messages").await["messages"], json!([]));
}

#[tokio::test]
async fn chats_are_listed_by_their_last_message_with_what_is_going_on_in_them() {
    let world = World::new().await;
    for chat in ["a", "b", "d"] {
        world.say(chat, "x").await;
        world.advance(1);
    }
    world.say("a", "y").await;
    world.start("action", json!({ "chatId": "b" })).await;
    let mut seen = Vec::new();
    let mut path = "/api/chats?limit=2".to_owned();
    loop {
        let page = world.get(&path).await;
        seen.extend(page["chats"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/chats?limit=2&before={next}");
    }
    let short: Vec<(&str, i64, i64)> = seen
        .iter()
        .map(|chat: &Value| {
            (chat["chatId"].as_str().unwrap(), chat["messages"].as_i64().unwrap(), chat["processing"].as_i64().unwrap())
        })
        .collect();
    assert_eq!(short, [("a", 2, 0), ("d", 1, 0), ("b", 1, 1)]);
}

#[tokio::test]
async fn the_id_of_a_chat_may_be_any_text_that_can_be_seen() {
    let world = World::new().await;
    for chat in ["-1001234567890", "tg:42", "чат с пробелом", "a/b?c#d&e=f", "%41"] {
        let mut encoded = String::new();
        for byte in chat.bytes() {
            write!(encoded, "%{byte:02X}").unwrap();
        }
        let mut watching = world.watch(&encoded).await;
        assert_eq!(world.say(&encoded, chat).await, 1);
        assert_eq!(watching.word().await, chat);
        assert_eq!(world.get(&format!("/api/chats/{encoded}/messages")).await["messages"][0]["chatId"], chat);
        assert_eq!(world.get(&format!("/api/chat/actions?chatId={encoded}")).await["actions"], json!([]));
    }
}

#[tokio::test]
async fn what_ended_long_ago_and_old_messages_are_forgotten_and_what_is_processing_is_not() {
    let world = World::new().await;
    world.start("ended", json!({ "chatId": "old" })).await;
    world.update("ended", "done", json!({})).await;
    world.start("processing", json!({ "chatId": "live" })).await;
    world.say("old", "x").await;
    world.advance(29 * 24 * 3600);
    retention::run(&world.test.db, &actions::retention::rules()).await.unwrap();
    assert_eq!(world.rows("select from actions.actions").await.len(), 2);
    world.advance(2 * 24 * 3600);
    retention::run(&world.test.db, &actions::retention::rules()).await.unwrap();
    let left = world.rows("select action_id from actions.actions").await;
    assert_eq!(left, [json!({ "action_id": "processing" })]);
    assert_eq!(world.rows("select from actions.messages").await.len(), 1);
    world.advance(365 * 24 * 3600);
    retention::run(&world.test.db, &actions::retention::rules()).await.unwrap();
    assert!(world.rows("select from actions.messages").await.is_empty());
    let chats = world.rows("select chat_id from actions.chats").await;
    assert_eq!(chats, [json!({ "chat_id": "live" })], "a chat goes with the last thing in it");
    assert_eq!(world.say("old", "anew").await, 1);
}

#[tokio::test]
async fn forgetting_takes_so_many_rows_in_all_and_not_so_many_of_each_workspace() {
    let world = World::new().await;
    for name in ["one", "two", "three"] {
        let workspace = world.test.workspace(name).await;
        let say = "select count(actions.add_message($1, 'c', 'bot', n::text)) from generate_series(1, 3) n";
        sqlx::query(say).bind(workspace.uuid()).execute(world.test.db.pool()).await.unwrap();
    }
    world.advance(366 * 24 * 3600);
    let mut went = Vec::new();
    loop {
        let gone = world.rows("select actions.forget(4) as gone").await[0]["gone"].as_i64().unwrap();
        went.push(gone);
        if gone == 0 {
            break;
        }
    }
    assert!(went.iter().all(|gone| *gone <= 4), "{went:?}");
    assert_eq!(went.iter().sum::<i64>(), 9 + 3, "the messages and the chats: {went:?}");
}
