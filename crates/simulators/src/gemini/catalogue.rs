//! The models. Of embedding models there are two; any other `gemini-…` name is a model that answers, because their
//! names change with every season and a test should not.

use axum::response::Response;
use serde_json::{Value, json};

use crate::http;

use super::problem::Problem;

pub(super) struct EmbeddingModel {
    pub(super) name: &'static str,
    /// The rest of a longer text is silently left out.
    pub(super) input_tokens_max: usize,
    /// Whether a vector shortened by the service still has length 1.
    pub(super) is_unit: bool,
}

/// The same for both.
pub(super) const DIMENSIONS: usize = 3072;
const EMBEDDING: [EmbeddingModel; 2] = [
    EmbeddingModel { name: "gemini-embedding-001", input_tokens_max: 2048, is_unit: false },
    EmbeddingModel { name: "gemini-embedding-2", input_tokens_max: 8192, is_unit: true },
];
/// Shown in the list; others are known too.
const ANSWERING: [&str; 3] = ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-flash-latest"];

pub(super) fn embedding(model: &str) -> Option<&'static EmbeddingModel> {
    EMBEDDING.iter().find(|known| known.name == model)
}

pub(super) fn check(model: &str, method: &str) -> Result<(), Problem> {
    let is_fitting = if method.ends_with("mbedContent") || method.ends_with("mbedContents") {
        embedding(model).is_some()
    } else {
        model.starts_with("gemini-") && !model.contains("embedding")
    };
    if is_fitting { Ok(()) } else { Err(Problem::unknown_model(model, method)) }
}

pub(super) fn list() -> Response {
    let names = EMBEDDING.iter().map(|model| model.name).chain(ANSWERING);
    http::json(200, &json!({"models": names.map(describe).collect::<Vec<_>>()}))
}

pub(super) fn get(model: &str) -> Result<Response, Problem> {
    if embedding(model).is_none() && check(model, "generateContent").is_err() {
        return Err(Problem::unknown_model(model, "GetModel"));
    }
    Ok(http::json(200, &describe(model)))
}

fn describe(name: &str) -> Value {
    let (methods, input, output) = embedding(name)
        .map_or((json!(["generateContent", "countTokens"]), 1_048_576, 65_536), |model| {
            (json!(["embedContent", "batchEmbedContents"]), model.input_tokens_max, 1)
        });
    json!({
        "name": format!("models/{name}"),
        "version": "001",
        "displayName": name,
        "inputTokenLimit": input,
        "outputTokenLimit": output,
        "supportedGenerationMethods": methods,
    })
}
