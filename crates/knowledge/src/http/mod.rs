//! The API of knowledge.

mod documents;
mod forget;
mod questions;
mod search;
pub(crate) mod workflows;

use axum::{
    Extension, Router,
    routing::{get, post},
};
use platform::http::App;
use utoipa::OpenApi;

use crate::Knowledge;

pub fn router(knowledge: Knowledge) -> Router<App> {
    Router::new()
        .route("/api/workflows/{name}", post(workflows::run_workflow))
        .route("/api/knowledge/documents", get(documents::list_documents))
        .route("/api/knowledge/documents/{id}/retry", post(documents::retry_document))
        .route("/api/knowledge/questions", get(questions::list_questions))
        .route("/api/knowledge/questions/{id}", get(questions::show_question))
        .route("/api/knowledge/search", get(search::search_knowledge))
        .route("/api/knowledge/chats", get(documents::list_chats))
        .route("/api/knowledge/forget", post(forget::forget_knowledge))
        .layer(Extension(knowledge))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(paths(
    workflows::run_workflow,
    documents::list_documents,
    documents::retry_document,
    documents::list_chats,
    forget::forget_knowledge,
    search::search_knowledge,
    questions::list_questions,
    questions::show_question
))]
pub struct Docs;
