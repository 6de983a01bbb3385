//! What people and programs read about jobs, journal, errors and alerts: the same for the API and the console.
//!
//! Everything is read inside a transaction of one workspace, newest first and by key, and no count goes on for
//! ever: with a million parked jobs these queries stay as cheap as with ten.

use std::{fmt, str::FromStr};

use jiff_sqlx::Timestamp;
use kernel::Problem;

/// A time as the database gave it.
pub type Time = Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{FromRow, PgConnection, types::Json};
use uuid::Uuid;

use crate::DbError;

/// Counting stops here: more than this is "more than this".
pub const COUNT_MAX: i64 = 10_000;

/// For `serialize_with`: a time as RFC 3339.
pub fn time<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    at.to_jiff().serialize(serializer)
}

/// For `serialize_with`: a time, or null.
pub fn maybe_time<S: serde::Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::to_jiff).serialize(serializer)
}

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct JobRead {
    pub id: i64,
    pub job_type: String,
    /// `queued`, `running` or `failed`; a job that succeeded is found by its runs.
    pub status: String,
    pub attempts: i32,
    pub attempts_max: i32,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_run_at: Option<Timestamp>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub leased_until: Option<Timestamp>,
    pub worker_id: Option<String>,
    pub dedup_key: Option<String>,
    pub trace_id: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub last_error: Option<Value>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = Object)]
    pub payload: Value,
}

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct JobRunRead {
    pub attempt: i32,
    pub job_type: String,
    /// `succeeded`, `retried`, `failed` or `lease_expired`.
    pub outcome: String,
    pub worker_id: Option<String>,
    pub trace_id: Option<String>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at: Option<Timestamp>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub ts: Timestamp,
    #[schema(value_type = Option<Object>)]
    pub error: Option<Value>,
}

#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    pub status: Option<String>,
    pub job_type: Option<String>,
    /// Only jobs with a smaller id: the last one of the page before.
    pub before: Option<i64>,
    /// Only this job.
    pub id: Option<i64>,
    pub limit: i64,
}

pub async fn jobs(tx: &mut PgConnection, filter: &JobFilter) -> Result<Vec<JobRead>, DbError> {
    let query = "select j.id, j.job_type, j.status, j.attempts, k.attempts_max + j.forgiven as attempts_max, nullif(j.next_run_at, 'infinity') as next_run_at,
                        j.leased_until, j.worker_id, j.dedup_key, j.trace_id, j.last_error, j.created_at, j.payload
                   from ops.jobs j join ops.job_types k using (job_type)
                  where j.workspace_id = platform.workspace_id()
                    and ($1::text is null or j.status = $1) and ($2::text is null or j.job_type = $2)
                    and ($3::bigint is null or j.id < $3) and ($4::bigint is null or j.id = $4)
                  order by j.id desc limit $5";
    Ok(sqlx::query_as(query)
        .bind(&filter.status)
        .bind(&filter.job_type)
        .bind(filter.before)
        .bind(filter.id)
        .bind(filter.limit)
        .fetch_all(tx)
        .await?)
}

/// The runs of a job, newest first.
pub async fn job_runs(tx: &mut PgConnection, job_id: i64) -> Result<Vec<JobRunRead>, DbError> {
    let query = "select attempt, job_type, outcome, worker_id, trace_id, started_at, ts, error from ops.job_runs
                  where workspace_id = platform.workspace_id() and job_id = $1 order by ts desc, attempt desc limit 100";
    Ok(sqlx::query_as(query).bind(job_id).fetch_all(tx).await?)
}

/// The jobs of one type at a glance. Counts stop after [`COUNT_MAX`].
#[derive(Clone, Debug, FromRow)]
pub struct JobTypeCounts {
    pub job_type: String,
    pub queued: i64,
    pub running: i64,
    pub failed: i64,
    pub oldest_due_at: Option<Timestamp>,
}

pub async fn job_type_counts(tx: &mut PgConnection) -> Result<Vec<JobTypeCounts>, DbError> {
    // Running jobs are the oldest due ones, so they are among the first rows of the index.
    let query = "select k.job_type, live.queued, live.running, parked.failed, live.oldest_due_at
                   from ops.job_types k
                  cross join lateral (
                        select count(*) filter (where f.lease_id is null) as queued, count(f.lease_id) as running,
                               min(f.next_run_at) filter (where f.lease_id is null and f.next_run_at <= platform.now()) as oldest_due_at
                          from (select j.lease_id, j.next_run_at from ops.jobs j
                                 where j.job_type = k.job_type and j.next_run_at < 'infinity'
                                   and j.workspace_id = platform.workspace_id()
                                 order by j.next_run_at, j.id limit $1 + 1) f) live
                  cross join lateral (
                        select count(*) as failed
                          from (select from ops.jobs j where j.job_type = k.job_type and j.next_run_at = 'infinity'
                                   and j.workspace_id = platform.workspace_id() limit $1 + 1) f) parked
                  order by k.job_type";
    Ok(sqlx::query_as(query).bind(COUNT_MAX).fetch_all(tx).await?)
}

/// How many jobs succeeded in each minute of the last hour, oldest first.
pub async fn succeeded_per_minute(tx: &mut PgConnection) -> Result<Vec<i64>, DbError> {
    let query = "select coalesce(n, 0) from generate_series(0, 59) as minute left join (
                        select 59 - floor(extract(epoch from platform.now() - ts) / 60)::int as minute, count(*) as n
                          from (select ts from ops.job_runs
                                 where workspace_id = platform.workspace_id() and outcome = 'succeeded'
                                   and ts > platform.now() - interval '1 hour' limit 1000000) runs
                         group by 1) counted using (minute) order by minute";
    Ok(sqlx::query_scalar(query).fetch_all(tx).await?)
}

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct JournalRead {
    pub id: i64,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub ts: Timestamp,
    pub source: String,
    pub action: String,
    pub subject: Option<String>,
    pub trace_id: Option<String>,
    #[schema(value_type = Object)]
    pub data: Value,
}

impl JournalRead {
    /// The place of this entry in the order of the journal.
    pub fn cursor(&self) -> Cursor {
        Cursor { micros: self.ts.to_jiff().as_microsecond(), id: self.id }
    }
}

/// A place in the journal, which is ordered by time and then by number. Opaque to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub micros: i64,
    pub id: i64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.micros, self.id)
    }
}

impl FromStr for Cursor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let parts = text.split_once('-').and_then(|(micros, id)| Some((micros.parse().ok()?, id.parse().ok()?)));
        let (micros, id) =
            parts.ok_or_else(|| Problem::validation("before", "`before` is what `next` of the page before said"))?;
        Ok(Self { micros, id })
    }
}

#[derive(Clone, Debug, Default)]
pub struct JournalFilter {
    pub action: Option<String>,
    pub trace_id: Option<String>,
    /// Only entries before this one: the last one of the page before.
    pub before: Option<Cursor>,
    pub limit: i64,
}

pub async fn journal(tx: &mut PgConnection, filter: &JournalFilter) -> Result<Vec<JournalRead>, DbError> {
    let query = "select id, ts, source, action, subject, trace_id, data from ops.journal
                  where workspace_id = platform.workspace_id()
                    and ($1::text is null or action = $1) and ($2::text is null or trace_id = $2)
                    and ($3::bigint is null or (ts, id) < (platform.at_micros($3), $4))
                  order by ts desc, id desc limit $5";
    Ok(sqlx::query_as(query)
        .bind(&filter.action)
        .bind(&filter.trace_id)
        .bind(filter.before.map(|before| before.micros))
        .bind(filter.before.map(|before| before.id))
        .bind(filter.limit)
        .fetch_all(tx)
        .await?)
}

#[derive(Clone, Debug, FromRow)]
pub struct ErrorRead {
    pub id: i64,
    pub ts: Timestamp,
    pub source: String,
    pub op: Option<String>,
    pub message: String,
    pub retryable: bool,
    pub trace_id: Option<String>,
}

pub async fn errors(tx: &mut PgConnection, limit: i64) -> Result<Vec<ErrorRead>, DbError> {
    let query = "select id, ts, source, op, message, retryable, trace_id from ops.errors
                  where workspace_id = platform.workspace_id() order by ts desc, id desc limit $1";
    Ok(sqlx::query_as(query).bind(limit).fetch_all(tx).await?)
}

/// Of an alert so many subjects are read, those with the highest count.
const SUBJECTS_MAX: i64 = 10;

/// One kind of trouble, with what is in it.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct AlertRead {
    /// Who found it; `ops` is the platform itself.
    pub module: String,
    pub alert: String,
    /// Over all subjects.
    pub count: i64,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub raised_at: Timestamp,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub told_at: Option<Timestamp>,
    /// When the last of its subjects was acknowledged; absent while any is not.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub acknowledged_at: Option<Timestamp>,
    pub acknowledged_by: Option<String>,
    /// Absent while it lasts.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub cleared_at: Option<Timestamp>,
    pub subjects_count: i64,
    /// The first ten.
    #[schema(value_type = Vec<AlertSubject>)]
    pub subjects: Json<Vec<AlertSubject>>,
}

/// A channel, a bot, a job type that is in trouble; empty when it is the workspace as a whole.
#[derive(Clone, Debug, Deserialize, Serialize, utoipa::ToSchema)]
pub struct AlertSubject {
    pub subject: String,
    pub count: i64,
    pub sample: Option<String>,
    pub why: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<jiff::Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    pub raised_at: jiff::Timestamp,
}

#[derive(Clone, Debug, Default)]
pub struct AlertFilter {
    pub module: Option<String>,
    pub alert: Option<String>,
    /// What was wrong before, instead of what is wrong now.
    pub is_cleared: bool,
}

/// By module and name. There are as many as there are kinds, so the list is short.
pub async fn alerts(tx: &mut PgConnection, filter: &AlertFilter) -> Result<Vec<AlertRead>, DbError> {
    let query =
        "select a.module, a.alert, sum(a.count)::bigint as count, min(a.raised_at) as raised_at, max(a.told_at) as told_at,
                        case when bool_and(a.acknowledged_at is not null) then max(a.acknowledged_at) end as acknowledged_at,
                        case when bool_and(a.acknowledged_at is not null) then max(a.acknowledged_by) end as acknowledged_by,
                        max(a.cleared_at) as cleared_at, count(*) as subjects_count,
                        jsonb_agg(jsonb_build_object('subject', a.subject, 'count', a.count, 'sample', a.sample, 'why', a.why,
                                                     'since', a.since, 'raised_at', a.raised_at) order by a.place)
                            filter (where a.place <= $4) as subjects
                   from (select x.*, row_number() over (partition by x.module, x.alert order by x.count desc, x.subject) as place
                           from ops.alerts x
                          where x.workspace_id = platform.workspace_id() and (x.cleared_at is not null) = $3
                            and ($1::text is null or x.module = $1) and ($2::text is null or x.alert = $2)) a
                  group by a.module, a.alert order by a.module, a.alert";
    Ok(sqlx::query_as(query)
        .bind(&filter.module)
        .bind(&filter.alert)
        .bind(filter.is_cleared)
        .bind(SUBJECTS_MAX)
        .fetch_all(tx)
        .await?)
}

/// A process that reported lately.
#[derive(Clone, Debug, FromRow)]
pub struct ProcessRead {
    pub process_id: Uuid,
    pub roles: Vec<String>,
    pub seen_at: Timestamp,
}

pub async fn processes(tx: &mut PgConnection) -> Result<Vec<ProcessRead>, DbError> {
    let query = "select process_id, roles, seen_at from ops.processes where seen_at > platform.now() - interval '2 minutes'";
    Ok(sqlx::query_as(query).fetch_all(tx).await?)
}
