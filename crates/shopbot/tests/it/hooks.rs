//! `POST /hooks/max` and `POST /hooks/telegram`: the door, and what is acknowledged.

use axum::{Router, body::Body, http::Request};
use serde_json::{Value, json};

use crate::world::{MAX_SECRET, TELEGRAM_SECRET, World};

pub(crate) fn router(world: &World) -> Router {
    world.router(shopbot::http::router().merge(platform::door::router([shopbot::bot_module()])))
}

/// The status, and the body as it came.
async fn send(router: &Router, request: Request<Body>) -> (u16, Vec<u8>) {
    let reply = testkit::http::send(router, request).await;
    (reply.status, reply.bytes.to_vec())
}

async fn max(router: &Router, body: impl Into<Body>) -> u16 {
    let request = Request::post("/hooks/max").header("X-Max-Bot-Api-Secret", MAX_SECRET).body(body.into()).unwrap();
    let (status, body) = send(router, request).await;
    assert!(status != 200 || body.is_empty(), "a webhook is answered with an empty body");
    status
}

async fn telegram(router: &Router, update: &Value) -> u16 {
    let request = Request::post("/hooks/telegram").header("X-Telegram-Bot-Api-Secret-Token", TELEGRAM_SECRET);
    send(router, request.body(Body::from(update.to_string())).unwrap()).await.0
}

fn created(mid: &str, chat: i64, text: &str) -> Value {
    json!({
        "update_type": "message_created", "timestamp": 1_780_000_000_000_i64,
        "message": {
            "recipient": { "chat_id": chat, "chat_type": "dialog", "user_id": 9 }, "timestamp": 1_780_000_000_000_i64,
            "sender": { "user_id": 77, "first_name": "Анна", "is_bot": false }, "body": { "mid": mid, "seq": 1, "text": text },
        },
    })
}

#[tokio::test]
async fn a_customer_goes_through_the_return_in_max_and_duplicates_of_each_webhook_change_nothing() {
    let world = World::new().await;
    let router = router(&world);
    for (mid, text) in [("mid.1", "оформить возврат"), ("mid.2", "12345"), ("mid.3", "брак")] {
        for _ in 0..3 {
            assert_eq!(max(&router, created(mid, 5, text).to_string()).await, 200);
        }
        world.drain().await;
    }
    assert_eq!(world.received("max", "5").await, ["Номер заказа?", "Заказ 12345. Причина?", "12345: брак. Везите."]);
    assert_eq!(world.ask("select count(*) from shopbot.bot_logs").await, json!(3));
    let log = &world.rows("select meta from shopbot.bot_logs order by id limit 1").await[0]["meta"];
    assert!(log["trace_id"].is_string() && log["idempotency_key"] == "max:5:mid.1" && log["sent_at"].is_string(), "{log}");
}

#[tokio::test]
async fn the_same_engine_answers_in_telegram_with_buttons_and_start() {
    let world = World::new().await;
    let router = router(&world);
    let message = |id: i64, text: &str| {
        json!({ "update_id": id, "message": {
            "message_id": id, "date": 1_780_000_000, "chat": { "id": 5, "type": "private" },
            "from": { "id": 5, "is_bot": false, "first_name": "Ann" }, "text": text,
        } })
    };
    assert_eq!(telegram(&router, &message(1, "/start")).await, 200);
    assert_eq!(telegram(&router, &message(2, "delivery?")).await, 200);
    let pressed = json!({ "update_id": 3, "callback_query": {
        "id": "q1", "from": { "id": 5, "first_name": "Ann", "is_bot": false }, "data": "оформить возврат",
        "message": { "message_id": 9, "chat": { "id": 5, "type": "private" } },
    } });
    assert_eq!(telegram(&router, &pressed).await, 200);
    world.drain().await;
    let received = world.received("telegram", "5").await;
    assert_eq!((received.len(), received[2].as_str()), (3, "Номер заказа?"));
    let outcomes = world.rows("select outcome from shopbot.bot_logs order by id").await;
    assert_eq!(outcomes, [json!({ "outcome": "greeted" }), json!({ "outcome": "answered" }), json!({ "outcome": "answered" })]);
}

#[tokio::test]
async fn wrong_missing_repeated_disabled_and_foreign_secrets_get_the_same_answer() {
    let world = World::new().await;
    let router = router(&world);
    let hook = |path: &str| Request::post(path.to_owned());
    let mut requests = vec![
        hook("/hooks/max"),
        hook("/hooks/max").header("X-Max-Bot-Api-Secret", "wrong"),
        hook("/hooks/max").header("X-Max-Bot-Api-Secret", ""),
        hook("/hooks/max").header("X-Max-Bot-Api-Secret", MAX_SECRET).header("X-Max-Bot-Api-Secret", MAX_SECRET),
        hook("/hooks/max").header("X-Max-Bot-Api-Secret", TELEGRAM_SECRET),
        hook("/hooks/telegram").header("X-Telegram-Bot-Api-Secret-Token", MAX_SECRET),
    ];
    world.run("update core.workspace_endpoints set enabled = false where bot_id in (select bot_id from core.bots where provider = 'telegram')").await;
    requests.push(hook("/hooks/telegram").header("X-Telegram-Bot-Api-Secret-Token", TELEGRAM_SECRET));
    let mut messages = Vec::new();
    for request in requests {
        let (status, body) = send(&router, request.body(Body::from(created("m", 1, "доставка").to_string())).unwrap()).await;
        assert_eq!(status, 401);
        messages.push(serde_json::from_slice::<Value>(&body).unwrap()["error"]["message"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(world.ask("select count(*) from shopbot.bot_inbox").await, json!(0));
}

#[tokio::test]
async fn a_poison_update_is_acknowledged_kept_and_shown_and_its_repeat_only_counted() {
    let world = World::new().await;
    let router = router(&world);
    let bodies: Vec<Vec<u8>> = vec![
        b"not json, write to a@b.ru".to_vec(),
        b"{\"update_type\": \"message_created\"}".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        Vec::new(),
        br#"{"update_type": "message_created", "update_type": "x"}"#.to_vec(),
        "[".repeat(10_000).into_bytes(),
        created(&"m".repeat(600), 1, "доставка").to_string().into_bytes(),
        created("m1", 1, &"щ".repeat(300_000)).to_string().into_bytes(),
    ];
    for body in &bodies {
        for _ in 0..2 {
            assert_eq!(max(&router, body.clone()).await, 200, "{}", String::from_utf8_lossy(&body[..body.len().min(50)]));
        }
    }
    let kept = world.rows("select problem, body, seen_count, char_length(body) as n from shopbot.bot_poison").await;
    assert_eq!(kept.len(), bodies.len(), "{kept:?}");
    assert!(kept.iter().all(|row| row["seen_count"] == 2 && row["n"].as_i64().unwrap() <= 16_384), "{kept:?}");
    assert!(kept.iter().any(|row| row["body"] == "not json, write to [email]"), "{kept:?}");
    assert!(kept.iter().any(|row| row["problem"].as_str().unwrap().contains("inbound_id_short")), "{kept:?}");
    assert_eq!(world.ask("select count(*) from shopbot.bot_inbox").await, json!(0));
    assert_eq!(max(&router, created("m2", 1, "доставка").to_string()).await, 200, "and the bot goes on");
    assert_eq!(world.ask("select count(*) from shopbot.bot_outbox").await, json!(1));
}

#[tokio::test]
async fn a_body_larger_than_the_server_takes_is_acknowledged_and_noted() {
    let world = World::new().await;
    let router = router(&world);
    assert_eq!(max(&router, "x".repeat(2 << 20)).await, 200);
    let kept = world.rows("select problem from shopbot.bot_poison").await;
    assert!(kept[0]["problem"].as_str().unwrap().contains("larger"), "{kept:?}");
}

#[tokio::test]
async fn updates_that_are_no_messages_are_acknowledged_and_leave_nothing() {
    let world = World::new().await;
    let router = router(&world);
    let mut group = created("m", -1, "доставка");
    group["message"]["recipient"]["chat_type"] = json!("chat");
    for update in [json!({ "update_type": "message_edited" }), json!({ "update_type": "of_the_future" }), group] {
        assert_eq!(max(&router, update.to_string()).await, 200);
    }
    world.run("update core.bots set enabled = false").await;
    assert_eq!(max(&router, created("m", 1, "доставка").to_string()).await, 200, "a bot that is switched off");
    for table in ["bot_inbox", "bot_poison", "bot_logs"] {
        assert_eq!(world.ask(&format!("select count(*) from shopbot.{table}")).await, json!(0), "{table}");
    }
}

#[tokio::test]
async fn while_the_database_is_away_the_provider_is_asked_to_come_again() {
    let world = World::new().await;
    let router = router(&world);
    world.test.db.pool().close().await;
    assert_eq!(max(&router, created("m", 1, "доставка").to_string()).await, 503);
}
