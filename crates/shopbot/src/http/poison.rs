//! `GET /api/bots/poison`.

use platform::http::{Answer, Ctx, Failure, Page, Query};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    reads::{self, PoisonRead},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPoison {
    /// Only older ones: `next` of the page before.
    before: Option<Uuid>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct PoisonList {
    pub poison: Vec<PoisonRead>,
    /// Give it as `before` to get the next page; absent on the last one.
    pub next: Option<Uuid>,
}

/// Updates that were acknowledged and could not be handled, newest first.
#[utoipa::path(get, path = "/api/bots/poison", params(ListPoison), responses((status = 200, body = kernel::Envelope<PoisonList>), (status = 401)), security(("token" = [])))]
pub(super) async fn list_poison(ctx: Ctx, Query(query): Query<ListPoison>) -> Result<Answer<PoisonList>, Failure> {
    ctx.require(scopes::READ)?;
    let limit = Page::checked(query.limit)?;
    let poison = reads::poison(&mut *ctx.begin().await?, query.before, limit).await?;
    let is_full = i64::try_from(poison.len()) == Ok(limit);
    let next = is_full.then(|| poison.last().map(|row| row.id)).flatten();
    Ok(Answer::ok(PoisonList { poison, next }))
}
