//! `GET /api/sources`.

use platform::http::{Answer, Ctx, Failure, Page, Query};
use serde::{Deserialize, Serialize};

use crate::{
    reads::{self, SourceRead},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSources {
    /// Only sources after this one: `next` of the page before.
    after: Option<String>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct SourceList {
    pub sources: Vec<SourceRead>,
    /// Give it as `after` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// Where posts are fetched from, by id.
#[utoipa::path(get, path = "/api/sources", params(ListSources), responses((status = 200, body = kernel::Envelope<SourceList>), (status = 401)), security(("token" = [])))]
pub(super) async fn list_sources(ctx: Ctx, Query(query): Query<ListSources>) -> Result<Answer<SourceList>, Failure> {
    ctx.require(scopes::READ)?;
    let limit = Page::checked(query.limit)?;
    let sources = reads::sources(&mut *ctx.begin().await?, query.after.as_deref(), limit).await?;
    let next = (i64::try_from(sources.len()) == Ok(limit)).then(|| sources.last().map(|row| row.source_id.clone())).flatten();
    Ok(Answer::ok(SourceList { sources, next }))
}
