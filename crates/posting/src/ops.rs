//! What an operator does by hand: the ten operations of the runbook, and the settling of unknown outcomes.
//!
//! Every write is one SQL function that also writes its events, in a transaction that sees one workspace only. It names who
//! did it and why, and never counts an attempt. Where it makes work due, the dispatchers are told after the commit.

use std::time::Duration;

use kernel::WorkspaceId;
use platform::{Db, DbError, reads::Time, wake::Topic};
use serde_json::Value;
use sqlx::{Postgres, Transaction, postgres::types::PgInterval};
use uuid::Uuid;

/// Who does something by hand, and why; both are in the event that it leaves.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    pub operator: &'a str,
    pub reason: &'a str,
}

/// Which deliveries are meant.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// These, all or none.
    Named(&'a [Uuid]),
    /// All that the operation is for.
    All,
}

/// Whether to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Apply,
    /// Only say what would be done. It is done and taken back, so the answer is what `Apply` would have given.
    Preview,
}

/// What an operator knows of a delivery whose outcome the system does not.
#[derive(Clone, Copy, Debug)]
pub enum Verdict<'a> {
    /// It arrived; the provider's id of it, if known.
    Delivered { provider_message_id: Option<&'a str> },
    /// It did not, or a second copy does no harm.
    Resend,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct StatusCount {
    pub status: String,
    pub deliveries: i64,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ErrorEvent {
    pub ts: Time,
    pub action: String,
    pub result: String,
    pub channel_id: Option<String>,
    pub delivery_id: Option<Uuid>,
    pub attempt: i32,
    pub error: Option<Value>,
    pub meta: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Requeued {
    pub delivery_id: Uuid,
    pub message_id: Uuid,
    pub channel_id: String,
    pub attempt: i32,
}

/// A channel as an operation left it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ChannelAfter {
    pub channel_id: String,
    pub platform: String,
    pub rate_group: String,
    pub enabled: bool,
    pub paused_until: Option<Time>,
    pub error_streak: i32,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Rotated {
    pub old_auth_ref: String,
    pub auth_ref: String,
    pub rate_group: String,
    /// Still paused from before; `enable` ends that.
    pub paused_until: Option<Time>,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Released {
    pub delivery_id: Uuid,
    pub message_id: Uuid,
    pub channel_id: String,
    pub attempt: i32,
    pub from_status: String,
    /// `retry`, or `failed_permanent` where the channel holds unknown outcomes for `settle`.
    pub status: String,
}

/// 1: how many deliveries there are in each status.
pub async fn snapshot(db: &Db, workspace: WorkspaceId) -> Result<Vec<StatusCount>, DbError> {
    let query = "select status, count(*) as deliveries from posting.deliveries
                  where workspace_id = $1 group by status order by status";
    let mut tx = db.begin(workspace).await?;
    Ok(sqlx::query_as(query).bind(workspace.uuid()).fetch_all(&mut *tx).await?)
}

/// 2: what broke lately, newest first.
pub async fn errors(db: &Db, workspace: WorkspaceId, within: Duration, limit: i64) -> Result<Vec<ErrorEvent>, DbError> {
    let query = "select ts, action, result, channel_id, delivery_id, attempt, error, meta from posting.events
                  where workspace_id = $1 and ts >= platform.now() - $2 and result = 'error'
                  order by ts desc limit $3";
    let mut tx = db.begin(workspace).await?;
    Ok(sqlx::query_as(query).bind(workspace.uuid()).bind(interval(within)).bind(limit).fetch_all(&mut *tx).await?)
}

/// 3: gives dead deliveries one more attempt. Refused with ZD002, ZD003, ZD005.
pub async fn requeue_dead(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    which: Which<'_>,
    mode: Mode,
) -> Result<Vec<Requeued>, DbError> {
    requeue(db, workspace, by, which, mode, "select * from posting.requeue_dead($1, $2, $3, $4)").await
}

/// 4: gives deliveries that failed for a reason of their own another chance. Refused with ZD002, ZD003, ZD005.
pub async fn requeue_failed(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    which: Which<'_>,
    mode: Mode,
) -> Result<Vec<Requeued>, DbError> {
    requeue(db, workspace, by, which, mode, "select * from posting.requeue_failed($1, $2, $3, $4)").await
}

async fn requeue(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    which: Which<'_>,
    mode: Mode,
    query: &'static str,
) -> Result<Vec<Requeued>, DbError> {
    let ids = match which {
        Which::Named(ids) => Some(ids),
        Which::All => None,
    };
    let mut tx = db.begin(workspace).await?;
    let query = sqlx::query_as(query).bind(workspace.uuid()).bind(ids).bind(by.operator).bind(by.reason);
    let rows = query.fetch_all(&mut *tx).await?;
    end(db, tx, mode).await?;
    Ok(rows)
}

/// 5: nothing is sent to a channel for a while. Refused with ZD003, ZD005.
pub async fn pause(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    channel_id: &str,
    duration: Duration,
) -> Result<ChannelAfter, DbError> {
    let seconds = i32::try_from(duration.as_secs()).unwrap_or(i32::MAX);
    let mut tx = db.begin(workspace).await?;
    let query = sqlx::query_as("select * from posting.pause_channel($1, $2, $3, $4, $5)")
        .bind(workspace.uuid())
        .bind(channel_id)
        .bind(seconds)
        .bind(by.operator)
        .bind(by.reason);
    let channel = query.fetch_one(&mut *tx).await?;
    end(db, tx, Mode::Apply).await?;
    Ok(channel)
}

/// 6: opens a channel again, whatever closed it. Refused with ZD003, ZD005.
pub async fn enable(db: &Db, workspace: WorkspaceId, by: By<'_>, channel_id: &str) -> Result<ChannelAfter, DbError> {
    let rows = channels(db, workspace, by, channel_id, "select * from posting.enable_channel($1, $2, $3, $4)").await?;
    rows.into_iter().next().ok_or(DbError::Bug(sqlx::Error::RowNotFound))
}

/// 7: closes every channel of a rate group. Refused with ZD003, ZD005.
pub async fn disable_group(db: &Db, workspace: WorkspaceId, by: By<'_>, rate_group: &str) -> Result<Vec<ChannelAfter>, DbError> {
    channels(db, workspace, by, rate_group, "select * from posting.disable_group($1, $2, $3, $4)").await
}

/// 8: opens every channel of a rate group again. Refused with ZD003, ZD005.
pub async fn enable_group(db: &Db, workspace: WorkspaceId, by: By<'_>, rate_group: &str) -> Result<Vec<ChannelAfter>, DbError> {
    channels(db, workspace, by, rate_group, "select * from posting.enable_group($1, $2, $3, $4)").await
}

async fn channels(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    name: &str,
    query: &'static str,
) -> Result<Vec<ChannelAfter>, DbError> {
    let mut tx = db.begin(workspace).await?;
    let query = sqlx::query_as(query).bind(workspace.uuid()).bind(name).bind(by.operator).bind(by.reason);
    let rows = query.fetch_all(&mut *tx).await?;
    end(db, tx, Mode::Apply).await?;
    Ok(rows)
}

/// 9: switches a channel to another credential and, if one is given, to another rate group. Refused with ZD002 while the old
/// credential is in use: the channel is then paused, so that the same call succeeds a moment later. Also ZD003, ZD005.
pub async fn rotate_auth(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    channel_id: &str,
    new_auth_ref: &str,
    new_rate_group: Option<&str>,
) -> Result<Rotated, DbError> {
    #[derive(sqlx::FromRow)]
    struct RotationRow {
        outcome: String,
        sending: i64,
        #[sqlx(flatten)]
        rotated: Rotated,
    }
    let mut tx = db.begin(workspace).await?;
    let query = sqlx::query_as("select * from posting.rotate_auth($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(channel_id)
        .bind(new_auth_ref)
        .bind(by.operator)
        .bind(by.reason)
        .bind(new_rate_group);
    let answer: RotationRow = query.fetch_one(&mut *tx).await?;
    // The pause of a refusal is kept too.
    end(db, tx, Mode::Apply).await?;
    if answer.outcome == "rotated" {
        return Ok(answer.rotated);
    }
    let until = answer.rotated.paused_until.map(|at| at.to_jiff().to_string()).unwrap_or_default();
    let (noun, verb) = if answer.sending == 1 { ("delivery", "is") } else { ("deliveries", "are") };
    let old = answer.rotated.old_auth_ref;
    Err(DbError::Refused {
        code: "ZD002".into(),
        message: format!(
            "{} {noun} of `{channel_id}` {verb} being sent with `{old}`, so nothing was switched; the channel is paused until {until}",
            answer.sending
        ),
        hint: Some("run the same command again in a moment".into()),
        field: None,
    })
}

/// 10: frees what has been claimed or being sent for longer than this. Refused with ZD005.
pub async fn release_stale(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    older_than: Duration,
    mode: Mode,
) -> Result<Vec<Released>, DbError> {
    let mut tx = db.begin(workspace).await?;
    let query = sqlx::query_as("select * from posting.release_stale($1, $2, $3, $4)")
        .bind(workspace.uuid())
        .bind(by.operator)
        .bind(by.reason)
        .bind(interval(older_than));
    let rows = query.fetch_all(&mut *tx).await?;
    end(db, tx, mode).await?;
    Ok(rows)
}

/// Ends the doubt about a delivery whose outcome nobody knows; returns its status: `sent` or `retry`. Refused with ZD002, ZD003,
/// ZD005.
pub async fn settle(
    db: &Db,
    workspace: WorkspaceId,
    by: By<'_>,
    delivery_id: Uuid,
    verdict: Verdict<'_>,
) -> Result<String, DbError> {
    let (verdict, provider_message_id) = match verdict {
        Verdict::Delivered { provider_message_id } => ("delivered", provider_message_id),
        Verdict::Resend => ("resend", None),
    };
    let mut tx = db.begin(workspace).await?;
    let query = sqlx::query_scalar("select posting.settle($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(delivery_id)
        .bind(verdict)
        .bind(by.operator)
        .bind(by.reason)
        .bind(provider_message_id);
    let status = query.fetch_one(&mut *tx).await?;
    end(db, tx, Mode::Apply).await?;
    Ok(status)
}

/// Keeps or takes back what was done. Who keeps tells the dispatchers, and whoever watches.
async fn end(db: &Db, tx: Transaction<'static, Postgres>, mode: Mode) -> Result<(), DbError> {
    if mode == Mode::Preview {
        return Ok(tx.rollback().await?);
    }
    tx.commit().await?;
    db.wake().tell(crate::DELIVERIES);
    db.wake().tell(Topic::BUS);
    Ok(())
}

fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}
