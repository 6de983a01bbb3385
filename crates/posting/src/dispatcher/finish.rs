//! Recording what came of each send. One task gathers results while the last batch is being written, so the busier it
//! is, the more results share a commit. A result is kept until the database has it: losing one would mean sending again.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use kernel::{AdapterError, Category, WorkspaceId};
use platform::{Db, db::insist, failpoint, objects::Objects, wake::Topic};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{Dispatcher, Tools, send::Outcome};
use crate::store::{self, Sending, Success};

const BATCH_MAX: usize = 500;
/// Failures are recorded one by one, each in its own transaction, this many at once.
const FAILURES_AT_ONCE: usize = 4;
/// While much is under way, a commit waits this long for more results to share it.
const GATHER_FOR: Duration = Duration::from_millis(10);
/// An answer up to this size is whole in its snippet.
const RAW_INLINE_BYTES_MAX: usize = 200;

pub(super) struct Finish {
    pub(super) sending: Sending,
    pub(super) outcome: Outcome,
    pub(super) place: Arc<AtomicUsize>,
}

pub(super) struct Finisher {
    db: Db,
    objects: Objects,
}

type Results = (mpsc::UnboundedSender<Finish>, mpsc::UnboundedReceiver<Finish>);

impl Finisher {
    pub(super) fn new(tools: &Tools) -> (Self, Results) {
        (Self { db: tools.db.clone(), objects: tools.objects.clone() }, mpsc::unbounded_channel())
    }

    pub(super) async fn run(self, dispatcher: Dispatcher, mut results: mpsc::UnboundedReceiver<Finish>) {
        let mut batch = Vec::new();
        while results.recv_many(&mut batch, BATCH_MAX).await > 0 {
            if batch.len() < BATCH_MAX / 4 && dispatcher.is_busy() {
                tokio::time::sleep(GATHER_FOR).await;
                while batch.len() < BATCH_MAX
                    && let Ok(finish) = results.try_recv()
                {
                    batch.push(finish);
                }
            }
            failpoint::hit("posting.sent_not_recorded");
            let mut by_workspace: BTreeMap<WorkspaceId, Vec<Finish>> = BTreeMap::new();
            for finish in batch.drain(..) {
                by_workspace.entry(WorkspaceId::from(finish.sending.workspace_id)).or_default().push(finish);
            }
            let writes = by_workspace.iter().map(|(workspace, finishes)| self.record(*workspace, finishes));
            futures::future::join_all(writes).await;
            failpoint::hit("posting.recorded");
            by_workspace.values().flatten().for_each(|finish| dispatcher.done(&finish.place));
            self.db.wake().tell(Topic::Bus);
        }
    }

    /// Records the results of one workspace, again and again while the database is away.
    async fn record(&self, workspace: WorkspaceId, finishes: &[Finish]) {
        let successes: Vec<Success> = finishes.iter().filter_map(success).collect();
        if !successes.is_empty() {
            let outcomes = insist("mark_sent_many", || store::mark_sent_many(self.db.pool(), workspace, &successes)).await;
            // A batch that is refused as a whole must not make the others be sent again: then one by one.
            let outcomes =
                outcomes.unwrap_or_else(|| successes.iter().map(|success| (success.delivery_id, "lost".to_owned())).collect());
            for (delivery_id, outcome) in outcomes {
                if let Some(success) = successes.iter().find(|success| outcome == "lost" && success.delivery_id == delivery_id) {
                    self.record_late(workspace, success).await;
                }
            }
            metrics::counter!("posting_sent_total").increment(successes.len() as u64);
        }
        let failures: Vec<(&Sending, &AdapterError)> = finishes.iter().filter_map(failure).collect();
        for some in failures.chunks(FAILURES_AT_ONCE) {
            futures::future::join_all(some.iter().map(|(sending, error)| self.record_failure(workspace, sending, error))).await;
        }
    }

    /// The lease was lost, but the message is there: information that the database weighs.
    async fn record_late(&self, workspace: WorkspaceId, success: &Success) {
        let outcome = insist("mark_sent", || store::mark_sent(self.db.pool(), workspace, success)).await;
        tracing::warn!(delivery.id = %success.delivery_id, outcome = outcome.unwrap_or_default(), "dispatcher.late_success");
    }

    async fn record_failure(&self, workspace: WorkspaceId, sending: &Sending, error: &AdapterError) {
        let mut json = serde_json::to_value(error).unwrap_or(Value::Null);
        if let Some(payload_ref) = self.keep_raw(workspace, sending, error).await {
            json["payload_ref"] = payload_ref.into();
        }
        let (id, token) = (sending.delivery_id, sending.claim_token.as_str());
        let status = match error.category {
            Category::Transient => {
                insist("schedule_retry", || store::schedule_retry(self.db.pool(), workspace, id, &json, token)).await
            }
            Category::Permanent => {
                insist("fail_permanent", || store::fail_permanent(self.db.pool(), workspace, id, &json, token)).await
            }
        };
        let status = status.unwrap_or_else(|| "unrecorded".to_owned());
        metrics::counter!("posting_failed_total", "status" => status.clone(), "platform" => sending.platform.clone())
            .increment(1);
        tracing::info!(
            delivery.id = %id, channel.id = sending.channel_id, attempt = sending.attempt, error.code = error.code, status,
            "dispatcher.failed"
        );
    }

    /// The journal has room for a snippet; the whole answer goes to object storage and is named there.
    async fn keep_raw(&self, workspace: WorkspaceId, sending: &Sending, error: &AdapterError) -> Option<String> {
        let raw = serde_json::to_vec(&error.raw).ok().filter(|raw| raw.len() > RAW_INLINE_BYTES_MAX)?;
        let key = format!("raw/{}-{}.json", sending.delivery_id, sending.attempt);
        match self.objects.put(workspace, &key, raw.into()).await {
            Ok(()) => Some(key),
            Err(error) => {
                tracing::warn!(%error, delivery.id = %sending.delivery_id, "dispatcher.keep_raw");
                None
            }
        }
    }
}

fn success(finish: &Finish) -> Option<Success> {
    let Outcome::Sent { provider_message_id, sent_at, meta } = &finish.outcome else { return None };
    Some(Success {
        delivery_id: finish.sending.delivery_id,
        claim_token: finish.sending.claim_token.clone(),
        provider_message_id: provider_message_id.clone(),
        sent_at: *sent_at,
        meta: meta.clone(),
    })
}

fn failure(finish: &Finish) -> Option<(&Sending, &AdapterError)> {
    match &finish.outcome {
        Outcome::Failed(error) => Some((&finish.sending, error)),
        _ => None,
    }
}
