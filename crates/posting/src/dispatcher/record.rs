//! Recording what came of each send: successes in batches, failures each in a transaction of its own.

use std::time::Duration;

use kernel::{AdapterError, Category, WorkspaceId};
use platform::outbox::{Finished, retry_until_recorded};
use serde_json::Value;

use super::{Deliveries, send::Outcome};
use crate::store::{self, Sending, Success};

const FAILURES_AT_ONCE: usize = 4;
/// An answer up to this size is whole in its snippet.
const RAW_INLINE_BYTES_MAX: usize = 200;
/// A storage that is away must not delay the result until its lease is over.
const KEEP_RAW_MAX: Duration = Duration::from_secs(2);

pub(super) async fn record(deliveries: &Deliveries, workspace: WorkspaceId, finished: &[Finished<Sending, Outcome>]) {
    let (mut successes, mut failures) = (Vec::new(), Vec::new());
    for Finished { effect, outcome } in finished {
        match outcome {
            Outcome::Sent { provider_message_id, sent_at, meta } => successes.push(Success {
                delivery_id: effect.delivery_id,
                claim_token: effect.claim_token.clone(),
                provider_message_id: provider_message_id.clone(),
                sent_at: *sent_at,
                meta: meta.clone(),
            }),
            Outcome::Failed(error) => failures.push((effect, error)),
        }
    }
    if !successes.is_empty() {
        record_successes(deliveries, workspace, &successes).await;
    }
    for some in failures.chunks(FAILURES_AT_ONCE) {
        futures::future::join_all(some.iter().map(|(sending, error)| record_failure(deliveries, workspace, sending, error)))
            .await;
    }
}

async fn record_successes(deliveries: &Deliveries, workspace: WorkspaceId, successes: &[Success]) {
    let pool = deliveries.db.pool();
    let outcomes = retry_until_recorded("mark_sent_many", || store::mark_sent_many(pool, workspace, successes)).await;
    // A batch that is refused as a whole must not make the others be sent again: then one by one.
    let lost: Vec<_> = match outcomes {
        Some(outcomes) => outcomes.into_iter().filter(|(_, outcome)| outcome == "lost").map(|(id, _)| id).collect(),
        None => successes.iter().map(|success| success.delivery_id).collect(),
    };
    for success in successes.iter().filter(|success| lost.contains(&success.delivery_id)) {
        // The lease was lost, but the message is there: information that the database weighs.
        let outcome = retry_until_recorded("mark_sent", || store::mark_sent(pool, workspace, success)).await;
        tracing::warn!(delivery.id = %success.delivery_id, outcome = outcome.unwrap_or_default(), "dispatcher.late_success");
    }
    metrics::counter!("posting_sent_total").increment(successes.len() as u64);
}

async fn record_failure(deliveries: &Deliveries, workspace: WorkspaceId, sending: &Sending, error: &AdapterError) {
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
async fn keep_raw(deliveries: &Deliveries, workspace: WorkspaceId, sending: &Sending, error: &AdapterError) -> Option<String> {
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
