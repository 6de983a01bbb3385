//! Sending one delivery: its steps in order, each acknowledged one recorded before the next begins.

use std::time::Duration;

use jiff::Timestamp;
use kernel::{AdapterError, Category, ErrorKind, ErrorScope, WorkspaceId};
use messengers::{Buttons, Channel, Messenger, Meta, ParseMode, Sent};
use platform::{db::within, failpoint};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Deliveries, media};
use crate::store::{self, SendingDelivery};

/// How long one try to record a step waits for the database, and how long all of them take: an acknowledged step is recorded while the lease, of
/// which a send may have taken more than half, still holds.
const PROGRESS_TRY_MAX: Duration = Duration::from_secs(10);
const PROGRESS_MAX: Duration = Duration::from_secs(30);

/// What came of a delivery that was sent, or could not be.
#[derive(Debug)]
pub enum DeliveryOutcome {
    Sent { provider_message_id: String, sent_at: Timestamp, meta: Option<Value> },
    Failed(AdapterError),
}

/// What is known before the network is touched.
#[derive(Debug)]
pub struct ReadyToSend {
    messenger: Messenger,
    channel: Channel,
    rendered: Rendered,
}

/// How the text was rendered, and what was sent already.
#[derive(Debug, Deserialize)]
struct Rendered {
    #[serde(default)]
    parse_mode: ParseMode,
    #[serde(default)]
    buttons: Buttons,
    #[serde(default)]
    disable_preview: bool,
    #[serde(default)]
    silent: bool,
    #[serde(default = "one_text")]
    steps: Vec<SendStep>,
    #[serde(default)]
    series_progress: Progress,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct SendStep {
    #[serde(default)]
    text: bool,
    #[serde(default)]
    pub(super) media: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
struct Progress {
    #[serde(default)]
    sent_items: usize,
    #[serde(default)]
    provider_message_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Follows {
    provider_message_id: Option<String>,
    #[serde(default)]
    progress: Option<Progress>,
    steps: Option<Vec<SendStep>>,
}

fn one_text() -> Vec<SendStep> {
    vec![SendStep { text: true, media: Vec::new() }]
}

pub(super) async fn prepare(deliveries: &Deliveries, sending: &SendingDelivery) -> Result<ReadyToSend, AdapterError> {
    let messenger = deliveries.messengers.of(&sending.platform)?.clone();
    let token = deliveries.credentials.token(&deliveries.db, sending).await?;
    let rendered = serde_json::from_value(sending.render_meta.clone())
        .map_err(|error| permanent(ErrorKind::Invalid, "render_meta", format!("what was rendered cannot be read: {error}")))?;
    Ok(ReadyToSend { messenger, channel: Channel { target_id: sending.target_id.clone(), token }, rendered })
}

/// Nothing when the lease was lost between two steps of a series.
pub(super) async fn perform(deliveries: &Deliveries, sending: &SendingDelivery, ready: ReadyToSend) -> Option<DeliveryOutcome> {
    let ReadyToSend { messenger, channel, rendered } = ready;
    let outcome = match sending.operation.as_str() {
        "send" => send(deliveries, &messenger, &channel, sending, rendered).await,
        operation => {
            let sent_at = deliveries.db.clock().now();
            let followed = follow(&messenger, &channel, sending, &rendered, operation == "delete").await;
            followed.map(|id| Some(DeliveryOutcome::Sent { provider_message_id: id, sent_at, meta: None }))
        }
    };
    outcome.unwrap_or_else(|error| Some(DeliveryOutcome::Failed(error)))
}

async fn send(
    deliveries: &Deliveries,
    messenger: &Messenger,
    channel: &Channel,
    sending: &SendingDelivery,
    rendered: Rendered,
) -> Result<Option<DeliveryOutcome>, AdapterError> {
    let mut ids = rendered.series_progress.provider_message_ids.clone();
    let count = rendered.steps.len();
    for (index, step) in rendered.steps.iter().enumerate().skip(rendered.series_progress.sent_items) {
        let text = sending.rendered_text.as_deref().filter(|_| step.text);
        let meta = meta(sending, &rendered, step.text);
        let sent = if step.media.is_empty() {
            messenger.send_text(channel, text.unwrap_or_default(), &meta).await?
        } else {
            media::send(&media::MediaCall { deliveries, messenger, channel, sending }, step, text, &meta).await?
        };
        failpoint::hit("posting.acknowledged");
        repair(deliveries, sending, &sent).await;
        ids.extend(sent.provider_message_ids.iter().cloned());
        let is_worth_keeping = count > 1 || sent.provider_message_ids.len() > 1;
        if is_worth_keeping && !keep_progress(deliveries, sending, index + 1, &sent.provider_message_ids).await {
            // The last step was acknowledged all the same: a late success is still information.
            if index + 1 < count {
                return Ok(None);
            }
        }
    }
    let meta = (ids.len() > 1).then(|| json!({ "provider_message_ids": ids }));
    let first = ids.into_iter().next().unwrap_or_default();
    Ok(Some(DeliveryOutcome::Sent { provider_message_id: first, sent_at: deliveries.db.clock().now(), meta }))
}

/// An edit or a deletion of what an earlier delivery brought.
async fn follow(
    messenger: &Messenger,
    channel: &Channel,
    sending: &SendingDelivery,
    rendered: &Rendered,
    is_deletion: bool,
) -> Result<String, AdapterError> {
    let follows: Option<Follows> = sending.follows.clone().and_then(|value| serde_json::from_value(value).ok());
    let nothing = || permanent(ErrorKind::NotFound, "nothing_to_change", "the post never arrived in this channel".to_owned());
    let follows = follows.ok_or_else(nothing)?;
    let first = follows.provider_message_id.ok_or_else(nothing)?;
    let ids = follows.progress.map(|progress| progress.provider_message_ids).filter(|ids| !ids.is_empty());
    let ids = ids.unwrap_or_else(|| vec![first.clone()]);
    if is_deletion {
        for id in &ids {
            messenger.delete(channel, id).await?;
        }
    } else {
        let has_media = follows.steps.and_then(|steps| steps.into_iter().next()).is_some_and(|step| !step.media.is_empty());
        let text = sending.rendered_text.as_deref().unwrap_or_default();
        let meta = meta(sending, rendered, true);
        if has_media {
            messenger.edit_caption(channel, &first, text, &meta).await?;
        } else {
            messenger.edit_text(channel, &first, text, &meta).await?;
        }
    }
    Ok(first)
}

fn meta(sending: &SendingDelivery, rendered: &Rendered, has_text: bool) -> Meta {
    Meta {
        parse_mode: rendered.parse_mode,
        disable_preview: rendered.disable_preview,
        is_silent: rendered.silent,
        // Buttons stand with the text; an album that follows it cannot carry them.
        buttons: if has_text { rendered.buttons.clone() } else { Buttons::new() },
        trace_id: sending.trace_id.clone().unwrap_or_default(),
        idempotency_key: sending.delivery_id.to_string(),
        ..Meta::default()
    }
}

/// Tries for a while: forgetting an acknowledged step would mean sending it again. To record the same step twice changes nothing.
async fn keep_progress(deliveries: &Deliveries, sending: &SendingDelivery, steps_done: usize, ids: &[String]) -> bool {
    let steps_done = i32::try_from(steps_done).unwrap_or(i32::MAX);
    let tries = async {
        let mut pause = Duration::from_millis(50);
        loop {
            let recorded = store::record_progress(deliveries.db.pool(), sending, steps_done, ids);
            match within(PROGRESS_TRY_MAX, recorded).await {
                Ok(is_held) => return is_held,
                Err(error) => tracing::warn!(%error, delivery.id = %sending.delivery_id, "dispatcher.progress"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    };
    tokio::time::timeout(PROGRESS_MAX, tries).await.unwrap_or(false)
}

async fn repair(deliveries: &Deliveries, sending: &SendingDelivery, sent: &Sent) {
    if let Some(target) = &sent.migrated_to
        && let Err(error) = within(PROGRESS_TRY_MAX, store::repair_target(deliveries.db.pool(), sending, target)).await
    {
        tracing::warn!(%error, channel.id = sending.channel_id, "dispatcher.repair_target");
    }
}

pub(super) fn permanent(kind: ErrorKind, code: &str, message: String) -> AdapterError {
    AdapterError::new(Category::Permanent, ErrorScope::Delivery, kind, code, message)
}

/// Nothing was sent, because the database or the storage did not answer.
pub(super) fn unavailable(error: impl std::fmt::Display) -> AdapterError {
    let message = kernel::redact::snippet(&error.to_string(), 300);
    AdapterError::new(Category::Transient, ErrorScope::Delivery, ErrorKind::Unavailable, "storage_unavailable", message)
}

pub(super) fn workspace(sending: &SendingDelivery) -> WorkspaceId {
    WorkspaceId::from(sending.workspace_id)
}
