//! The server: the database, the roles of this process, and the HTTP listener, wired together.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context, Result};
use axum::Router;
use futures::future::BoxFuture;
use jiff::Timestamp;
use platform::{
    alerts::{self, AlertSource, AlertTeller, StorageLimits},
    bus::Bus,
    door::{self, InnerDoor},
    embedded::Use,
    http::{self, App},
    jobs::{Registry, Runner},
    module::{Role, put_schedules},
    objects::Objects,
    process, retention,
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::Config,
    database::Database,
    listener, modules,
    operations::{self, Process},
    outside::Outside,
    tour,
};

/// A server that runs in this process.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) database: Database,
    pub(crate) app: App,
    ended: Vec<BoxFuture<'static, ()>>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Starts everything that the roles ask for.
    pub(crate) async fn start(config: &Config, has_demo_jobs: bool, progress: fn(&str)) -> Result<Self> {
        let listener = TcpListener::bind(config.listen).await.with_context(|| {
            format!("cannot listen on {}; another program may have it: choose one with --listen", config.listen)
        })?;
        let address = listener.local_addr()?;
        let database = Database::open(config, Use::Own, progress).await?;
        let db = database.db.clone();
        let stop = CancellationToken::new();
        let objects = Objects::open(&config.objects)?;
        let bus = Bus::new(db.clone());
        let app = App { db: db.clone(), bus: bus.clone(), objects, stop: stop.clone() };
        let outside = Outside::new(config)?;

        let mut tasks = JoinSet::new();
        if let Some(server) = database.embedded.clone() {
            let stop = stop.clone();
            tasks.spawn(async move {
                tokio::select! {
                    () = server.supervise() => {}
                    () = stop.cancelled() => {}
                }
            });
        }
        tasks.spawn(db.wake().clone().listen(stop.clone()));
        let roles: Vec<&'static str> = config.roles.iter().map(|role| role.as_str()).collect();
        tasks.spawn(process::report(db.clone(), roles.clone(), env!("CARGO_PKG_VERSION"), stop.clone()));
        let chats = actions::http::Surface::new(config.actions.http);
        let mut registry = Registry::new();
        let mut of_modules = Router::new();
        let (mut schedules, mut forgetting, mut ended) = (vec![retention::SCHEDULE], Vec::new(), Vec::new());
        let (mut bots, mut menu, mut pages, mut workers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for service in modules::services(config, &app, &outside, &chats) {
            registry.extend(service.jobs);
            of_modules = of_modules.merge(service.router);
            schedules.extend(service.schedules);
            forgetting.extend(service.retention);
            bots.extend(service.bots);
            menu.extend(service.menu);
            pages.extend(service.pages);
            ended.extend(service.ended);
            workers.extend(service.workers);
        }
        let inner_door = InnerDoor::new(app.clone(), bots.clone());
        for worker in workers {
            if config.roles.contains(&worker.role) {
                tasks.spawn(worker.run(inner_door.clone(), stop.clone()));
            }
        }
        let sources: Vec<AlertSource> = modules::ALL.iter().filter_map(|module| module.alerts).collect();
        if config.roles.contains(&Role::Runner) {
            retention::register(&mut registry, &db, forgetting);
            let sender = Arc::new(outside.alert_sender(config));
            let teller = AlertTeller { db: db.clone(), sources: sources.clone(), public_url: config.public_url.clone(), sender };
            alerts::register(&mut registry, teller);
            if has_demo_jobs {
                tour::jobs::register(&mut registry, &db);
            }
            let runner = Runner::new(db.clone(), registry, format!("pid-{}", std::process::id()));
            runner.register().await?;
            put_schedules(&db, &schedules).await?;
            tasks.spawn(runner.run(stop.clone()));
        }
        if config.roles.contains(&Role::Monitor) {
            let limits = StorageLimits {
                database_bytes_max: Some(config.database_alert_bytes),
                data_dir: database.embedded.as_ref().map(|_| config.data_dir.clone()),
            };
            tasks.spawn(alerts::watch(db.clone(), sources, limits, stop.clone()));
        }
        let mut router = operations::router(Arc::new(Process::new(roles)?));
        if config.roles.contains(&Role::Api) {
            tasks.spawn(bus.run(stop.clone()));
            let info = console_info(config, &database);
            let console = console::router(Arc::new(info), actions::http::router(chats), &menu, &pages);
            router = router.merge(of_modules).merge(door::router(bots)).merge(console);
        }
        let router = http::wrap(router, config.limits).with_state(app.clone());
        tasks.spawn(listener::serve(listener, router, config.connections_max, stop));
        Ok(Self { address, database, app, ended, tasks })
    }

    /// Stops everything, letting what has begun come to its end.
    pub(crate) async fn stop(mut self) {
        self.app.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
        futures::future::join_all(self.ended).await;
        self.app.db.pool().close().await;
    }
}

fn console_info(config: &Config, database: &Database) -> console::Info {
    console::Info {
        version: env!("CARGO_PKG_VERSION"),
        started_at: Timestamp::now(),
        database_place: database.place.clone(),
        modules: modules::ALL,
        is_https: config.public_url.as_deref().is_some_and(|url| url.starts_with("https://")),
    }
}

/// Completes when the process is asked to end: Ctrl-C or SIGTERM. It listens from the call on, not from the first look at what it returns, so
/// that whoever was told that the process serves can ask it to stop.
pub(crate) fn asked_to_stop() -> Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
