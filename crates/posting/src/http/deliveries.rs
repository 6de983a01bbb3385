//! `GET /api/deliveries` and `GET /api/deliveries/{delivery_id}`.

use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Page, Path, Query};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::one_of;
use crate::{
    reads::{self, DeliveryFilter, DeliveryRead, EventFilter, EventRead, OPERATIONS, STATUSES},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListDeliveries {
    /// `queued`, `claimed`, `sending`, `retry`, `sent`, `deduped`, `failed_permanent` or `dead`.
    status: Option<String>,
    channel_id: Option<String>,
    message_id: Option<Uuid>,
    /// `send`, `edit` or `delete`.
    operation: Option<String>,
    /// Only what comes later in this list: `next` of the page before.
    before: Option<Uuid>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct DeliveryList {
    pub deliveries: Vec<DeliveryRead>,
    /// Give it as `before` to get the next page; absent on the last one. With a filter a page may be short and have it.
    pub next: Option<Uuid>,
}

/// Deliveries with what each waits for, newest first.
#[utoipa::path(get, path = "/api/deliveries", params(ListDeliveries), responses((status = 200, body = kernel::Envelope<DeliveryList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_deliveries(ctx: Ctx, Query(query): Query<ListDeliveries>) -> Result<Answer<DeliveryList>, Failure> {
    ctx.require(scopes::READ)?;
    one_of("status", query.status.as_deref(), &STATUSES)?;
    one_of("operation", query.operation.as_deref(), &OPERATIONS)?;
    let filter = DeliveryFilter {
        status: query.status,
        channel_id: query.channel_id,
        message_id: query.message_id,
        operation: query.operation,
        before: query.before,
        limit: Page::checked(query.limit)?,
    };
    let page = reads::deliveries(&mut *ctx.begin().await?, &filter).await?;
    Ok(Answer::ok(DeliveryList { deliveries: page.rows, next: page.next }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct DeliveryWithEvents {
    pub delivery: DeliveryRead,
    /// What happened to it, newest first, at most 200.
    pub events: Vec<EventRead>,
}

/// One delivery: where it stands, what it waits for, and what happened to it.
#[utoipa::path(get, path = "/api/deliveries/{delivery_id}", params(("delivery_id" = Uuid, Path)), responses((status = 200, body = kernel::Envelope<DeliveryWithEvents>), (status = 404)), security(("token" = [])))]
pub(super) async fn get_delivery(ctx: Ctx, Path(id): Path<Uuid>) -> Result<Answer<DeliveryWithEvents>, Failure> {
    ctx.require(scopes::READ)?;
    let mut tx = ctx.begin().await?;
    let delivery = reads::delivery(&mut tx, id).await?.ok_or_else(|| Problem::not_found("delivery"))?;
    let filter = EventFilter { delivery_id: Some(id), limit: 200, ..EventFilter::default() };
    let events = reads::events(&mut tx, &filter).await?;
    Ok(Answer::ok(DeliveryWithEvents { delivery, events }))
}
