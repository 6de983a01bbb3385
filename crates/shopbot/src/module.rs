//! What the shop bot brings to the program.

use std::time::Duration;

use platform::{
    Db, DbError,
    console::MenuEntry,
    module::{Metric, Module, Role, Service},
    outbox::OutboxLimits,
};
use utoipa::OpenApi;

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

/// The console has the pages.
pub const MENU: &[MenuEntry] = &[
    MenuEntry { path: "conversations", title: "Conversations", topics: &["shopbot"] },
    MenuEntry { path: "rules", title: "Rules", topics: &["shopbot"] },
    MenuEntry { path: "bots", title: "Bots", topics: &["shopbot"] },
];

pub fn service(answers: Answers) -> Service {
    let db = answers.db.clone();
    Service::default()
        .routes(http::router())
        .bots(bot_module())
        .worker(Role::Dispatcher, move |stop| AnswerSender::new(answers, OutboxLimits::of(IN_FLIGHT_MAX)).run(stop))
        .look_every(Role::Monitor, "shopbot.leases", LOOK_EVERY, move || free_leases(db.clone()))
        .retention(retention::rules())
        .menu(MENU)
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
