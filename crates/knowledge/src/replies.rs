//! The outbox of replies: what the bot says in a chat, claimed, sent and recorded by the engine.

use std::time::Duration;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use kernel::{AdapterError, Category, ErrorKind, ErrorScope, WorkspaceId};
use messengers::{Channel, Messengers, Meta};
use platform::{
    Db, DbError,
    outbox::{Claimed, Finished, Outbox, Pace, retry_until_recorded},
    secrets::Secrets,
    wake::Topic,
};
use serde_json::{Value, json};
use uuid::Uuid;

pub const REPLIES: Topic = Topic::new("replies", Duration::from_millis(20));

/// What replies are sent with.
#[derive(Clone, Debug)]
pub struct Replies {
    pub db: Db,
    pub messengers: Messengers,
    pub secrets: Secrets,
}

/// A reply that is being sent.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ClaimedReply {
    reply_id: Uuid,
    provider: String,
    secret_ref: String,
    chat_id: i64,
    thread_id: Option<i32>,
    reply_to_message_id: Option<i32>,
    text: String,
    buttons: Value,
    claim_token: String,
    #[sqlx(skip)]
    workspace: WorkspaceId,
}

impl Outbox for Replies {
    type Effect = ClaimedReply;
    type Prepared = Channel;
    type Outcome = Result<String, AdapterError>;

    const NAME: &'static str = "knowledge";
    const TOPIC: Topic = REPLIES;
    const PACE: Pace = Pace { shortest: Duration::from_millis(20), busy: Duration::from_millis(20), busy_from: 8, claim_max: 16 };
    const LEASE: Duration = Duration::from_mins(1);

    fn db(&self) -> &Db {
        &self.db
    }

    fn effect_id(reply: &ClaimedReply) -> Uuid {
        reply.reply_id
    }

    async fn due_workspaces(&self, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
        let known: Vec<Uuid> = known.iter().map(|workspace| workspace.uuid()).collect();
        let query = sqlx::query_scalar("select knowledge.due_workspaces($1)").bind(known);
        let ids: Vec<Uuid> = query.fetch_all(self.db.pool()).await?;
        Ok(ids.into_iter().map(WorkspaceId::from).collect())
    }

    async fn claim(&self, workspace: WorkspaceId, token: &str, limit: i32) -> Result<Claimed<ClaimedReply>, DbError> {
        let query = sqlx::query_as("select * from knowledge.claim_replies($1, $2, $3, $4 * interval '1 second')")
            .bind(workspace.uuid())
            .bind(token)
            .bind(limit)
            .bind(Self::LEASE.as_secs_f64());
        let started: Vec<ClaimedReply> = query.fetch_all(self.db.pool()).await?;
        Ok(Claimed { started: started.into_iter().map(|reply| ClaimedReply { workspace, ..reply }).collect(), slots: Vec::new() })
    }

    async fn next_due_at(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
        let query = sqlx::query_scalar("select knowledge.next_due_at($1)").bind(workspace.uuid());
        let at: Option<SqlTimestamp> = query.fetch_one(self.db.pool()).await?;
        Ok(at.map(SqlTimestamp::to_jiff))
    }

    async fn tidy(&self, workspace: WorkspaceId) -> Result<(), DbError> {
        sqlx::query("select knowledge.expire_leases($1)").bind(workspace.uuid()).execute(self.db.pool()).await?;
        Ok(())
    }

    async fn is_held(&self, reply: &ClaimedReply) -> Result<bool, DbError> {
        let query = sqlx::query_scalar("select knowledge.still_held($1, $2, $3)");
        let query = query.bind(reply.workspace.uuid()).bind(reply.reply_id).bind(&reply.claim_token);
        Ok(query.fetch_one(self.db.pool()).await?)
    }

    async fn prepare(&self, reply: &ClaimedReply) -> Result<Channel, Result<String, AdapterError>> {
        let missing = |message| {
            // Somebody will mend it; until then it is tried again.
            let kind = ErrorKind::Unauthorized;
            Err(AdapterError::new(Category::Transient, ErrorScope::Channel, kind, "credential_missing", message))
        };
        let token = self.secrets.find(&reply.secret_ref).await.map_err(missing)?;
        // Somebody may have left the group, or had a source forgotten, since the answer was made.
        let query = sqlx::query_scalar("select knowledge.may_tell($1, $2)").bind(reply.workspace.uuid()).bind(reply.reply_id);
        match query.fetch_one(self.db.pool()).await {
            Ok(true) => {}
            Ok(false) => {
                let words = "what the answer rests on is gone, or its reader may not see it any more";
                return Err(Err(AdapterError::new(
                    Category::Permanent,
                    ErrorScope::Delivery,
                    ErrorKind::Forbidden,
                    "audience_changed",
                    words,
                )));
            }
            Err(error) => {
                let words = DbError::from(error).to_string();
                return Err(Err(AdapterError::new(
                    Category::Transient,
                    ErrorScope::Delivery,
                    ErrorKind::Unavailable,
                    "database",
                    words,
                )));
            }
        }
        Ok(Channel { target_id: reply.chat_id.to_string(), token })
    }

    async fn perform(&self, reply: &ClaimedReply, channel: Channel) -> Option<Result<String, AdapterError>> {
        let messenger = match self.messengers.of(&reply.provider) {
            Ok(messenger) => messenger,
            Err(error) => return Some(Err(error)),
        };
        let meta = Meta {
            disable_preview: true,
            thread_id: reply.thread_id.map(Into::into),
            reply_to_message_id: reply.reply_to_message_id.map(Into::into),
            buttons: serde_json::from_value(reply.buttons.clone()).unwrap_or_default(),
            ..Meta::default()
        };
        Some(messenger.send_text(&channel, &reply.text, &meta).await.map(|sent| sent.provider_message_id))
    }

    async fn record(&self, workspace: WorkspaceId, finished: &[Finished<ClaimedReply, Result<String, AdapterError>>]) {
        for Finished { effect: reply, outcome } in finished {
            let error: Option<Value> = outcome.as_ref().err().map(|error| json!(error));
            let recorded = retry_until_recorded("knowledge.record_reply", async || {
                let query = sqlx::query_scalar("select knowledge.record_reply($1, $2, $3, $4, $5)")
                    .bind(workspace.uuid())
                    .bind(reply.reply_id)
                    .bind(&reply.claim_token)
                    .bind(outcome.as_ref().ok())
                    .bind(&error);
                Ok(query.fetch_one(self.db.pool()).await?)
            });
            let outcome: String = recorded.await.unwrap_or_else(|| "unrecorded".to_owned());
            metrics::counter!("knowledge_replies_total", "outcome" => outcome).increment(1);
        }
        self.db.wake().tell(Topic::BUS);
    }
}
