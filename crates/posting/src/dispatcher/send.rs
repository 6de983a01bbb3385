//! Sending one delivery: its steps in order, each acknowledged one recorded before the next begins.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use kernel::{AdapterError, Category, ErrorScope, WorkspaceId};
use messengers::{Buttons, Channel, Messenger, Meta, ParseMode, Sent};
use platform::failpoint;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tools, media};
use crate::store::{self, Sending};

/// A worker that was stopped for longer than this asks whether the delivery is still its own before it touches the network.
const TRUST_CLAIM_FOR: Duration = Duration::from_secs(2);

pub(super) enum Outcome {
    Sent {
        provider_message_id: String,
        sent_at: Timestamp,
        meta: Option<Value>,
    },
    Failed(AdapterError),
    /// Somebody else has it now: there is nothing to record.
    Lost,
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
    steps: Vec<Step>,
    #[serde(default)]
    series_progress: Progress,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Step {
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
    steps: Option<Vec<Step>>,
}

fn one_text() -> Vec<Step> {
    vec![Step { text: true, media: Vec::new() }]
}

pub(super) async fn perform(tools: &Tools, sending: &Sending, started_at: Instant) -> Outcome {
    match attempt(tools, sending, started_at).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome::Failed(error),
    }
}

async fn attempt(tools: &Tools, sending: &Sending, started_at: Instant) -> Result<Outcome, AdapterError> {
    let messenger = if sending.platform == "max" { &tools.max } else { &tools.telegram };
    let token = tools.credentials.token(&tools.db, sending).await?;
    let channel = Channel { target_id: sending.target_id.clone(), token };
    let rendered: Rendered = serde_json::from_value(sending.render_meta.clone())
        .map_err(|error| permanent("render_meta", format!("what was rendered cannot be read: {error}")))?;
    failpoint::hit("posting.before_send");
    if started_at.elapsed() > TRUST_CLAIM_FOR && !store::still_held(tools.db.pool(), sending).await.map_err(unavailable)? {
        return Ok(Outcome::Lost);
    }
    match sending.operation.as_str() {
        "send" => send(tools, messenger, &channel, sending, rendered).await,
        operation => {
            let now = tools.db.clock().now();
            let id = follow(messenger, &channel, sending, &rendered, operation == "delete").await?;
            Ok(Outcome::Sent { provider_message_id: id, sent_at: now, meta: None })
        }
    }
}

async fn send(
    tools: &Tools,
    messenger: &Messenger,
    channel: &Channel,
    sending: &Sending,
    rendered: Rendered,
) -> Result<Outcome, AdapterError> {
    let mut ids = rendered.series_progress.provider_message_ids.clone();
    let count = rendered.steps.len();
    for (index, step) in rendered.steps.iter().enumerate().skip(rendered.series_progress.sent_items) {
        let text = sending.rendered_text.as_deref().filter(|_| step.text);
        let meta = meta(sending, &rendered, step.text);
        let sent = if step.media.is_empty() {
            messenger.send_text(channel, text.unwrap_or_default(), &meta).await?
        } else {
            media::send(&media::Call { tools, messenger, channel, sending }, step, text, &meta).await?
        };
        failpoint::hit("posting.acknowledged");
        repair(tools, sending, &sent).await;
        ids.extend(sent.provider_message_ids.iter().cloned());
        let is_worth_keeping = count > 1 || sent.provider_message_ids.len() > 1;
        if is_worth_keeping && !keep_progress(tools, sending, index + 1, &sent.provider_message_ids).await {
            // The last step was acknowledged all the same: a late success is still information.
            if index + 1 < count {
                return Ok(Outcome::Lost);
            }
        }
    }
    let meta = (ids.len() > 1).then(|| json!({ "provider_message_ids": ids }));
    let first = ids.into_iter().next().unwrap_or_default();
    Ok(Outcome::Sent { provider_message_id: first, sent_at: tools.db.clock().now(), meta })
}

/// An edit or a deletion of what an earlier delivery brought.
async fn follow(
    messenger: &Messenger,
    channel: &Channel,
    sending: &Sending,
    rendered: &Rendered,
    is_deletion: bool,
) -> Result<String, AdapterError> {
    let follows: Option<Follows> = sending.follows.clone().and_then(|value| serde_json::from_value(value).ok());
    let nothing = || permanent("nothing_to_change", "the post never arrived in this channel".to_owned());
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

fn meta(sending: &Sending, rendered: &Rendered, has_text: bool) -> Meta {
    Meta {
        parse_mode: rendered.parse_mode,
        disable_preview: rendered.disable_preview,
        is_silent: rendered.silent,
        // Buttons stand with the text; an album that follows it cannot carry them.
        buttons: if has_text { rendered.buttons.clone() } else { Buttons::new() },
        trace_id: sending.trace_id.clone().unwrap_or_default(),
        idempotency_key: sending.delivery_id.to_string(),
    }
}

/// Tries for a while: forgetting an acknowledged step would mean sending it again.
async fn keep_progress(tools: &Tools, sending: &Sending, steps_done: usize, ids: &[String]) -> bool {
    let steps_done = i32::try_from(steps_done).unwrap_or(i32::MAX);
    let mut pause = Duration::from_millis(50);
    for _ in 0..10 {
        match store::record_progress(tools.db.pool(), sending, steps_done, ids).await {
            Ok(is_held) => return is_held,
            Err(error) => tracing::warn!(%error, delivery.id = %sending.delivery_id, "dispatcher.progress"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
    false
}

async fn repair(tools: &Tools, sending: &Sending, sent: &Sent) {
    if let Some(target) = &sent.migrated_to
        && let Err(error) = store::repair_target(tools.db.pool(), sending, target).await
    {
        tracing::warn!(%error, channel.id = sending.channel_id, "dispatcher.repair_target");
    }
}

pub(super) fn permanent(code: &str, message: String) -> AdapterError {
    AdapterError {
        category: Category::Permanent,
        scope: ErrorScope::Delivery,
        code: code.to_owned(),
        retry_after_ms: None,
        message,
        raw: Value::Null,
        outcome_unknown: false,
    }
}

/// Nothing was sent, because the database or the storage did not answer.
pub(super) fn unavailable(error: impl std::fmt::Display) -> AdapterError {
    AdapterError {
        category: Category::Transient,
        code: "storage_unavailable".to_owned(),
        message: kernel::redact::snippet(&error.to_string(), 300),
        ..permanent("", String::new())
    }
}

pub(super) fn workspace(sending: &Sending) -> WorkspaceId {
    WorkspaceId::from(sending.workspace_id)
}
