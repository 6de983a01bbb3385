//! The paths for operations: alive, ready, metrics, and the description of all paths.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use kernel::{Kind, Problem};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use platform::http::{Answer, App, Failure, docs};
use serde::Serialize;
use utoipa::OpenApi;

use crate::modules;

/// What `/readyz` tells about this process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) roles: Vec<&'static str>,
    pub(crate) metrics: PrometheusHandle,
}

impl Process {
    /// Installs the recorder of the metrics; once per process.
    pub(crate) fn new(roles: Vec<&'static str>) -> anyhow::Result<Self> {
        let metrics = PrometheusBuilder::new()
            .set_buckets(&[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0])?
            .install_recorder()?;
        modules::ALL.iter().flat_map(|module| module.metrics).for_each(|metric| metric.describe());
        Ok(Self { roles, metrics })
    }
}

pub(crate) fn router(process: Arc<Process>) -> Router<App> {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi))
        .layer(Extension(process))
}

#[derive(Serialize, utoipa::ToSchema)]
struct Alive {
    status: &'static str,
    version: &'static str,
}

/// Whether the process is alive. It does not ask anybody else.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = kernel::Envelope<Alive>)))]
async fn healthz() -> Answer<Alive> {
    Answer::ok(Alive { status: "alive", version: env!("CARGO_PKG_VERSION") })
}

#[derive(Serialize, utoipa::ToSchema)]
struct Ready {
    status: &'static str,
    database_ms: f64,
    roles: Vec<&'static str>,
}

/// Whether the process can do its work now: the database answers and it is not stopping.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = kernel::Envelope<Ready>), (status = 503)))]
async fn readyz(State(app): State<App>, Extension(process): Extension<Arc<Process>>) -> Result<Answer<Ready>, Failure> {
    if app.stop.is_cancelled() {
        return Err(Problem::new(503, Kind::Unavailable, "server.stopping", "this process is stopping").into());
    }
    let latency = app.db.ping().await.map_err(|error| {
        tracing::debug!(%error, "readyz");
        Problem::new(
            503,
            Kind::Db,
            "database.unavailable",
            "the database does not answer; this process goes on as soon as it does",
        )
    })?;
    Ok(Answer::ok(Ready { status: "ready", database_ms: latency.as_secs_f64() * 1000.0, roles: process.roles.clone() }))
}

/// Metrics in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String, content_type = "text/plain")))]
async fn metrics(State(app): State<App>, Extension(process): Extension<Arc<Process>>) -> Response {
    describe_queue(&app).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], process.metrics.render()).into_response()
}

/// Gauges that are read when somebody asks, so that an idle server asks the database nothing.
async fn describe_queue(app: &App) {
    let pool = app.db.pool();
    ::metrics::gauge!("beresta_database_connections").set(f64::from(pool.size()));
    let query = "select coalesce(extract(epoch from max(platform.now() - q.next_run_at)), 0)::float8
                   from ops.job_types k cross join lateral (select j.next_run_at from ops.jobs j
                        where j.job_type = k.job_type and j.next_run_at <= platform.now() and j.lease_id is null
                        order by j.next_run_at, j.id limit 1) q";
    let oldest: Result<f64, _> = sqlx::query_scalar(query).fetch_one(pool).await;
    // A transaction that stays open holds back vacuum and the bus.
    let held = "select coalesce(extract(epoch from max(now() - xact_start)), 0)::float8 from pg_stat_activity
                 where backend_type = 'client backend' and datname = current_database()";
    let held: Result<f64, _> = sqlx::query_scalar(held).fetch_one(pool).await;
    ::metrics::gauge!("beresta_database_up").set(if oldest.is_ok() { 1.0 } else { 0.0 });
    if let (Ok(oldest), Ok(held)) = (oldest, held) {
        ::metrics::gauge!("beresta_jobs_oldest_due_seconds").set(oldest);
        ::metrics::gauge!("beresta_oldest_transaction_seconds").set(held);
    }
}

/// The OpenAPI document of this server.
async fn openapi() -> Response {
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], openapi_json()).into_response()
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Beresta",
        description = "What a bot was told, did and said is never lost, never done twice, and can always be read back."
    ),
    paths(healthz, readyz, metrics)
)]
struct Docs;

pub(crate) fn openapi_json() -> String {
    let mut document = Docs::openapi();
    for openapi in modules::ALL.iter().filter_map(|module| module.openapi) {
        document.merge(openapi());
    }
    docs::openapi_json(&document, &modules::scopes())
}
