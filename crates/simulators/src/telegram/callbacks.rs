//! answerCallbackQuery: a query can be answered once, and only if it was ever delivered.

use crate::sync::lock;

use super::call::{Call, Outcome, success};
use super::errors::Refusal;
use super::message::Content;
use super::send;

pub(super) fn answer_callback_query(call: &mut Call) -> Outcome {
    let query_id = call.params.text("callback_query_id").map(String::from).unwrap_or_default();
    let pressed_in = lock(&call.bot.inbox).callbacks.remove(&query_id);
    let Some(chat_id) = pressed_in else {
        return Err(Refusal::bad_request("query is too old and response timeout expired or query ID is invalid"));
    };
    call.target = Some(chat_id.to_string().into());
    let text = call.params.text("text").map(|text| text.as_ref().into());
    send::accept(call, chat_id, &Content { text, ..Content::default() }, Vec::new(), Vec::new());
    success(&true)
}
