//! The overview, the list of jobs, one job, and the journal.

use std::sync::Arc;

use axum::{
    Extension, Form, Router,
    extract::Path,
    response::Redirect,
    routing::{get, post},
};
use kernel::Problem;
use platform::{
    http::App,
    jobs::store,
    reads::{self, JobFilter, JournalFilter, JournalRead},
    wake::Topic,
};
use serde::Deserialize;

use super::data;
use crate::{
    Info,
    page::{ROWS, Shown},
    session::{PageError, Visitor},
    views::{JobsRegion, JournalRegion, OverviewRegion, PageHead},
};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(overview))
        .route("/jobs", get(jobs))
        .route("/jobs/{id}", get(job))
        .route("/journal", get(journal))
        .route("/{*rest}", get(unknown))
}

/// Addresses that forms post to.
pub(crate) fn changes() -> Router<App> {
    Router::new().route("/jobs/{id}/retry", post(retry_job))
}

async fn unknown(_visitor: Visitor) -> PageError {
    PageError(Problem::not_found("page"))
}

async fn overview(visitor: Visitor, Extension(info): Extension<Arc<Info>>) -> Shown {
    let ctx = &visitor.ctx;
    let health = data::health(ctx, &info).await;
    let mut tx = ctx.begin().await?;
    let overview = OverviewRegion {
        workspace: ctx.principal.workspace_name.clone(),
        health,
        jobs: data::jobs_summary(&mut tx, ctx).await?,
        errors: data::errors(&mut tx, ctx).await?,
        journal: data::recent_journal(&mut tx, ctx).await?,
    };
    visitor.show(PageHead::only_title("Overview"), &overview)
}

async fn jobs(visitor: Visitor) -> Shown {
    let mut tx = visitor.ctx.begin().await?;
    let types = reads::job_type_counts(&mut tx).await?.into_iter().map(|row| (row.job_type.clone(), row.job_type));
    let statuses = ["queued", "running", "failed"].map(|status| (status, status));
    let filters = visitor.filters().choice("status", "Status", statuses).choice("type", "Type", types);
    let (status, job_type) = (visitor.text("status"), visitor.text("type"));
    let filter = JobFilter { status, job_type, before: visitor.number("before")?, id: None, limit: ROWS + 1 };
    let mut rows = reads::jobs(&mut tx, &filter).await?;
    let pager = filters.pager(&mut rows, "jobs", |job| job.id);
    let rows = rows.into_iter().map(|job| data::job_row(job, visitor.now())).collect();
    let lead = "Every outside effect is a job: leased by one worker at a time, retried, and kept with all its runs.";
    visitor.show(PageHead::new("Jobs", lead).with(filters), &JobsRegion { rows, pager })
}

async fn job(visitor: Visitor, Path(id): Path<i64>) -> Shown {
    let mut tx = visitor.ctx.begin().await?;
    let job = reads::jobs(&mut tx, &JobFilter { id: Some(id), limit: 1, ..JobFilter::default() }).await?.pop();
    let runs = reads::job_runs(&mut tx, id).await?;
    let job = data::job(id, job, runs, visitor.csrf.clone(), visitor.now()).ok_or_else(|| Problem::not_found("job"))?;
    visitor.show(PageHead::only_title(&job.name), &job)
}

#[derive(Deserialize)]
struct RetryForm {
    csrf: String,
}

async fn retry_job(visitor: Visitor, Path(id): Path<i64>, Form(form): Form<RetryForm>) -> Result<Redirect, PageError> {
    visitor.check_csrf(&form.csrf)?;
    visitor.ctx.require(platform::scopes::WRITE)?;
    let mut tx = visitor.ctx.begin().await?;
    let principal = &visitor.ctx.principal;
    store::retry_job(&mut *tx, principal.workspace_id, id, &principal.token_name, "asked for in the console").await?;
    tx.commit().await?;
    visitor.ctx.app.db.wake().tell(Topic::JOBS);
    Ok(Redirect::to(&format!("/console/jobs/{id}")))
}

async fn journal(visitor: Visitor) -> Shown {
    let mut filters = visitor.filters().text("action", "Action").wide("trace_id", "Trace id");
    let (action, trace_id) = (visitor.text("action"), visitor.text("trace_id"));
    let mut tx = visitor.ctx.begin().await?;
    let filter = JournalFilter { action, trace_id, before: visitor.place()?, limit: ROWS + 1 };
    let mut rows = reads::journal(&mut tx, &filter).await?;
    let pager = filters.pager(&mut rows, "entries", JournalRead::cursor);
    let mut actions: Vec<String> = rows.iter().map(|row| row.action.clone()).collect();
    actions.sort();
    actions.dedup();
    filters.suggest("action", actions);
    let page = JournalRegion { journal: data::journal(rows, visitor.now()), pager };
    visitor.show(PageHead::new("Journal", "What happened, in order. It is only ever added to.").with(filters), &page)
}
