//! What knowledge brings to the program.

use platform::{
    Db,
    module::{Metric, Module, Service},
    objects::Objects,
    retention::RetentionRule,
};
use utoipa::OpenApi;

use crate::{SQL, alerts, http, jobs, scopes, updates};

pub const MODULE: Module = Module {
    sql: SQL,
    settings: &[],
    metrics: &[Metric::Counter("knowledge_updates_total", "updates of Telegram, by what became of them")],
    scopes: scopes::ALL,
    alerts: Some(alerts::ALERTS),
    openapi: Some(<http::Docs as OpenApi>::openapi),
};

/// What the workflows work with.
#[derive(Clone, Debug)]
pub struct Knowledge {
    pub db: Db,
    pub objects: Objects,
}

pub fn service(knowledge: &Knowledge) -> Service {
    let mut service = Service::default()
        .routes(http::router(knowledge.clone()))
        .bots(updates::bot_module(knowledge.clone()))
        .retention(vec![RetentionRule::sql("knowledge", "select knowledge.forget_old($1)")]);
    service.jobs = jobs::registry(knowledge);
    service
}
