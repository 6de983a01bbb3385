//! Two bots of one workspace in one messenger: they share the rules and nothing else.

use axum::{body::Body, http::Request};
use kernel::Secret;
use serde_json::{Value, json};
use shopbot::reads::{self, ConversationFilter};
use uuid::Uuid;

use crate::{hooks::router, world::World};

/// A world with a second bot in MAX, which has its own words, token and webhook secret `second`.
async fn two_bots() -> (World, Uuid, Uuid) {
    let world = World::new().await;
    let secret_ref = world.secret_ref("max");
    let hash = Secret::new("second").sha256_hex();
    world
        .run(&format!(
            "with registered as (
                 insert into core.bots (workspace_id, provider, name, secret_ref, serves)
                 values ($ws, 'max', 'second', '{secret_ref}', 'shopbot') returning *
             ), settings as (
                 insert into shopbot.bots (workspace_id, bot_id, provider, rate_rps, chat_rps, variables, fallback_text, created_at)
                 select $ws, bot_id, provider, null, null, '{{\"phone\": \"112\", \"shop_name\": \"Вторая\"}}', 'Второй не понял.',
                        platform.now() + interval '1 second' from registered
             )
             insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id)
             select $ws, 'bot_webhook', '{hash}', bot_id from registered"
        ))
        .await;
    let id = async |name: &str| -> Uuid {
        let id = world.ask(&format!("select bot_id from core.bots where workspace_id = $ws and name = '{name}'")).await;
        id.as_str().unwrap().parse().unwrap()
    };
    let (first, second) = (id("max").await, id("second").await);
    (world, first, second)
}

/// The same message, as both bots may get it: customers have one id in a messenger, and each bot counts its messages from one.
async fn tell(world: &World, bot: Uuid, number: u32, text: &str) -> String {
    let message = json!({ "chat_id": "1", "provider_message_id": format!("m{number}"), "kind": "text", "text": text });
    let query = "select shopbot.take_message($1, 'max', $2, 'trace', $3)";
    let row = sqlx::query_scalar(query).bind(world.workspace.uuid()).bind(message).bind(bot);
    let done: Value = row.fetch_one(world.test.db.pool()).await.unwrap();
    let id = done["answer_id"].as_str().unwrap_or_else(|| panic!("{done}"));
    world.ask(&format!("select text from shopbot.bot_outbox where answer_id = '{id}'")).await.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn each_bot_answers_with_its_own_words_in_a_conversation_of_its_own() {
    let (world, first, second) = two_bots().await;
    assert_eq!(tell(&world, first, 1, "доставка").await, "Доставим. Звоните 8 800.");
    assert_eq!(tell(&world, second, 1, "доставка").await, "Доставим. Звоните 112.", "the number is no repetition here");
    assert_eq!(tell(&world, first, 2, "оформить возврат").await, "Номер заказа?");
    assert_eq!(tell(&world, second, 2, "10234").await, "Второй не понял.", "its conversation is not in that scenario");
    assert_eq!(tell(&world, first, 3, "10234").await, "Заказ 10234. Причина?");
}

#[tokio::test]
async fn an_update_goes_to_the_bot_whose_webhook_it_is_and_is_answered_through_its_token() {
    let (world, _, second) = two_bots().await;
    world.run("update core.bots set secret_ref = 'env:SECOND_BOT' where name = 'second'").await;
    let update = json!({
        "update_type": "message_created", "timestamp": 1_780_000_000_000_i64,
        "message": {
            "recipient": { "chat_id": 5, "chat_type": "dialog", "user_id": 9 }, "timestamp": 1_780_000_000_000_i64,
            "sender": { "user_id": 77, "first_name": "Анна", "is_bot": false }, "body": { "mid": "m", "seq": 1, "text": "?" },
        },
    });
    let request = Request::post("/hooks/max").header("X-Max-Bot-Api-Secret", "second").body(Body::from(update.to_string()));
    assert_eq!(testkit::http::send(&router(&world), request.unwrap()).await.status, 200);
    let claimed = world.rows("select text, secret_ref from shopbot.claim_answers('r', 10, interval '1 minute', $ws)").await;
    assert_eq!(claimed, [json!({ "text": "Второй не понял.", "secret_ref": "env:SECOND_BOT" })]);
    let logged = world.rows("select bot_id from shopbot.bot_logs").await;
    assert_eq!(logged, [json!({ "bot_id": second })]);
}

#[tokio::test]
async fn a_bot_that_is_closed_or_switched_off_holds_back_no_answer_of_the_other() {
    let (world, first, second) = two_bots().await;
    for bot in [first, second] {
        tell(&world, bot, 1, "доставка").await;
    }
    world.run(&format!("select shopbot.close_bot($ws, '{first}', platform.now() + interval '1 hour')")).await;
    let claim = "select text from shopbot.claim_answers('r', 10, interval '1 minute', $ws)";
    assert_eq!(world.rows(claim).await, [json!({ "text": "Доставим. Звоните 112." })]);
    world.run("update shopbot.bots set closed_until = null").await;
    world.run("update core.bots set enabled = false where name = 'second'").await;
    assert_eq!(world.rows(claim).await, [json!({ "text": "Доставим. Звоните 8 800." })]);
}

#[tokio::test]
async fn people_see_the_conversations_and_alerts_of_each_bot_apart() {
    let (world, first, second) = two_bots().await;
    tell(&world, first, 1, "доставка").await;
    world.advance(1);
    tell(&world, second, 1, "непонятно").await;
    let mut tx = world.test.db.begin(world.workspace).await.unwrap();
    let all = ConversationFilter { limit: 10, ..ConversationFilter::default() };
    let found = reads::conversations(&mut tx, &all).await.unwrap().rows;
    let seen: Vec<_> = found.iter().map(|row| (row.bot_id, row.last_message.as_str(), row.waiting)).collect();
    assert_eq!(seen, [(Some(second), "", 1), (Some(first), "", 1)]);
    assert!(found.iter().all(|row| row.is_one_of_several));
    for (bot, outcome) in [(Some(first), "answered"), (Some(second), "fallback"), (None, "fallback")] {
        let row = reads::conversation(&mut tx, "max", "1", bot).await.unwrap().unwrap();
        let messages = reads::messages(&mut tx, &row, None, 10).await.unwrap();
        assert_eq!(messages.iter().map(|message| message.outcome.as_str()).collect::<Vec<_>>(), [outcome]);
    }
    drop(tx);
    world
        .run(&format!("update shopbot.bots set closed_until = platform.now() + interval '1 hour' where bot_id = '{second}'"))
        .await;
    world.run("update core.bots set enabled = false where name = 'max'").await;
    world.advance(301);
    let troubles = world.rows("select alert, subject from shopbot.find_trouble($ws)").await;
    assert_eq!(troubles, [json!({ "alert": "late_answers", "subject": "max second" })]);
}

#[tokio::test]
async fn an_update_that_could_not_be_read_is_kept_as_long_as_its_own_bot_says() {
    let (world, first, second) = two_bots().await;
    let poison = async |digit: char, bot: &str| {
        world.ask(&format!("shopbot.keep_poison($ws, 'max', null, 'x', repeat('{digit}', 64), '{digit}', {bot})")).await;
    };
    for digit in ['a', 'b'] {
        poison(digit, &format!("'{first}'")).await;
    }
    poison('c', &format!("'{second}'")).await;
    poison('d', "gen_random_uuid()").await;
    world.run("update shopbot.bots set keep_days = 300").await;
    world.run(&format!("update shopbot.bots set keep_days = 30 where bot_id = '{second}'")).await;
    world.advance(31 * 86400);
    // One at a time: the oldest are of the bot that keeps them.
    while world.ask("shopbot.forget(1)").await != json!(0) {}
    let left = world.rows("select body from shopbot.bot_poison order by body").await;
    assert_eq!(left, [json!({ "body": "a" }), json!({ "body": "b" })]);
    world.advance(270 * 86400);
    while world.ask("shopbot.forget(1)").await != json!(0) {}
    assert!(world.rows("select body from shopbot.bot_poison").await.is_empty());
}
