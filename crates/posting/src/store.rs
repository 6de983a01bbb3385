//! One function per SQL function, with its name. Nothing here decides anything.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use kernel::WorkspaceId;
use platform::{DbError, door::Admission};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

/// A delivery that is being sent, with everything an adapter needs.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SendingDelivery {
    pub(crate) workspace_id: Uuid,
    pub(crate) delivery_id: Uuid,
    pub(crate) channel_id: String,
    pub(crate) attempt: i32,
    pub(crate) claim_token: String,
    pub(crate) operation: String,
    pub(crate) rendered_text: Option<String>,
    pub(crate) render_meta: Value,
    pub(crate) trace_id: Option<String>,
    pub(crate) platform: String,
    pub(crate) target_id: String,
    pub(crate) auth_ref: String,
    pub(crate) media: Option<Value>,
    pub(crate) follows: Option<Value>,
}

/// Claims what is due: each delivery with the time of its slot.
pub(crate) async fn claim_deliveries(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    run_id: &str,
    limit: i32,
) -> Result<Vec<(Timestamp, Uuid)>, DbError> {
    let query = "select not_before, delivery_id from posting.claim_deliveries($1, $2, $3)";
    let rows: Vec<(SqlTimestamp, Uuid)> =
        sqlx::query_as(query).bind(workspace.uuid()).bind(run_id).bind(limit).fetch_all(db).await?;
    Ok(rows.into_iter().map(|(slot, id)| (slot.to_jiff(), id)).collect())
}

/// Looks where the queue of each channel begins.
pub(crate) async fn find_heads(db: impl PgExecutor<'_>, workspace: WorkspaceId) -> Result<(), DbError> {
    sqlx::query("select posting.find_heads($1)").bind(workspace.uuid()).execute(db).await?;
    Ok(())
}

pub(crate) async fn start_sending(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    run_id: &str,
    limit: i32,
    ids: &[Uuid],
) -> Result<Vec<SendingDelivery>, DbError> {
    let query = "select * from posting.start_sending($1, $2, $3, $4)";
    Ok(sqlx::query_as(query).bind(workspace.uuid()).bind(run_id).bind(limit).bind(ids).fetch_all(db).await?)
}

pub(crate) async fn due_workspaces(db: impl PgExecutor<'_>, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
    let known: Vec<Uuid> = known.iter().map(|workspace| workspace.uuid()).collect();
    let ids: Vec<Uuid> = sqlx::query_scalar("select posting.due_workspaces($1)").bind(known).fetch_all(db).await?;
    Ok(ids.into_iter().map(WorkspaceId::from).collect())
}

pub(crate) async fn next_due_at(db: impl PgExecutor<'_>, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
    let at: Option<SqlTimestamp> =
        sqlx::query_scalar("select posting.next_due_at($1)").bind(workspace.uuid()).fetch_one(db).await?;
    Ok(at.map(SqlTimestamp::to_jiff))
}

/// A success, on its way into the database.
#[derive(Clone, Debug)]
pub(crate) struct SentDelivery {
    pub(crate) delivery_id: Uuid,
    pub(crate) claim_token: String,
    pub(crate) provider_message_id: String,
    pub(crate) sent_at: Timestamp,
    pub(crate) meta: Option<Value>,
}

/// Records one success whose lease may be lost: `sent`, `late`, `repeated`, `possible_duplicate` or `unknown`.
pub(crate) async fn mark_sent(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    success: &SentDelivery,
) -> Result<String, DbError> {
    let query = "select posting.mark_sent($1, $2, $3, $4, $5, $6)";
    let row = sqlx::query_scalar(query)
        .bind(workspace.uuid())
        .bind(success.delivery_id)
        .bind(&success.provider_message_id)
        .bind(jiff_sqlx::ToSqlx::to_sqlx(success.sent_at))
        .bind(&success.meta)
        .bind(&success.claim_token);
    Ok(row.fetch_one(db).await?)
}

/// Records successes and says of each whether it was `sent` or its lease `lost`.
pub(crate) async fn mark_sent_many(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    successes: &[SentDelivery],
) -> Result<Vec<(Uuid, String)>, DbError> {
    let query = "select delivery_id, outcome from posting.mark_sent_many($1, $2, $3, $4, $5, $6)";
    let rows = sqlx::query_as(query)
        .bind(workspace.uuid())
        .bind(successes.iter().map(|success| success.delivery_id).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| success.provider_message_id.clone()).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| jiff_sqlx::ToSqlx::to_sqlx(success.sent_at)).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| success.meta.clone()).collect::<Vec<_>>())
        .bind(successes.iter().map(|success| success.claim_token.clone()).collect::<Vec<_>>())
        .fetch_all(db)
        .await?;
    Ok(rows)
}

/// Returns `retry`, `dead`, `failed_permanent`, or `lost` when the claim no longer holds.
pub(crate) async fn schedule_retry(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    delivery_id: Uuid,
    error: &Value,
    claim_token: &str,
) -> Result<String, DbError> {
    let query = "select posting.schedule_retry($1, $2, null, $3, $4)";
    let row = sqlx::query_scalar(query).bind(workspace.uuid()).bind(delivery_id).bind(error).bind(claim_token);
    Ok(row.fetch_one(db).await?)
}

/// Returns `failed_permanent`, or `lost` when the claim no longer holds.
pub(crate) async fn fail_permanent(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    delivery_id: Uuid,
    error: &Value,
    claim_token: &str,
) -> Result<String, DbError> {
    let query = "select posting.fail_permanent($1, $2, $3, $4)";
    let row = sqlx::query_scalar(query).bind(workspace.uuid()).bind(delivery_id).bind(error).bind(claim_token);
    Ok(row.fetch_one(db).await?)
}

/// Keeps the progress of a series; false when the claim no longer holds.
pub(crate) async fn record_progress(
    db: impl PgExecutor<'_>,
    sending: &SendingDelivery,
    steps_done: i32,
    provider_message_ids: &[String],
) -> Result<bool, DbError> {
    let query = "select posting.record_progress($1, $2, $3, $4, $5)";
    let row = sqlx::query_scalar(query)
        .bind(sending.workspace_id)
        .bind(sending.delivery_id)
        .bind(&sending.claim_token)
        .bind(steps_done)
        .bind(provider_message_ids);
    Ok(row.fetch_one(db).await?)
}

pub(crate) async fn still_held(db: impl PgExecutor<'_>, sending: &SendingDelivery) -> Result<bool, DbError> {
    let query = "select posting.still_held($1, $2, $3)";
    let row = sqlx::query_scalar(query).bind(sending.workspace_id).bind(sending.delivery_id).bind(&sending.claim_token);
    Ok(row.fetch_one(db).await?)
}

pub(crate) async fn repair_target(db: impl PgExecutor<'_>, sending: &SendingDelivery, target_id: &str) -> Result<(), DbError> {
    sqlx::query("select posting.repair_target($1, $2, $3)")
        .bind(sending.workspace_id)
        .bind(&sending.channel_id)
        .bind(target_id)
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn beat(db: impl PgExecutor<'_>, name: &str) -> Result<(), DbError> {
    sqlx::query("select posting.beat($1)").bind(name).execute(db).await?;
    Ok(())
}

pub(crate) async fn give_back(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    ids: &[Uuid],
    tokens: &[String],
) -> Result<(), DbError> {
    sqlx::query("select posting.give_back($1, $2, $3)").bind(workspace.uuid()).bind(ids).bind(tokens).execute(db).await?;
    Ok(())
}

/// Gives back what dead or stopped workers hold; how many deliveries that were.
pub(crate) async fn expire_leases(db: impl PgExecutor<'_>) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select posting.expire_leases()").fetch_one(db).await?)
}

/// Where the secret behind an `auth_ref` is kept.
pub(crate) async fn secret_ref(
    db: impl PgExecutor<'_>,
    workspace: Uuid,
    auth_ref: &str,
    platform: &str,
) -> Result<Option<String>, DbError> {
    let query = "select secret_ref from posting.credential_bindings where workspace_id = $1 and auth_ref = $2 and platform = $3";
    Ok(sqlx::query_scalar(query).bind(workspace).bind(auth_ref).bind(platform).fetch_optional(db).await?)
}

/// Writes down what the door refused, if it is time to.
pub(crate) async fn note_refusal(db: impl PgExecutor<'_>, admission: &Admission, bytes: u64) -> Result<(), DbError> {
    if admission.refused.is_some() {
        sqlx::query("select posting.note_refusal($1, $2, $3, $4, $5)")
            .bind(admission.workspace_id)
            .bind(admission.endpoint_id)
            .bind(&admission.verdict)
            .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
            .bind(admission.refused)
            .execute(db)
            .await?;
    }
    Ok(())
}

/// Looks at a post before anything costly is done for it; see the SQL for what comes back.
pub(crate) async fn look_at_post(
    tx: &mut PgConnection,
    workspace: Uuid,
    endpoint: Uuid,
    payload: &Value,
) -> Result<Value, DbError> {
    let query = "select posting.look_at_post($1, $2, $3)";
    Ok(sqlx::query_scalar(query).bind(workspace).bind(endpoint).bind(payload).fetch_one(tx).await?)
}

/// A post that an endpoint took.
#[derive(Debug)]
pub(crate) struct NewPost {
    pub(crate) workspace: Uuid,
    pub(crate) endpoint_id: Uuid,
    pub(crate) payload: Value,
    /// The hash of what was sent, where the payload has changed since.
    pub(crate) payload_hash: Option<String>,
}

pub(crate) async fn enqueue_messages_and_deliveries(tx: &mut PgConnection, post: &NewPost) -> Result<Value, DbError> {
    let query = sqlx::query_scalar("select posting.enqueue_messages_and_deliveries($1, $2, 'push', $3, null, $4)")
        .bind(post.workspace)
        .bind(post.endpoint_id)
        .bind(&post.payload)
        .bind(&post.payload_hash);
    Ok(query.fetch_one(tx).await?)
}
