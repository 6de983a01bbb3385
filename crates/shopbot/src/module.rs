//! What the shop bot brings to the program.

use std::time::Duration;

use platform::{
    Db, DbError,
    module::{Finding, Metric, Module, Role, Service},
    outbox::OutboxLimits,
    secrets::Secrets,
};
use utoipa::OpenApi;
use uuid::Uuid;

use crate::{AnswerSender, SQL, alerts, bot_module, http, retention, scopes, sender::Answers, store};

/// Answers that one process sends at once.
const IN_FLIGHT_MAX: usize = 256;
/// How often leases are looked for that are over.
const LOOK_EVERY: Duration = Duration::from_secs(5);

pub const MODULE: Module = Module {
    sql: SQL,
    settings: &[],
    metrics: &[
        Metric::Counter("shopbot_messages_total", "messages of customers, by provider and what became of them"),
        Metric::Counter("shopbot_answers_total", "attempts to send an answer, by what became of it"),
    ],
    scopes: scopes::ALL,
    alerts: Some(alerts::ALERTS),
    openapi: Some(<http::Docs as OpenApi>::openapi),
};

pub fn service(answers: Answers) -> Service {
    let db = answers.db.clone();
    Service::default()
        .routes(http::router())
        .bots(bot_module())
        .worker(Role::Dispatcher, move |stop| AnswerSender::new(answers, OutboxLimits::of(IN_FLIGHT_MAX)).run(stop))
        .look_every(Role::Monitor, "shopbot.leases", LOOK_EVERY, move || free_leases(db.clone()))
        .retention(retention::rules())
        .check("bots", check_tokens)
}

/// Gives back what stuck senders hold.
async fn free_leases(db: Db) -> Result<(), DbError> {
    let freed = store::expire_answer_leases(db.pool()).await?;
    if freed > 0 {
        tracing::warn!(freed, "shopbot.leases_expired");
        db.wake().tell(crate::ANSWERS);
    }
    Ok(())
}

/// Whether the tokens of the bots of all workspaces can be read from here.
async fn check_tokens(db: Db) -> Result<Vec<Finding>, DbError> {
    let query = "select workspace_id, provider, secret_ref from core.bots where serves = 'shopbot' and enabled";
    let bots: Vec<(Uuid, String, String)> = sqlx::query_as(query).fetch_all(db.pool()).await?;
    let secrets = Secrets::default();
    let mut findings = Vec::new();
    for (workspace, provider, reference) in &bots {
        if let Err(problem) = secrets.find(reference).await {
            findings.push(Finding::Warning(format!("the token of the {provider} bot in workspace {workspace}: {problem}")));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::Ok(format!("the tokens of {} bots can be read", bots.len())));
    }
    Ok(findings)
}
