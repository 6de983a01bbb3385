//! Telegram webhooks: secret, order, retries, what getWebhookInfo tells.

use serde_json::{Value, json};

use crate::harness::{CHANNEL, Hook, Sim, TOKEN};

async fn write(sim: &Sim, chat_id: i64, text: &str, wait: Value) -> Value {
    let body = json!({"provider": "telegram", "chat_id": chat_id, "text": text, "wait": wait});
    sim.control("updates", body).await
}

#[tokio::test]
async fn an_update_reaches_the_webhook_with_the_secret() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    let set = sim.telegram("setWebhook", json!({"url": hook.url, "secret_token": "s3cret_-"})).await.1;
    assert_eq!(set, json!({"ok": true, "result": true, "description": "Webhook was set"}));
    let queued = write(&sim, 5, "hi", json!(true)).await;
    let delivery = json!({"delivered": true, "status": 200, "error": null, "attempts": 1});
    assert_eq!((&queued["by"], &queued["delivery"]), (&json!("webhook"), &delivery));
    let got = hook.got();
    assert_eq!(got[0].0["x-telegram-bot-api-secret-token"], "s3cret_-");
    assert_eq!(got[0].1, queued["update"]);
    assert_eq!(got[0].1["message"]["from"]["id"], 5);
    let post = write(&sim, CHANNEL, "post", json!(true)).await;
    assert_eq!(post["update"]["channel_post"]["chat"]["id"], CHANNEL);
}

#[tokio::test]
async fn a_failing_update_is_retried_and_holds_back_its_own_chat_only() {
    let sim = Sim::start().await;
    sim.control("clock", json!({"scale": 0.001})).await;
    let hook = Hook::start(&[500, 502, 404]).await;
    sim.telegram_ok("setWebhook", json!({"url": hook.url})).await;
    let first = write(&sim, 5, "first", json!(true)).await;
    assert_eq!(first["delivery"]["delivered"], false);
    assert_eq!(first["delivery"]["error"], "Wrong response from the webhook: 500 Internal Server Error");
    let second = write(&sim, 5, "second", json!("settled")).await;
    assert_eq!((&second["delivery"]["delivered"], &second["delivery"]["attempts"]), (&json!(true), &json!(1)));
    let texts: Vec<Value> = hook.got().iter().map(|(_, update)| update["message"]["text"].clone()).collect();
    assert_eq!(texts, ["first", "first", "first", "first", "second"]);
}

#[tokio::test]
async fn webhook_info_counts_what_waits_and_keeps_the_last_error() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    hook.always(503);
    sim.telegram_ok("setWebhook", json!({"url": hook.url, "max_connections": 3, "allowed_updates": ["message"]})).await;
    write(&sim, 5, "a", json!(true)).await;
    write(&sim, 6, "b", json!(true)).await;
    let info = sim.telegram_ok("getWebhookInfo", json!({})).await;
    assert_eq!((&info["url"], &info["pending_update_count"]), (&json!(hook.url), &json!(2)));
    assert_eq!((&info["max_connections"], &info["allowed_updates"]), (&json!(3), &json!(["message"])));
    assert_eq!(info["last_error_message"], "Wrong response from the webhook: 503 Service Unavailable");
    assert!(info["last_error_date"].is_i64());
    let skipped = write(&sim, CHANNEL, "not asked for", json!(true)).await;
    assert_eq!(skipped["allowed"], false);
    let deleted = sim.telegram("deleteWebhook", json!({"drop_pending_updates": true})).await.1;
    assert_eq!(deleted["description"], "Webhook was deleted");
    let info = sim.telegram_ok("getWebhookInfo", json!({})).await;
    assert_eq!((&info["url"], &info["pending_update_count"]), (&json!(""), &json!(0)));
    assert_eq!(sim.telegram("deleteWebhook", json!({})).await.1["description"], "Webhook is already deleted");
}

#[tokio::test]
async fn what_waited_without_a_webhook_is_pushed_when_one_is_set() {
    let sim = Sim::start().await;
    for text in ["a", "b"] {
        let body = json!({"provider": "telegram", "token": TOKEN, "chat_id": 5, "text": text});
        sim.control("updates", body).await;
    }
    let hook = Hook::start(&[]).await;
    sim.telegram_ok("setWebhook", json!({"url": hook.url})).await;
    let texts: Vec<Value> = hook.wait_for(2).await.iter().map(|(_, update)| update["message"]["text"].clone()).collect();
    assert_eq!(texts, ["a", "b"]);
}

#[tokio::test]
async fn an_update_older_than_a_day_is_given_up() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    hook.always(500);
    sim.telegram_ok("setWebhook", json!({"url": hook.url})).await;
    // It is tried again at once, and only then is it a day later.
    let a_day_later = async {
        hook.wait_for(2).await;
        sim.control("clock", json!({"scale": 0.000_01})).await
    };
    let (queued, _) = tokio::join!(write(&sim, 5, "old", json!("settled")), a_day_later);
    assert_eq!(queued["delivery"]["delivered"], false);
    assert!(queued["delivery"]["attempts"].as_u64().is_some_and(|attempts| attempts > 1), "{queued}");
    let info = sim.telegram_ok("getWebhookInfo", json!({})).await;
    assert_eq!(info["pending_update_count"], 0);
}

#[tokio::test]
async fn a_webhook_may_answer_with_a_method_call() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    hook.reply_with(json!({"method": "sendMessage", "chat_id": 5, "text": "by answer"}));
    sim.telegram_ok("setWebhook", json!({"url": hook.url})).await;
    write(&sim, 5, "hi", json!(true)).await;
    let sent = sim.sent("provider=telegram&target=5").await;
    assert_eq!((sent.len(), &sent[0]["text"]), (1, &json!("by answer")));
}

#[tokio::test]
async fn a_webhook_that_cannot_be_is_refused() {
    let sim = Sim::start().await;
    for (params, description) in [
        (json!({"url": "http://example.com/"}), "bad webhook: An HTTPS URL must be provided for webhook"),
        (json!({"url": "https://example.com:444/"}), "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443"),
        (json!({"url": "https://10.0.0.1/"}), "bad webhook: IP address 10.0.0.1 is reserved"),
        (json!({"url": "https://host.invalid/"}), "bad webhook: Failed to resolve host: Name or service not known"),
        (json!({"url": "nonsense"}), "invalid webhook URL specified"),
        (json!({"url": "https://example.com/", "secret_token": "x".repeat(257)}), "secret token is too long"),
        (json!({"url": "https://example.com/", "secret_token": "a b"}), "secret token contains unallowed characters"),
    ] {
        let refusal = sim.telegram_refusal("setWebhook", params).await;
        assert_eq!(refusal, (400, format!("Bad Request: {description}")));
    }
}

#[tokio::test]
async fn a_broken_webhook_gets_nothing_until_it_is_mended() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    sim.telegram_ok("setWebhook", json!({"url": hook.url})).await;
    sim.control("webhooks", json!({"provider": "telegram", "broken": true})).await;
    write(&sim, 5, "a", json!(true)).await;
    let failed = write(&sim, 6, "b", json!(true)).await;
    assert_eq!((&failed["delivery"]["delivered"], &failed["delivery"]["error"]), (&json!(false), &json!("Connection timed out")));
    let info = sim.telegram_ok("getWebhookInfo", json!({})).await;
    assert_eq!((&info["url"], &info["pending_update_count"]), (&json!(hook.url), &json!(2)));
    assert_eq!((&info["last_error_message"], info["last_error_date"].is_i64()), (&json!("Connection timed out"), true));
    assert_eq!((&info["has_custom_certificate"], &info["max_connections"]), (&json!(false), &json!(40)));
    assert!(hook.got().is_empty());
    sim.control("webhooks", json!({"provider": "telegram", "broken": "SSL error {certificate verify failed}"})).await;
    write(&sim, 7, "c", json!(true)).await;
    sim.control("webhooks", json!({"provider": "telegram", "broken": false})).await;
    sim.control("clock", json!({"scale": 0.001})).await;
    assert_eq!(hook.wait_for(3).await.len(), 3);
}

#[tokio::test]
async fn a_webhook_moved_behind_the_bots_back_takes_the_updates_along() {
    let sim = Sim::start().await;
    let (own, foreign) = (Hook::start(&[]).await, Hook::start(&[]).await);
    sim.telegram_ok("setWebhook", json!({"url": own.url, "secret_token": "s3cret"})).await;
    let info = sim.control("webhooks", json!({"provider": "telegram", "token": TOKEN, "url": foreign.url})).await;
    assert_eq!(info["url"], foreign.url.as_str());
    assert_eq!(sim.telegram_ok("getWebhookInfo", json!({})).await["url"], foreign.url.as_str());
    write(&sim, 5, "lost to us", json!(true)).await;
    assert_eq!((own.got().len(), foreign.got().len()), (0, 1));
    assert!(!foreign.got()[0].0.contains_key("x-telegram-bot-api-secret-token"));
    sim.telegram_ok("setWebhook", json!({"url": own.url, "secret_token": "s3cret"})).await;
    write(&sim, 5, "ours again", json!(true)).await;
    assert_eq!(own.got().len(), 1);
    sim.control("webhooks", json!({"provider": "telegram", "token": TOKEN, "url": ""})).await;
    assert_eq!(sim.telegram_ok("getWebhookInfo", json!({})).await["url"], "");
}

#[tokio::test]
async fn no_update_is_lost_between_webhooks_and_polls() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    let say = async |text: &str| {
        let body = json!({"provider": "telegram", "token": TOKEN, "chat_id": 5, "text": text});
        sim.control("updates", body).await
    };
    let texts = |updates: &Value| -> Vec<Value> {
        updates.as_array().into_iter().flatten().map(|update| update["message"]["text"].clone()).collect()
    };
    say("polled").await;
    let first = sim.telegram_ok("getUpdates", json!({})).await;
    assert_eq!(texts(&first), ["polled"]);
    // The offset confirms it for good, also when an older offset comes after.
    let next = first[0]["update_id"].as_i64().unwrap() + 1;
    assert_eq!(texts(&sim.telegram_ok("getUpdates", json!({"offset": next})).await), Vec::<Value>::new());
    assert_eq!(texts(&sim.telegram_ok("getUpdates", json!({"offset": next - 1})).await), Vec::<Value>::new());
    say("before").await;
    hook.always(500);
    sim.telegram_ok("setWebhook", json!({"url": hook.url})).await;
    hook.wait_for(1).await;
    say("during").await;
    sim.telegram_ok("deleteWebhook", json!({})).await;
    say("after").await;
    assert_eq!(texts(&sim.telegram_ok("getUpdates", json!({})).await), ["before", "during", "after"]);
    let other = Hook::start(&[]).await;
    sim.telegram_ok("setWebhook", json!({"url": other.url})).await;
    let got: Vec<Value> = other.wait_for(3).await.iter().map(|(_, update)| update["message"]["text"].clone()).collect();
    assert_eq!(got, ["before", "during", "after"]);
}

#[tokio::test]
async fn pending_updates_are_dropped_only_when_asked() {
    let sim = Sim::start().await;
    let hook = Hook::start(&[]).await;
    let say = async || {
        sim.control("updates", json!({"provider": "telegram", "token": TOKEN, "chat_id": 5, "text": "x"})).await;
    };
    let pending = async || sim.telegram_ok("getWebhookInfo", json!({})).await["pending_update_count"].clone();
    say().await;
    sim.telegram_ok("deleteWebhook", json!({"drop_pending_updates": false})).await;
    assert_eq!(pending().await, 1);
    sim.telegram_ok("deleteWebhook", json!({"drop_pending_updates": true})).await;
    assert_eq!(pending().await, 0);
    say().await;
    sim.telegram_ok("setWebhook", json!({"url": hook.url, "drop_pending_updates": true})).await;
    assert_eq!(pending().await, 0);
    write(&sim, 5, "new", json!(true)).await;
    assert_eq!(hook.got().len(), 1);
}
