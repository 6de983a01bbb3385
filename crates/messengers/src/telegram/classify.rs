//! What a refusal of Telegram means: its kind, whether to try again, and how much of the world it speaks of. A pure
//! function of the answer.
//!
//! Telegram has no error codes beside the HTTP status, so the texts decide. Only the beginning of a text counts: its
//! end may quote what we sent.

use kernel::{AdapterError, ErrorKind};
use outbound::Reply;
use serde_json::Value;

use crate::answer::{self, INVALID, Meaning, Repeat, TOO_LARGE, of_channel, of_platform};

/// Beginnings of a 400 that speaks of the chat, in small letters.
const CHAT_REFUSALS: [(&str, ErrorKind); 11] = [
    ("chat not found", ErrorKind::NotFound),
    ("private chat not found", ErrorKind::NotFound),
    ("peer_id_invalid", ErrorKind::NotFound),
    ("message thread not found", ErrorKind::NotFound),
    ("need administrator rights", ErrorKind::Forbidden),
    ("have no write access", ErrorKind::Forbidden),
    ("not enough rights to send", ErrorKind::Forbidden),
    ("chat_write_forbidden", ErrorKind::Forbidden),
    ("user_banned_in_channel", ErrorKind::Forbidden),
    ("chat_restricted", ErrorKind::Forbidden),
    ("topic_closed", ErrorKind::Forbidden),
];

/// The `result` of an answer, or what its refusal means.
pub(super) fn result(reply: &Reply, repeat: Repeat) -> Result<Value, AdapterError> {
    let Some(mut envelope) = reply.json().filter(|value| value["ok"].is_boolean()) else {
        return Err(answer::foreign(reply, repeat));
    };
    if envelope["ok"] == true {
        return if answer::is_success(reply) { Ok(envelope["result"].take()) } else { Err(answer::foreign(reply, repeat)) };
    }
    // The server sends the same number twice; a proxy in between may have changed the status.
    let status = envelope["error_code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(reply.status);
    let description = envelope["description"].as_str().unwrap_or("no description");
    let error = answer::refused(meaning(status, description, &envelope, repeat), status.to_string(), description);
    let retry_after_ms = envelope["parameters"]["retry_after"].as_u64().map(|seconds| seconds.saturating_mul(1000));
    let retry_after_ms = retry_after_ms.or_else(|| answer::retry_after_ms(reply)).filter(|_| status == 429);
    Err(AdapterError { retry_after_ms, raw: answer::raw(envelope), ..error })
}

fn meaning(status: u16, description: &str, envelope: &Value, repeat: Repeat) -> Meaning {
    match status {
        400 if envelope["parameters"]["migrate_to_chat_id"].is_i64() => of_channel(ErrorKind::NotFound),
        400 if detail(description).starts_with("file is too big") => TOO_LARGE,
        400 => chat_refusal(description).map_or(INVALID, of_channel),
        401 => of_channel(ErrorKind::Unauthorized),
        403 => of_channel(ErrorKind::Forbidden),
        404 => of_channel(ErrorKind::NotFound),
        // 409: another process polls with our token; 421: the server is not ours. Both are about this installation.
        409 | 421 => of_platform(ErrorKind::Unavailable),
        429 => of_platform(ErrorKind::RateLimited),
        500.. => of_platform(repeat.failure()),
        _ => INVALID,
    }
}

/// What a 400 says of the chat, if that is what it speaks of.
fn chat_refusal(description: &str) -> Option<ErrorKind> {
    let detail = detail(description);
    // An album wraps the words that refuse one of its items.
    let detail = detail.split_once("with the error message \"").map_or(detail.as_str(), |(_, inner)| inner);
    CHAT_REFUSALS.iter().find(|(refusal, _)| detail.starts_with(refusal)).map(|(_, kind)| *kind)
}

/// The text after `Bad Request: `, in small letters.
fn detail(description: &str) -> String {
    description.strip_prefix("Bad Request: ").unwrap_or(description).to_lowercase()
}

/// The id that the chat has now, when that is what the refusal says.
pub(super) fn migrated_to(error: &AdapterError) -> Option<String> {
    error.raw["parameters"]["migrate_to_chat_id"].as_i64().filter(|_| error.code == "400").map(|id| id.to_string())
}

/// `getChatMember` of somebody who never was in the chat.
pub(super) fn is_unknown_member(error: &AdapterError) -> bool {
    let message = error.message.to_lowercase();
    error.code == "400"
        && ["user not found", "participant_id_invalid", "member not found", "user_id_invalid"]
            .iter()
            .any(|words| message.contains(words))
}

pub(super) fn is_not_modified(error: &AdapterError) -> bool {
    error.code == "400" && detail(&error.message).starts_with("message is not modified")
}

pub(super) fn is_already_gone(error: &AdapterError) -> bool {
    error.code == "400" && detail(&error.message).starts_with("message to delete not found")
}

/// A success whose result is not what the method promises.
pub(super) fn unreadable(result: &Value, repeat: Repeat) -> AdapterError {
    let reply = Reply { status: 200, retry_after: None, body: result.to_string().into() };
    answer::foreign(&reply, repeat)
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
