//! What the echo bot brings to the program.

use messengers::Messengers;
use platform::{
    Db, DbError,
    alerts::{AlertKind, AlertSource},
    door::BotModule,
    jobs::{Job, JobError, JobType},
    module::{Metric, Module, Role, Service},
    outbox::{Engine, OutboxLimits},
    retention::RetentionRule,
    secrets::Secrets,
};
use serde::Deserialize;
use uuid::Uuid;

use crate::{SQL, page, sender::Echoes, updates};

pub const MODULE: Module = Module {
    sql: SQL,
    settings: &[],
    metrics: &[Metric::Counter("echobot_echoes_total", "attempts to repeat a message, by what became of them")],
    alerts: Some(AlertSource {
        module: "echobot",
        kinds: &[AlertKind {
            name: "dead_echoes",
            title: "messages that could not be repeated",
            advice: "Check the token of the bot and the provider.",
            page: "/console/echobot",
        }],
    }),
    openapi: None,
    scopes: &[],
};

pub fn service(db: Db, messengers: Messengers, secrets: Secrets) -> Service {
    let echoes = Echoes { db: db.clone(), messengers, secrets };
    Service::default()
        .bots(BotModule::new("echobot", updates::receive))
        .worker(Role::Dispatcher, move |stop| Engine::new(echoes, OutboxLimits::of(16)).run(stop))
        .job(JobType::new("echobot.count_words"), move |job| count_words(db.clone(), job))
        .retention(vec![RetentionRule::sql("echobot.echoes", "select echobot.forget($1)")])
        .page(page::PAGE)
}

#[derive(Deserialize)]
struct CountWords {
    echo_id: Uuid,
}

async fn count_words(db: Db, job: Job) -> Result<(), JobError> {
    let CountWords { echo_id } = job.payload()?;
    let query = sqlx::query("select echobot.count_words($1, $2)").bind(job.workspace_id.uuid()).bind(echo_id);
    query.execute(db.pool()).await.map_err(DbError::from)?;
    Ok(())
}
