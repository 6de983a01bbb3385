//! The outbox of deliveries: what the engine claims, sends and records for posting.
//!
//! Which delivery may be sent, where and when is decided by `posting.claim_deliveries` and `posting.start_sending`.

mod credentials;
mod media;
mod record;
mod send;

use std::time::Duration;

use jiff::Timestamp;
use kernel::WorkspaceId;
use messengers::Messengers;
use outbound::Fetcher;
use platform::{
    Db, DbError,
    objects::Objects,
    outbox::{Claimed, Engine, Finished, Outbox, Pace},
    wake::Topic,
};
use uuid::Uuid;

pub use credentials::Credentials;

use crate::store::{self, SendingDelivery};
use send::{DeliveryOutcome, ReadyToSend};

pub type Dispatcher = Engine<Deliveries>;

/// What deliveries are sent with.
#[derive(Clone, Debug)]
pub struct Deliveries {
    pub db: Db,
    pub messengers: Messengers,
    pub objects: Objects,
    pub fetcher: Fetcher,
    pub credentials: Credentials,
}

impl Outbox for Deliveries {
    type Effect = SendingDelivery;
    type Prepared = ReadyToSend;
    type Outcome = DeliveryOutcome;

    const NAME: &'static str = "posting";
    const TOPIC: Topic = crate::DELIVERIES;
    const PACE: Pace =
        Pace { shortest: Duration::from_millis(15), busy: Duration::from_millis(40), busy_from: 64, claim_max: 256 };
    /// The default of the policy's `sending_lease_seconds`.
    const LEASE: Duration = Duration::from_mins(5);

    fn db(&self) -> &Db {
        &self.db
    }

    fn effect_id(sending: &SendingDelivery) -> Uuid {
        sending.delivery_id
    }

    async fn due_workspaces(&self, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
        store::due_workspaces(self.db.pool(), known).await
    }

    /// Claims and starts are two transactions: an update of a row that the same transaction has updated would check its foreign
    /// keys again.
    async fn claim(&self, workspace: WorkspaceId, token: &str, limit: i32) -> Result<Claimed<SendingDelivery>, DbError> {
        let slots = store::claim_deliveries(self.db.pool(), workspace, token, limit).await?;
        Ok(Claimed { started: Vec::new(), slots })
    }

    async fn start(&self, workspace: WorkspaceId, token: &str, ids: &[Uuid]) -> Result<Vec<SendingDelivery>, DbError> {
        let limit = i32::try_from(ids.len()).unwrap_or(i32::MAX);
        store::start_sending(self.db.pool(), workspace, token, limit, ids).await
    }

    async fn next_due_at(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
        store::next_due_at(self.db.pool(), workspace).await
    }

    /// Keeps what is known of the beginnings of the queues no older than a second.
    async fn tidy(&self, workspace: WorkspaceId) -> Result<(), DbError> {
        store::find_heads(self.db.pool(), workspace).await
    }

    async fn is_held(&self, sending: &SendingDelivery) -> Result<bool, DbError> {
        store::still_held(self.db.pool(), sending).await
    }

    async fn prepare(&self, sending: &SendingDelivery) -> Result<ReadyToSend, DeliveryOutcome> {
        send::prepare(self, sending).await.map_err(DeliveryOutcome::Failed)
    }

    async fn perform(&self, sending: &SendingDelivery, ready: ReadyToSend) -> Option<DeliveryOutcome> {
        send::perform(self, sending, ready).await
    }

    async fn record(&self, workspace: WorkspaceId, finished: &[Finished<SendingDelivery, DeliveryOutcome>]) {
        record::record(self, workspace, finished).await;
    }

    async fn beat(&self, worker: &str) -> Result<(), DbError> {
        store::beat(self.db.pool(), worker).await
    }

    async fn release(&self, workspace: WorkspaceId, ids: &[Uuid], tokens: &[String]) -> Result<(), DbError> {
        store::give_back(self.db.pool(), workspace, ids, tokens).await
    }
}
