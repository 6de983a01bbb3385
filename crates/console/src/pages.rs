//! The pages of the shell itself: overview, jobs, one job, journal.

use std::sync::Arc;

use axum::{
    Extension, Form, Router,
    extract::{Path, Query},
    http::{StatusCode, Uri},
    response::{Redirect, Response},
    routing::{get, post},
};
use kernel::{Problem, Scope};
use platform::{
    http::App,
    jobs::store,
    reads::{self, JobFilter, JournalFilter},
    wake::Topic,
};
use serde::{Deserialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{
    Info, data,
    session::{PageError, Visitor, page},
    views::{
        Fact, FilterOption, JobDetails, JobPage, JobsPage, JournalPage, Moment, NavItem, OverviewPage, Pager, Shell, Trace,
        query_value,
    },
};

pub(crate) const PAGE: i64 = 50;
/// The labels of the links of a list that is read backwards in time.
pub(crate) const IN_TIME: (&str, &str) = ("Newest", "Older");
const NAV: [(&str, &str); 12] = [
    ("/console", "Overview"),
    ("/console/posts", "Posts"),
    ("/console/channels", "Channels"),
    ("/console/events", "Events"),
    ("/console/ingest", "Ingest"),
    ("/console/conversations", "Conversations"),
    ("/console/rules", "Rules"),
    ("/console/bots", "Bots"),
    ("/console/chats", "Chats"),
    ("/console/planner", "Goals"),
    ("/console/jobs", "Jobs"),
    ("/console/journal", "Journal"),
];

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/console", get(overview))
        .route("/console/jobs", get(jobs))
        .route("/console/jobs/{id}", get(job))
        .route("/console/jobs/{id}/retry", post(retry_job))
        .route("/console/journal", get(journal))
        .route("/console/{*rest}", get(unknown))
}

pub(crate) async fn home() -> Redirect {
    Redirect::to("/console")
}

async fn unknown(_visitor: Visitor) -> PageError {
    PageError(Problem::not_found("page"))
}

pub(crate) fn shell(visitor: &Visitor, active: &str) -> Shell {
    let nav = NAV.map(|(href, label)| NavItem { href: href.to_owned(), label: label.to_owned(), active: href == active });
    Shell {
        workspace: visitor.ctx.principal.workspace_name.clone(),
        nav: nav.into(),
        now: visitor.ctx.app.clock().now().to_string(),
        csrf: visitor.csrf.clone(),
    }
}

async fn overview(visitor: Visitor, Extension(info): Extension<Arc<Info>>) -> Result<Response, PageError> {
    let ctx = &visitor.ctx;
    let health = data::health(ctx, &info).await;
    let mut tx = ctx.begin().await?;
    let view = OverviewPage {
        shell: shell(&visitor, "/console"),
        health,
        jobs: data::jobs_summary(&mut tx, ctx).await?,
        errors: data::errors(&mut tx, ctx).await?,
        journal: data::recent_journal(&mut tx, ctx).await?,
    };
    Ok(page(StatusCode::OK, &view))
}

#[derive(Deserialize)]
struct JobsQuery {
    status: Option<String>,
    r#type: Option<String>,
    before: Option<i64>,
}

pub(crate) fn given(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The query of a page, for one of its regions.
pub(crate) fn asked<T: DeserializeOwned>(uri: &Uri) -> Result<T, PageError> {
    let query =
        Query::try_from_uri(uri).map_err(|rejection| PageError(Problem::bad_request("request.query", rejection.body_text())))?;
    Ok(query.0)
}

/// An id from a form; what is none is refused with words, and nothing means any.
pub(crate) fn id(field: &str, text: Option<&String>) -> Result<Option<Uuid>, PageError> {
    let text = text.map(|text| text.trim()).filter(|text| !text.is_empty());
    let wrong = |_| PageError(Problem::validation(field, "this is no id: an id has 32 digits and letters from a to f"));
    text.map(Uuid::try_parse).transpose().map_err(wrong)
}

/// The address of a list with these filters; `pager` adds the place.
pub(crate) fn address(path: &str, filters: &[(&str, Option<&String>)]) -> String {
    let filters = filters.iter().map(|(name, value)| format!("{name}={}", query_value(value.map_or("", String::as_str))));
    format!("/console/{path}?{}", filters.collect::<Vec<_>>().join("&"))
}

async fn jobs(visitor: Visitor, Query(query): Query<JobsQuery>) -> Result<Response, PageError> {
    let (status, job_type) = (given(query.status), given(query.r#type));
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let filter =
        JobFilter { status: status.clone(), job_type: job_type.clone(), before: query.before, id: None, limit: PAGE + 1 };
    let mut rows = reads::jobs(&mut tx, &filter).await?;
    let base = format!(
        "/console/jobs?status={}&type={}",
        query_value(status.as_deref().unwrap_or_default()),
        query_value(job_type.as_deref().unwrap_or_default())
    );
    let pager = pager(&mut rows, &base, query.before.is_some(), "jobs", |job| job.id.to_string());
    let types = reads::job_type_counts(&mut tx).await?;
    let types = types.into_iter().map(|row| (row.job_type.clone(), row.job_type));
    let statuses = ["queued", "running", "failed"].map(|status| (status.to_owned(), status.to_owned()));
    let view = JobsPage {
        shell: shell(&visitor, "/console/jobs"),
        rows: rows.into_iter().map(|job| data::job_row(job, now)).collect(),
        statuses: options(statuses, status.as_deref()),
        types: options(types, job_type.as_deref()),
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}

/// The choices of a filter, each a value and what it is called.
pub(crate) fn options(known: impl IntoIterator<Item = (String, String)>, chosen: Option<&str>) -> Vec<FilterOption> {
    let any = FilterOption { value: String::new(), label: "any".to_owned(), selected: chosen.is_none() };
    let rest = known.into_iter().map(|(value, label)| FilterOption { selected: chosen == Some(&value), value, label });
    std::iter::once(any).chain(rest).collect()
}

/// Cuts a list to one page and makes the links to the others.
pub(crate) fn pager<T>(rows: &mut Vec<T>, base: &str, is_later: bool, what: &str, place: impl Fn(&T) -> String) -> Pager {
    let page_len = usize::try_from(PAGE).unwrap_or(50);
    let has_more = rows.len() > page_len;
    rows.truncate(page_len);
    let and = if base.contains('?') { '&' } else { '?' };
    let next = has_more.then(|| rows.last().map(|row| format!("{base}{and}before={}", place(row)))).flatten();
    Pager {
        first_href: is_later.then(|| base.to_owned()),
        next_href: next,
        shown: format!("{} {what}", rows.len()),
        labels: IN_TIME,
    }
}

async fn job(visitor: Visitor, Path(id): Path<i64>) -> Result<Response, PageError> {
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let filter = JobFilter { id: Some(id), limit: 1, ..JobFilter::default() };
    let job = reads::jobs(&mut tx, &filter).await?.pop();
    let runs = reads::job_runs(&mut tx, id).await?;
    let details = match (job, runs.first()) {
        (Some(job), _) => {
            let mut payload = job.payload.clone();
            kernel::redact::redact_json(&mut payload);
            let fact = |label: &str, value: Option<String>| value.map(|value| Fact { label: label.to_owned(), value });
            let summary = match job.status.as_str() {
                "queued" => "It waits for a worker.",
                "running" => "A worker has it under a lease.",
                _ => "It was given up; somebody has to look at the reason and may ask for it again.",
            };
            JobDetails {
                id: job.id.to_string(),
                name: job.job_type.clone(),
                status: data::status_badge(&job.status),
                summary: summary.to_owned(),
                can_retry: job.status == "failed",
                trace: job.trace_id.clone().map(Trace::new),
                created: Moment::new(job.created_at.to_jiff(), now),
                due: job.next_run_at.map(|at| Moment::new(at.to_jiff(), now)),
                attempts: format!("{} of {}", job.attempts, job.attempts_max),
                facts: [
                    fact("Key", job.dedup_key.clone()),
                    fact("Worker", job.worker_id.clone()),
                    fact("Lease until", job.leased_until.map(|at| at.to_jiff().to_string())),
                    fact("Last error", job.last_error.as_ref().map(data::error_message)),
                ]
                .into_iter()
                .flatten()
                .collect(),
                payload: serde_json::to_string_pretty(&payload).unwrap_or_default(),
            }
        }
        (None, Some(last)) => JobDetails {
            id: id.to_string(),
            name: last.job_type.clone(),
            status: data::status_badge(&last.outcome),
            summary: "It is done. Its runs are kept; what it was told went with it.".to_owned(),
            can_retry: false,
            trace: last.trace_id.clone().map(Trace::new),
            created: Moment::new(runs.last().and_then(|run| run.started_at).unwrap_or(last.ts).to_jiff(), now),
            due: None,
            attempts: runs.len().to_string(),
            facts: Vec::new(),
            payload: String::new(),
        },
        (None, None) => return Err(PageError(Problem::not_found("job"))),
    };
    let runs = runs.into_iter().map(|run| data::run_row(run, now)).collect();
    Ok(page(StatusCode::OK, &JobPage { shell: shell(&visitor, "/console/jobs"), job: details, runs }))
}

#[derive(Deserialize)]
struct RetryForm {
    csrf: String,
}

async fn retry_job(visitor: Visitor, Path(id): Path<i64>, Form(form): Form<RetryForm>) -> Result<Redirect, PageError> {
    visitor.check_csrf(&form.csrf)?;
    visitor.ctx.require(Scope::Write)?;
    let mut tx = visitor.ctx.begin().await?;
    let principal = &visitor.ctx.principal;
    store::retry_job(&mut *tx, principal.workspace_id, id, &principal.token_name, "asked for in the console").await?;
    tx.commit().await?;
    visitor.ctx.app.db.wake().tell(Topic::Jobs);
    Ok(Redirect::to(&format!("/console/jobs/{id}")))
}

#[derive(Deserialize)]
struct JournalQuery {
    action: Option<String>,
    trace_id: Option<String>,
    before: Option<String>,
}

async fn journal(visitor: Visitor, Query(query): Query<JournalQuery>) -> Result<Response, PageError> {
    let (action, trace_id) = (given(query.action), given(query.trace_id));
    let mut tx = visitor.ctx.begin().await?;
    let before = query.before.as_deref().map(str::parse).transpose()?;
    let filter = JournalFilter { action: action.clone(), trace_id: trace_id.clone(), before, limit: PAGE + 1 };
    let mut rows = reads::journal(&mut tx, &filter).await?;
    let base = format!(
        "/console/journal?action={}&trace_id={}",
        query_value(action.as_deref().unwrap_or_default()),
        query_value(trace_id.as_deref().unwrap_or_default())
    );
    let pager = pager(&mut rows, &base, before.is_some(), "entries", |row| row.cursor().to_string());
    let mut actions: Vec<String> = rows.iter().map(|row| row.action.clone()).collect();
    actions.sort();
    actions.dedup();
    let view = JournalPage {
        shell: shell(&visitor, "/console/journal"),
        journal: data::journal(rows, visitor.ctx.app.clock().now()),
        action: action.unwrap_or_default(),
        actions,
        trace_id: trace_id.unwrap_or_default(),
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}
