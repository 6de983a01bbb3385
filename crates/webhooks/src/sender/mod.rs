//! The outbox of webhook deliveries: what the engine claims, sends and records.
//!
//! Which delivery may be sent, and when, is decided by `webhooks.claim_deliveries`; what an answer means, by `webhooks.record_result`.

mod send;

use std::{ops::Range, time::Duration};

use jiff::Timestamp;
use kernel::WorkspaceId;
use outbound::{FetchSettings, Fetcher, SettingsError};
use platform::{
    Db, DbError,
    outbox::{Claimed, Engine, Finished, Outbox, Pace, record_together},
    secrets::Secrets,
    wake::Topic,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    signature::SigningKey,
    store::{self, ClaimedDelivery},
};
use send::SendResult;

pub type WebhookSender = Engine<WebhookDeliveries>;

/// A receiver that takes longer has failed. Together with a second look at the lease it fits into half of it.
const DEADLINE: Duration = Duration::from_secs(15);

/// The fetcher that webhooks are sent with. `allow` are `host:port` pairs of the operator's own network.
pub fn fetcher(allow: Vec<String>) -> Result<Fetcher, SettingsError> {
    // How many are under way at one receiver is decided by the claim: a delivery that waited here would use up its deadline.
    let settings =
        FetchSettings { deadline: DEADLINE, allow, at_once_max: 512, at_once_per_host_max: 512, ..FetchSettings::default() };
    Fetcher::new(settings)
}

/// What deliveries are sent with.
#[derive(Clone, Debug)]
pub struct WebhookDeliveries {
    pub db: Db,
    pub fetcher: Fetcher,
    pub secrets: Secrets,
}

impl Outbox for WebhookDeliveries {
    type Effect = ClaimedDelivery;
    /// The key, and during a rotation the one before it.
    type Prepared = Vec<SigningKey>;
    type Outcome = SendResult;

    const NAME: &'static str = "webhooks";
    /// A module that emits an event also publishes the change on the bus, and rings this bell after the commit.
    const TOPIC: Topic = Topic::BUS;
    /// The bell rings at every change of any module: a look that finds nothing is paid for five times a second at most.
    const PACE: Pace =
        Pace { shortest: Duration::from_millis(200), busy: Duration::from_millis(10), busy_from: 1, claim_max: 64 };
    const LEASE: Duration = Duration::from_secs(40);

    fn db(&self) -> &Db {
        &self.db
    }

    fn effect_id(claimed: &ClaimedDelivery) -> Uuid {
        claimed.delivery_id
    }

    async fn due_workspaces(&self, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
        store::due_workspaces(self.db.pool(), known).await
    }

    async fn claim(&self, workspace: WorkspaceId, token: &str, limit: i32) -> Result<Claimed<ClaimedDelivery>, DbError> {
        let started = store::claim_deliveries(self.db.pool(), workspace, token, limit, Self::LEASE).await?;
        Ok(Claimed { started, slots: Vec::new() })
    }

    async fn next_due_at(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
        store::next_due_at(self.db.pool(), workspace).await
    }

    async fn tidy(&self, workspace: WorkspaceId) -> Result<(), DbError> {
        let freed = store::expire_leases(self.db.pool(), workspace).await?;
        if freed > 0 {
            tracing::warn!(freed, "webhooks.leases_expired");
        }
        Ok(())
    }

    async fn is_held(&self, claimed: &ClaimedDelivery) -> Result<bool, DbError> {
        store::still_held(self.db.pool(), claimed).await
    }

    async fn prepare(&self, claimed: &ClaimedDelivery) -> Result<Vec<SigningKey>, SendResult> {
        let key = async |reference: &str| self.secrets.find(reference).await.and_then(|secret| SigningKey::parse(&secret));
        let mut keys = vec![key(&claimed.secret_ref).await.map_err(|words| SendResult::not_sent(claimed, &words))?];
        if let Some(reference) = &claimed.old_secret_ref {
            // Receivers that have the new one do without it.
            match key(reference).await {
                Ok(old) => keys.push(old),
                Err(words) => tracing::warn!(webhook = claimed.name, words, "webhooks.old_secret"),
            }
        }
        Ok(keys)
    }

    async fn perform(&self, claimed: &ClaimedDelivery, keys: Vec<SigningKey>) -> Option<SendResult> {
        Some(send::perform(self, claimed, &keys).await)
    }

    async fn record(&self, workspace: WorkspaceId, finished: &[Finished<ClaimedDelivery, SendResult>]) {
        let results: Vec<Value> = finished.iter().map(|finished| json!(finished.outcome)).collect();
        let record = |some: Range<usize>| store::record_results(self.db.pool(), workspace, Value::from(&results[some]));
        for (delivery_id, outcome) in record_together("record_results", results.len(), record).await {
            metrics::counter!("webhooks_deliveries_total", "outcome" => outcome.clone()).increment(1);
            if outcome != "delivered" {
                tracing::info!(delivery.id = %delivery_id, outcome, "webhooks.not_delivered");
            }
        }
    }
}
