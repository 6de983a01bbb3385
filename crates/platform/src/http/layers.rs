//! What every request passes through: a trace id, a limit on how many at once, a limit on how long, and a net
//! under panics. Whatever happens, the caller gets an envelope with words that help.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Extension, Router,
    extract::{DefaultBodyLimit, Request},
    http::{HeaderName, HeaderValue},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use kernel::{Kind, Problem, TraceId, WorkspaceId};
use tokio::sync::Semaphore;
use tracing::Instrument;
use uuid::Uuid;

use super::Failure;

pub(super) const TRACE_HEADER: HeaderName = HeaderName::from_static("x-trace-id");

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub body_bytes_max: usize,
    pub request_timeout: Duration,
    pub requests_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes_max: 1 << 20, request_timeout: Duration::from_secs(30), requests_max: 512 }
    }
}

/// What is known about the request that runs on this task.
pub(super) struct RequestInfo {
    pub(super) trace_id: TraceId,
    pub(super) correlation_id: Uuid,
    pub(super) source: String,
    pub(super) workspace: OnceLock<WorkspaceId>,
    /// What its handler asked for instead of the usual time, in milliseconds.
    may_take: AtomicU64,
}

tokio::task_local! {
    static REQUEST: Arc<RequestInfo>;
}

pub(super) fn with_request<T>(read: impl FnOnce(Option<&RequestInfo>) -> T) -> T {
    let request = REQUEST.try_with(Arc::clone).ok();
    read(request.as_deref())
}

/// The trace id of the request that runs on this task, or a new one outside of requests.
pub fn current_trace() -> TraceId {
    with_request(|request| request.map_or_else(TraceId::new, |request| request.trace_id.clone()))
}

/// Lets the request that runs on this task take longer than others: its handler does work that has limits of its own.
pub fn take_up_to(duration: Duration) {
    let asked = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    with_request(|request| request.map(|request| request.may_take.fetch_max(asked, Ordering::Relaxed)));
}

/// Puts the common layers around a router.
pub fn wrap<S: Clone + Send + Sync + 'static>(router: Router<S>, limits: Limits) -> Router<S> {
    let slots = Arc::new(Semaphore::new(limits.requests_max));
    router
        .fallback(fallback)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(DefaultBodyLimit::max(limits.body_bytes_max))
        // The door reads bodies itself.
        .layer(Extension(limits))
        .layer(middleware::from_fn(move |request, next| guard(Arc::clone(&slots), limits, request, next)))
        .layer(middleware::from_fn(trace))
}

pub async fn fallback(request: Request) -> Failure {
    let message = format!(
        "there is nothing at {} {}; the paths are listed in /openapi.json",
        request.method(),
        kernel::redact::snippet(request.uri().path(), 200)
    );
    Failure(Problem::new(404, Kind::NotFound, "route.unknown", message))
}

pub async fn method_not_allowed(request: Request) -> Failure {
    let message = format!("{} is not for {}", kernel::redact::snippet(request.uri().path(), 200), request.method());
    Failure(Problem::new(405, Kind::Validation, "route.method", message))
}

/// Gives the request its trace id, and every log line of it too; logs and measures how it ended.
async fn trace(mut request: Request, next: Next) -> Response {
    let given = request.headers().get(&TRACE_HEADER).and_then(|value| TraceId::parse(value.to_str().ok()?));
    let trace_id = given.or_else(|| from_traceparent(&request)).unwrap_or_default();
    let route = request.extensions().get::<axum::extract::MatchedPath>().map(|path| path.as_str().to_owned());
    let source = route.clone().unwrap_or_else(|| "beresta".to_owned());
    let method = request.method().clone();
    let info = Arc::new(RequestInfo {
        trace_id: trace_id.clone(),
        correlation_id: kernel::new_id(),
        source,
        workspace: OnceLock::new(),
        may_take: AtomicU64::new(0),
    });
    request.extensions_mut().insert(trace_id.clone());
    let span = tracing::info_span!("request", trace_id = %trace_id, method = %method, route = route.as_deref().unwrap_or("none"));
    let started = Instant::now();
    let mut response = REQUEST.scope(info, next.run(request)).instrument(span.clone()).await;
    let elapsed = started.elapsed();
    let status = response.status().as_u16();
    span.in_scope(|| tracing::info!(status, elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX), "http.request"));
    let labels = [
        ("method", method.as_str().to_owned()),
        ("route", route.unwrap_or_else(|| "none".to_owned())),
        ("status", status.to_string()),
    ];
    metrics::histogram!("beresta_http_request_seconds", &labels).record(elapsed.as_secs_f64());
    if let Ok(value) = HeaderValue::from_str(trace_id.as_str()) {
        response.headers_mut().insert(TRACE_HEADER, value);
    }
    response
}

/// The trace id inside a W3C `traceparent`: version, trace id, parent id, flags.
fn from_traceparent(request: &Request) -> Option<TraceId> {
    let header = request.headers().get("traceparent")?.to_str().ok()?;
    let trace = header.split('-').nth(1)?;
    (trace.len() == 32 && trace.bytes().any(|byte| byte != b'0')).then(|| TraceId::parse(trace)).flatten()
}

async fn guard(slots: Arc<Semaphore>, limits: Limits, request: Request, next: Next) -> Response {
    if request.uri().path_and_query().is_some_and(|path| path.as_str().contains("%00")) {
        let problem = Problem::bad_request("request.nul", "the address contains a NUL character (%00)");
        return Failure(problem).into_response();
    }
    let Ok(_slot) = slots.try_acquire() else {
        let problem = Problem::new(
            503,
            Kind::Unavailable,
            "server.busy",
            "too many requests are being served right now; try again in a second",
        );
        return Failure(problem.retry_after(Duration::from_secs(1))).into_response();
    };
    let work = AssertUnwindSafe(next.run(request)).catch_unwind();
    tokio::pin!(work);
    let started = tokio::time::Instant::now();
    let mut allowed = limits.request_timeout;
    loop {
        match tokio::time::timeout_at(started + allowed, &mut work).await {
            Ok(Ok(response)) => return response,
            Ok(Err(_panic)) => {
                tracing::error!("http.panic");
                return Failure(Problem::internal()).into_response();
            }
            Err(_elapsed) => {
                let asked = with_request(|request| request.map_or(0, |request| request.may_take.load(Ordering::Relaxed)));
                if Duration::from_millis(asked) <= allowed {
                    let message = format!("this took longer than {} s and was given up", allowed.as_secs());
                    return Failure(Problem::new(504, Kind::Timeout, "server.timeout", message)).into_response();
                }
                allowed = Duration::from_millis(asked);
            }
        }
    }
}
