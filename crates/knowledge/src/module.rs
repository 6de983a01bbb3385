//! What knowledge brings to the program.

use std::{sync::Arc, time::Duration};

use extract::Extractor;
use llm::{Answerer, Embedder, Transcriber};
use messengers::Messengers;
use outbound::Fetcher;
use platform::{
    Db,
    jobs::JobType,
    module::{Metric, Module, Role, Service},
    objects::Objects,
    outbox::{Engine, OutboxLimits},
    retention::RetentionRule,
    secrets::Secrets,
    settings::setting,
};
use utoipa::OpenApi;

use crate::{SQL, alerts, answers::Activity, assistant, console, http, jobs, polling::Poller, replies::Replies, scopes, updates};

pub const MODULE: Module = Module {
    sql: SQL,
    settings: &[setting(
        "membership_proof_minutes",
        "BERESTA_MEMBERSHIP_PROOF_MINUTES",
        "60",
        "how old the proof may be that a person is a member of a group before Telegram is asked again",
    )],
    metrics: &[
        Metric::Counter("knowledge_updates_total", "updates of Telegram, by what became of them"),
        Metric::Counter("knowledge_questions_total", "questions that were answered or refused"),
        Metric::Counter("knowledge_replies_total", "attempts to say something in a chat, by what became of them"),
    ],
    scopes: scopes::ALL,
    alerts: Some(alerts::ALERTS),
    openapi: Some(<http::Docs as OpenApi>::openapi),
};

/// How often the transport of a bot is looked at.
const WATCH_EVERY: Duration = Duration::from_mins(1);

/// How often objects are looked for that no row names.
const COLLECT_EVERY: Duration = Duration::from_mins(10);

/// How often the words of what came and went are counted, beside the count after each document.
const COUNT_EVERY: Duration = Duration::from_mins(1);

/// How often vectors are looked for that are missing.
const VECTORS_EVERY: Duration = Duration::from_mins(30);

/// What the workflows work with.
#[derive(Clone, Debug)]
pub struct Knowledge {
    pub db: Db,
    pub objects: Objects,
    pub messengers: Messengers,
    pub secrets: Secrets,
    pub fetcher: Fetcher,
    pub extractor: Extractor,
    pub embedder: Embedder,
    /// Without one, recordings have no text.
    pub transcriber: Option<Transcriber>,
    /// Without one, answers are sentences of their sources.
    pub answerer: Option<Answerer>,
    /// Where it is seen that an answer is being made.
    pub activity: Arc<dyn Activity>,
    /// How old the proof may be that a person is a member of a group, when they get something of it in private.
    pub membership_proof_max: Duration,
}

impl Knowledge {
    pub fn replies(&self) -> Replies {
        Replies { db: self.db.clone(), messengers: self.messengers.clone(), secrets: self.secrets.clone() }
    }
}

pub fn service(knowledge: &Knowledge) -> Service {
    let (watching, collecting, counting, polling, looking) =
        (knowledge.clone(), knowledge.clone(), knowledge.clone(), knowledge.clone(), knowledge.clone());
    let replies = knowledge.replies();
    let mut service = Service::default()
        .routes(http::router(knowledge.clone()))
        .bots(updates::bot_module(knowledge.clone()))
        .recurring("knowledge.watch_transports", WATCH_EVERY, JobType::new("knowledge.watch_transports"), move |_| {
            jobs::watch_transports(watching.clone())
        })
        .recurring("knowledge.collect_garbage", COLLECT_EVERY, JobType::new("knowledge.collect_garbage"), move |_| {
            jobs::collect_garbage(collecting.clone())
        })
        .recurring("knowledge.count_changed_terms", COUNT_EVERY, JobType::new("knowledge.count_changed_terms"), move |_| {
            jobs::count_changed_terms(counting.clone())
        })
        .recurring("knowledge.look_for_vectors", VECTORS_EVERY, JobType::new("knowledge.look_for_vectors"), move |_| {
            jobs::look_for_vectors(looking.clone())
        })
        .worker(Role::Dispatcher, move |stop| Engine::new(replies, OutboxLimits::of(16)).run(stop))
        .worker_at_the_door(Role::Monitor, move |door, stop| Poller::new(polling, door).run(stop))
        .page(console::PAGE)
        .tools(assistant::tools(knowledge))
        .retention(vec![
            RetentionRule::sql("knowledge.chats", "select knowledge.forget_old($1)"),
            RetentionRule::sql("knowledge.questions", "select knowledge.forget_sessions($1)"),
            RetentionRule::sql("knowledge.transport", "select knowledge.forget_transport($1)"),
        ]);
    service.jobs.extend(jobs::registry(knowledge));
    service
}
