//! WF31: fetches a page by the safe-fetch rules, keeps its bytes, and makes or renews the document of one audience.

use std::time::Duration;

use kernel::{Kind, Problem};
use outbound::{FetchError, FetchRequest, Fetched};
use platform::{DbError, wake::Topic};
use serde_json::{Value, json};
use sqlx::FromRow;

use super::{Request, busy, refused};
use crate::{
    Knowledge,
    blobs::{self, StoredBytes},
};

/// How large a page may be.
const PAGE_BYTES_MAX: usize = 20 << 20;
/// A page is not asked for again within this time, whoever shares it.
const FRESH_FOR: Duration = Duration::from_hours(24);
/// Longer than a fetch can take: whoever needs the same page meanwhile comes again.
const LEASE: Duration = Duration::from_mins(2);

#[derive(Debug, FromRow)]
struct BegunFetch {
    normalized_url: String,
    fetch_id: Option<i64>,
    etag: Option<String>,
    last_modified: Option<String>,
    is_fresh: bool,
    is_busy: bool,
}

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let url_id = request.number("url_id")?;
    let ctx = request.ctx()?;
    super::allow(knowledge, &request, &ctx, "allow_url_fetch", "the policy of this chat allows no fetching of pages").await?;
    let begun: Option<BegunFetch> =
        sqlx::query_as("select * from knowledge.begin_fetch($1, $2, $3 * interval '1 second', $4 * interval '1 second')")
            .bind(request.workspace.uuid())
            .bind(url_id)
            .bind(FRESH_FOR.as_secs_f64())
            .bind(LEASE.as_secs_f64())
            .fetch_optional(knowledge.db.pool())
            .await
            .map_err(DbError::from)?;
    let begun = begun.ok_or_else(|| Problem::not_found("url"))?;
    if begun.is_busy {
        return Err(busy("the page is being fetched"));
    }
    let told = if begun.is_fresh {
        let query = sqlx::query_scalar("select knowledge.share_page($1, $2, $3, $4, $5)").bind(request.workspace.uuid());
        query.bind(url_id).bind(&ctx).bind(begun.fetch_id).bind(request.trace()).fetch_one(knowledge.db.pool()).await
    } else {
        let asked = FetchRequest {
            headers: vec![("accept".to_owned(), "text/html, application/pdf, text/plain, */*;q=0.5".to_owned())],
            etag: begun.etag.clone(),
            last_modified: begun.last_modified.clone(),
            body_bytes_max: PAGE_BYTES_MAX,
        };
        let answer = knowledge.fetcher.fetch(&begun.normalized_url, &asked).await;
        return store(knowledge, &request, url_id, &ctx, &begun, answer).await;
    };
    let told: Value = told.map_err(|error| refused(DbError::from(error)))?;
    Ok(finish(knowledge, told))
}

async fn store(
    knowledge: &Knowledge,
    request: &Request,
    url_id: i64,
    ctx: &Value,
    begun: &BegunFetch,
    answer: Result<Fetched, FetchError>,
) -> Result<Value, Problem> {
    let mut stored = None;
    let fetch = match &answer {
        Ok(page) => {
            let is_unchanged = page.status == 304;
            if !is_unchanged {
                let mime = page.content_type.as_deref();
                stored = Some(StoredBytes::put(knowledge, request.workspace, page.body.clone(), mime).await?);
            }
            // A page that is another one now, and has no tag of its own, must not be asked for by that of the old one.
            let before = begun.fetch_id.filter(|_| is_unchanged).and(Some(begun));
            let etag = page.etag.as_ref().or(before.and_then(|before| before.etag.as_ref()));
            let last_modified = page.last_modified.as_ref().or(before.and_then(|before| before.last_modified.as_ref()));
            json!({
                "status_code": page.status, "final_url": page.final_url, "etag": etag, "last_modified": last_modified,
                "content_type": page.content_type, "bytes": stored.as_ref().map(|stored| stored.bytes),
                "unchanged_id": begun.fetch_id.filter(|_| is_unchanged),
            })
        }
        Err(error) => {
            tracing::debug!(reason = error.reason(), url.id = url_id, "knowledge.fetch");
            let status = if let FetchError::Status { status, .. } = error { Some(*status) } else { None };
            let is_final = !error.is_retryable() || request.is_last_attempt;
            json!({ "status_code": status, "error": error.to_string(), "is_final": is_final })
        }
    };
    let told: Result<Value, _> = sqlx::query_scalar("select knowledge.store_fetch($1, $2, $3, $4, $5, $6)")
        .bind(request.workspace.uuid())
        .bind(url_id)
        .bind(ctx)
        .bind(&fetch)
        .bind(stored.as_ref().map(StoredBytes::to_json))
        .bind(request.trace())
        .fetch_one(knowledge.db.pool())
        .await;
    let told = told.map_err(|error| refused(DbError::from(error)));
    blobs::settle(knowledge, request.workspace, stored.as_ref(), told.as_ref().err()).await?;
    let told = told?;
    match answer {
        Err(error) if error.is_retryable() => {
            let mut problem = Problem::new(502, Kind::Upstream, "knowledge.fetch_failed", error.to_string());
            problem.retryable = true;
            if let FetchError::Status { retry_after, .. } = error {
                problem.retry_after = retry_after;
            }
            Err(problem)
        }
        _ => Ok(finish(knowledge, told)),
    }
}

fn finish(knowledge: &Knowledge, told: Value) -> Value {
    knowledge.db.wake().tell(Topic::JOBS);
    knowledge.db.wake().tell(Topic::BUS);
    told
}
