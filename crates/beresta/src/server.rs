//! The server: the database, the roles of this process, and the HTTP listener, wired together.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context, Result};
use axum::Router;
use jiff::Timestamp;
use planner::Planner;
use platform::{
    bus::Bus,
    embedded::Use,
    http::{self, App},
    jobs::{Registry, Runner},
    objects::Objects,
    process, upkeep,
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Config, Role},
    database::{Database, MODULES},
    listener,
    operations::{self, Process},
    outside::Outside,
    tour,
};

/// A server that runs in this process.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) database: Database,
    pub(crate) app: App,
    planner: Planner,
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
        if config.roles.contains(&Role::Runner) {
            let runner = runner(config, &app, &outside, has_demo_jobs);
            runner.register().await?;
            upkeep::schedule(&db).await?;
            posting::pull::schedule(&db).await?;
            posting::upkeep::schedule(&db).await?;
            shopbot::upkeep::schedule(&db).await?;
            actions::upkeep::schedule(&db).await?;
            planner::upkeep::schedule(&db).await?;
            tasks.spawn(runner.run(stop.clone()));
        }
        if config.roles.contains(&Role::Api) {
            tasks.spawn(bus.run(stop.clone()));
        }
        if config.roles.contains(&Role::Dispatcher) {
            let settings = posting::dispatcher::Settings {
                in_flight_max: config.dispatch_in_flight_max,
                in_flight_per_workspace_max: (config.dispatch_in_flight_max / 2).max(1),
            };
            tasks.spawn(posting::Dispatcher::new(outside.tools(&app), settings).run(stop.clone()));
            let sender = shopbot::Sender::new(outside.sender_tools(&app), shopbot::sender::Settings::default());
            tasks.spawn(sender.run(stop.clone()));
        }
        if config.roles.contains(&Role::Monitor) {
            tasks.spawn(posting::monitor::run(db.clone(), stop.clone()));
            tasks.spawn(shopbot::monitor::run(db.clone(), stop.clone()));
            tasks.spawn(actions::watchdog::run(db.clone(), config.watchdog_interval, stop.clone()));
        }
        let planner = Planner::new(db.clone());
        let router = router(config, &database, &app, &planner, &outside, roles)?;
        tasks.spawn(listener::serve(listener, router, config.connections_max, stop));
        Ok(Self { address, database, app, planner, tasks })
    }

    /// Stops everything, letting what has begun come to its end.
    pub(crate) async fn stop(mut self) {
        self.app.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
        // A call of an assistant may go on without its connection.
        self.planner.ended().await;
        self.app.db.pool().close().await;
    }
}

fn runner(config: &Config, app: &App, outside: &Outside, has_demo_jobs: bool) -> Runner {
    let db = &app.db;
    let mut registry = Registry::new();
    upkeep::register(&mut registry, db);
    posting::pull::register(&mut registry, db, outside.fetcher.clone(), posting::pull::Secrets::default());
    posting::upkeep::register(&mut registry, db, &app.objects);
    posting::alerts::register(&mut registry, outside.teller(app, config.mail.clone()));
    shopbot::upkeep::register(&mut registry, db);
    actions::upkeep::register(&mut registry, db);
    planner::upkeep::register(&mut registry, db, config.planner);
    shopbot::alerts::register(&mut registry, outside.bot_teller(app));
    if has_demo_jobs {
        tour::jobs::register(&mut registry, db);
    }
    Runner::new(db.clone(), registry, format!("pid-{}", std::process::id()))
}

fn router(
    config: &Config,
    database: &Database,
    app: &App,
    planner: &Planner,
    outside: &Outside,
    roles: Vec<&'static str>,
) -> Result<Router> {
    let process = Arc::new(Process::new(roles)?);
    let mut router = operations::router(process);
    if config.roles.contains(&Role::Api) {
        let info = console::Info {
            version: env!("CARGO_PKG_VERSION"),
            started_at: Timestamp::now(),
            database_place: database.place.clone(),
            modules: MODULES,
            is_https: config.public_url.as_deref().is_some_and(|url| url.starts_with("https://")),
        };
        // One surface, mounted twice, so that the limits of streams count both.
        let chats = actions::http::router(actions::http::Surface::new(config.actions));
        router = router
            .merge(http::api::router())
            .merge(posting::http::router(outside.fetcher.clone()))
            .merge(shopbot::http::router())
            .merge(http::with_cors(chats.clone(), config.chat_origins.clone(), []))
            .merge(planner::mcp::router(planner.clone(), config.mcp.clone()))
            .merge(console::router(Arc::new(info), chats));
    }
    Ok(http::wrap(router, config.limits).with_state(app.clone()))
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
