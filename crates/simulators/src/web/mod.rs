//! A web site under `/web`: each path answers what a test set for it, and 404 otherwise. Every request is written
//! down with its headers, whatever the answer was.

mod conditional;
mod pages;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value};

use crate::connection::{Connection, hang_up};
use crate::exchange::{Asked, Manners, Reply, exchange};
use crate::faults::{Drop, Provider};
use crate::http;
use crate::params::Params;
use crate::pieces::Pieces;
use crate::simulators::World;

pub(crate) use self::pages::{Content, Page, Pages};

const MANNERS: Manners = Manners { own_error: error_page, has_retry_header: true };
/// Of a request's body the ledger keeps so much.
const BODY_SHOWN_BYTES_MAX: usize = 64 * 1024;
const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];

pub(crate) async fn handle(State(world): State<Arc<World>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = http::read_body(body).await.unwrap_or_default();
    let path = http::percent_decode(parts.uri.path().strip_prefix("/web").unwrap_or_default());
    let path = path.trim_start_matches('/').to_owned();
    let mut params = Params::default();
    params.push("path", format!("/{path}"));
    params.push("query", parts.uri.query().unwrap_or_default());
    params.push("headers", headers(&parts));
    if !body.is_empty() {
        params.push("body", String::from_utf8_lossy(&body[..body.len().min(BODY_SHOWN_BYTES_MAX)]).into_owned());
    }
    let connection = Connection::of(&parts.extensions);
    let asked = Asked {
        world: Arc::clone(&world),
        provider: Provider::Web,
        bot_id: 0,
        method: METHODS.into_iter().find(|known| parts.method.as_str() == *known).unwrap_or("unknown"),
        target: format!("/{path}").into(),
        params,
        files: Vec::new(),
        weight: body.len().min(BODY_SHOWN_BYTES_MAX),
        connection: connection.clone(),
    };
    exchange(asked, MANNERS, async move {
        let page = world.pages.turn(&path, parts.uri.query());
        let response = match page {
            Some(page) => show(&page, &parts, connection).await,
            None => error_page(404, None),
        };
        Reply { response, error: None, is_accepted: true }
    })
    .await
}

async fn show(page: &Page, parts: &Parts, connection: Option<Connection>) -> Response {
    if let Some(delay) = page.delay_ms {
        tokio::time::sleep(Duration::from_millis(delay)).await;
    }
    if page.drop == Some(Drop::Before) {
        return hang_up(connection).await;
    }
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    let is_fresh = is_read && page.status == 200 && conditional::is_fresh(&page.headers, &parts.headers);
    let body = match &page.content {
        _ if is_fresh => Pieces::whole(bytes::Bytes::new()),
        Content::Bytes(bytes) => Pieces::whole(bytes.clone()),
        Content::Generated(size) => Pieces::filled(*size),
    };
    let body = if page.drop == Some(Drop::After) { body.cut() } else { body };
    let mut response = Response::new(body.body());
    let status = if is_fresh { 304 } else { page.status };
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    for (name, value) in &page.headers {
        response.headers_mut().append(name.clone(), value.clone());
    }
    if is_fresh {
        response.headers_mut().remove(header::CONTENT_TYPE);
    } else if !response.headers().contains_key(header::CONTENT_TYPE) {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    }
    response
}

fn headers(parts: &Parts) -> Value {
    let mut shown = Map::new();
    for (name, value) in &parts.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        // A header that came twice is one list, as HTTP has it.
        match shown.get_mut(name.as_str()) {
            Some(Value::String(known)) => *known = format!("{known}, {value}"),
            _ => {
                shown.insert(name.as_str().to_owned(), Value::String(value));
            }
        }
    }
    Value::Object(shown)
}

fn error_page(status: u16, _: Option<u32>) -> Response {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error");
    let page = format!("<!doctype html><title>{status} {reason}</title><h1>{status} {reason}</h1>");
    http::bytes(status, "text/html; charset=utf-8", page)
}
