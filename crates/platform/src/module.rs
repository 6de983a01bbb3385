//! A module is two values: a [`Module`], which says what it is (SQL, settings, metrics, the description of its API), and a [`Service`],
//! which is what it does in a process (routes, jobs, workers, checks). The binary has a list of each and goes over them.

use std::time::Duration;

use axum::Router;
use futures::{FutureExt, future::BoxFuture};
use kernel::{Scope, WorkspaceId};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use utoipa::openapi::OpenApi;

use crate::{
    Db, DbError,
    alerts::{self, AlertSource},
    assistant::McpTool,
    bots,
    console::{ConsolePage, MenuEntry},
    door::{self, BotModule, InnerDoor},
    http::{self, App},
    install,
    jobs::{self, JobType, NewJob, Registry},
    looking,
    retention::{self, RetentionRule},
    scopes,
    settings::Setting,
};

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Api,
    Dispatcher,
    Runner,
    Monitor,
}

impl Role {
    pub const ALL: [(&'static str, Self); 4] =
        [("api", Self::Api), ("dispatcher", Self::Dispatcher), ("runner", Self::Runner), ("monitor", Self::Monitor)];

    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, role)| *role == self).map_or("", |(name, _)| name)
    }
}

/// A task that runs until the process stops, in processes that have its role.
pub struct Worker {
    pub role: Role,
    run: Box<dyn FnOnce(InnerDoor, CancellationToken) -> BoxFuture<'static, ()> + Send>,
}

impl Worker {
    /// `door` leads to the modules of the process.
    pub fn run(self, door: InnerDoor, stop: CancellationToken) -> BoxFuture<'static, ()> {
        (self.run)(door, stop)
    }
}

/// A job that is enqueued again and again.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    pub name: &'static str,
    pub job_type: &'static str,
    pub every: Duration,
}

/// What a metric measures, for the help line that `/metrics` prints.
#[derive(Clone, Copy, Debug)]
pub enum Metric {
    Counter(&'static str, &'static str),
    Gauge(&'static str, &'static str),
    Histogram(&'static str, &'static str),
}

impl Metric {
    pub fn name(self) -> &'static str {
        let (Self::Counter(name, _) | Self::Gauge(name, _) | Self::Histogram(name, _)) = self;
        name
    }

    pub fn describe(self) {
        match self {
            Self::Counter(name, help) => metrics::describe_counter!(name, help),
            Self::Gauge(name, help) => metrics::describe_gauge!(name, help),
            Self::Histogram(name, help) => metrics::describe_histogram!(name, help),
        }
    }
}

/// What a check of `beresta doctor` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Ok(String),
    /// It works, and something should be looked at; the text says what to do.
    Warning(String),
    Failed(String),
}

type CheckFn = Box<dyn Fn(Db) -> BoxFuture<'static, Result<Vec<Finding>, DbError>> + Send + Sync>;

/// A check of `beresta doctor`.
pub struct Check {
    pub name: &'static str,
    run: CheckFn,
}

impl Check {
    pub async fn run(&self, db: Db) -> Vec<Finding> {
        (self.run)(db).await.unwrap_or_else(|error| vec![Finding::Failed(error.to_string())])
    }
}

/// What a module is, known before there is a configuration or a database.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    pub sql: install::SqlModule,
    pub settings: &'static [Setting],
    pub metrics: &'static [Metric],
    /// The rights that its routes ask for. Which bundles have one is said there.
    pub scopes: &'static [Scope],
    /// How its alerts are worded; what is wrong is found by `SCHEMA.find_trouble`.
    pub alerts: Option<AlertSource>,
    /// Nothing for a module that has no paths, or whose protocol describes itself.
    pub openapi: Option<fn() -> OpenApi>,
}

/// What a module does in this process.
#[derive(Default)]
pub struct Service {
    pub router: Router<App>,
    pub jobs: Registry,
    pub schedules: Vec<Schedule>,
    pub workers: Vec<Worker>,
    pub retention: Vec<RetentionRule>,
    /// Takes the updates of bots that serve this module.
    pub bots: Option<BotModule>,
    /// Its entries in the menu of the console, those of its pages too.
    pub menu: Vec<MenuEntry>,
    /// Pages of its own in the console.
    pub pages: Vec<ConsolePage>,
    /// Tools of its own for assistants.
    pub tools: Vec<McpTool>,
    pub checks: Vec<Check>,
    /// Completes when work that outlives its request has come to its end.
    pub ended: Option<BoxFuture<'static, ()>>,
}

impl Service {
    #[must_use]
    pub fn routes(mut self, router: Router<App>) -> Self {
        self.router = self.router.merge(router);
        self
    }

    #[must_use]
    pub fn job<F, R>(mut self, job_type: JobType, handler: F) -> Self
    where
        F: Fn(jobs::Job) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), jobs::JobError>> + Send + 'static,
    {
        self.jobs.register(job_type, handler);
        self
    }

    /// A job that comes again and again; one at a time, whatever the number of processes.
    #[must_use]
    pub fn recurring<F, R>(self, name: &'static str, every: Duration, job_type: JobType, handler: F) -> Self
    where
        F: Fn(jobs::Job) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), jobs::JobError>> + Send + 'static,
    {
        let schedule = Schedule { name, job_type: job_type.name, every };
        let mut service = self.job(job_type.concurrency(1), handler);
        service.schedules.push(schedule);
        service
    }

    #[must_use]
    pub fn worker<F, R>(self, role: Role, run: F) -> Self
    where
        F: FnOnce(CancellationToken) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        self.worker_at_the_door(role, move |_door, stop| run(stop))
    }

    /// A worker that has updates for the bots of any module.
    #[must_use]
    pub fn worker_at_the_door<F, R>(mut self, role: Role, run: F) -> Self
    where
        F: FnOnce(InnerDoor, CancellationToken) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        self.workers.push(Worker { role, run: Box::new(move |door, stop| run(door, stop).boxed()) });
        self
    }

    /// A worker that looks for something again and again, first of all at the start. A look has a minute for its answer; one that failed because the
    /// database was away is taken again soon. Any number of processes may look: the database lets each thing be done once.
    #[must_use]
    pub fn look_every<T, F, R>(self, role: Role, name: &'static str, every: Duration, look: F) -> Self
    where
        T: Send + 'static,
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, DbError>> + Send + 'static,
    {
        self.worker(role, move |stop| looking::look_every(name, every, look, stop))
    }

    #[must_use]
    pub fn bots(mut self, receiver: BotModule) -> Self {
        self.bots = Some(receiver);
        self
    }

    /// Entries for pages that the console itself has.
    #[must_use]
    pub fn menu(mut self, entries: &[MenuEntry]) -> Self {
        self.menu.extend(entries);
        self
    }

    #[must_use]
    pub fn page(mut self, page: ConsolePage) -> Self {
        self.menu.push(page.entry());
        self.pages.push(page);
        self
    }

    #[must_use]
    pub fn tools(mut self, tools: Vec<McpTool>) -> Self {
        self.tools.extend(tools);
        self
    }

    #[must_use]
    pub fn retention(mut self, rules: Vec<RetentionRule>) -> Self {
        self.retention.extend(rules);
        self
    }

    #[must_use]
    pub fn check<F, R>(mut self, name: &'static str, run: F) -> Self
    where
        F: Fn(Db) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Vec<Finding>, DbError>> + Send + 'static,
    {
        self.checks.push(Check { name, run: Box::new(move |db| run(db).boxed()) });
        self
    }

    #[must_use]
    pub fn ended(mut self, ended: impl Future<Output = ()> + Send + 'static) -> Self {
        self.ended = Some(ended.boxed());
        self
    }
}

/// Declares schedules; to be called once its job types are registered.
pub async fn put_schedules(db: &Db, schedules: &[Schedule]) -> Result<(), DbError> {
    for schedule in schedules {
        let job = NewJob::new(schedule.job_type, json!({}));
        jobs::store::put_schedule(db.pool(), WorkspaceId::SYSTEM, schedule.name, job, schedule.every).await?;
    }
    Ok(())
}

/// The platform itself.
pub const PLATFORM: Module = Module {
    sql: crate::SQL,
    settings: &[],
    metrics: &[
        Metric::Counter("beresta_jobs_claimed_total", "attempts at jobs that this process began"),
        Metric::Counter("beresta_jobs_succeeded_total", "attempts at jobs that succeeded"),
        Metric::Counter("beresta_jobs_failed_total", "attempts at jobs that failed"),
        Metric::Histogram("beresta_http_request_seconds", "how long requests took, by method, path and status"),
        Metric::Gauge("beresta_database_up", "1 while the database answers"),
        Metric::Gauge("beresta_database_connections", "connections of this process to the database"),
        Metric::Gauge("beresta_jobs_oldest_due_seconds", "how long the oldest job that is due has waited"),
        Metric::Gauge("beresta_oldest_transaction_seconds", "how long the oldest transaction has been open"),
    ],
    scopes: scopes::ALL,
    alerts: Some(alerts::PLATFORM),
    openapi: Some(platform_openapi),
};

fn platform_openapi() -> OpenApi {
    let mut document = <http::api::Docs as utoipa::OpenApi>::openapi();
    document.merge(<door::Docs as utoipa::OpenApi>::openapi());
    document
}

pub fn platform_service() -> Service {
    Service::default().routes(http::api::router()).retention(retention::rules()).check("bots", bots::check_tokens)
}
