//! MCP over streamable HTTP at `/mcp`, both eras of the protocol on one address.
//!
//! Every request shows its token, whatever session it belongs to. A request of 2026-07-28 stands alone: when its caller goes away, it is
//! cancelled. A legacy request belongs to a session and goes on without its connection; it is cancelled by `notifications/cancelled`.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, Method, header::WWW_AUTHENTICATE},
    response::{IntoResponse, Response},
    routing::any,
};
use futures::StreamExt;
use kernel::{Kind, Problem};
use platform::http::{App, Ctx, Failure, bearer, loopback_origins, take_up_to, with_cors};
use rmcp::{
    ServerHandler,
    model::ProtocolVersion,
    transport::streamable_http_server::{
        SessionId, StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    MESSAGE_BYTES_MAX, McpHandler,
    sessions::{Owner, Sessions},
};
use crate::engine::{Caller, Planner};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// What stands between closes connections that are silent for longer.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// When somebody for whose session there was no room may try again.
const COME_BACK_AFTER: Duration = Duration::from_secs(10);

/// Under which names this server is called, and what legacy sessions may cost.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// The hosts that requests may be addressed to, with or without a port: a page that rebinds its name to this machine has another.
    pub hosts: Vec<String>,
    /// The origins whose pages may call, as `scheme://host:port`, `:*` for any port. A request that names no origin comes from no page.
    pub origins: Vec<String>,
    pub sessions_max: usize,
    pub sessions_per_person_max: usize,
    /// A session that nobody uses for so long ends.
    pub session_idle: Duration,
    /// How long calls that have begun may go on after the process was asked to stop; shorter than the listener waits.
    pub grace: Duration,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            hosts: ["localhost", "127.0.0.1", "[::1]"].map(ToOwned::to_owned).into(),
            origins: loopback_origins(),
            sessions_max: 1000,
            sessions_per_person_max: 20,
            session_idle: Duration::from_mins(30),
            grace: Duration::from_secs(5),
        }
    }
}

pub fn router(planner: Planner, settings: McpSettings) -> Router<App> {
    router_with(planner, settings, |handler| handler)
}

/// The same with a handler around ours: what a test adds goes through the same door.
pub fn router_with<S: ServerHandler>(
    planner: Planner,
    settings: McpSettings,
    wrap: impl Fn(McpHandler) -> S + Send + Sync + 'static,
) -> Router<App> {
    let origins = settings.origins.clone();
    let door = Arc::new(Door::new(planner, settings, wrap));
    let serve = move |State(app): State<App>, request: Request| {
        let door = Arc::clone(&door);
        async move { door.serve(&app, request).await.unwrap_or_else(IntoResponse::into_response) }
    };
    with_cors(Router::new().route("/mcp", any(serve)), origins, [SESSION_ID, WWW_AUTHENTICATE])
}

type McpService<S> = StreamableHttpService<S, LocalSessionManager>;

/// What a request has to do with sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is of the era that has none.
    Alone,
    /// It names none, so that it may open one.
    MayOpen,
    /// It names one of its caller's.
    Inside,
}

/// Where callers show who they are. Behind it nobody asks again.
struct Door<S> {
    planner: Planner,
    settings: McpSettings,
    sessions: Arc<Sessions>,
    wrap: Arc<dyn Fn(McpHandler) -> S + Send + Sync>,
    /// Made with the first request, which brings the word of stopping along.
    service: OnceLock<McpService<S>>,
}

impl<S: ServerHandler> Door<S> {
    fn new(planner: Planner, settings: McpSettings, wrap: impl Fn(McpHandler) -> S + Send + Sync + 'static) -> Self {
        let sessions = Sessions::new(settings.sessions_max, settings.sessions_per_person_max, settings.session_idle);
        Self { planner, settings, sessions: Arc::new(sessions), wrap: Arc::new(wrap), service: OnceLock::new() }
    }

    async fn serve(&self, app: &App, mut request: Request) -> Result<Response, Failure> {
        let caller = self.authenticate(app, request.headers()).await?;
        let owner = Owner::from(&caller);
        let standing = self.standing_of(&mut request, owner)?;
        let is_stream = request.method() == Method::GET;
        request.extensions_mut().insert(caller);
        // Which tool is called stands in the body, which is not read yet.
        if let Some(longest) = self.planner.tools().iter().map(|tool| tool.takes_up_to).max() {
            take_up_to(longest);
        }
        let service = self.service(&app.stop).clone();
        let response = if standing == Standing::MayOpen {
            // On a task of its own: whoever goes away in the middle of it would leave a session behind that nobody has counted.
            let opening = open(service, Arc::clone(&self.sessions), request, owner);
            tokio::spawn(opening.in_current_span()).await.map_err(|_panic| Problem::internal())??
        } else {
            service.handle(request).await.map(Body::new)
        };
        // Nobody waits for the end of a stream that has none.
        Ok(if is_stream { until(response, app.stop.clone()) } else { response })
    }

    async fn authenticate(&self, app: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
        let ctx = Ctx::authenticate(app, &bearer(headers)?).await?;
        self.planner.caller(&ctx.principal, ctx.trace_id).await
    }

    /// How a request stands to sessions. One that belongs to somebody else is one that does not exist.
    fn standing_of(&self, request: &mut Request, owner: Owner) -> Result<Standing, Problem> {
        let version = request.headers().get(&PROTOCOL_VERSION).and_then(|version| version.to_str().ok());
        if version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str()) {
            // It means nothing in this era, so nothing behind this door may be led astray by it.
            request.headers_mut().remove(&SESSION_ID);
            return Ok(Standing::Alone);
        }
        let Some(id) = request.headers().get(&SESSION_ID) else { return Ok(Standing::MayOpen) };
        let id = id.to_str().ok().filter(|id| self.sessions.belongs_to(id, owner));
        id.map(|_theirs| Standing::Inside).ok_or_else(|| Problem::not_found("session"))
    }

    fn service(&self, stop: &CancellationToken) -> &McpService<S> {
        self.service.get_or_init(|| {
            let config = StreamableHttpServerConfig::default()
                .with_allowed_hosts(self.settings.hosts.clone())
                .with_allowed_origins(self.settings.origins.clone())
                .enforce_origin_validation()
                .with_json_response(true)
                .with_sse_keep_alive(Some(HEARTBEAT))
                .with_max_request_body_bytes(MESSAGE_BYTES_MAX)
                .with_cancellation_token(ends_after(stop.clone(), self.settings.grace, Arc::clone(&self.sessions)));
            let (planner, wrap) = (self.planner.clone(), Arc::clone(&self.wrap));
            let make = move || Ok(wrap(McpHandler::new(planner.clone())));
            StreamableHttpService::new(make, Arc::clone(&self.sessions.manager), config)
        })
    }
}

/// Carries out a request that may open a session, and counts it.
async fn open<S: ServerHandler>(
    service: McpService<S>,
    sessions: Arc<Sessions>,
    request: Request,
    owner: Owner,
) -> Result<Response, Problem> {
    let response = service.handle(request).await.map(Body::new);
    let opened: Option<SessionId> = response.headers().get(&SESSION_ID).and_then(|id| id.to_str().ok()).map(Into::into);
    if let Some(id) = opened
        && !sessions.admit(id, owner).await
    {
        let words = "too many MCP sessions are open right now; end one, or use the protocol version 2026-07-28, which has none";
        return Err(Problem::new(503, Kind::Unavailable, "mcp.sessions", words).retry_after(COME_BACK_AFTER));
    }
    Ok(response)
}

/// Says that everything is over a while after the process was asked to stop, so that calls which have begun can come to their end.
fn ends_after(stop: CancellationToken, grace: Duration, sessions: Arc<Sessions>) -> CancellationToken {
    let end = CancellationToken::new();
    let told = end.clone();
    tokio::spawn(async move {
        stop.cancelled().await;
        tokio::time::sleep(grace).await;
        told.cancel();
        sessions.close().await;
    });
    end
}

fn until(response: Response, stop: CancellationToken) -> Response {
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(stop.cancelled_owned())))
}
