//! `/api/webhooks/deliveries`: what was sent, what came back, and sending it again.

use axum::{Extension, http::StatusCode};
use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Page, Path, Query};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::subscriptions::WebhookDeliveryMade;
use crate::{
    manage::Desk,
    reads::{self, STATUSES, WebhookAttemptRead, WebhookDeliveryFilter, WebhookDeliveryRead},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListWebhookDeliveries {
    /// Only those of this webhook.
    subscription_id: Option<Uuid>,
    /// `queued`, `sending`, `retry`, `delivered`, `failed` or `dead`.
    status: Option<String>,
    /// Only events of this type, such as `post.sent`.
    event_type: Option<String>,
    /// Only older ones: `next` of the page before.
    before: Option<Uuid>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct WebhookDeliveryList {
    pub deliveries: Vec<WebhookDeliveryRead>,
    /// Give it as `before` to get the next page; absent on the last one.
    pub next: Option<Uuid>,
}

/// What was sent or will be, newest first.
#[utoipa::path(get, path = "/api/webhooks/deliveries", params(ListWebhookDeliveries),
    responses((status = 200, body = kernel::Envelope<WebhookDeliveryList>), (status = 401)), security(("token" = [])))]
pub(super) async fn list_webhook_deliveries(
    ctx: Ctx,
    Query(query): Query<ListWebhookDeliveries>,
) -> Result<Answer<WebhookDeliveryList>, Failure> {
    ctx.require(scopes::READ)?;
    if let Some(status) = &query.status
        && !STATUSES.contains(&status.as_str())
    {
        return Err(Problem::validation("status", format!("`status` is one of: {}", STATUSES.join(", "))).into());
    }
    let filter = WebhookDeliveryFilter {
        subscription_id: query.subscription_id,
        status: query.status,
        event_type: query.event_type,
        before: query.before,
        limit: Page::checked(query.limit)?,
    };
    let page = reads::deliveries(&mut *ctx.begin().await?, &filter).await?;
    Ok(Answer::ok(WebhookDeliveryList { deliveries: page.deliveries, next: page.next }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct WebhookDeliveryWithAttempts {
    pub delivery: WebhookDeliveryRead,
    /// Every attempt of the last 30 days, oldest first.
    pub attempts: Vec<WebhookAttemptRead>,
}

/// One delivery with its attempts.
#[utoipa::path(get, path = "/api/webhooks/deliveries/{delivery_id}", params(("delivery_id" = Uuid, Path)),
    responses((status = 200, body = kernel::Envelope<WebhookDeliveryWithAttempts>), (status = 404)), security(("token" = [])))]
pub(super) async fn get_webhook_delivery(
    ctx: Ctx,
    Path(delivery_id): Path<Uuid>,
) -> Result<Answer<WebhookDeliveryWithAttempts>, Failure> {
    ctx.require(scopes::READ)?;
    let found = reads::delivery(&mut *ctx.begin().await?, delivery_id).await?;
    let (delivery, attempts) = found.ok_or_else(|| Problem::not_found("webhook delivery"))?;
    Ok(Answer::ok(WebhookDeliveryWithAttempts { delivery, attempts }))
}

/// Sends what an ended delivery carried once more: a new delivery with a `webhook-id` of its own, whose body names the old one.
#[utoipa::path(post, path = "/api/webhooks/deliveries/{delivery_id}/resend", params(("delivery_id" = Uuid, Path)),
    responses((status = 202, body = kernel::Envelope<WebhookDeliveryMade>), (status = 404), (status = 409)), security(("token" = [])))]
pub(super) async fn resend_webhook_delivery(
    ctx: Ctx,
    Extension(desk): Extension<Desk>,
    Path(delivery_id): Path<Uuid>,
) -> Result<Answer<WebhookDeliveryMade>, Failure> {
    ctx.require(scopes::WRITE)?;
    let delivery_id = desk.resend(ctx.principal.workspace_id, delivery_id, &ctx.principal.token_name).await?;
    Ok(Answer(StatusCode::ACCEPTED, WebhookDeliveryMade { delivery_id }))
}
