//! `POST /hooks/max` and `POST /hooks/telegram`: the webhooks of the bots.
//!
//! Whoever shows the secret gets a 200 whatever the content is, after the commit of everything that is needed to answer: a
//! provider that is refused sends the same again, for hours, and then stops to send at all. What cannot be handled is kept
//! and shown. Only when the database does not answer is it asked to come again.

use axum::{
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode},
};
use jiff::Timestamp;
use kernel::{Problem, Secret, redact};
use messengers::{Inbound, Unreadable};
use platform::{
    failpoint,
    http::{App, Failure, current_trace, parse_json},
    wake::Topic,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::store::{self, Hook, Poison};

/// What is written down of a text.
const SHOWN_CHARS_MAX: usize = 1000;
const NAME_CHARS_MAX: usize = 100;
const POISON_CHARS_MAX: usize = 16 << 10;

/// How one messenger brings its updates.
struct Provider {
    name: &'static str,
    header: &'static str,
    read: fn(&Value) -> Result<Option<Inbound>, Unreadable>,
}

const MAX: Provider = Provider { name: "max", header: "x-max-bot-api-secret", read: Inbound::from_max };
const TELEGRAM: Provider = Provider { name: "telegram", header: "x-telegram-bot-api-secret-token", read: Inbound::from_telegram };

/// Take an update of MAX.
#[utoipa::path(post, path = "/hooks/max", request_body = Object,
    params(("X-Max-Bot-Api-Secret" = String, Header, description = "the secret of a `bot_webhook` endpoint")),
    responses((status = 200, description = "taken; the body is empty"), (status = 401), (status = 503)))]
pub(super) async fn hook_max(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Failure> {
    receive(&app, &MAX, &headers, body).await
}

/// Take an update of Telegram.
#[utoipa::path(post, path = "/hooks/telegram", request_body = Object,
    params(("X-Telegram-Bot-Api-Secret-Token" = String, Header, description = "the secret of a `bot_webhook` endpoint")),
    responses((status = 200, description = "taken; the body is empty"), (status = 401), (status = 503)))]
pub(super) async fn hook_telegram(
    State(app): State<App>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Failure> {
    receive(&app, &TELEGRAM, &headers, body).await
}

async fn receive(
    app: &App,
    provider: &Provider,
    headers: &HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Failure> {
    let endpoint = find_endpoint(app, provider, headers).await?;
    if !endpoint.is_enabled {
        tracing::warn!(workspace.id = %endpoint.workspace_id, provider = provider.name, "shopbot.no_enabled_bot");
        return Ok(StatusCode::OK);
    }
    let body = match body {
        Ok(body) => body,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return keep(app, provider, &endpoint, "the body is larger than this server accepts", &[]).await;
        }
        Err(_) => return Err(Problem::bad_request("request.body", "the body did not arrive whole").into()),
    };
    if i32::try_from(body.len()).is_ok_and(|bytes| bytes <= endpoint.bytes_max) {
        match read(provider, &body) {
            Ok(Some(inbound)) => handle(app, provider, &endpoint, &inbound, &body).await,
            Ok(None) => Ok(StatusCode::OK),
            Err(problem) => keep(app, provider, &endpoint, &problem, &body).await,
        }
    } else {
        let problem = format!("the body has {} bytes; this endpoint takes {}", body.len(), endpoint.bytes_max);
        keep(app, provider, &endpoint, &problem, &body).await
    }
}

async fn find_endpoint(app: &App, provider: &Provider, headers: &HeaderMap) -> Result<Hook, Failure> {
    // The same answer for a wrong, a missing, a repeated and a disabled secret.
    let unknown = || Problem::unauthorized("this webhook secret is not known");
    let mut given = headers.get_all(provider.header).iter();
    let secret = match (given.next(), given.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    };
    let secret = secret.filter(|secret| !secret.is_empty() && secret.len() <= 512).ok_or_else(unknown)?;
    // Looked up by its hash, so no timing tells how far a guess was right.
    let found = store::find_bot(app.db.pool(), provider.name, &Secret::new(secret).sha256_hex()).await?;
    Ok(found.ok_or_else(unknown)?)
}

fn read(provider: &Provider, body: &[u8]) -> Result<Option<Inbound>, String> {
    let update = parse_json(body).map_err(|problem| problem.message)?;
    (provider.read)(&update).map_err(|unreadable| unreadable.0)
}

async fn handle(app: &App, provider: &Provider, endpoint: &Hook, inbound: &Inbound, body: &[u8]) -> Result<StatusCode, Failure> {
    let (message, trace) = (message(inbound), current_trace());
    match store::take_message(app.db.pool(), endpoint.workspace_id, provider.name, &message, trace.as_str()).await {
        Ok(done) => {
            failpoint::hit("shopbot.before_answer");
            app.db.wake().tell(Topic::Answers);
            app.db.wake().tell(Topic::Bus);
            let outcome = done["outcome"].as_str().unwrap_or_default().to_owned();
            metrics::counter!("shopbot_messages_total", "provider" => provider.name, "outcome" => outcome).increment(1);
            Ok(StatusCode::OK)
        }
        Err(error) if error.is_retryable() => Err(error.into()),
        // Whatever it is, it would be the same the next time.
        Err(error) => keep(app, provider, endpoint, &error.to_string(), body).await,
    }
}

/// As `shopbot.handle_message` takes it.
fn message(inbound: &Inbound) -> Value {
    let written = inbound.payload.as_deref().or(inbound.text.as_deref()).unwrap_or_default();
    json!({
        "chat_id": inbound.chat_id,
        "provider_message_id": inbound.provider_message_id,
        "kind": inbound.kind.as_str(),
        "text": inbound.text,
        "payload": inbound.payload,
        "sender_name": inbound.sender_name,
        "shown_name": inbound.sender_name.as_deref().map(|name| redact::snippet(name, NAME_CHARS_MAX)),
        "is_from_bot": inbound.is_from_bot,
        "sent_at": inbound.sent_at_ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
        "shown_text": redact::snippet(written, SHOWN_CHARS_MAX),
    })
}

async fn keep(app: &App, provider: &Provider, endpoint: &Hook, problem: &str, body: &[u8]) -> Result<StatusCode, Failure> {
    let poison = Poison {
        provider: provider.name,
        endpoint_id: endpoint.endpoint_id,
        problem: &redact::snippet(problem, 500),
        body_hash: &hex::encode(Sha256::digest(body)),
        body: &shown(body),
    };
    let seen = store::keep_poison(app.db.pool(), endpoint.workspace_id, &poison).await?;
    tracing::info!(workspace.id = %endpoint.workspace_id, provider = provider.name, seen, problem = poison.problem, "shopbot.poison");
    metrics::counter!("shopbot_messages_total", "provider" => provider.name, "outcome" => "poison").increment(1);
    Ok(StatusCode::OK)
}

/// The body as it may be kept: redacted, by the names of its fields where it has any, and without NUL, which no text of the
/// database can hold.
fn shown(body: &[u8]) -> String {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(mut value) => {
            redact::redact_json(&mut value);
            value.to_string()
        }
        Err(_) => String::from_utf8_lossy(body).replace('\0', "␀"),
    };
    redact::snippet(&text, POISON_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_body_is_redacted_and_of_a_bounded_size() {
        let text = shown(br#"{"update_type": 5, "token": "abc", "text": "write to somebody@example.com"}"#);
        assert!(!text.contains("abc") && text.contains("[email]"), "{text}");
        assert_eq!(shown(b"a\0b\xff"), "a␀b\u{fffd}");
        assert_eq!(shown(&b"x".repeat(50_000)).chars().count(), POISON_CHARS_MAX);
    }

    #[test]
    fn a_pressed_button_is_written_down_by_what_comes_back() {
        let inbound = Inbound {
            chat_id: "1".into(),
            provider_message_id: "cb".into(),
            kind: messengers::InboundKind::Button,
            text: None,
            payload: Some("позвоните +7 921 555-35-35".into()),
            sender_name: None,
            is_from_bot: false,
            sent_at_ms: Some(0),
        };
        let message = message(&inbound);
        assert_eq!((&message["kind"], &message["sent_at"]), (&json!("button"), &json!("1970-01-01T00:00:00Z")));
        assert_eq!(message["shown_text"], "позвоните [phone]");
        assert_eq!(message["payload"], "позвоните +7 921 555-35-35");
    }
}
