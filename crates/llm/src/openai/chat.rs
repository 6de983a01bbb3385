//! Answers of an OpenAI-compatible server. A status of success does not mean that there is text.

use kernel::AdapterError;
use serde_json::{Value, json};

use crate::{
    answer::{ALL_TOKENS_USED, AnswerFinish, AnswerPrompt, ModelAnswer},
    reply::{self, ProviderLink},
    settings::{ANSWER_TIMEOUT, LlmSettingsError, OpenAiSettings},
};

/// What stands between the parts of a prompt: a message is one text, because older servers take no other.
const BETWEEN_PARTS: &str = "\n\n";

/// What servers of this protocol differ in.
#[derive(Clone, Debug, Default)]
pub struct OpenAiAnswerOptions {
    /// Whether to write `max_tokens`, as older servers want it, and not `max_completion_tokens`.
    pub is_limit_named_max_tokens: bool,
    /// Whether to leave the temperature out whatever the prompt says: models that think refuse any.
    pub is_temperature_left_out: bool,
    /// `reasoning_effort`, for models that think.
    pub reasoning_effort: Option<String>,
}

#[derive(Clone, Debug)]
pub struct OpenAiAnswerer {
    link: ProviderLink,
    model: String,
    options: OpenAiAnswerOptions,
}

impl OpenAiAnswerer {
    pub fn new(settings: OpenAiSettings, options: OpenAiAnswerOptions) -> Result<Self, LlmSettingsError> {
        let (link, model) = super::connect(settings, ANSWER_TIMEOUT)?;
        Ok(Self { link, model, options })
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) async fn answer(&self, prompt: &AnswerPrompt) -> Result<ModelAnswer, AdapterError> {
        let body = self.link.post_json("chat/completions", &self.request(prompt)).await?;
        read(&body)
    }

    fn request(&self, prompt: &AnswerPrompt) -> Value {
        let user = json!({"role": "user", "content": prompt.parts.join(BETWEEN_PARTS)});
        let system = (!prompt.system.trim().is_empty()).then(|| json!({"role": "system", "content": prompt.system}));
        let messages: Vec<Value> = system.into_iter().chain([user]).collect();
        let mut request = json!({"model": self.model, "messages": messages});
        let limit = if self.options.is_limit_named_max_tokens { "max_tokens" } else { "max_completion_tokens" };
        request[limit] = json!(prompt.max_output_tokens);
        if let Some(temperature) = prompt.temperature.filter(|_| !self.options.is_temperature_left_out) {
            request["temperature"] = json!(temperature);
        }
        if let Some(effort) = &self.options.reasoning_effort {
            request["reasoning_effort"] = json!(effort);
        }
        if let Some(schema) = &prompt.json_schema {
            let schema = json!({"name": "answer", "schema": schema, "strict": true});
            request["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        request
    }
}

/// The text of the first choice, or why there is none.
fn read(body: &[u8]) -> Result<ModelAnswer, AdapterError> {
    let answer: Value = serde_json::from_slice(body).map_err(|_| reply::unreadable("the answer is not JSON"))?;
    let choice = &answer["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(reply::unreadable("the answer has no choices"));
    }
    let reason = choice["finish_reason"].as_str().unwrap_or("no finish_reason");
    let said = content(&message["content"]);
    let text = without_thoughts(&said);
    if text.trim().is_empty() {
        return Err(no_text(reason, message));
    }
    let usage = &answer["usage"];
    Ok(ModelAnswer {
        text: text.to_owned(),
        finish: finish(reason),
        input_tokens: usage["prompt_tokens"].as_u64(),
        output_tokens: usage["completion_tokens"].as_u64(),
    })
}

/// A text, or parts of which some are text.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// What comes after the thoughts: servers of one's own leave them in the text of the models that think aloud. Thoughts that
/// do not end were cut, and there is no answer.
fn without_thoughts(text: &str) -> &str {
    let Some(thoughts) = text.trim_start().strip_prefix("<think>") else { return text };
    thoughts.split_once("</think>").map_or("", |(_, answer)| answer.trim_start())
}

fn no_text(reason: &str, message: &Value) -> AdapterError {
    if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.trim().is_empty()) {
        return reply::no_text(&format!("the model refused: {refusal}"));
    }
    let calls = message["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
    if calls || message["function_call"].is_object() {
        return reply::no_text("the model gave no text: it calls a tool, and was given none");
    }
    match finish(reason) {
        AnswerFinish::Length => reply::no_text(ALL_TOKENS_USED),
        AnswerFinish::Filtered => reply::no_text(&format!("the model gave no text: a filter stopped it ({reason})")),
        AnswerFinish::Stop | AnswerFinish::Other(_) => reply::no_text(&format!("the model gave no text ({reason})")),
    }
}

fn finish(reason: &str) -> AnswerFinish {
    match reason {
        "stop" => AnswerFinish::Stop,
        "length" => AnswerFinish::Length,
        "content_filter" => AnswerFinish::Filtered,
        other => AnswerFinish::Other(kernel::redact::snippet(other, 64)),
    }
}
