//! The OpenAI API under `/openai/v1`: embeddings, chat, transcriptions, the list of models. It reads and refuses as
//! the service does; what it says is made by rule ([`crate::models`]) or scripted by `/control/answers` and
//! `/control/transcripts`.

mod audio;
mod chat;
mod embeddings;
mod problem;
mod reply_format;
mod sound;
mod transcript;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Method, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::connection::Connection;
use crate::exchange::{Asked, Manners, Reply, exchange};
use crate::faults::Provider;
use crate::http::{self, BodyError, Part};
use crate::ledger::FileNote;
use crate::models::{AnswerScript, Keys, Scripts, TranscriptScript};
use crate::params::Params;
use crate::simulators::World;
use crate::vault::{hex, sha256};

use self::problem::Problem;

const MANNERS: Manners = Manners { own_error: problem::of_status, has_retry_header: true };
/// Shown in the list; others of these families are known too.
const MODELS: [&str; 8] = [
    "text-embedding-3-small",
    "text-embedding-3-large",
    "text-embedding-ada-002",
    "gpt-4o",
    "gpt-4o-mini",
    "whisper-1",
    "gpt-4o-transcribe",
    "gpt-4o-transcribe-diarize",
];

#[derive(Default)]
pub(crate) struct Openai {
    pub(crate) keys: Keys,
    pub(crate) answers: Scripts<AnswerScript>,
    pub(crate) transcripts: Scripts<TranscriptScript>,
}

impl Openai {
    pub(crate) fn reset(&self) {
        self.keys.reset();
        self.answers.reset();
        self.transcripts.reset();
    }
}

/// A body as it came.
enum Content {
    Json(Bytes),
    Multipart(Vec<Part>),
    Unreadable(BodyError),
}

pub(crate) async fn handle(State(world): State<Arc<World>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let key = bearer(&parts);
    let method = name(&parts.method, parts.uri.path());
    let is_multipart = http::content_type(&parts).starts_with("multipart/form-data");
    let content = if is_multipart {
        http::read_multipart(&parts, body).await.map_or_else(Content::Unreadable, Content::Multipart)
    } else {
        http::read_body(body).await.map_or_else(Content::Unreadable, Content::Json)
    };
    let (params, files, weight) = shown(&content);
    let asked = Asked {
        world: Arc::clone(&world),
        provider: Provider::Openai,
        bot_id: 0,
        method: method.unwrap_or("unknown"),
        target: params.text("model").unwrap_or_default().into(),
        params,
        files,
        weight,
        connection: Connection::of(&parts.extensions),
    };
    let address = (parts.method.clone(), parts.uri.path().trim_start_matches("/openai").to_owned());
    exchange(asked, MANNERS, async move {
        let answered = admit(&world, key.as_deref()).and_then(|()| match method {
            None => Err(Problem::unknown_url(&address.0, &address.1)),
            Some("GET /models") => Ok(list_models()),
            Some("GET /models/{model}") => get_model(&address.1),
            Some("POST /audio/transcriptions") => audio::transcribe(&world, content),
            Some("POST /embeddings") => embeddings::create(&json_body(&content)?),
            Some(_) => chat::complete(&world, &json_body(&content)?),
        });
        match answered {
            Ok(response) => Reply { response, error: None, is_accepted: true },
            Err(problem) => Reply { response: problem.response(), error: Some(problem.message), is_accepted: false },
        }
    })
    .await
}

fn name(method: &Method, path: &str) -> Option<&'static str> {
    let path = path.strip_prefix("/openai/v1")?.trim_end_matches('/');
    match (method, path) {
        (&Method::GET, "/models") => Some("GET /models"),
        (&Method::GET, path) if path.starts_with("/models/") => Some("GET /models/{model}"),
        (&Method::POST, "/embeddings") => Some("POST /embeddings"),
        (&Method::POST, "/chat/completions") => Some("POST /chat/completions"),
        (&Method::POST, "/audio/transcriptions") => Some("POST /audio/transcriptions"),
        _ => None,
    }
}

fn bearer(parts: &Parts) -> Option<String> {
    let value = parts.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ").map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())
}

fn admit(world: &World, key: Option<&str>) -> Result<(), Problem> {
    match key {
        None => Err(Problem::no_key()),
        Some(key) if !world.openai.keys.is_valid(key) => Err(Problem::bad_key(key)),
        Some(_) => Ok(()),
    }
}

/// What the ledger keeps of a body: fields, and of a file its name, size and digest.
fn shown(content: &Content) -> (Params, Vec<FileNote>, usize) {
    match content {
        Content::Json(body) => (serde_json::from_slice(body).unwrap_or_else(|_| Params::default()), Vec::new(), body.len()),
        Content::Unreadable(_) => (Params::default(), Vec::new(), 0),
        Content::Multipart(parts) => {
            let (mut params, mut files) = (Params::default(), Vec::new());
            for part in parts {
                match &part.file_name {
                    Some(name) => files.push(FileNote {
                        name: name.clone(),
                        size: part.bytes.len(),
                        sha256: Some(hex(&sha256(&part.bytes))),
                        url: None,
                    }),
                    None => params.push(part.field.clone(), String::from_utf8_lossy(&part.bytes).into_owned()),
                }
            }
            (params, files, 0)
        }
    }
}

fn json_body(content: &Content) -> Result<Value, Problem> {
    let parsed = match content {
        Content::Json(body) => serde_json::from_slice(body).ok().filter(Value::is_object),
        _ => None,
    };
    parsed.ok_or_else(|| {
        Problem::invalid(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library \
             correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
        )
    })
}

fn list_models() -> Response {
    http::json(200, &json!({"object": "list", "data": MODELS.map(describe)}))
}

fn get_model(path: &str) -> Result<Response, Problem> {
    let model = http::percent_decode(path.trim_start_matches("/v1/models/"));
    let is_known = MODELS.contains(&model.as_str()) || chat::is_model(&model) || audio::is_model(&model);
    if is_known { Ok(http::json(200, &describe(&model))) } else { Err(Problem::unknown_model(&model)) }
}

fn describe(model: &str) -> Value {
    json!({"id": model, "object": "model", "created": 1_700_000_000, "owned_by": "openai"})
}
