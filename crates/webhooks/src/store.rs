//! One function per SQL function, with its name. Nothing here decides anything.

use std::time::Duration;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use kernel::WorkspaceId;
use platform::DbError;
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

/// A delivery that is being sent, with everything that is needed for it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ClaimedDelivery {
    pub(crate) delivery_id: Uuid,
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) secret_ref: String,
    pub(crate) old_secret_ref: Option<String>,
    pub(crate) event_id: Uuid,
    pub(crate) body: String,
    pub(crate) attempt: i32,
    pub(crate) claim_token: String,
    #[sqlx(skip)]
    pub(crate) workspace: WorkspaceId,
}

pub(crate) async fn due_workspaces(db: impl PgExecutor<'_>, known: &[WorkspaceId]) -> Result<Vec<WorkspaceId>, DbError> {
    let known: Vec<Uuid> = known.iter().map(|workspace| workspace.uuid()).collect();
    let ids: Vec<Uuid> = sqlx::query_scalar("select webhooks.due_workspaces($1)").bind(known).fetch_all(db).await?;
    Ok(ids.into_iter().map(WorkspaceId::from).collect())
}

pub(crate) async fn claim_deliveries(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    token: &str,
    limit: i32,
    lease: Duration,
) -> Result<Vec<ClaimedDelivery>, DbError> {
    let query = "select * from webhooks.claim_deliveries($1, $2, $3, $4 * interval '1 second')";
    let rows = sqlx::query_as(query).bind(workspace.uuid()).bind(token).bind(limit).bind(lease.as_secs_f64());
    let claimed: Vec<ClaimedDelivery> = rows.fetch_all(db).await?;
    Ok(claimed.into_iter().map(|claimed| ClaimedDelivery { workspace, ..claimed }).collect())
}

pub(crate) async fn next_due_at(db: impl PgExecutor<'_>, workspace: WorkspaceId) -> Result<Option<Timestamp>, DbError> {
    let query = "select webhooks.next_due_at($1)";
    let at: Option<SqlTimestamp> = sqlx::query_scalar(query).bind(workspace.uuid()).fetch_one(db).await?;
    Ok(at.map(SqlTimestamp::to_jiff))
}

pub(crate) async fn still_held(db: impl PgExecutor<'_>, claimed: &ClaimedDelivery) -> Result<bool, DbError> {
    let query = "select webhooks.still_held($1, $2, $3)";
    let row = sqlx::query_scalar(query).bind(claimed.workspace.uuid()).bind(claimed.delivery_id).bind(&claimed.claim_token);
    Ok(row.fetch_one(db).await?)
}

/// How many deliveries a dead or stopped sender held.
pub(crate) async fn expire_leases(db: impl PgExecutor<'_>, workspace: WorkspaceId) -> Result<i32, DbError> {
    Ok(sqlx::query_scalar("select webhooks.expire_leases($1)").bind(workspace.uuid()).fetch_one(db).await?)
}

/// Says of each delivery what became of it; see the SQL of `record_result`.
pub(crate) async fn record_results(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    results: Value,
) -> Result<Vec<(Uuid, String)>, DbError> {
    let query = "select delivery_id, outcome from webhooks.record_results($1, $2)";
    Ok(sqlx::query_as(query).bind(workspace.uuid()).bind(results).fetch_all(db).await?)
}

/// Where the secrets of a subscription are kept.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct SubscriptionSecrets {
    pub(crate) subscription_id: Uuid,
    pub(crate) secret_ref: String,
    pub(crate) old_secret_ref: Option<String>,
}

/// What is to be added.
#[derive(Debug)]
pub(crate) struct NewRow<'a> {
    pub(crate) subscription_id: Uuid,
    pub(crate) name: &'a str,
    pub(crate) url: &'a str,
    pub(crate) secret_ref: &'a str,
    pub(crate) events: &'a [String],
}

pub(crate) async fn add_subscription(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    row: &NewRow<'_>,
    by: &str,
) -> Result<(), DbError> {
    sqlx::query("select webhooks.add_subscription($1, $2, $3, $4, $5, $6, $7)")
        .bind(workspace.uuid())
        .bind(row.subscription_id)
        .bind(row.name)
        .bind(row.url)
        .bind(row.secret_ref)
        .bind(row.events)
        .bind(by)
        .execute(tx)
        .await?;
    Ok(())
}

pub(crate) async fn pause_subscription(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    name_or_id: &str,
    why: &str,
    by: &str,
) -> Result<Uuid, DbError> {
    let query = "select (webhooks.pause_subscription($1, $2, $3, $4)).subscription_id";
    Ok(sqlx::query_scalar(query).bind(workspace.uuid()).bind(name_or_id).bind(why).bind(by).fetch_one(tx).await?)
}

pub(crate) async fn enable_subscription(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    name_or_id: &str,
    by: &str,
) -> Result<Uuid, DbError> {
    let query = "select (webhooks.enable_subscription($1, $2, $3)).subscription_id";
    Ok(sqlx::query_scalar(query).bind(workspace.uuid()).bind(name_or_id).bind(by).fetch_one(tx).await?)
}

/// The secrets that it had.
pub(crate) async fn remove_subscription(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    name_or_id: &str,
    by: &str,
) -> Result<SubscriptionSecrets, DbError> {
    let query = "select subscription_id, secret_ref, old_secret_ref from webhooks.remove_subscription($1, $2, $3)";
    Ok(sqlx::query_as(query).bind(workspace.uuid()).bind(name_or_id).bind(by).fetch_one(tx).await?)
}

/// The secrets that it had before.
pub(crate) async fn rotate_secret(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    name_or_id: &str,
    secret_ref: &str,
    overlap: Duration,
    by: &str,
) -> Result<SubscriptionSecrets, DbError> {
    let query = "select subscription_id, secret_ref, old_secret_ref
                   from webhooks.rotate_secret($1, $2, $3, $4 * interval '1 second', $5)";
    let row = sqlx::query_as(query).bind(workspace.uuid()).bind(name_or_id).bind(secret_ref).bind(overlap.as_secs_f64());
    Ok(row.bind(by).fetch_one(tx).await?)
}

pub(crate) async fn send_test(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    name_or_id: &str,
    by: &str,
) -> Result<Uuid, DbError> {
    let query = "select webhooks.send_test($1, $2, $3)";
    Ok(sqlx::query_scalar(query).bind(workspace.uuid()).bind(name_or_id).bind(by).fetch_one(tx).await?)
}

pub(crate) async fn resend_delivery(
    tx: &mut PgConnection,
    workspace: WorkspaceId,
    delivery_id: Uuid,
    by: &str,
) -> Result<Uuid, DbError> {
    let query = "select webhooks.resend_delivery($1, $2, $3)";
    Ok(sqlx::query_scalar(query).bind(workspace.uuid()).bind(delivery_id).bind(by).fetch_one(tx).await?)
}
