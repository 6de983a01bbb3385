//! The outbox of echoes: what the engine claims, sends and records.

use std::time::Duration;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use kernel::{AdapterError, Category, WorkspaceId};
use messengers::{Channel, Messengers, Meta};
use platform::{
    Db, DbError,
    outbox::{Claimed, Finished, Outbox, Pace, retry_until_recorded},
    secrets::Secrets,
    wake::Topic,
};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const ECHOES: Topic = Topic::new("echoes", Duration::from_millis(20));

/// What echoes are sent with.
#[derive(Clone, Debug)]
pub(crate) struct Echoes {
    pub(crate) db: Db,
    pub(crate) messengers: Messengers,
    pub(crate) secrets: Secrets,
}

/// An echo that is being sent.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct ClaimedEcho {
    echo_id: Uuid,
    provider: String,
    secret_ref: String,
    chat_id: String,
    text: String,
    claim_token: String,
    #[sqlx(skip)]
    workspace: WorkspaceId,
}

impl Outbox for Echoes {
    type Effect = ClaimedEcho;
    type Prepared = Channel;
    type Outcome = Result<(), AdapterError>;

    const NAME: &'static str = "echobot";
    const TOPIC: Topic = ECHOES;
    const PACE: Pace = Pace { shortest: Duration::from_millis(20), busy: Duration::from_millis(20), busy_from: 8, claim_max: 16 };
    const LEASE: Duration = Duration::from_mins(1);

    fn db(&self) -> &Db {
        &self.db
    }

    fn effect_id(echo: &ClaimedEcho) -> Uuid {
        echo.echo_id
    }

    async fn due_workspaces(&self, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
        let known: Vec<Uuid> = known.iter().map(|workspace| workspace.uuid()).collect();
        let query = sqlx::query_scalar("select echobot.due_workspaces($1)").bind(known);
        let ids: Vec<Uuid> = query.fetch_all(self.db.pool()).await?;
        Ok(ids.into_iter().map(WorkspaceId::from).collect())
    }

    async fn claim(&self, workspace: WorkspaceId, token: &str, limit: i32) -> Result<Claimed<ClaimedEcho>, DbError> {
        let query = sqlx::query_as("select * from echobot.claim_echoes($1, $2, $3, $4 * interval '1 second')")
            .bind(workspace.uuid())
            .bind(token)
            .bind(limit)
            .bind(Self::LEASE.as_secs_f64());
        let started: Vec<ClaimedEcho> = query.fetch_all(self.db.pool()).await?;
        Ok(Claimed { started: started.into_iter().map(|echo| ClaimedEcho { workspace, ..echo }).collect(), slots: Vec::new() })
    }

    async fn next_due_at(&self, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
        let query = sqlx::query_scalar("select echobot.next_due_at($1)").bind(workspace.uuid());
        let at: Option<SqlTimestamp> = query.fetch_one(self.db.pool()).await?;
        Ok(at.map(SqlTimestamp::to_jiff))
    }

    async fn tidy(&self, workspace: WorkspaceId) -> Result<(), DbError> {
        sqlx::query("select echobot.expire_leases($1)").bind(workspace.uuid()).execute(self.db.pool()).await?;
        Ok(())
    }

    async fn is_held(&self, echo: &ClaimedEcho) -> Result<bool, DbError> {
        let query = sqlx::query_scalar("select echobot.still_held($1, $2, $3)");
        let query = query.bind(echo.workspace.uuid()).bind(echo.echo_id).bind(&echo.claim_token);
        Ok(query.fetch_one(self.db.pool()).await?)
    }

    async fn prepare(&self, echo: &ClaimedEcho) -> Result<Channel, Result<(), AdapterError>> {
        let missing = |message| Err(AdapterError::credential_missing(Category::Permanent, message));
        let token = self.secrets.find(&echo.secret_ref).await.map_err(missing)?;
        Ok(Channel { target_id: echo.chat_id.clone(), token })
    }

    async fn perform(&self, echo: &ClaimedEcho, channel: Channel) -> Option<Result<(), AdapterError>> {
        let messenger = match self.messengers.of(&echo.provider) {
            Ok(messenger) => messenger,
            Err(error) => return Some(Err(error)),
        };
        Some(messenger.send_text(&channel, &echo.text, &Meta::default()).await.map(drop))
    }

    async fn record(&self, workspace: WorkspaceId, finished: &[Finished<ClaimedEcho, Result<(), AdapterError>>]) {
        for Finished { effect: echo, outcome } in finished {
            let error: Option<Value> = outcome.as_ref().err().map(|error| json!(error));
            let recorded = retry_until_recorded("echobot.record_result", async || {
                let query = sqlx::query_scalar("select echobot.record_result($1, $2, $3, $4)");
                let query = query.bind(workspace.uuid()).bind(echo.echo_id).bind(&echo.claim_token).bind(&error);
                Ok(query.fetch_one(self.db.pool()).await?)
            });
            let outcome: String = recorded.await.unwrap_or_else(|| "unrecorded".to_owned());
            metrics::counter!("echobot_echoes_total", "outcome" => outcome).increment(1);
        }
        self.db.wake().tell(Topic::BUS);
    }
}
