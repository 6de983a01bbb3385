//! `:embedContent` and `:batchEmbedContents`. Where the service's wording is not documented, only the status and
//! the code are meant to be its own.

use axum::response::Response;
use serde::Serialize;
use serde_json::Value;

use crate::http;
use crate::models::{embed, first_tokens, shorten};

use super::catalogue::{self, DIMENSIONS};
use super::fields;
use super::problem::Problem;

const BATCH_MAX: usize = 100;
const FIELDS: [&str; 6] = ["model", "content", "taskType", "title", "outputDimensionality", "embedContentConfig"];
const TASK_TYPES: [&str; 9] = [
    "TASK_TYPE_UNSPECIFIED",
    "RETRIEVAL_QUERY",
    "RETRIEVAL_DOCUMENT",
    "SEMANTIC_SIMILARITY",
    "CLASSIFICATION",
    "CLUSTERING",
    "QUESTION_ANSWERING",
    "FACT_VERIFICATION",
    "CODE_RETRIEVAL_QUERY",
];
/// Unset, the service reportedly behaves like this.
const TASK_DEFAULT: &str = "RETRIEVAL_QUERY";

/// Not a `Value`: a hundred vectors would be three hundred thousand nodes of it.
#[derive(Serialize)]
struct Embedding {
    values: Vec<f32>,
}

#[derive(Serialize)]
struct One {
    embedding: Embedding,
}

#[derive(Serialize)]
struct Many {
    embeddings: Vec<Embedding>,
}

pub(super) fn embed_content(model: &str, body: &Value) -> Result<Response, Problem> {
    let embedding = embed_one(model, body, "EmbedContentRequest")?;
    Ok(http::json(200, &One { embedding }))
}

pub(super) fn batch_embed_contents(model: &str, body: &Value) -> Result<Response, Problem> {
    let batch = fields::read(body, &["requests", "model"], "")?;
    let requests = batch.get("requests").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if requests.is_empty() {
        return Err(Problem::field("BatchEmbedContentsRequest.requests", "requests is not specified"));
    }
    if requests.len() > BATCH_MAX {
        let rule = format!("at most {BATCH_MAX} requests can be in one batch");
        return Err(Problem::field("BatchEmbedContentsRequest.requests", &rule));
    }
    let own_model = format!("models/{model}");
    let embed_item = |(index, item): (usize, &Value)| {
        let place = format!("BatchEmbedContentsRequest.requests[{index}]");
        match item["model"].as_str() {
            None | Some("") => Err(Problem::field(&format!("{place}.model"), "model is not specified")),
            Some(named) if named != own_model => {
                Err(Problem::field(&format!("{place}.model"), &format!("must match the batch's model {own_model}")))
            }
            Some(_) => embed_one(model, item, &place),
        }
    };
    let embeddings = requests.iter().enumerate().map(embed_item).collect::<Result<_, _>>()?;
    Ok(http::json(200, &Many { embeddings }))
}

fn embed_one(model: &str, request: &Value, place: &str) -> Result<Embedding, Problem> {
    let model = catalogue::embedding(model).ok_or_else(|| Problem::unknown_model(model, "embedContent"))?;
    let request = fields::read(request, &FIELDS, "")?;
    let content_place = format!("{place}.content");
    let content = request.get("content").ok_or_else(|| Problem::field(&content_place, "contents is not specified"))?;
    let text = fields::text(content).ok_or_else(|| Problem::field(&content_place, "empty Part"))?;
    let task = request.get("taskType").and_then(Value::as_str).unwrap_or(TASK_DEFAULT);
    if !TASK_TYPES.contains(&task) {
        return Err(Problem::invalid(format!(
            "Invalid value at 'task_type' (type.googleapis.com/google.ai.generativelanguage.v1beta.TaskType), \"{task}\""
        )));
    }
    if request.contains_key("title") && task != "RETRIEVAL_DOCUMENT" {
        return Err(Problem::field(&format!("{place}.title"), "only for the task type RETRIEVAL_DOCUMENT"));
    }
    let dimensions = fields::int(&request, "outputDimensionality")?;
    let dimensions = dimensions.map_or(DIMENSIONS, |wanted| usize::try_from(wanted).unwrap_or(usize::MAX));
    if !(1..=DIMENSIONS).contains(&dimensions) {
        let rule = format!("must be between 1 and {DIMENSIONS}");
        return Err(Problem::field(&format!("{place}.output_dimensionality"), &rule));
    }
    let title = request.get("title").and_then(Value::as_str).unwrap_or_default();
    let text = format!("{title}\n{text}");
    let vector = embed(model.name, task, first_tokens(&text, model.input_tokens_max), DIMENSIONS);
    Ok(Embedding { values: shorten(vector, dimensions, model.is_unit) })
}
