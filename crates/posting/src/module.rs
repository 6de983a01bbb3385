//! What posting brings to the program.

use std::time::Duration;

use platform::{
    Db, DbError,
    console::MenuEntry,
    module::{Finding, Metric, Module, Role, Service},
    outbox::OutboxLimits,
    secrets::Secrets,
};
use utoipa::OpenApi;
use uuid::Uuid;

use crate::{
    Dispatcher, SQL, alerts,
    dispatcher::Deliveries,
    http,
    pull::{self, Puller},
    retention, scopes, store,
};

pub const MODULE: Module = Module {
    sql: SQL,
    settings: &[],
    metrics: &[
        Metric::Counter("posting_sent_total", "deliveries that a provider accepted"),
        Metric::Counter("posting_failed_total", "attempts that failed, by platform and what became of the delivery"),
        Metric::Counter("beresta_pulls_total", "sources that were asked"),
        Metric::Counter("beresta_pulls_failed_total", "sources that could not be read"),
    ],
    scopes: scopes::ALL,
    alerts: Some(alerts::ALERTS),
    openapi: Some(<http::Docs as OpenApi>::openapi),
};

/// How often leases are looked for that are over.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The console has the pages.
pub const MENU: &[MenuEntry] = &[
    MenuEntry { path: "posts", title: "Posts", topics: &["posting"] },
    MenuEntry { path: "channels", title: "Channels", topics: &["posting"] },
    MenuEntry { path: "events", title: "Events", topics: &["posting"] },
    MenuEntry { path: "ingest", title: "Ingest", topics: &["posting"] },
];

pub fn service(deliveries: Deliveries, limits: OutboxLimits) -> Service {
    let (db, fetcher, objects) = (deliveries.db.clone(), deliveries.fetcher.clone(), deliveries.objects.clone());
    let puller = Puller::new(db.clone(), fetcher.clone(), pull::SourceSecrets::default());
    pull::add_jobs(Service::default(), &puller)
        .routes(http::router(fetcher))
        .worker(Role::Dispatcher, move |stop| Dispatcher::new(deliveries, limits).run(stop))
        .look_every(Role::Monitor, "posting.leases", LOOK_EVERY, move || free_leases(db.clone()))
        .retention(retention::rules(&objects))
        .menu(MENU)
        .check("credentials", check_credentials)
}

/// Gives back what stuck workers hold.
async fn free_leases(db: Db) -> Result<(), DbError> {
    let freed = store::expire_leases(db.pool()).await?;
    if freed > 0 {
        tracing::warn!(freed, "posting.leases_expired");
        db.wake().tell(crate::DELIVERIES);
    }
    // While a long transaction runs beside, every count leaves a dead row behind that nothing can clear away.
    sqlx::query("select posting.rebuild_counters()").execute(db.pool()).await?;
    Ok(())
}

/// Whether the secrets behind the credentials of all workspaces can be read from here.
async fn check_credentials(db: Db) -> Result<Vec<Finding>, DbError> {
    let query = "select workspace_id, auth_ref, platform, secret_ref from posting.credential_bindings";
    let bindings: Vec<(Uuid, String, String, String)> = sqlx::query_as(query).fetch_all(db.pool()).await?;
    let secrets = Secrets::default();
    let mut findings = Vec::new();
    for (workspace, auth_ref, platform, reference) in &bindings {
        if let Err(problem) = secrets.find(reference).await {
            let words = format!("credential `{auth_ref}` for {platform} in workspace {workspace}: {problem}");
            findings.push(Finding::Warning(words));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::Ok(format!("{} of {} can be read", bindings.len(), bindings.len())));
    }
    Ok(findings)
}
