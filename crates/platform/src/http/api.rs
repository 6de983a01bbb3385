//! The API of the platform itself: who am I, jobs, journal, alerts.

use std::borrow::Cow;

use axum::Router;
use kernel::Problem;
use serde::{Deserialize, Serialize};
use utoipa::OpenApi;
use uuid::Uuid;

use super::{Answer, App, Ctx, Failure, Json, Page, Path, Query};
use crate::{
    alerts::{self, Acknowledgement},
    jobs::store,
    reads::{self, AlertFilter, AlertRead, JobFilter, JobRead, JobRunRead, JournalFilter, JournalRead},
    scopes,
    wake::Topic,
};

pub fn router() -> Router<App> {
    use axum::routing::{get, post};
    Router::new()
        .route("/api/me", get(get_me))
        .route("/api/jobs", get(list_jobs))
        .route("/api/jobs/{id}", get(get_job))
        .route("/api/jobs/{id}/retry", post(retry_job))
        .route("/api/journal", get(list_journal))
        .route("/api/alerts", get(list_alerts))
        .route("/api/alerts/acknowledge", post(acknowledge_alert))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(
    paths(get_me, list_jobs, get_job, retry_job, list_journal, list_alerts, acknowledge_alert),
    components(schemas(kernel::ErrorBody, kernel::EnvelopeMeta))
)]
pub struct Docs;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Me {
    pub workspace_id: Uuid,
    pub workspace: String,
    pub token_id: Uuid,
    pub token: String,
    pub scopes: Vec<String>,
}

/// Whose token this is.
#[utoipa::path(get, path = "/api/me", responses((status = 200, body = kernel::Envelope<Me>), (status = 401)), security(("token" = [])))]
async fn get_me(ctx: Ctx) -> Answer<Me> {
    let principal = ctx.principal;
    Answer::ok(Me {
        workspace_id: principal.workspace_id.uuid(),
        workspace: principal.workspace_name,
        token_id: principal.token_id,
        token: principal.token_name,
        scopes: principal.scopes.to_strings(),
    })
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
struct ListJobs {
    /// `queued`, `running` or `failed`.
    status: Option<String>,
    job_type: Option<String>,
    /// Only jobs with a smaller id: `next` of the page before.
    before: Option<i64>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct JobList {
    pub jobs: Vec<JobRead>,
    /// Give it as `before` to get the next page; absent on the last one.
    pub next: Option<i64>,
}

/// The jobs that wait, run or have failed, newest first.
#[utoipa::path(get, path = "/api/jobs", params(ListJobs), responses((status = 200, body = kernel::Envelope<JobList>), (status = 401)), security(("token" = [])))]
async fn list_jobs(ctx: Ctx, Query(query): Query<ListJobs>) -> Result<Answer<JobList>, Failure> {
    ctx.require(scopes::READ)?;
    if let Some(status) = &query.status
        && !["queued", "running", "failed"].contains(&status.as_str())
    {
        return Err(Problem::validation("status", "`status` is queued, running or failed").into());
    }
    let limit = Page::checked(query.limit)?;
    let filter = JobFilter { status: query.status, job_type: query.job_type, before: query.before, id: None, limit };
    let jobs = reads::jobs(&mut *ctx.begin().await?, &filter).await?;
    let next = (i64::try_from(jobs.len()) == Ok(limit)).then(|| jobs.last().map(|job| job.id)).flatten();
    Ok(Answer::ok(JobList { jobs, next }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct JobWithRuns {
    /// Absent when the job has succeeded.
    pub job: Option<JobRead>,
    /// Every attempt, newest first.
    pub runs: Vec<JobRunRead>,
}

/// One job with its runs.
#[utoipa::path(get, path = "/api/jobs/{id}", params(("id" = i64, Path)), responses((status = 200, body = kernel::Envelope<JobWithRuns>), (status = 404)), security(("token" = [])))]
async fn get_job(ctx: Ctx, Path(id): Path<i64>) -> Result<Answer<JobWithRuns>, Failure> {
    ctx.require(scopes::READ)?;
    let mut tx = ctx.begin().await?;
    let filter = JobFilter { id: Some(id), limit: 1, ..JobFilter::default() };
    let job = reads::jobs(&mut tx, &filter).await?.pop();
    let runs = reads::job_runs(&mut tx, id).await?;
    if job.is_none() && runs.is_empty() {
        return Err(Problem::not_found("job").into());
    }
    Ok(Answer::ok(JobWithRuns { job, runs }))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct RetryJob {
    /// Why; it goes into the journal.
    reason: String,
}

/// The reason for a change, redacted.
fn checked_reason(reason: &str) -> Result<Cow<'_, str>, Problem> {
    if reason.trim().is_empty() || reason.chars().count() > 500 {
        return Err(Problem::validation("reason", "`reason` has 1 to 500 characters"));
    }
    Ok(kernel::redact::redact_text(reason))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct JobRetried {
    pub id: i64,
}

/// Asks for a failed job again, with a fresh set of attempts.
#[utoipa::path(post, path = "/api/jobs/{id}/retry", params(("id" = i64, Path)), request_body = RetryJob,
    responses((status = 202, body = kernel::Envelope<JobRetried>), (status = 404), (status = 409)), security(("token" = [])))]
async fn retry_job(ctx: Ctx, Path(id): Path<i64>, Json(body): Json<RetryJob>) -> Result<Answer<JobRetried>, Failure> {
    ctx.require(scopes::WRITE)?;
    let reason = checked_reason(&body.reason)?;
    let mut tx = ctx.begin().await?;
    let was_failed = store::retry_job(&mut *tx, ctx.principal.workspace_id, id, &ctx.principal.token_name, &reason).await?;
    if !was_failed {
        let filter = JobFilter { id: Some(id), limit: 1, ..JobFilter::default() };
        return Err(match reads::jobs(&mut tx, &filter).await?.pop() {
            Some(job) => Problem::conflict(
                "job.not_failed",
                format!("this job is {}; only a failed one can be asked for again", job.status),
            )
            .into(),
            None => Problem::not_found("job").into(),
        });
    }
    tx.commit().await?;
    ctx.app.db.wake().tell(Topic::JOBS);
    Ok(Answer(axum::http::StatusCode::ACCEPTED, JobRetried { id }))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
struct ListJournal {
    action: Option<String>,
    trace_id: Option<String>,
    /// Only entries before this place: `next` of the page before.
    before: Option<String>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct JournalList {
    pub entries: Vec<JournalRead>,
    /// Give it as `before` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// What the system did, newest first.
#[utoipa::path(get, path = "/api/journal", params(ListJournal), responses((status = 200, body = kernel::Envelope<JournalList>), (status = 401)), security(("token" = [])))]
async fn list_journal(ctx: Ctx, Query(query): Query<ListJournal>) -> Result<Answer<JournalList>, Failure> {
    ctx.require(scopes::READ)?;
    let limit = Page::checked(query.limit)?;
    let before = query.before.as_deref().map(str::parse).transpose()?;
    let filter = JournalFilter { action: query.action, trace_id: query.trace_id, before, limit };
    let entries = reads::journal(&mut *ctx.begin().await?, &filter).await?;
    let next =
        (i64::try_from(entries.len()) == Ok(limit)).then(|| entries.last().map(|entry| entry.cursor().to_string())).flatten();
    Ok(Answer::ok(JournalList { entries, next }))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
struct ListAlerts {
    /// What was wrong before, instead of what is wrong now.
    #[serde(default)]
    cleared: bool,
    module: Option<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AlertList {
    pub alerts: Vec<AlertRead>,
}

/// What is wrong now: one alert for each kind of trouble, with its subjects.
#[utoipa::path(get, path = "/api/alerts", params(ListAlerts), responses((status = 200, body = kernel::Envelope<AlertList>), (status = 401)), security(("token" = [])))]
async fn list_alerts(ctx: Ctx, Query(query): Query<ListAlerts>) -> Result<Answer<AlertList>, Failure> {
    ctx.require(scopes::READ)?;
    let filter = AlertFilter { module: query.module, alert: None, is_cleared: query.cleared };
    Ok(Answer::ok(AlertList { alerts: reads::alerts(&mut *ctx.begin().await?, &filter).await? }))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct AcknowledgeAlert {
    module: String,
    alert: String,
    /// Only this subject; all of them if absent.
    subject: Option<String>,
    /// Why, or what is done about it; it goes into the journal.
    reason: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct AlertAcknowledged {
    /// How many subjects there are no reminders of any more.
    pub subjects: i32,
}

/// Takes an alert on: it is not told again until it clears, unless it grows.
#[utoipa::path(post, path = "/api/alerts/acknowledge", request_body = AcknowledgeAlert,
    responses((status = 200, body = kernel::Envelope<AlertAcknowledged>), (status = 404)), security(("token" = [])))]
async fn acknowledge_alert(ctx: Ctx, Json(body): Json<AcknowledgeAlert>) -> Result<Answer<AlertAcknowledged>, Failure> {
    ctx.require(scopes::WRITE)?;
    let taken = Acknowledgement {
        module: &body.module,
        alert: &body.alert,
        subject: body.subject.as_deref(),
        by: &ctx.principal.token_name,
        reason: &checked_reason(&body.reason)?,
    };
    let subjects = alerts::acknowledge(&ctx.app.db, ctx.principal.workspace_id, taken).await?;
    if subjects == 0 {
        return Err(Problem::not_found("alert").into());
    }
    Ok(Answer::ok(AlertAcknowledged { subjects }))
}
