//! Answers of Gemini. A status of success does not mean that there is text.

use kernel::AdapterError;
use serde_json::{Value, json};

use crate::{
    answer::{ALL_TOKENS_USED, AnswerFinish, AnswerPrompt, ModelAnswer},
    reply::{self, ProviderLink},
    settings::{ANSWER_TIMEOUT, GeminiSettings, LlmSettingsError},
};

#[derive(Clone, Debug)]
pub struct GeminiAnswerer {
    link: ProviderLink,
    model: String,
    thinking_tokens: Option<u32>,
}

impl GeminiAnswerer {
    pub fn new(settings: GeminiSettings) -> Result<Self, LlmSettingsError> {
        let thinking_tokens = settings.thinking_tokens;
        let (link, model) = super::connect(settings, ANSWER_TIMEOUT)?;
        Ok(Self { link, model, thinking_tokens })
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) async fn answer(&self, prompt: &AnswerPrompt) -> Result<ModelAnswer, AdapterError> {
        let path = format!("models/{}:generateContent", self.model);
        let body = self.link.post_json(&path, &self.request(prompt)).await?;
        read(&body)
    }

    fn request(&self, prompt: &AnswerPrompt) -> Value {
        let parts: Vec<Value> = prompt.parts.iter().map(|text| json!({"text": text})).collect();
        let mut config = json!({"maxOutputTokens": prompt.max_output_tokens, "candidateCount": 1});
        if let Some(temperature) = prompt.temperature {
            config["temperature"] = json!(temperature);
        }
        add_schema(&mut config, prompt.json_schema.as_ref());
        add_thinking(&mut config, self.thinking_tokens);
        let mut request = json!({"contents": [{"role": "user", "parts": parts}], "generationConfig": config});
        if !prompt.system.trim().is_empty() {
            request["systemInstruction"] = json!({"parts": [{"text": prompt.system}]});
        }
        request
    }
}

pub(super) fn add_schema(config: &mut Value, schema: Option<&Value>) {
    if let Some(schema) = schema {
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = schema.clone();
    }
}

pub(super) fn add_thinking(config: &mut Value, thinking_tokens: Option<u32>) {
    if let Some(tokens) = thinking_tokens {
        config["thinkingConfig"] = json!({"thinkingBudget": tokens});
    }
}

/// The text of the first candidate, or why there is none.
pub(super) fn read(body: &[u8]) -> Result<ModelAnswer, AdapterError> {
    let answer: Value = serde_json::from_slice(body).map_err(|_| reply::unreadable("the answer is not JSON"))?;
    let candidate = &answer["candidates"][0];
    if candidate.is_null() {
        return Err(match answer["promptFeedback"]["blockReason"].as_str() {
            Some(reason) => reply::no_text(&format!("the model gave no text: the prompt was blocked ({reason})")),
            None => reply::unreadable("the answer has no candidates, and no reason for that"),
        });
    }
    let reason = candidate["finishReason"].as_str().unwrap_or("no finishReason");
    let parts = candidate["content"]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let spoken = parts.iter().filter(|part| part["thought"] != true);
    let text: String = spoken.filter_map(|part| part["text"].as_str()).collect();
    if text.trim().is_empty() {
        return Err(no_text(reason, parts));
    }
    let usage = &answer["usageMetadata"];
    let (spoken, thought) = (count(&usage["candidatesTokenCount"]), count(&usage["thoughtsTokenCount"]));
    Ok(ModelAnswer {
        text,
        finish: finish(reason),
        input_tokens: count(&usage["promptTokenCount"]),
        output_tokens: spoken.map(|spoken| spoken.saturating_add(thought.unwrap_or_default())),
    })
}

fn no_text(reason: &str, parts: &[Value]) -> AdapterError {
    if parts.iter().any(|part| part["functionCall"].is_object()) {
        return reply::no_text("the model gave no text: it calls a function, and was given none");
    }
    match finish(reason) {
        AnswerFinish::Length => reply::no_text(ALL_TOKENS_USED),
        AnswerFinish::Filtered => reply::no_text(&format!("the model gave no text: a filter stopped it ({reason})")),
        AnswerFinish::Stop | AnswerFinish::Other(_) => reply::no_text(&format!("the model gave no text ({reason})")),
    }
}

fn finish(reason: &str) -> AnswerFinish {
    match reason {
        "STOP" => AnswerFinish::Stop,
        "MAX_TOKENS" => AnswerFinish::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => AnswerFinish::Filtered,
        other => AnswerFinish::Other(kernel::redact::snippet(other, 64)),
    }
}

/// Google writes whole numbers of 64 bits as texts.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
