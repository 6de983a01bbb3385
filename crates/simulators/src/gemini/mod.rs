//! The Gemini API under `/gemini/v1beta`: embeddings, answers, streams of answers. It reads and refuses as the
//! service does; what it "thinks" is made by rule ([`crate::models`]) or scripted by `/control/answers`.

mod catalogue;
mod embed;
mod fields;
mod generate;
mod problem;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use serde_json::Value;

use crate::connection::Connection;
use crate::exchange::{Asked, Manners, Reply, exchange};
use crate::faults::Provider;
use crate::http::{self, BodyError};
use crate::models::{AnswerScript, Keys, Scripts};
use crate::params::Params;
use crate::simulators::World;

use self::problem::Problem;

/// The service's own limit of a request.
const REQUEST_BYTES_MAX: usize = 20 * 1024 * 1024;
const MANNERS: Manners = Manners { own_error: problem::of_status, has_retry_header: false };
const METHODS: [&str; 5] = ["embedContent", "batchEmbedContents", "generateContent", "streamGenerateContent", "countTokens"];

#[derive(Default)]
pub(crate) struct Gemini {
    pub(crate) keys: Keys,
    pub(crate) answers: Scripts<AnswerScript>,
}

impl Gemini {
    pub(crate) fn reset(&self) {
        self.keys.reset();
        self.answers.reset();
    }
}

struct Route {
    method: &'static str,
    /// Without `models/`; empty for the list of models.
    model: String,
}

struct Call {
    route: Route,
    key: Option<String>,
    is_sse: bool,
    body: Result<Bytes, BodyError>,
}

pub(crate) async fn handle(State(world): State<Arc<World>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(route) = route(&parts.method, parts.uri.path()) else {
        // No service stands behind such an address: the front answers, and it does not speak JSON.
        return http::bytes(404, "text/html; charset=UTF-8", "<title>Error 404 (Not Found)!!1</title>");
    };
    let body = http::read_body(body).await;
    let read = body.as_ref().ok();
    let asked = Asked {
        world: Arc::clone(&world),
        provider: Provider::Gemini,
        bot_id: 0,
        method: route.method,
        target: route.model.as_str().into(),
        params: read.and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_else(Params::default),
        files: Vec::new(),
        weight: read.map_or(0, Bytes::len),
        connection: Connection::of(&parts.extensions),
    };
    let is_sse = query(&parts, "alt").as_deref() == Some("sse");
    let call = Call { key: key(&parts), is_sse, route, body };
    exchange(asked, MANNERS, async move { serve(&world, &call) }).await
}

fn serve(world: &World, call: &Call) -> Reply {
    match run(world, call) {
        Ok(response) => Reply { response, error: None, is_accepted: true },
        Err(problem) => Reply { response: problem.response(), error: Some(problem.message), is_accepted: false },
    }
}

fn run(world: &World, call: &Call) -> Result<Response, Problem> {
    match call.key.as_deref() {
        None => return Err(Problem::no_key()),
        Some(key) if !world.gemini.keys.is_valid(key) => return Err(Problem::bad_key()),
        Some(_) => {}
    }
    let model = call.route.model.as_str();
    match call.route.method {
        "models.list" => return Ok(catalogue::list()),
        "models.get" => return catalogue::get(model),
        _ => {}
    }
    catalogue::check(model, call.route.method)?;
    let body = match &call.body {
        Ok(body) if body.len() <= REQUEST_BYTES_MAX => body,
        Err(BodyError::Broken) => return Err(Problem::invalid("Invalid JSON payload received. Unexpected end of string.")),
        _ => return Err(Problem::invalid(format!("Request payload size exceeds the limit: {REQUEST_BYTES_MAX} bytes."))),
    };
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| Problem::invalid(format!("Invalid JSON payload received. Unexpected token.\n{error}")))?;
    match call.route.method {
        "embedContent" => embed::embed_content(model, &body),
        "batchEmbedContents" => embed::batch_embed_contents(model, &body),
        "countTokens" => generate::count_tokens(&body),
        _ => generate::generate_content(world, call, &body),
    }
}

/// `/gemini/v1beta/models/<model>:<method>`; a client may percent-encode the colon.
fn route(method: &Method, path: &str) -> Option<Route> {
    let path = http::percent_decode(path.strip_prefix("/gemini/")?);
    let path = path.strip_prefix("v1beta/").or_else(|| path.strip_prefix("v1/"))?;
    if method == Method::GET {
        if path == "models" {
            return Some(Route { method: "models.list", model: String::new() });
        }
        return Some(Route { method: "models.get", model: path.strip_prefix("models/")?.to_owned() });
    }
    let (model, name) = path.strip_prefix("models/")?.rsplit_once(':')?;
    let method = METHODS.into_iter().find(|known| *known == name && method == Method::POST)?;
    Some(Route { method, model: model.to_owned() })
}

fn key(parts: &Parts) -> Option<String> {
    let header = parts.headers.get("x-goog-api-key").and_then(|value| value.to_str().ok()).map(ToOwned::to_owned);
    header.or_else(|| query(parts, "key")).filter(|key| !key.is_empty())
}

fn query(parts: &Parts, name: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
