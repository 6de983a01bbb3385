//! Order: messages of one chat take turns across processes, different chats do not wait for each other.

use serde_json::{Value, json};
use sqlx::Connection;

use crate::world::World;

#[tokio::test]
async fn a_second_message_of_a_chat_waits_for_the_first_and_another_chat_does_not() {
    let world = World::new().await;
    world.says("1", "оформить возврат").await;
    let query = "select shopbot.handle_message($1, 'max', $2)";
    let (order, reason) = (world.message("1", "text", "12345"), world.message("1", "text", "брак"));

    // One process has taken the order number and not yet committed.
    let mut first = world.test.owner().await;
    let mut held = first.begin().await.unwrap();
    sqlx::query("select set_config('platform.now', '2026-03-02T09:00:00Z', true)").execute(&mut *held).await.unwrap();
    let done: Value = sqlx::query_scalar(query).bind(world.workspace.uuid()).bind(&order).fetch_one(&mut *held).await.unwrap();
    assert_eq!(done["state_after"], "reason");

    // Another process takes the reason meanwhile: it waits. A customer in another chat does not.
    let db = world.test.another();
    let workspace = world.workspace;
    let waiting = tokio::spawn(async move {
        sqlx::query_scalar::<_, Value>(query).bind(workspace.uuid()).bind(&reason).fetch_one(db.pool()).await.unwrap()
    });
    assert_eq!(world.says("2", "доставка").await, "answered delivery 1 default>default");
    assert!(!waiting.is_finished(), "the chat is held");
    held.commit().await.unwrap();
    let done = waiting.await.unwrap();
    assert_eq!((&done["state_before"], &done["state_after"]), (&json!("reason"), &json!("default")));
    let said = world.rows("select message_text from shopbot.bot_logs where chat_id = '1' order by id").await;
    assert_eq!(said.last().unwrap()["message_text"], "брак");
}

#[tokio::test]
async fn a_duplicate_that_comes_while_the_first_is_being_handled_waits_and_changes_nothing() {
    let world = World::new().await;
    let message = world.message("1", "text", "доставка");
    let query = "select shopbot.handle_message($1, 'max', $2)";
    let mut first = world.test.owner().await;
    let mut held = first.begin().await.unwrap();
    let _done: Value = sqlx::query_scalar(query).bind(world.workspace.uuid()).bind(&message).fetch_one(&mut *held).await.unwrap();
    let (db, workspace, copy) = (world.test.another(), world.workspace, message.clone());
    let waiting = tokio::spawn(async move {
        sqlx::query_scalar::<_, Value>(query).bind(workspace.uuid()).bind(&copy).fetch_one(db.pool()).await.unwrap()
    });
    held.commit().await.unwrap();
    assert_eq!(waiting.await.unwrap()["outcome"], "duplicate");
    assert_eq!(world.ask("select count(*) from shopbot.bot_outbox").await, json!(1));
}

#[tokio::test]
async fn a_message_whose_transaction_failed_is_handled_when_it_comes_again() {
    let world = World::new().await;
    let message = world.message("1", "text", "доставка");
    let query = "select shopbot.handle_message($1, 'max', $2)";
    let mut first = world.test.owner().await;
    let mut lost = first.begin().await.unwrap();
    let _done: Value = sqlx::query_scalar(query).bind(world.workspace.uuid()).bind(&message).fetch_one(&mut *lost).await.unwrap();
    lost.rollback().await.unwrap();
    assert_eq!(world.ask("select count(*) from shopbot.bot_inbox").await, json!(0));
    assert_eq!(world.handle("max", &message).await.unwrap()["outcome"], "answered");
}

#[tokio::test]
async fn of_a_chat_only_its_oldest_unfinished_answer_is_claimed() {
    let world = World::new().await;
    for chat in ["a", "a", "a", "b"] {
        world.says(chat, "доставка").await;
    }
    assert_eq!(world.claim("one", 10).await, ["a", "b"]);
    assert!(world.claim("two", 10).await.is_empty(), "what is being sent holds its chat");
    let error = json!({ "category": "TRANSIENT", "code": "500" });
    let retry = format!(
        "select shopbot.retry_answer(workspace_id, answer_id, 'one', '{error}') from shopbot.bot_outbox where status = 'sending' and chat_id = 'a'"
    );
    assert_eq!(world.ask(&retry).await, json!("retry"));
    assert!(world.claim("two", 10).await.is_empty(), "and so does what waits to be tried again");
    world.advance(3);
    assert_eq!(world.claim("three", 10).await, ["a"]);
    let fail = format!(
        "select shopbot.fail_answer(workspace_id, answer_id, 'three', '{error}') from shopbot.bot_outbox where claim_token = 'three'"
    );
    assert_eq!(world.ask(&fail).await, json!("failed"));
    assert_eq!(world.claim("four", 10).await, ["a"], "what has ended does not");
}

#[tokio::test]
async fn many_processes_handle_and_send_at_once_and_every_message_has_one_answer_in_order() {
    let world = World::new().await;
    world.set_bot("turns_max = 1000").await;
    let messages: Vec<Value> = (0..60).map(|n| world.message(&(n % 6 + 1).to_string(), "text", "доставка")).collect();
    let query = "select shopbot.handle_message($1, 'max', $2)";
    let mut tasks = tokio::task::JoinSet::new();
    for (n, message) in messages.iter().chain(&messages).enumerate() {
        let (db, workspace, message) = (world.test.db.clone(), world.workspace, message.clone());
        tasks.spawn(async move {
            let _ =
                sqlx::query_scalar::<_, Value>(query).bind(workspace.uuid()).bind(&message).fetch_one(db.pool()).await.unwrap();
            n
        });
    }
    let (first, second) = tokio::join!(world.drain(), world.drain());
    while tasks.join_next().await.is_some() {}
    let last = world.drain().await;
    assert_eq!(first + second + last, 60);
    assert_eq!(world.ask("select count(*) from shopbot.bot_outbox where status = 'sent' and attempt = 1").await, json!(60));
    let turned = "select count(*) from (select provider_message_id < lag(provider_message_id) over (partition by chat_id order by seq) as is_turned
                                          from shopbot.bot_outbox) t where is_turned";
    assert_eq!(world.ask(turned).await, json!(0), "ids of MAX grow with time");
    for chat in 1..=6 {
        assert_eq!(world.received("max", &chat.to_string()).await.len(), 10);
    }
}
