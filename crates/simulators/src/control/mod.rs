//! The control plane: JSON in, JSON out. What it does not understand it refuses, naming the field.

mod faults;
mod fields;
mod ledger;
mod pages;
mod people;
mod script;
mod settings;
mod updates;

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::http;
use crate::simulators::World;

/// A refusal names the bad field: `status: …`.
type Answer = Result<Value, String>;

pub(crate) fn router() -> Router<Arc<World>> {
    Router::new()
        .route("/faults", post(faults::add).get(faults::list).delete(faults::clear))
        .route("/sent", get(ledger::sent))
        .route("/calls", get(ledger::calls))
        .route("/updates", post(updates::push))
        .route("/chats", post(settings::chats))
        .route("/answers", post(script::answers))
        .route("/transcripts", post(script::transcripts))
        .route("/pages", post(pages::set))
        .route("/files", post(people::files))
        .route("/members", post(people::members))
        .route("/webhooks", post(people::webhooks))
        .route("/tokens", post(settings::tokens))
        .route("/limits", post(settings::limits))
        .route("/clock", post(settings::clock))
        .route("/reset", post(settings::reset))
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
}

fn respond(answer: Answer) -> Response {
    match answer {
        Ok(body) => http::json(200, &body),
        Err(error) => http::json(400, &json!({"error": error})),
    }
}

async fn unknown() -> Response {
    http::json(404, &json!({"error": "path: no such control"}))
}

async fn not_allowed() -> Response {
    http::json(405, &json!({"error": "method: not for this control"}))
}
