//! Sending one answer.

use jiff::Timestamp;
use kernel::AdapterError;
use messengers::{Button, Buttons, Channel, Meta};
use platform::failpoint;

use super::Answers;
use crate::{store::SendingAnswer, talk::QuickReply};

/// What came of an answer that was sent, or could not be.
#[derive(Debug)]
pub enum AnswerOutcome {
    Sent { provider_message_id: String, sent_at: Timestamp },
    Failed(AdapterError),
}

pub(super) async fn perform(
    answers: &Answers,
    sending: &SendingAnswer,
    channel: &Channel,
) -> Result<AnswerOutcome, AdapterError> {
    let messenger = answers.messengers.of(&sending.provider)?;
    let meta = Meta {
        buttons: buttons(sending),
        trace_id: sending.trace_id.clone().unwrap_or_default(),
        idempotency_key: sending.idempotency_key.clone(),
        ..Meta::default()
    };
    // Only so that the button stops turning: the answer itself is worth as much without it.
    let released = async {
        if sending.inbound_kind == "button"
            && let Err(error) = messenger.answer_callback(channel, &sending.inbound_provider_message_id).await
        {
            tracing::debug!(error.code = error.code, answer.id = %sending.answer_id, "shopbot.answer_callback");
        }
    };
    let (sent, ()) = futures::join!(messenger.send_text(channel, &sending.text, &meta), released);
    let sent = sent?;
    failpoint::hit("shopbot.acknowledged");
    Ok(AnswerOutcome::Sent { provider_message_id: sent.provider_message_id, sent_at: answers.db.clock().now() })
}

/// A button without a payload comes back as its text.
fn buttons(sending: &SendingAnswer) -> Buttons {
    let rows: Vec<Vec<QuickReply>> = serde_json::from_value(sending.buttons.clone()).unwrap_or_default();
    let button = |reply: QuickReply| Button {
        payload: Some(reply.payload.unwrap_or_else(|| reply.text.clone())),
        text: reply.text,
        url: None,
    };
    rows.into_iter().map(|row| row.into_iter().map(button).collect()).collect()
}
