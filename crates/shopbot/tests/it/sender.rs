//! Sending: the same adapters as posting, rates, what a provider closed, and tokens that do not work.

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn answers_arrive_in_both_messengers_with_their_quick_replies() {
    let world = World::new().await;
    for provider in ["max", "telegram"] {
        world.handle(provider, &world.message("5", "text", "возврат")).await.unwrap();
    }
    assert_eq!(world.drain().await, 2);
    let max = &world.sent("max", "5").await[0];
    assert_eq!(max["text"], "14 дней.");
    let button = &max["params"]["attachments"][0]["payload"]["buttons"][0][0];
    assert_eq!(button, &json!({ "type": "callback", "text": "Оформить", "payload": "оформить возврат" }));
    let telegram = &world.sent("telegram", "5").await[0];
    assert_eq!(telegram["text"], "14 дней.");
    assert!(telegram["params"].to_string().contains("callback_data"), "{telegram}");
    assert_eq!(
        world.ask("select count(*) from shopbot.bot_outbox where provider_message_id is not null and sent_at is not null").await,
        json!(2)
    );
}

#[tokio::test]
async fn a_press_in_telegram_releases_its_button_and_a_press_that_cannot_be_released_is_answered_all_the_same() {
    let world = World::new().await;
    // The simulator knows no query of this id: releasing it is refused.
    let mut message = world.message("5", "button", "доставка");
    message["provider_message_id"] = json!("4242");
    world.handle("telegram", &message).await.unwrap();
    world.drain().await;
    assert_eq!(world.received("telegram", "5").await, ["Доставим. Звоните 8 800."]);
    assert_eq!(world.statuses().await, "sent");
}

#[tokio::test]
async fn a_429_closes_the_bot_for_everybody_until_the_given_time() {
    let world = World::new().await;
    world.fault("telegram", "1", json!({ "status": 429, "retry_after": 30, "times": 1 })).await;
    world.handle("telegram", &world.message("1", "text", "доставка")).await.unwrap();
    world.drain().await;
    world.handle("telegram", &world.message("2", "text", "доставка")).await.unwrap();
    world.handle("max", &world.message("3", "text", "доставка")).await.unwrap();
    assert_eq!(world.drain().await, 1, "the other bot is not closed");
    assert_eq!(world.statuses().await, "retry, queued, sent");
    world.advance(40);
    assert_eq!(world.drain().await, 2);
    assert_eq!(world.statuses().await, "sent, sent, sent");
    assert_eq!(world.ask("select subject from ops.journal where action = 'bot_closed'").await, json!("telegram"));
}

#[tokio::test]
async fn a_429_without_a_time_closes_the_bot_for_the_first_pause() {
    let world = World::new().await;
    let body = json!({ "code": "too.many.requests", "message": "slow down" });
    world.fault("max", "1", json!({ "status": 429, "body": body, "times": 1 })).await;
    world.says("1", "доставка").await;
    world.drain().await;
    world.says("2", "доставка").await;
    assert_eq!(world.drain().await, 0, "the bot is closed");
    let closed_for = "select extract(epoch from closed_until - platform.now()) from shopbot.bots where provider = 'max'";
    assert_eq!(world.ask(closed_for).await, json!(2.0));
    world.advance(3);
    world.drain().await;
    assert_eq!(world.statuses().await, "sent, sent");
}

#[tokio::test]
async fn a_bot_is_closed_by_what_an_error_is_and_not_by_its_code() {
    for (function, error, status, is_closed) in [
        ("retry_answer", json!({ "scope": "platform", "kind": "rate_limited", "code": "whatever" }), "retry", true),
        ("retry_answer", json!({ "scope": "platform", "kind": "unavailable", "code": "429" }), "retry", false),
        ("retry_answer", json!({ "scope": "platform", "code": "429" }), "retry", false),
        ("fail_answer", json!({ "scope": "channel", "kind": "unauthorized", "code": "whatever" }), "retry", true),
        ("fail_answer", json!({ "scope": "channel", "kind": "forbidden", "code": "401" }), "failed", false),
        ("fail_answer", json!({ "scope": "channel", "code": "401" }), "failed", false),
    ] {
        let world = World::new().await;
        world.says("1", "доставка").await;
        world.claim("r", 10).await;
        world.ask(&format!("select shopbot.{function}(workspace_id, answer_id, 'r', '{error}') from shopbot.bot_outbox")).await;
        assert_eq!(world.statuses().await, status, "{error}");
        let closed = world.ask("select closed_until > platform.now() from shopbot.bots where provider = 'max'").await;
        assert_eq!(closed == json!(true), is_closed, "{error}");
    }
}

#[tokio::test]
async fn a_customer_who_blocked_the_bot_stops_nobody_else() {
    let world = World::new().await;
    world.control("chats", json!({ "provider": "max", "target": "1", "state": "blocked" })).await;
    for chat in ["1", "2"] {
        world.says(chat, "доставка").await;
    }
    world.drain().await;
    assert_eq!(world.statuses().await, "failed, sent");
}

#[tokio::test]
async fn a_token_that_is_refused_or_missing_keeps_the_answers_until_somebody_mends_it() {
    let world = World::new().await;
    world.control("tokens", json!({ "provider": "max", "token": "max-test-token", "valid": false })).await;
    world.says("1", "доставка").await;
    world.drain().await;
    assert_eq!(world.statuses().await, "retry");
    world.control("tokens", json!({ "provider": "max", "token": "max-test-token", "valid": true })).await;
    world.run("update core.bots set secret_ref = 'env:NO_SUCH_VARIABLE' where provider = 'max'").await;
    world.advance(80);
    world.drain().await;
    let error = world.ask("select last_error->>'message' from shopbot.bot_outbox").await;
    assert_eq!((world.statuses().await.as_str(), error), ("retry", json!("the variable NO_SUCH_VARIABLE is not set")));
    let path = world.files.path().join("max").display().to_string();
    world.run(&format!("update core.bots set secret_ref = 'file:{path}' where provider = 'max'")).await;
    world.advance(200);
    world.drain().await;
    assert_eq!(world.statuses().await, "sent");
}

#[tokio::test]
async fn a_bot_sends_no_more_than_its_rate() {
    let world = World::new().await;
    world.set_bot("rate_rps = 25").await;
    for n in 0..40 {
        world.says(&format!("c{n}"), "доставка").await;
    }
    assert_eq!(world.claim("a", 100).await.len(), 5, "a burst of a fifth of a second");
    assert!(world.claim("b", 100).await.is_empty());
    world.test.clock.advance(jiff::SignedDuration::from_millis(40));
    assert_eq!(world.claim("c", 100).await.len(), 1);
    world.advance(1);
    assert_eq!(world.claim("d", 100).await.len(), 5, "what was not used is not saved up");
}

#[tokio::test]
async fn answers_in_one_chat_keep_their_distance() {
    let world = World::new().await;
    world.set_bot("chat_rps = 2").await;
    for _ in 0..3 {
        world.says("1", "доставка").await;
    }
    world.says("2", "доставка").await;
    assert_eq!(world.drain().await, 2);
    world.test.clock.advance(jiff::SignedDuration::from_millis(500));
    assert_eq!(world.drain().await, 1);
    world.advance(1);
    assert_eq!(world.drain().await, 1);
}

#[tokio::test]
async fn a_busy_bot_keeps_neither_another_bot_nor_another_workspace_waiting() {
    let world = World::new().await;
    let other = world.test.workspace("other").await;
    world
        .run(&format!(
            "with registered as (
                 insert into core.bots (workspace_id, provider, name, secret_ref, serves)
                 select '{other}', provider, name, secret_ref, serves from core.bots where provider = 'max' returning *)
             insert into shopbot.bots (workspace_id, bot_id, provider, rate_rps) select '{other}', bot_id, provider, null from registered"
        ))
        .await;
    for n in 0..20 {
        world.says(&format!("c{n}"), "доставка").await;
    }
    for (workspace, provider, chat) in [(world.workspace, "telegram", "beside"), (other, "max", "lonely")] {
        let message = world.message(chat, "text", "здравствуйте");
        let query = sqlx::query_scalar("select shopbot.handle_message($1, $2, $3)").bind(workspace.uuid()).bind(provider);
        let _done: Value = query.bind(&message).fetch_one(world.test.db.pool()).await.unwrap();
    }
    assert_eq!(world.ask("select count(*) from shopbot.due_workspaces()").await, 2);
    assert!(world.claim("a", 2).await.contains(&"beside".to_owned()), "each bot's first comes before any bot's second");
    let claimed = world.rows(&format!("select chat_id from shopbot.claim_answers('b', 2, interval '1 minute', '{other}')")).await;
    assert_eq!(claimed, [json!({ "chat_id": "lonely" })]);
}

#[tokio::test]
async fn nothing_is_sent_for_a_disabled_bot_or_a_paused_workspace() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.run("update core.bots set enabled = false").await;
    assert_eq!(world.drain().await, 0);
    world.run("update core.bots set enabled = true").await;
    world.run("update core.workspaces set status = 'paused' where workspace_id = $ws").await;
    assert_eq!(world.drain().await, 0);
    world.run("update core.workspaces set status = 'active' where workspace_id = $ws").await;
    assert_eq!(world.drain().await, 1);
}
