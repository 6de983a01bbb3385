//! `POST /v1/embeddings`: one text or an array of them; numbers or base64, which the official client asks for.

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use crate::http;
use crate::models::{embed, shorten, tokens};

use super::problem::Problem;

const INPUTS_MAX: usize = 2048;
const ITEM_TOKENS_MAX: usize = 8192;
const REQUEST_TOKENS_MAX: usize = 300_000;
const INVALID_INPUT: &str =
    "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.";

struct Model {
    name: &'static str,
    dimensions: usize,
    can_shorten: bool,
}

const MODELS: [Model; 3] = [
    Model { name: "text-embedding-3-small", dimensions: 1536, can_shorten: true },
    Model { name: "text-embedding-3-large", dimensions: 3072, can_shorten: true },
    Model { name: "text-embedding-ada-002", dimensions: 1536, can_shorten: false },
];

#[derive(Serialize)]
struct Answer {
    object: &'static str,
    data: Vec<Item>,
    model: &'static str,
    usage: Usage,
}

#[derive(Serialize)]
struct Item {
    object: &'static str,
    index: usize,
    embedding: Vector,
}

/// Not a `Value`: two thousand vectors would be millions of nodes of it.
#[derive(Serialize)]
#[serde(untagged)]
enum Vector {
    Numbers(Vec<f32>),
    Base64(String),
}

#[derive(Serialize)]
struct Usage {
    prompt_tokens: usize,
    total_tokens: usize,
}

pub(super) fn create(body: &Value) -> Result<Response, Problem> {
    let name = body["model"].as_str().ok_or_else(|| Problem::invalid("you must provide a model parameter"))?;
    let model = MODELS.iter().find(|model| model.name == name).ok_or_else(|| Problem::unknown_model(name))?;
    let inputs = inputs(&body["input"])?;
    let counts: Vec<usize> = inputs.iter().map(|input| tokens(input)).collect();
    if let Some(count) = counts.iter().find(|count| **count > ITEM_TOKENS_MAX) {
        return Err(Problem::invalid(format!(
            "This model's maximum context length is {ITEM_TOKENS_MAX} tokens, however you requested {count} tokens ({count} in \
             your prompt; 0 for the completion). Please reduce your prompt; or completion length."
        )));
    }
    let total_tokens = counts.iter().sum();
    if total_tokens > REQUEST_TOKENS_MAX {
        let message = format!("Invalid 'input': maximum request size is {REQUEST_TOKENS_MAX} tokens per request.");
        return Err(Problem::param("input", "max_tokens_per_request", message).of_kind("max_tokens_per_request"));
    }
    let dimensions = dimensions(&body["dimensions"], model)?;
    let is_base64 = match body["encoding_format"].as_str() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(other) => {
            let message = format!("Invalid value: '{other}'. Supported values are: 'float' and 'base64'.");
            return Err(Problem::param("encoding_format", "invalid_value", message));
        }
    };
    let data = inputs.iter().enumerate().map(|(index, input)| {
        // Unlike Gemini's, a shortened vector has length 1 again.
        let vector = shorten(embed(model.name, "", input, model.dimensions), dimensions, true);
        let embedding = if is_base64 { Vector::Base64(encode(&vector)) } else { Vector::Numbers(vector) };
        Item { object: "embedding", index, embedding }
    });
    let usage = Usage { prompt_tokens: total_tokens, total_tokens };
    Ok(http::json(200, &Answer { object: "list", data: data.collect(), model: model.name, usage }))
}

/// Texts, and tokens written as numbers: those stand for a text of these numbers.
fn inputs(input: &Value) -> Result<Vec<String>, Problem> {
    let inputs: Vec<String> = match input {
        Value::Null => return Err(Problem::missing("input")),
        Value::String(text) => vec![text.clone()],
        Value::Array(items) if items.is_empty() => {
            let message =
                "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.";
            return Err(Problem::param("input", "empty_array", message));
        }
        Value::Array(items) if items.len() > INPUTS_MAX => {
            let message = format!(
                "Invalid 'input': array too long. Expected an array with maximum length {INPUTS_MAX}, but got an array with length {} \
                 instead.",
                items.len()
            );
            return Err(Problem::param("input", "array_above_max_length", message));
        }
        Value::Array(items) if items.iter().all(Value::is_u64) => vec![token_text(items)],
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                Value::Array(numbers) if !numbers.is_empty() && numbers.iter().all(Value::is_u64) => Ok(token_text(numbers)),
                _ => Err(Problem::invalid(INVALID_INPUT)),
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(Problem::invalid(INVALID_INPUT)),
    };
    if inputs.iter().any(String::is_empty) {
        return Err(Problem::invalid(INVALID_INPUT));
    }
    Ok(inputs)
}

fn token_text(numbers: &[Value]) -> String {
    numbers.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
}

fn dimensions(wanted: &Value, model: &Model) -> Result<usize, Problem> {
    if wanted.is_null() {
        return Ok(model.dimensions);
    }
    if !model.can_shorten {
        return Err(Problem::invalid("This model does not support specifying dimensions."));
    }
    let fitting = wanted.as_u64().and_then(|wanted| usize::try_from(wanted).ok());
    fitting.filter(|wanted| (1..=model.dimensions).contains(wanted)).ok_or_else(|| {
        Problem::invalid(format!("Invalid value for 'dimensions' = {wanted}. Must be between 1 and {}.", model.dimensions))
    })
}

/// Little-endian 32-bit floats.
fn encode(vector: &[f32]) -> String {
    STANDARD.encode(vector.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}
