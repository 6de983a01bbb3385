//! `POST /v1/chat/completions`, whole or as a stream. One choice; no tools are called.

use axum::response::Response;
use serde_json::{Value, json};

use crate::clock::unix_ms;
use crate::http;
use crate::models::{AnswerScript, answer, first_tokens, pieces, shaped, tokens};
use crate::pieces::Pieces;
use crate::random::scramble;
use crate::simulators::World;

use super::problem::Problem;
use super::reply_format::{self, ReplyFormat};

const ROLES: [&str; 6] = ["system", "assistant", "user", "function", "tool", "developer"];

struct Said {
    id: String,
    created: i64,
    model: String,
    text: String,
    finish: String,
    /// Said instead of an answer.
    refusal: Option<String>,
    prompt_tokens: usize,
}

/// Names change with every season, so a family is enough.
pub(super) fn is_model(model: &str) -> bool {
    let is_family = model.starts_with("gpt-") || model.starts_with("chatgpt-") || is_reasoning(model);
    is_family && !model.contains("transcribe")
}

fn is_reasoning(model: &str) -> bool {
    let is_o = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    is_o || model.starts_with("gpt-5")
}

pub(super) fn complete(world: &World, body: &Value) -> Result<Response, Problem> {
    let model = body["model"].as_str().ok_or_else(|| Problem::invalid("you must provide a model parameter"))?;
    if !is_model(model) {
        return Err(Problem::unknown_model(model));
    }
    let texts = read_messages(&body["messages"])?;
    let format = reply_format::read(&body["response_format"], &texts)?;
    if is_reasoning(model) && !body["max_tokens"].is_null() {
        let message =
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        return Err(Problem::param("max_tokens", "unsupported_parameter", message));
    }
    let limit = body["max_completion_tokens"].as_u64().or_else(|| body["max_tokens"].as_u64());
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let is_stream = body["stream"] == true;
    if !is_stream && !body["stream_options"].is_null() {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Problem::param("stream_options", "", message));
    }
    let prompt_tokens: usize = texts.iter().map(|text| tokens(text)).sum();
    let script = world.openai.answers.next().unwrap_or_else(|| by_rule(&texts, &format));
    let text = first_tokens(&script.text, limit);
    let is_short = text.len() < script.text.len();
    let said = Said {
        id: format!("chatcmpl-sim{:016x}", scramble(prompt_tokens as u64)),
        created: unix_ms() / 1000,
        model: model.to_owned(),
        text: if script.blocked.is_some() { String::new() } else { text.to_owned() },
        finish: script.finish.unwrap_or_else(|| if is_short { "length" } else { "stop" }.to_owned()),
        refusal: script.blocked,
        prompt_tokens,
    };
    if !is_stream {
        return Ok(http::json(200, &said.completion()));
    }
    let body = Pieces::stream(said.events(body["stream_options"]["include_usage"] == true));
    let body = if script.is_cut { body.cut() } else { body };
    Ok(http::bytes(200, "text/event-stream; charset=utf-8", body.body()))
}

impl Said {
    fn completion(&self) -> Value {
        let content = if self.refusal.is_some() { Value::Null } else { json!(self.text) };
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": self.refusal, "annotations": []},
                "logprobs": null,
                "finish_reason": self.finish,
            }],
            "usage": self.usage(),
        })
    }

    fn usage(&self) -> Value {
        let said_tokens = tokens(&self.text);
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": said_tokens,
            "total_tokens": self.prompt_tokens + said_tokens,
        })
    }

    /// The role first, the text piece by piece, the reason of the end, the usage if asked for, and the end mark.
    fn events(&self, has_usage: bool) -> Vec<String> {
        let mut deltas = vec![(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
        match &self.refusal {
            Some(refusal) => deltas.push((json!({"refusal": refusal}), Value::Null)),
            None => deltas.extend(pieces(&self.text).into_iter().map(|piece| (json!({"content": piece}), Value::Null))),
        }
        deltas.push((json!({}), json!(self.finish)));
        let mut chunks: Vec<Value> = deltas
            .into_iter()
            .map(|(delta, finish)| {
                let choices = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
                self.chunk(&choices, has_usage.then_some(Value::Null))
            })
            .collect();
        if has_usage {
            chunks.push(self.chunk(&json!([]), Some(self.usage())));
        }
        let events = chunks.into_iter().map(|chunk| format!("data: {chunk}\n\n"));
        events.chain(["data: [DONE]\n\n".to_owned()]).collect()
    }

    fn chunk(&self, choices: &Value, usage: Option<Value>) -> Value {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        chunk
    }
}

fn by_rule(texts: &[String], format: &ReplyFormat) -> AnswerScript {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = answer(&texts);
    let text = match format {
        ReplyFormat::Text => found.text,
        ReplyFormat::Json => json!({"answer": found.text, "sources": found.source.into_iter().collect::<Vec<_>>()}).to_string(),
        ReplyFormat::Schema(schema) => shaped(schema, &found).to_string(),
    };
    AnswerScript { text, finish: None, blocked: None, is_cut: false }
}

/// The texts of the messages, in order.
fn read_messages(messages: &Value) -> Result<Vec<String>, Problem> {
    let messages = messages.as_array().ok_or_else(|| Problem::missing("messages"))?;
    if messages.is_empty() {
        let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return Err(Problem::param("messages", "empty_array", message));
    }
    let mut texts = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().ok_or_else(|| Problem::missing(&format!("messages[{index}].role")))?;
        if !ROLES.contains(&role) {
            let supported = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'";
            let text = format!("Invalid value: '{role}'. Supported values are: {supported}.");
            return Err(Problem::param(&format!("messages[{index}].role"), "invalid_value", text));
        }
        match &message["content"] {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(parts) => texts.push(parts.iter().filter_map(|part| part["text"].as_str()).collect()),
            Value::Null if role == "assistant" => {}
            _ => {
                let place = format!("messages[{index}].content");
                let text = format!("Invalid type for '{place}': expected one of a string or array of objects.");
                return Err(Problem::param(&place, "invalid_type", text));
            }
        }
    }
    Ok(texts)
}
