//! The way to a provider and back: the key goes into a header, what comes back is a success or an [`AdapterError`].
//!
//! Guarantees: an error carries neither the address nor the key, is redacted and of a bounded size. Every call of this
//! crate changes nothing, so that an answer that was lost is a timeout, and the call can be repeated.

use bytes::Bytes;
use kernel::{
    AdapterError, Category, ErrorKind, ErrorScope, Secret,
    redact::{self, KeptSize},
};
use outbound::{CallError, Client, Reply};
use reqwest::{Method, RequestBuilder, header::HeaderValue};
use serde_json::Value;

use crate::classify;

const MESSAGE_CHARS_MAX: usize = 500;
const CODE_CHARS_MAX: usize = 64;
/// Of an answer: providers repeat the prompt.
const KEPT: KeptSize = KeptSize { text_chars_max: 200, items_max: 16, bytes_max: 8 << 10 };
/// Shorter ones are not secrets, and cutting them out would damage words: a server of one's own takes `none` for a key.
const KEY_BYTES_MIN: usize = 8;

/// In which header a provider wants its key.
#[derive(Clone, Debug)]
pub(crate) enum KeyHeader {
    /// `x-goog-api-key`.
    Google(Secret),
    /// `Authorization: Bearer`; a server of one's own may want none.
    Bearer(Option<Secret>),
}

impl KeyHeader {
    fn key(&self) -> Option<&Secret> {
        match self {
            Self::Google(key) => Some(key),
            Self::Bearer(key) => key.as_ref(),
        }
    }

    fn add_to(&self, request: RequestBuilder) -> Result<RequestBuilder, AdapterError> {
        let (name, text) = match self {
            Self::Google(key) => ("x-goog-api-key", key.expose().to_owned()),
            Self::Bearer(Some(key)) => ("authorization", format!("Bearer {}", key.expose())),
            Self::Bearer(None) => return Ok(request),
        };
        // A key with a line break from its file at the end would otherwise be an error of the network, and tried for ever.
        let is_key =
            self.key().is_some_and(|key| !key.expose().is_empty() && key.expose().bytes().all(|byte| byte.is_ascii_graphic()));
        let value = HeaderValue::from_str(&text).ok().filter(|_| is_key).ok_or_else(malformed_key)?;
        Ok(request.header(name, sensitive(value)))
    }
}

fn sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

/// One provider, as its settings say.
#[derive(Clone, Debug)]
pub(crate) struct ProviderLink {
    client: Client,
    base_url: String,
    key: KeyHeader,
}

impl ProviderLink {
    pub(crate) fn new(client: Client, base_url: String, key: KeyHeader) -> Self {
        Self { client, base_url, key }
    }

    /// The body of a success, byte for byte.
    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> Result<Bytes, AdapterError> {
        self.post(path, |request| request.json(body)).await
    }

    /// The body of a success, byte for byte.
    pub(crate) async fn post(
        &self,
        path: &str,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Bytes, AdapterError> {
        let url = format!("{}/{path}", self.base_url);
        let request = fill(self.key.add_to(self.client.request(Method::POST, &url))?);
        let reply = self.client.send(request).await.map_err(|error| self.no_answer(error))?;
        if (200..300).contains(&reply.status) && !classify::is_refusal_in_success(&reply) {
            return Ok(reply.body);
        }
        let body = without_key(&reply.body, self.key.key());
        Err(classify::refusal(&Reply { body, ..reply }))
    }

    fn no_answer(&self, error: CallError) -> AdapterError {
        let mut error = AdapterError::from(error);
        error.message = without_key_text(&error.message, self.key.key()).unwrap_or(error.message);
        if error.outcome_unknown() {
            error.kind = ErrorKind::Timeout;
        }
        error
    }
}

fn without_key(body: &Bytes, key: Option<&Secret>) -> Bytes {
    without_key_text(&String::from_utf8_lossy(body), key).map_or_else(|| body.clone(), Bytes::from)
}

fn without_key_text(text: &str, key: Option<&Secret>) -> Option<String> {
    let key = key.map(Secret::expose).filter(|key| key.len() >= KEY_BYTES_MIN)?;
    text.contains(key).then(|| text.replace(key, "[secret]"))
}

/// What a failure is: category, scope and kind, which every caller decides by.
pub(crate) type FailureClass = (Category, ErrorScope, ErrorKind);

/// This request cannot pass; another one can.
pub(crate) const INVALID: FailureClass = (Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid);

/// The provider takes no request before an operator has changed something.
pub(crate) const fn until_mended(kind: ErrorKind) -> FailureClass {
    (Category::Permanent, ErrorScope::Platform, kind)
}

/// The provider takes no request now.
pub(crate) const fn for_now(kind: ErrorKind) -> FailureClass {
    (Category::Transient, ErrorScope::Platform, kind)
}

pub(crate) fn refused(class: FailureClass, code: &str, message: &str) -> AdapterError {
    let (category, scope, kind) = class;
    let code = redact::snippet(code, CODE_CHARS_MAX);
    AdapterError::new(category, scope, kind, code, redact::snippet(message, MESSAGE_CHARS_MAX))
}

/// What we refuse ourselves, before any call.
pub(crate) fn invalid(message: &str) -> AdapterError {
    refused(INVALID, "validation_failed", message)
}

/// A success that says something, and not what was asked for: a blocked prompt, a refusal, a cut answer.
pub(crate) fn no_text(message: &str) -> AdapterError {
    refused(INVALID, "no_text", message)
}

/// A success that is not in the provider's words. It changed nothing, and a healthy provider does not say it again.
pub(crate) fn unreadable(message: &str) -> AdapterError {
    refused(for_now(ErrorKind::Unavailable), "unreadable_answer", message)
}

fn malformed_key() -> AdapterError {
    refused(until_mended(ErrorKind::Unauthorized), "key_malformed", "the key is empty or has characters that no key has")
}

/// What is kept of an answer: redacted, with its texts, lists and the whole cut to size.
pub(crate) fn raw_of(reply: &Reply) -> Value {
    let Some(value) = reply.json() else {
        let text = String::from_utf8_lossy(&reply.body);
        return if text.is_empty() { Value::Null } else { Value::from(redact::snippet(&text, MESSAGE_CHARS_MAX)) };
    };
    redact::kept_json(value, KEPT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_of_an_answer_is_redacted_and_of_a_bounded_size() {
        let body = json!({"error": "x".repeat(5000), "items": vec![1; 1000], "api_key": "abc"}).to_string();
        let kept = raw_of(&Reply { status: 400, retry_after: None, body: body.into() });
        assert_eq!(kept["error"].as_str().unwrap().chars().count(), KEPT.text_chars_max);
        assert_eq!(kept["items"].as_array().unwrap().len(), KEPT.items_max);
        assert_eq!(kept["api_key"], "[redacted]");
        let fields: serde_json::Map<String, Value> = (0..2000).map(|n| (n.to_string(), json!("y".repeat(100)))).collect();
        let body = Value::Object(fields).to_string();
        let kept = raw_of(&Reply { status: 400, retry_after: None, body: body.into() });
        assert!(kept.to_string().len() < 2 * KEPT.bytes_max);
    }

    #[test]
    fn a_key_is_cut_out_and_a_word_that_is_no_secret_is_not() {
        let key = Secret::new("key-of-the-house");
        assert_eq!(without_key(&Bytes::from("bad key-of-the-house!"), Some(&key)), "bad [secret]!");
        assert_eq!(without_key(&Bytes::from("none of it"), Some(&Secret::new("none"))), "none of it");
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_unauthorized_and_not_repeated() {
        let client = Client::new(&outbound::ClientSettings::default()).unwrap();
        for key in ["", "abc\n", "ключ", "two words"] {
            for header in [KeyHeader::Google(Secret::new(key)), KeyHeader::Bearer(Some(Secret::new(key)))] {
                let error = header.add_to(client.request(Method::POST, "http://x")).unwrap_err();
                assert_eq!((error.kind, error.code.as_str()), (ErrorKind::Unauthorized, "key_malformed"), "{key:?}");
                assert!(key.is_empty() || !error.message.contains(key.trim()));
            }
        }
    }
}
