//! `/api/webhooks`: who is told of events.
//!
//! A secret cannot be named here: a token of one workspace could otherwise have events signed with the secret of another. It is made
//! by the server, answered once, and kept in a file.

use axum::{Extension, http::StatusCode};
use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Json, Path};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    manage::{Desk, NewSubscription, OVERLAP, WithSecret},
    reads::{self, EventTypeRead, SubscriptionRead},
    scopes,
};

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct WebhookList {
    pub webhooks: Vec<SubscriptionRead>,
}

/// The webhooks of the workspace, and how they do.
#[utoipa::path(get, path = "/api/webhooks",
    responses((status = 200, body = kernel::Envelope<WebhookList>), (status = 401)), security(("token" = [])))]
pub(super) async fn list_webhooks(ctx: Ctx) -> Result<Answer<WebhookList>, Failure> {
    ctx.require(scopes::READ)?;
    let webhooks = reads::subscriptions(&mut *ctx.begin().await?).await?;
    Ok(Answer::ok(WebhookList { webhooks }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct EventTypeList {
    pub events: Vec<EventTypeRead>,
}

/// Every event that a webhook can ask for.
#[utoipa::path(get, path = "/api/webhooks/events",
    responses((status = 200, body = kernel::Envelope<EventTypeList>), (status = 401)), security(("token" = [])))]
pub(super) async fn list_event_types(ctx: Ctx) -> Result<Answer<EventTypeList>, Failure> {
    ctx.require(scopes::READ)?;
    let events = reads::event_types(&mut *ctx.begin().await?).await?;
    Ok(Answer::ok(EventTypeList { events }))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddWebhook {
    /// 1 to 100 characters, once in the workspace.
    name: String,
    /// Where events are sent: http or https, to a public address or one of the setting `fetch_allow`.
    url: String,
    /// Types as `post.sent`, all of a kind as `post.*`, or `*`.
    events: Vec<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct WebhookWithSecret {
    pub webhook: SubscriptionRead,
    /// What the receiver verifies signatures with. It is shown once: keep it now.
    pub secret: Option<String>,
}

impl From<WithSecret> for WebhookWithSecret {
    fn from(made: WithSecret) -> Self {
        Self { webhook: made.subscription, secret: made.secret.map(|secret| secret.expose().to_owned()) }
    }
}

/// Adds a webhook and makes its secret.
#[utoipa::path(post, path = "/api/webhooks", request_body = AddWebhook,
    responses((status = 201, body = kernel::Envelope<WebhookWithSecret>), (status = 422)), security(("token" = [])))]
pub(super) async fn add_webhook(
    ctx: Ctx,
    Extension(desk): Extension<Desk>,
    Json(body): Json<AddWebhook>,
) -> Result<Answer<WebhookWithSecret>, Failure> {
    ctx.require(scopes::WRITE)?;
    let new = NewSubscription { name: &body.name, url: &body.url, events: &body.events, secret_ref: None };
    let added = desk.add(ctx.principal.workspace_id, &new, &ctx.principal.token_name).await?;
    Ok(Answer(StatusCode::CREATED, added.into()))
}

/// Gives a webhook another secret. For a day both sign, so that the receiver can change its own in between.
#[utoipa::path(post, path = "/api/webhooks/{webhook}/rotate", params(("webhook" = String, Path, description = "its name or id")),
    responses((status = 200, body = kernel::Envelope<WebhookWithSecret>), (status = 404)), security(("token" = [])))]
pub(super) async fn rotate_webhook(
    ctx: Ctx,
    Extension(desk): Extension<Desk>,
    Path(webhook): Path<String>,
) -> Result<Answer<WebhookWithSecret>, Failure> {
    ctx.require(scopes::WRITE)?;
    let by = &ctx.principal.token_name;
    let rotated = desk.rotate(ctx.principal.workspace_id, &webhook, None, OVERLAP, by).await?;
    Ok(Answer::ok(rotated.into()))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct WebhookChanged {
    pub webhook: SubscriptionRead,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PauseWebhook {
    /// Why; it is shown, and goes into the journal.
    reason: String,
}

/// Pauses a webhook: events are collected, for a week at most, and sent when it is enabled again.
#[utoipa::path(post, path = "/api/webhooks/{webhook}/pause", params(("webhook" = String, Path, description = "its name or id")),
    request_body = PauseWebhook,
    responses((status = 200, body = kernel::Envelope<WebhookChanged>), (status = 404), (status = 409)), security(("token" = [])))]
pub(super) async fn pause_webhook(
    ctx: Ctx,
    Extension(desk): Extension<Desk>,
    Path(webhook): Path<String>,
    Json(body): Json<PauseWebhook>,
) -> Result<Answer<WebhookChanged>, Failure> {
    ctx.require(scopes::WRITE)?;
    if body.reason.trim().is_empty() || body.reason.chars().count() > 500 {
        return Err(Problem::validation("reason", "`reason` has 1 to 500 characters").into());
    }
    let webhook = desk.pause(ctx.principal.workspace_id, &webhook, &body.reason, &ctx.principal.token_name).await?;
    Ok(Answer::ok(WebhookChanged { webhook }))
}

/// Enables a webhook that is paused or disabled; what it has collected is sent.
#[utoipa::path(post, path = "/api/webhooks/{webhook}/enable", params(("webhook" = String, Path, description = "its name or id")),
    responses((status = 200, body = kernel::Envelope<WebhookChanged>), (status = 404)), security(("token" = [])))]
pub(super) async fn enable_webhook(
    ctx: Ctx,
    Extension(desk): Extension<Desk>,
    Path(webhook): Path<String>,
) -> Result<Answer<WebhookChanged>, Failure> {
    ctx.require(scopes::WRITE)?;
    let webhook = desk.enable(ctx.principal.workspace_id, &webhook, &ctx.principal.token_name).await?;
    Ok(Answer::ok(WebhookChanged { webhook }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct WebhookRemoved {
    pub subscription_id: Uuid,
}

/// Removes a webhook. What waits for it is not sent any more.
#[utoipa::path(delete, path = "/api/webhooks/{webhook}", params(("webhook" = String, Path, description = "its name or id")),
    responses((status = 200, body = kernel::Envelope<WebhookRemoved>), (status = 404)), security(("token" = [])))]
pub(super) async fn remove_webhook(
    ctx: Ctx,
    Extension(desk): Extension<Desk>,
    Path(webhook): Path<String>,
) -> Result<Answer<WebhookRemoved>, Failure> {
    ctx.require(scopes::WRITE)?;
    let subscription_id = desk.remove(ctx.principal.workspace_id, &webhook, &ctx.principal.token_name).await?;
    Ok(Answer::ok(WebhookRemoved { subscription_id }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct WebhookDeliveryMade {
    pub delivery_id: Uuid,
}

/// Sends the event `webhook.test`.
#[utoipa::path(post, path = "/api/webhooks/{webhook}/test", params(("webhook" = String, Path, description = "its name or id")),
    responses((status = 202, body = kernel::Envelope<WebhookDeliveryMade>), (status = 404), (status = 409)), security(("token" = [])))]
pub(super) async fn test_webhook(
    ctx: Ctx,
    Extension(desk): Extension<Desk>,
    Path(webhook): Path<String>,
) -> Result<Answer<WebhookDeliveryMade>, Failure> {
    ctx.require(scopes::WRITE)?;
    let delivery_id = desk.test(ctx.principal.workspace_id, &webhook, &ctx.principal.token_name).await?;
    Ok(Answer(StatusCode::ACCEPTED, WebhookDeliveryMade { delivery_id }))
}
