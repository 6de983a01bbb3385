//! What webhooks bring to the program.

use platform::{
    module::{Metric, Module, Role, Service},
    outbox::OutboxLimits,
    retention::RetentionRule,
};
use utoipa::OpenApi;

use crate::{SQL, WebhookSender, alerts, console, http, manage::Desk, scopes, sender::WebhookDeliveries};

/// Deliveries that one process sends at once.
const IN_FLIGHT_MAX: usize = 256;

pub const MODULE: Module = Module {
    sql: SQL,
    settings: &[],
    metrics: &[Metric::Counter("webhooks_deliveries_total", "attempts to deliver an event, by what became of the delivery")],
    scopes: scopes::ALL,
    alerts: Some(alerts::ALERTS),
    openapi: Some(<http::Docs as OpenApi>::openapi),
};

pub fn service(deliveries: WebhookDeliveries, desk: Desk) -> Service {
    Service::default()
        .routes(http::router(desk))
        .worker(Role::Dispatcher, move |stop| WebhookSender::new(deliveries, OutboxLimits::of(IN_FLIGHT_MAX)).run(stop))
        .retention(retention())
        .page(console::PAGE)
}

pub fn retention() -> Vec<RetentionRule> {
    vec![RetentionRule::sql("webhooks.deliveries", "select webhooks.forget($1)")]
}
