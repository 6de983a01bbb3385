//! Telegram keyboards and callback queries.

use serde_json::{Value, json};

use crate::harness::{Sim, TOKEN};

fn with_button(button: &Value) -> Value {
    json!({"chat_id": 1, "text": "x", "reply_markup": {"inline_keyboard": [[button]]}})
}

#[tokio::test]
async fn a_button_that_cannot_work_is_refused() {
    let sim = Sim::start().await;
    for (button, description) in [
        (json!({"text": "a"}), "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"),
        (json!({"text": "", "url": "https://e.com"}), "inline keyboard button text must be non-empty"),
        (json!({"text": "a", "callback_data": "x".repeat(65)}), "BUTTON_DATA_INVALID"),
        (json!({"text": "a", "callback_data": ""}), "BUTTON_DATA_INVALID"),
        (json!({"text": "a", "url": "no url"}), "BUTTON_URL_INVALID"),
    ] {
        let refusal = sim.telegram_refusal("sendMessage", with_button(&button)).await;
        assert_eq!(refusal, (400, format!("Bad Request: {description}")));
    }
    for (markup, description) in [
        (json!("{"), "can't parse reply keyboard markup JSON object"),
        (json!([]), "object expected as reply markup"),
        (json!({"inline_keyboard": vec![vec![json!({"text": "a", "callback_data": "b"})]; 101]}), "reply markup is too long"),
    ] {
        let params = json!({"chat_id": 1, "text": "x", "reply_markup": markup});
        let refusal = sim.telegram_refusal("sendMessage", params).await;
        assert_eq!(refusal, (400, format!("Bad Request: {description}")));
    }
}

#[tokio::test]
async fn a_callback_query_can_be_answered_once() {
    let sim = Sim::start().await;
    let stale = (400, "Bad Request: query is too old and response timeout expired or query ID is invalid".to_owned());
    let answer = json!({"callback_query_id": "77", "text": "done"});
    assert_eq!(sim.telegram_refusal("answerCallbackQuery", answer.clone()).await, stale);
    let update = json!({"callback_query": {"id": "77", "from": {"id": 5}, "data": "b", "chat_instance": "1"}});
    sim.control("updates", json!({"provider": "telegram", "token": TOKEN, "update": update})).await;
    assert_eq!(sim.telegram_ok("answerCallbackQuery", answer.clone()).await, true);
    assert_eq!(sim.telegram_refusal("answerCallbackQuery", answer).await, stale);
}
