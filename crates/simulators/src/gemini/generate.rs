//! `:generateContent`, `:streamGenerateContent` and `:countTokens`. One candidate; no tools are called.

use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::http;
use crate::models::{AnswerScript, Found, answer, first_tokens, pieces, shaped, tokens};
use crate::pieces::Pieces;
use crate::random::scramble;
use crate::simulators::World;

use super::problem::Problem;
use super::{Call, fields};

const FIELDS: [&str; 8] =
    ["model", "contents", "systemInstruction", "generationConfig", "tools", "toolConfig", "safetySettings", "cachedContent"];
const CONFIG_FIELDS: [&str; 24] = [
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "stopSequences",
    "candidateCount",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "responseModalities",
    "responseLogprobs",
    "logprobs",
    "presencePenalty",
    "frequencyPenalty",
    "seed",
    "thinkingConfig",
    "mediaResolution",
    "speechConfig",
    "imageConfig",
    "enableEnhancedCivicAnswers",
    "routingConfig",
    "audioTimestamp",
    "modelSelectionConfig",
    "responseFormat",
];
const MIME_TYPES: [&str; 5] = ["text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum"];

struct Prompt {
    /// The instructions first.
    texts: Vec<String>,
    config: Map<String, Value>,
}

/// What the model says, in the words of the service.
struct Said {
    text: String,
    finish: String,
    prompt_tokens: usize,
    model: String,
    response_id: String,
}

pub(super) fn generate_content(world: &World, call: &Call, body: &Value) -> Result<Response, Problem> {
    let prompt = read(body)?;
    let prompt_tokens = prompt.texts.iter().map(|text| tokens(text)).sum();
    let tokens_max = fields::int(&prompt.config, "maxOutputTokens")?;
    let script = world.gemini.answers.next().unwrap_or_else(|| by_rule(&prompt));
    let response_id = format!("sim-{:016x}", scramble(prompt_tokens as u64));
    let is_stream = call.route.method == "streamGenerateContent";
    if let Some(reason) = script.blocked {
        let usage = json!({"promptTokenCount": prompt_tokens, "totalTokenCount": prompt_tokens});
        let blocked = json!({"promptFeedback": {"blockReason": reason}, "usageMetadata": usage,
            "modelVersion": call.route.model, "responseId": response_id});
        return Ok(if is_stream { stream(call, &[blocked], false) } else { http::json(200, &blocked) });
    }
    let limit = tokens_max.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let text = first_tokens(&script.text, limit);
    let is_short = text.len() < script.text.len();
    let finish = script.finish.unwrap_or_else(|| if is_short { "MAX_TOKENS" } else { "STOP" }.to_owned());
    let said = Said { text: text.to_owned(), finish, prompt_tokens, model: call.route.model.clone(), response_id };
    if !is_stream {
        return Ok(http::json(200, &said.response(&said.text, true, tokens(&said.text))));
    }
    let parts = pieces(&said.text);
    let mut done = 0;
    let responses: Vec<Value> = parts
        .iter()
        .enumerate()
        .map(|(index, piece)| {
            done += piece.chars().count();
            said.response(piece, index + 1 == parts.len(), done.div_ceil(4))
        })
        .collect();
    Ok(stream(call, &responses, script.is_cut))
}

pub(super) fn count_tokens(body: &Value) -> Result<Response, Problem> {
    let body = fields::read(body, &["contents", "generateContentRequest", "model"], "")?;
    let inner = body.get("generateContentRequest").cloned().unwrap_or_else(|| json!({"contents": body.get("contents")}));
    let count: usize = read(&inner)?.texts.iter().map(|text| tokens(text)).sum();
    Ok(http::json(200, &json!({"totalTokens": count})))
}

impl Said {
    fn response(&self, text: &str, is_last: bool, said_tokens: usize) -> Value {
        // An answer that was all thoughts has no parts.
        let content =
            if text.is_empty() { json!({"role": "model"}) } else { json!({"role": "model", "parts": [{"text": text}]}) };
        let mut candidate = json!({"content": content, "index": 0});
        if is_last {
            candidate["finishReason"] = json!(self.finish);
        }
        json!({
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": self.prompt_tokens,
                "candidatesTokenCount": said_tokens,
                "totalTokenCount": self.prompt_tokens + said_tokens,
            },
            "modelVersion": self.model,
            "responseId": self.response_id,
        })
    }
}

/// Events with `alt=sse`; without it the body is one array, sent piece by piece.
fn stream(call: &Call, responses: &[Value], is_cut: bool) -> Response {
    let last = responses.len().saturating_sub(1);
    let sent = responses.iter().enumerate().map(|(index, response)| match (call.is_sse, index) {
        (true, _) => format!("data: {response}\r\n\r\n"),
        (false, 0) if last == 0 => format!("[{response}]"),
        (false, 0) => format!("[{response}"),
        (false, index) if index == last => format!(",\r\n{response}]"),
        (false, _) => format!(",\r\n{response}"),
    });
    let body = Pieces::stream(sent);
    let body = if is_cut { body.cut() } else { body };
    let content_type = if call.is_sse { "text/event-stream" } else { "application/json" };
    let mut response = http::bytes(200, content_type, body.body());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn by_rule(prompt: &Prompt) -> AnswerScript {
    let texts: Vec<&str> = prompt.texts.iter().map(String::as_str).collect();
    let found = answer(&texts);
    let text = as_json(&prompt.config, &found).map_or(found.text, |json| json.to_string());
    AnswerScript { text, finish: None, blocked: None, is_cut: false }
}

/// The answer in the shape that was asked for; `None` when a text was.
fn as_json(config: &Map<String, Value>, found: &Found) -> Option<Value> {
    if let Some(schema) = config.get("responseSchema").or_else(|| config.get("responseJsonSchema")) {
        return Some(shaped(schema, found));
    }
    let is_json = config.get("responseMimeType").and_then(Value::as_str) == Some("application/json");
    is_json.then(|| json!({"answer": found.text, "sources": found.source.into_iter().collect::<Vec<_>>()}))
}

fn read(body: &Value) -> Result<Prompt, Problem> {
    let body = fields::read(body, &FIELDS, "")?;
    let contents = body.get("contents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if contents.is_empty() {
        return Err(Problem::field("GenerateContentRequest.contents", "contents is not specified"));
    }
    let config = body.get("generationConfig").map(|config| fields::read(config, &CONFIG_FIELDS, "generation_config"));
    let config = config.transpose()?.unwrap_or_default();
    let mime_type = config.get("responseMimeType").and_then(Value::as_str).unwrap_or("text/plain");
    if !MIME_TYPES.contains(&mime_type) {
        let allowed =
            "allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and `text/x.enum`.";
        return Err(Problem::field("GenerateContentRequest.generation_config.response_mime_type", allowed));
    }
    let has_schema = config.contains_key("responseSchema") || config.contains_key("responseJsonSchema");
    if has_schema && !matches!(mime_type, "application/json" | "text/x.enum") {
        let rule = "only with the response mimetype `application/json` or `text/x.enum`";
        return Err(Problem::field("GenerateContentRequest.generation_config.response_schema", rule));
    }
    let mut texts = Vec::new();
    if let Some(instruction) = body.get("systemInstruction") {
        texts.extend(fields::text(instruction));
    }
    for (index, content) in contents.iter().enumerate() {
        let content = fields::read(content, &["role", "parts"], &format!("contents[{index}]"))?;
        if !matches!(content.get("role").and_then(Value::as_str), None | Some("user" | "model" | "function")) {
            return Err(Problem::invalid("Please use a valid role: user, model."));
        }
        let place = format!("GenerateContentRequest.contents[{index}].parts");
        let parts = content.get("parts").and_then(Value::as_array).filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| Problem::field(&place, "contents.parts must not be empty."))?;
        texts.extend(fields::text(&json!({"parts": parts})));
    }
    Ok(Prompt { texts, config })
}
