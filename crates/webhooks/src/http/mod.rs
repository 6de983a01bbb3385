//! The API of webhooks.

mod deliveries;
mod subscriptions;

use axum::{
    Extension, Router,
    routing::{delete, get, post},
};
use platform::http::App;
use utoipa::OpenApi;

use crate::manage::Desk;

pub fn router(desk: Desk) -> Router<App> {
    Router::new()
        .route("/api/webhooks", get(subscriptions::list_webhooks).post(subscriptions::add_webhook))
        .route("/api/webhooks/events", get(subscriptions::list_event_types))
        .route("/api/webhooks/deliveries", get(deliveries::list_webhook_deliveries))
        .route("/api/webhooks/deliveries/{delivery_id}", get(deliveries::get_webhook_delivery))
        .route("/api/webhooks/deliveries/{delivery_id}/resend", post(deliveries::resend_webhook_delivery))
        .route("/api/webhooks/{webhook}", delete(subscriptions::remove_webhook))
        .route("/api/webhooks/{webhook}/test", post(subscriptions::test_webhook))
        .route("/api/webhooks/{webhook}/pause", post(subscriptions::pause_webhook))
        .route("/api/webhooks/{webhook}/enable", post(subscriptions::enable_webhook))
        .route("/api/webhooks/{webhook}/rotate", post(subscriptions::rotate_webhook))
        .layer(Extension(desk))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(paths(
    subscriptions::list_webhooks,
    subscriptions::add_webhook,
    subscriptions::list_event_types,
    subscriptions::remove_webhook,
    subscriptions::test_webhook,
    subscriptions::pause_webhook,
    subscriptions::enable_webhook,
    subscriptions::rotate_webhook,
    deliveries::list_webhook_deliveries,
    deliveries::get_webhook_delivery,
    deliveries::resend_webhook_delivery
))]
pub struct Docs;
