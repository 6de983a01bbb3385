//! What both adapters do with an answer, or the lack of one, before the provider's own rules apply.
//!
//! Guarantees: the token is cut out of everything that came back, whatever is kept of an answer is redacted and of a
//! bounded size, and an answer that is not in the provider's words blames neither the channel nor the message.

use bytes::Bytes;
use kernel::{
    AdapterError, Category, ErrorKind, ErrorScope, Secret,
    redact::{self, KeptSize},
};
use outbound::{CallError, Client, Reply};
use reqwest::RequestBuilder;
use serde_json::Value;

const MESSAGE_CHARS_MAX: usize = 500;
/// Of an answer: providers repeat the whole post. An album of ten photos fits.
const KEPT: KeptSize = KeptSize { text_chars_max: 200, items_max: 32, bytes_max: 16 << 10 };
/// Shorter ones are not secrets, and cutting them out would damage ids.
const TOKEN_BYTES_MIN: usize = 8;

/// What a failure is: what every error of an adapter is decided by.
pub(crate) type Meaning = (Category, ErrorScope, ErrorKind);

/// The message cannot be sent as it is.
pub(crate) const INVALID: Meaning = (Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid);

/// A file is larger than the provider takes or gives.
pub(crate) const TOO_LARGE: Meaning = (Category::Permanent, ErrorScope::Delivery, ErrorKind::TooLarge);

/// The chat or the bot cannot be sent to.
pub(crate) const fn of_channel(kind: ErrorKind) -> Meaning {
    (Category::Permanent, ErrorScope::Channel, kind)
}

/// The provider as a whole does not take the call now.
pub(crate) const fn of_platform(kind: ErrorKind) -> Meaning {
    (Category::Transient, ErrorScope::Platform, kind)
}

/// What repeating a call would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// A second message.
    Duplicates,
    /// Nothing.
    Harmless,
}

impl Repeat {
    /// What a failure on the provider's side is, after which nobody knows whether the call was carried out.
    pub(crate) const fn failure(self) -> ErrorKind {
        match self {
            Self::Duplicates => ErrorKind::UnknownOutcome,
            Self::Harmless => ErrorKind::Unavailable,
        }
    }
}

/// Sends a request and gives the answer without the token in it.
pub(crate) async fn call(
    client: &Client,
    request: RequestBuilder,
    token: &Secret,
    repeat: Repeat,
) -> Result<Reply, AdapterError> {
    match client.send(request).await {
        Ok(reply) => Ok(Reply { body: without_token(reply.body, token), ..reply }),
        Err(error) => Err(no_answer(error, token, repeat)),
    }
}

fn no_answer(error: CallError, token: &Secret, repeat: Repeat) -> AdapterError {
    let mut error = AdapterError::from(error);
    error.message = without_token_text(&error.message, token).unwrap_or(error.message);
    if error.outcome_unknown() && repeat == Repeat::Harmless {
        error.kind = ErrorKind::Timeout;
    }
    error
}

fn without_token(body: Bytes, token: &Secret) -> Bytes {
    // Bytes that are no text are no JSON either: they are shown only as a cut, lossy text.
    let cut = without_token_text(&String::from_utf8_lossy(&body), token);
    cut.map_or(body, Bytes::from)
}

/// The text without the token, as it is and as a URL writes it; nothing when it is not in there.
fn without_token_text(text: &str, token: &Secret) -> Option<String> {
    let token = token.expose();
    if token.len() < TOKEN_BYTES_MIN {
        return None;
    }
    let encoded = token.replace(':', "%3A");
    let found = text.contains(token) || text.contains(&encoded);
    found.then(|| text.replace(token, "[secret]").replace(&encoded, "[secret]"))
}

/// An answer that is not in the provider's words: a proxy's page, a redirect, a success that says nothing.
pub(crate) fn foreign(reply: &Reply, repeat: Repeat) -> AdapterError {
    let status = reply.status;
    let meaning = match status {
        413 => INVALID,
        429 => of_platform(ErrorKind::RateLimited),
        // A server that redirects or refuses has not done the work. One that fails or claims success may have.
        300..500 => of_platform(ErrorKind::Unavailable),
        _ => of_platform(repeat.failure()),
    };
    let code = if status < 300 { "unreadable_answer".to_owned() } else { status.to_string() };
    let message = format!("an answer with status {status} that is not in the provider's words");
    AdapterError { retry_after_ms: retry_after_ms(reply), raw: raw_of(reply), ..refused(meaning, code, &message) }
}

/// An answer in the provider's words that refuses.
pub(crate) fn refused(meaning: Meaning, code: impl Into<String>, message: &str) -> AdapterError {
    let (category, scope, kind) = meaning;
    AdapterError::new(category, scope, kind, code, redact::snippet(message, MESSAGE_CHARS_MAX))
}

/// What we refuse ourselves, before any call: the provider cannot be asked for it.
pub(crate) fn invalid(message: &str) -> AdapterError {
    refused(INVALID, "validation_failed", message)
}

/// A token that no request can carry.
pub(crate) fn malformed_token() -> AdapterError {
    refused(of_channel(ErrorKind::Unauthorized), "token_malformed", "the token has characters that no token has")
}

/// The `Retry-After` header of a 429.
pub(crate) fn retry_after_ms(reply: &Reply) -> Option<u64> {
    let after = reply.retry_after.filter(|_| reply.status == 429)?;
    Some(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
}

pub(crate) fn is_success(reply: &Reply) -> bool {
    (200..300).contains(&reply.status)
}

/// An answer for the journal.
pub(crate) fn raw_of(reply: &Reply) -> Value {
    match reply.json() {
        Some(value) => raw(value),
        None if reply.body.is_empty() => Value::Null,
        None => Value::from(redact::snippet(&String::from_utf8_lossy(&reply.body), MESSAGE_CHARS_MAX)),
    }
}

/// The value redacted, with its texts, lists and the whole cut to size.
pub(crate) fn raw(value: Value) -> Value {
    redact::kept_json(value, KEPT)
}

/// The texts that are there, one after the other with an empty line between them.
pub(crate) fn joined<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Option<String> {
    let texts: Vec<&str> = texts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply { status, retry_after: None, body: Bytes::copy_from_slice(body.as_bytes()) }
    }

    #[test]
    fn only_a_send_that_may_have_happened_is_unknown() {
        for (status, unknown) in [(200, true), (302, false), (403, false), (404, false), (429, false), (502, true)] {
            let error = foreign(&reply(status, "<html>"), Repeat::Duplicates);
            assert_eq!(error.outcome_unknown(), unknown, "{status}");
            assert_eq!((error.category, error.scope), (Category::Transient, ErrorScope::Platform), "{status}");
            assert!(!foreign(&reply(status, "<html>"), Repeat::Harmless).outcome_unknown(), "{status}");
        }
    }

    #[test]
    fn a_token_is_cut_out_as_it_is_and_as_a_url_has_it() {
        let token = Secret::new("123456:abcdef");
        let body = without_token(Bytes::from("at /bot123456:abcdef/x and /bot123456%3Aabcdef/x"), &token);
        assert_eq!(body, "at /bot[secret]/x and /bot[secret]/x");
    }

    #[test]
    fn what_is_kept_of_an_answer_is_of_a_bounded_size() {
        let long = raw(json!({"text": "x".repeat(5000), "items": vec![1; 1000], "token": "abc"}));
        assert_eq!(long["text"].as_str().unwrap().chars().count(), KEPT.text_chars_max);
        assert_eq!(long["items"].as_array().unwrap().len(), KEPT.items_max);
        assert_eq!(long["token"], "[redacted]");
        let fields: serde_json::Map<String, Value> = (0..2000).map(|n| (n.to_string(), json!("y".repeat(100)))).collect();
        assert!(raw(Value::Object(fields)).to_string().len() < 2 * KEPT.bytes_max);
    }

    #[test]
    fn texts_are_joined_by_an_empty_line() {
        assert_eq!(joined([Some("a"), None, Some(""), Some("b")]).as_deref(), Some("a\n\nb"));
        assert_eq!(joined([None, Some("")]), None);
    }
}
