//! `GET /api/events`.

use platform::http::{Answer, Ctx, Failure, Page, Query};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::one_of;
use crate::{
    reads::{self, ACTIONS, EventFilter, EventRead},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEvents {
    /// What happened: `sent`, `retry_scheduled`, `dead_letter`, …
    action: Option<String>,
    /// `ok` or `error`.
    result: Option<String>,
    channel_id: Option<String>,
    delivery_id: Option<Uuid>,
    /// The events of a post and of all its deliveries.
    message_id: Option<Uuid>,
    /// Only events before this place: `next` of the page before.
    before: Option<String>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct EventList {
    pub events: Vec<EventRead>,
    /// Give it as `before` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// What happened to posts and channels, newest first.
#[utoipa::path(get, path = "/api/events", params(ListEvents), responses((status = 200, body = kernel::Envelope<EventList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_events(ctx: Ctx, Query(query): Query<ListEvents>) -> Result<Answer<EventList>, Failure> {
    ctx.require(scopes::READ)?;
    one_of("action", query.action.as_deref(), &ACTIONS)?;
    one_of("result", query.result.as_deref(), &["ok", "error"])?;
    let limit = Page::checked(query.limit)?;
    let filter = EventFilter {
        action: query.action,
        result: query.result,
        channel_id: query.channel_id,
        delivery_id: query.delivery_id,
        message_id: query.message_id,
        before: query.before.as_deref().map(str::parse).transpose()?,
        limit,
    };
    let events = reads::events(&mut *ctx.begin().await?, &filter).await?;
    let next =
        (i64::try_from(events.len()) == Ok(limit)).then(|| events.last().map(|event| event.cursor().to_string())).flatten();
    Ok(Answer::ok(EventList { events, next }))
}
