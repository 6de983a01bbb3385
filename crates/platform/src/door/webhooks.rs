//! `POST /hooks/max` and `POST /hooks/telegram`: each messenger brings the updates of all its bots to one address. The secret leads to the bot, and the
//! update goes to the module that the bot serves.
//!
//! A request that shows the secret gets a 200 whatever its content is, after the module has stored it: a provider that is refused sends the
//! same again, for hours, and then stops to send at all. It is asked to come again only while the update cannot be stored: the database
//! does not answer, or this process does not have the module.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::Bytes,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use futures::{FutureExt, future::BoxFuture};
use kernel::{Kind, Problem, TraceId, WorkspaceId};
use utoipa::OpenApi;
use uuid::Uuid;

use super::{Entrance, Passage, read};
use crate::http::{App, Failure, Limits, current_trace};

/// How each messenger shows the secret of a webhook.
const MAX: Entrance = Entrance { kind: "bot_webhook", provider: Some("max"), header: "x-max-bot-api-secret" };
const TELEGRAM: Entrance =
    Entrance { kind: "bot_webhook", provider: Some("telegram"), header: "x-telegram-bot-api-secret-token" };

/// What a messenger brought for a bot.
#[derive(Debug)]
pub struct BotUpdate {
    pub workspace: WorkspaceId,
    pub bot_id: Uuid,
    pub provider: &'static str,
    /// Nil for an update that was polled.
    pub endpoint_id: Uuid,
    pub trace: TraceId,
    /// As it came; empty if it is larger than the server takes, or than the endpoint takes and of a length that was not said.
    pub body: Bytes,
    /// What is wrong with a body that is larger than the endpoint takes: it is to be noted, and not to be handled.
    pub oversize: Option<String>,
}

/// A module that bots can serve: what it does with an update. Once it has returned without a failure, the update is acknowledged and does not come again.
#[derive(Clone)]
pub struct BotModule {
    name: &'static str,
    receive: Arc<dyn Fn(App, BotUpdate) -> Received + Send + Sync>,
}

impl BotModule {
    /// `name` is what `core.bots.serves` says.
    pub fn new<F, R>(name: &'static str, receive: F) -> Self
    where
        F: Fn(App, BotUpdate) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        Self::answering(name, move |app, update| receive(app, update).map(|done| done.map(|()| StatusCode::OK.into_response())))
    }

    /// A module that says something to the provider beyond that it took the update.
    pub fn answering<F, R>(name: &'static str, receive: F) -> Self
    where
        F: Fn(App, BotUpdate) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Response, Failure>> + Send + 'static,
    {
        Self { name, receive: Arc::new(move |app, update| receive(app, update).boxed()) }
    }
}

/// An update that was asked for instead of brought.
#[derive(Debug)]
pub struct PolledUpdate<'a> {
    pub workspace: WorkspaceId,
    pub bot_id: Uuid,
    pub serves: &'a str,
    pub body: Bytes,
}

/// The way of updates that no webhook brings to the modules of this process.
#[derive(Clone)]
pub struct InnerDoor {
    app: App,
    modules: BotModules,
}

impl InnerDoor {
    pub fn new(app: App, modules: impl Into<BotModules>) -> Self {
        Self { app, modules: modules.into() }
    }

    /// Hands an update of Telegram that was polled to the module that the bot serves, as if a webhook had brought it.
    pub async fn hand_over(&self, polled: PolledUpdate<'_>) -> Result<(), Problem> {
        let module = self.modules.iter().find(|module| module.name == polled.serves);
        let module = module.ok_or_else(no_module)?;
        let update = BotUpdate {
            workspace: polled.workspace,
            bot_id: polled.bot_id,
            provider: "telegram",
            endpoint_id: Uuid::nil(),
            trace: TraceId::new(),
            body: polled.body,
            oversize: None,
        };
        (module.receive)(self.app.clone(), update).await.map(drop).map_err(|failure| failure.0)
    }
}

fn no_module() -> Problem {
    Problem::new(503, Kind::Unavailable, "door.no_module", "the module of this bot is not here; come again")
}

type BotModules = Arc<[BotModule]>;
type Received = BoxFuture<'static, Result<Response, Failure>>;

/// The webhooks of the bots that serve these modules.
pub fn router(modules: impl Into<BotModules>) -> Router<App> {
    Router::new()
        .route("/hooks/max", post(hook_max))
        .route("/hooks/telegram", post(hook_telegram))
        .layer(Extension::<BotModules>(modules.into()))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(paths(hook_max, hook_telegram))]
pub struct Docs;

/// Take an update of MAX.
#[utoipa::path(post, path = "/hooks/max", request_body = Object,
    params(("X-Max-Bot-Api-Secret" = String, Header, description = "the secret of a `bot_webhook` endpoint")),
    responses((status = 200, description = "taken"), (status = 401), (status = 503)))]
async fn hook_max(
    State(app): State<App>,
    Extension(modules): Extension<BotModules>,
    request: Request,
) -> Result<Response, Failure> {
    receive(app, &modules, MAX, request).await
}

/// Take an update of Telegram.
#[utoipa::path(post, path = "/hooks/telegram", request_body = Object,
    params(("X-Telegram-Bot-Api-Secret-Token" = String, Header, description = "the secret of a `bot_webhook` endpoint")),
    responses((status = 200, description = "taken"), (status = 401), (status = 503)))]
async fn hook_telegram(
    State(app): State<App>,
    Extension(modules): Extension<BotModules>,
    request: Request,
) -> Result<Response, Failure> {
    receive(app, &modules, TELEGRAM, request).await
}

async fn receive(app: App, modules: &[BotModule], entrance: Entrance, request: Request) -> Result<Response, Failure> {
    let unknown = || Problem::unauthorized("this webhook secret is not known");
    let secret = entrance.secret(request.headers()).map(ToOwned::to_owned);
    let limits = request.extensions().get::<Limits>().copied().unwrap_or_default();
    let (admission, body, oversize) = match entrance.admit(&app.db, secret.as_deref(), request).await? {
        Passage::Admitted { admission, body } => (admission, body, None),
        Passage::TooLarge { admission, body, .. } => {
            // Read all the same, as far as the server reads anything: a provider that cannot send its body to the end does not see the answer.
            let body = read(body, limits.body_bytes_max).await?;
            let body = if body.len() > limits.body_bytes_max { Bytes::new() } else { body };
            let problem = admission.size_problem();
            (admission, body, Some(problem))
        }
        Passage::Unknown | Passage::RateLimited { .. } => return Err(unknown().into()),
    };
    let (Some(bot_id), Some(serves), Some(provider)) = (admission.bot_id, &admission.serves, entrance.provider) else {
        tracing::warn!(workspace.id = %admission.workspace_id, endpoint.id = %admission.endpoint_id, "door.no_bot");
        return Ok(StatusCode::OK.into_response());
    };
    if admission.is_on != Some(true) {
        tracing::warn!(workspace.id = %admission.workspace_id, bot.id = %bot_id, "door.bot_is_off");
        return Ok(StatusCode::OK.into_response());
    }
    let Some(module) = modules.iter().find(|module| module.name == serves) else {
        tracing::error!(workspace.id = %admission.workspace_id, bot.id = %bot_id, module = serves, "door.no_such_module");
        return Err(no_module().into());
    };
    let update = BotUpdate {
        workspace: WorkspaceId::from(admission.workspace_id),
        bot_id,
        provider,
        endpoint_id: admission.endpoint_id,
        trace: current_trace(),
        body,
        oversize,
    };
    (module.receive)(app, update).await
}
