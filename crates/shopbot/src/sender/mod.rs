//! The outbox of answers: what the engine claims, sends and records for the shop bot.
//!
//! Which answer may be sent, and when, is decided by `shopbot.claim_answers`.

mod record;
mod send;

use std::time::Duration;

use jiff::Timestamp;
use kernel::WorkspaceId;
use messengers::{Channel, Messengers};
use platform::{
    Db, DbError,
    outbox::{Claimed, Engine, Finished, Outbox, Pace},
    secrets::Secrets,
    wake::Topic,
};
use uuid::Uuid;

use crate::{
    store::{self, SendingAnswer},
    tokens,
};
use send::AnswerOutcome;

pub type AnswerSender = Engine<Answers>;

/// What answers are sent with.
#[derive(Clone, Debug)]
pub struct Answers {
    pub db: Db,
    pub messengers: Messengers,
    pub secrets: Secrets,
}

impl Outbox for Answers {
    type Effect = SendingAnswer;
    type Prepared = Channel;
    type Outcome = AnswerOutcome;

    const NAME: &'static str = "shopbot";
    const TOPIC: Topic = crate::ANSWERS;
    /// A customer waits for the answer.
    const PACE: Pace = Pace { shortest: Duration::from_millis(5), busy: Duration::from_millis(20), busy_from: 8, claim_max: 128 };
    /// A call to a provider ends within half a minute.
    const LEASE: Duration = Duration::from_mins(1);

    fn db(&self) -> &Db {
        &self.db
    }

    fn effect_id(sending: &SendingAnswer) -> Uuid {
        sending.answer_id
    }

    async fn due_workspaces(&self, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
        store::due_workspaces(self.db.pool(), known).await
    }

    async fn claim(&self, workspace: WorkspaceId, token: &str, limit: i32) -> Result<Claimed<SendingAnswer>, DbError> {
        let started = store::claim_answers(self.db.pool(), workspace, token, limit, Self::LEASE).await?;
        Ok(Claimed { started, slots: Vec::new() })
    }

    async fn next_due_at(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
        store::next_answer_at(self.db.pool(), workspace).await
    }

    async fn is_held(&self, sending: &SendingAnswer) -> Result<bool, DbError> {
        store::still_held(self.db.pool(), sending).await
    }

    async fn prepare(&self, sending: &SendingAnswer) -> Result<Channel, AnswerOutcome> {
        let token = tokens::find(&self.secrets, &sending.secret_ref).await.map_err(AnswerOutcome::Failed)?;
        Ok(Channel { target_id: sending.chat_id.clone(), token })
    }

    async fn perform(&self, sending: &SendingAnswer, channel: Channel) -> Option<AnswerOutcome> {
        Some(send::perform(self, sending, &channel).await.unwrap_or_else(AnswerOutcome::Failed))
    }

    async fn record(&self, _workspace: WorkspaceId, finished: &[Finished<SendingAnswer, AnswerOutcome>]) {
        record::record(&self.db, finished).await;
    }
}
