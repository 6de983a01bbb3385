//! Recording what came of each send: successes in batches, failures each in a transaction of its own.

use std::{collections::HashMap, ops::Range, time::Duration};

use kernel::{AdapterError, Category, WorkspaceId};
use platform::outbox::{Finished, record_apart, record_together, retry_until_recorded};
use serde_json::Value;

use super::{Deliveries, send::DeliveryOutcome};
use crate::store::{self, SendingDelivery, SentDelivery};

/// An answer up to this size is whole in its snippet.
const RAW_INLINE_BYTES_MAX: usize = 200;
/// A storage that is away must not delay the result until its lease is over.
const KEEP_RAW_MAX: Duration = Duration::from_secs(2);

pub(super) async fn record(
    deliveries: &Deliveries,
    workspace: WorkspaceId,
    finished: &[Finished<SendingDelivery, DeliveryOutcome>],
) {
    record_apart(
        finished,
        |Finished { effect, outcome }| match outcome {
            DeliveryOutcome::Sent { provider_message_id, sent_at, meta } => Ok(SentDelivery {
                delivery_id: effect.delivery_id,
                claim_token: effect.claim_token.clone(),
                provider_message_id: provider_message_id.clone(),
                sent_at: *sent_at,
                meta: meta.clone(),
            }),
            DeliveryOutcome::Failed(error) => Err((effect, error)),
        },
        |successes| record_successes(deliveries, workspace, successes),
        |(sending, error)| record_failure(deliveries, workspace, sending, error),
    )
    .await;
}

async fn record_successes(deliveries: &Deliveries, workspace: WorkspaceId, successes: Vec<SentDelivery>) {
    let pool = deliveries.db.pool();
    let mark = |some: Range<usize>| store::mark_sent_many(pool, workspace, &successes[some]);
    let outcomes: HashMap<_, _> = record_together("mark_sent_many", successes.len(), mark).await.into_iter().collect();
    let is_lost = |success: &&SentDelivery| outcomes.get(&success.delivery_id).is_none_or(|outcome| outcome == "lost");
    for success in successes.iter().filter(is_lost) {
        // The lease was lost, but the message is there: information that the database weighs.
        let outcome = retry_until_recorded("mark_sent", || store::mark_sent(pool, workspace, success)).await;
        tracing::warn!(delivery.id = %success.delivery_id, outcome = outcome.unwrap_or_default(), "dispatcher.late_success");
    }
    metrics::counter!("posting_sent_total").increment(successes.len() as u64);
}

async fn record_failure(deliveries: &Deliveries, workspace: WorkspaceId, sending: &SendingDelivery, error: &AdapterError) {
    let mut json = serde_json::to_value(error).unwrap_or(Value::Null);
    if let Some(payload_ref) = keep_raw(deliveries, workspace, sending, error).await {
        json["payload_ref"] = payload_ref.into();
    }
    let (pool, id, token) = (deliveries.db.pool(), sending.delivery_id, sending.claim_token.as_str());
    let status = match error.category {
        Category::Transient => {
            retry_until_recorded("schedule_retry", || store::schedule_retry(pool, workspace, id, &json, token)).await
        }
        Category::Permanent => {
            retry_until_recorded("fail_permanent", || store::fail_permanent(pool, workspace, id, &json, token)).await
        }
    };
    let status = status.unwrap_or_else(|| "unrecorded".to_owned());
    metrics::counter!("posting_failed_total", "status" => status.clone(), "platform" => sending.platform.clone()).increment(1);
    tracing::info!(
        delivery.id = %id, channel.id = sending.channel_id, attempt = sending.attempt, error.code = error.code, status,
        "dispatcher.failed"
    );
}

/// The journal has room for a snippet; the whole answer goes to object storage and is named there.
async fn keep_raw(
    deliveries: &Deliveries,
    workspace: WorkspaceId,
    sending: &SendingDelivery,
    error: &AdapterError,
) -> Option<String> {
    let raw = serde_json::to_vec(&error.raw).ok().filter(|raw| raw.len() > RAW_INLINE_BYTES_MAX)?;
    let key = format!("raw/{}-{}.json", sending.delivery_id, sending.attempt);
    match tokio::time::timeout(KEEP_RAW_MAX, deliveries.objects.put(workspace, &key, raw.into())).await {
        Ok(Ok(())) => Some(key),
        Ok(Err(error)) => {
            tracing::warn!(%error, delivery.id = %sending.delivery_id, "dispatcher.keep_raw");
            None
        }
        Err(_elapsed) => {
            tracing::warn!(delivery.id = %sending.delivery_id, "dispatcher.keep_raw_slow");
            None
        }
    }
}
