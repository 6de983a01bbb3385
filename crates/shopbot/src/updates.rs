//! The updates of the shop bot's bots: a message is handled, and an update that cannot be handled is kept and shown, because the provider would only send
//! it again. Only when the database does not answer is the provider asked to come again.

use jiff::Timestamp;
use kernel::redact;
use messengers::Inbound;
use platform::{
    door::{BotModule, BotUpdate},
    failpoint,
    http::{App, Failure, parse_json},
    wake::Topic,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::store::{self, Poison};

/// What is written down of a text.
const SHOWN_CHARS_MAX: usize = 1000;
const NAME_CHARS_MAX: usize = 100;
const POISON_CHARS_MAX: usize = 16 << 10;

/// What the door does with the updates of bots that serve the shop bot.
pub fn bot_module() -> BotModule {
    BotModule::new("shopbot", receive)
}

async fn receive(app: App, update: BotUpdate) -> Result<(), Failure> {
    if let Some(problem) = &update.oversize {
        return keep(&app, &update, problem).await;
    }
    match read(&update) {
        Ok(Some(inbound)) => handle(&app, &update, &inbound).await,
        Ok(None) => Ok(()),
        Err(problem) => keep(&app, &update, &problem).await,
    }
}

fn read(update: &BotUpdate) -> Result<Option<Inbound>, String> {
    let body = parse_json(&update.body).map_err(|problem| problem.message)?;
    let inbound = match update.provider {
        "max" => Inbound::from_max(&body),
        "telegram" => Inbound::from_telegram(&body),
        other => return Err(format!("updates of {other} are not known")),
    };
    inbound.map_err(|unreadable| unreadable.0)
}

async fn handle(app: &App, update: &BotUpdate, inbound: &Inbound) -> Result<(), Failure> {
    match store::take_message(app.db.pool(), update, &message(inbound)).await {
        Ok(done) => {
            failpoint::hit("shopbot.before_answer");
            app.db.wake().tell(crate::ANSWERS);
            app.db.wake().tell(Topic::BUS);
            count(update, done["outcome"].as_str().unwrap_or_default());
            Ok(())
        }
        Err(error) if error.is_retryable() => Err(error.into()),
        // Whatever it is, it would be the same the next time.
        Err(error) => keep(app, update, &error.to_string()).await,
    }
}

fn count(update: &BotUpdate, outcome: &str) {
    metrics::counter!("shopbot_messages_total", "provider" => update.provider, "outcome" => outcome.to_owned()).increment(1);
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

async fn keep(app: &App, update: &BotUpdate, problem: &str) -> Result<(), Failure> {
    let poison = Poison {
        problem: &redact::snippet(problem, 500),
        body_hash: &hex::encode(Sha256::digest(&update.body)),
        body: &shown(&update.body),
    };
    let seen = store::keep_poison(app.db.pool(), update, &poison).await?;
    tracing::info!(workspace.id = %update.workspace, provider = update.provider, seen, problem = poison.problem, "shopbot.poison");
    count(update, "poison");
    app.db.wake().tell(Topic::BUS);
    Ok(())
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
