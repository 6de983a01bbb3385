//! `GET /api/ingest-runs`.

use platform::http::{Answer, Ctx, Failure, Page, Query};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::one_of;
use crate::{
    reads::{self, RunFilter, RunRead},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRuns {
    /// `push` or `pull`.
    kind: Option<String>,
    source_id: Option<String>,
    /// Only older runs: `next` of the page before.
    before: Option<Uuid>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct RunList {
    pub runs: Vec<RunRead>,
    /// Give it as `before` to get the next page; absent on the last one. With a filter a page may be short and have it.
    pub next: Option<Uuid>,
}

/// Each push and each pull, newest first.
#[utoipa::path(get, path = "/api/ingest-runs", params(ListRuns), responses((status = 200, body = kernel::Envelope<RunList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_runs(ctx: Ctx, Query(query): Query<ListRuns>) -> Result<Answer<RunList>, Failure> {
    ctx.require(scopes::READ)?;
    one_of("kind", query.kind.as_deref(), &["push", "pull"])?;
    let limit = Page::checked(query.limit)?;
    let filter = RunFilter { kind: query.kind, source_id: query.source_id, before: query.before, limit };
    let page = reads::runs(&mut *ctx.begin().await?, &filter).await?;
    Ok(Answer::ok(RunList { runs: page.rows, next: page.next }))
}
