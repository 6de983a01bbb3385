//! Sending one answer.

use std::time::Instant;

use jiff::Timestamp;
use kernel::AdapterError;
use messengers::{Button, Buttons, Channel, Meta};
use platform::failpoint;
use serde::Deserialize;

use super::Tools;
use crate::{store::Sending, tokens};

pub(super) enum Outcome {
    Sent {
        provider_message_id: String,
        sent_at: Timestamp,
    },
    Failed(AdapterError),
    /// This process was stopped for so long that somebody else may have it now: there is nothing to record, the lease runs out.
    Lost,
}

/// A quick reply as a rule has it.
#[derive(Debug, Deserialize)]
struct QuickReply {
    text: String,
    payload: Option<String>,
}

/// Begins no later than `start_before`, so that the call ends while the lease holds.
pub(super) async fn perform(tools: &Tools, sending: &Sending, start_before: Instant) -> Outcome {
    match attempt(tools, sending, start_before).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome::Failed(error),
    }
}

async fn attempt(tools: &Tools, sending: &Sending, start_before: Instant) -> Result<Outcome, AdapterError> {
    let messenger = if sending.provider == "max" { &tools.max } else { &tools.telegram };
    let token = tokens::find(&tools.secrets, &sending.secret_ref)?;
    let channel = Channel { target_id: sending.chat_id.clone(), token };
    let meta = Meta {
        buttons: buttons(sending),
        trace_id: sending.trace_id.clone().unwrap_or_default(),
        idempotency_key: sending.idempotency_key.clone(),
        ..Meta::default()
    };
    failpoint::hit("shopbot.before_send");
    if Instant::now() > start_before {
        return Ok(Outcome::Lost);
    }
    // Only so that the button stops turning: the answer itself is worth as much without it.
    let released = async {
        if sending.inbound_kind == "button"
            && let Err(error) = messenger.answer_callback(&channel, &sending.inbound_provider_message_id).await
        {
            tracing::debug!(error.code = error.code, answer.id = %sending.answer_id, "shopbot.answer_callback");
        }
    };
    let (sent, ()) = futures::join!(messenger.send_text(&channel, &sending.text, &meta), released);
    let sent = sent?;
    failpoint::hit("shopbot.acknowledged");
    Ok(Outcome::Sent { provider_message_id: sent.provider_message_id, sent_at: tools.db.clock().now() })
}

/// A button without a payload comes back as its text.
fn buttons(sending: &Sending) -> Buttons {
    let rows: Vec<Vec<QuickReply>> = serde_json::from_value(sending.buttons.clone()).unwrap_or_default();
    let button = |reply: QuickReply| Button {
        payload: Some(reply.payload.unwrap_or_else(|| reply.text.clone())),
        text: reply.text,
        url: None,
    };
    rows.into_iter().map(|row| row.into_iter().map(button).collect()).collect()
}
