//! A prompt into an answer: one way to ask, whoever answers.
//!
//! Guarantees: an answer has text, or it is an error that says why there is none; how it ended is always told. What the user
//! gave stands apart from what the system says.

use kernel::AdapterError;
use serde_json::Value;

use crate::{gemini::GeminiAnswerer, openai::OpenAiAnswerer, reply};

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerPrompt {
    /// What the model is to do. Nothing of a user's belongs here.
    pub system: String,
    /// What it is to do it with: the question, what was found. Each is a part of its own where the provider has parts.
    pub parts: Vec<String>,
    /// With what a model thinks before it speaks.
    pub max_output_tokens: u32,
    /// 0 asks for the likeliest answer. Nothing leaves it to the model: some take no other.
    pub temperature: Option<f32>,
    /// What the answer must look like, as JSON. OpenAI wants every field required and `additionalProperties` false.
    pub json_schema: Option<Value>,
}

impl AnswerPrompt {
    pub fn new(system: impl Into<String>, parts: Vec<String>, max_output_tokens: u32) -> Self {
        Self { system: system.into(), parts, max_output_tokens, temperature: Some(0.0), json_schema: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAnswer {
    /// Never empty.
    pub text: String,
    pub finish: AnswerFinish,
    pub input_tokens: Option<u64>,
    /// With those that were only thought.
    pub output_tokens: Option<u64>,
}

impl ModelAnswer {
    /// The text as JSON. Models of one's own put a fence around it, schema or not.
    pub fn json(&self) -> Option<Value> {
        let text = self.text.trim();
        let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
        let inner = inner.map_or(text, |rest| rest.strip_prefix("json").unwrap_or(rest));
        serde_json::from_str(inner.trim()).ok()
    }
}

/// How an answer ended. Only the first is a whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerFinish {
    /// The model was done.
    Stop,
    /// The tokens were used up: the end is missing.
    Length,
    /// A filter stopped it.
    Filtered,
    /// The provider's word for anything else, also for what it has not told us yet.
    Other(String),
}

impl AnswerFinish {
    pub fn is_clean(&self) -> bool {
        *self == Self::Stop
    }
}

#[derive(Clone, Debug)]
pub enum Answerer {
    Gemini(GeminiAnswerer),
    OpenAi(OpenAiAnswerer),
}

impl From<GeminiAnswerer> for Answerer {
    fn from(answerer: GeminiAnswerer) -> Self {
        Self::Gemini(answerer)
    }
}

impl From<OpenAiAnswerer> for Answerer {
    fn from(answerer: OpenAiAnswerer) -> Self {
        Self::OpenAi(answerer)
    }
}

impl Answerer {
    /// The name of the model that answers, for the journal.
    pub fn model(&self) -> &str {
        match self {
            Self::Gemini(gemini) => gemini.model(),
            Self::OpenAi(openai) => openai.model(),
        }
    }

    pub async fn answer(&self, prompt: &AnswerPrompt) -> Result<ModelAnswer, AdapterError> {
        if prompt.parts.iter().all(|part| part.trim().is_empty()) {
            return Err(reply::invalid("the prompt has no part with text in it"));
        }
        if prompt.max_output_tokens == 0 {
            return Err(reply::invalid("an answer of no tokens has no text"));
        }
        match self {
            Self::Gemini(gemini) => gemini.answer(prompt).await,
            Self::OpenAi(openai) => openai.answer(prompt).await,
        }
    }
}

/// What to say when the tokens were used up before the first word.
pub(crate) const ALL_TOKENS_USED: &str =
    "the model gave no text: all its output tokens were used before the first word; allow more of them, or less thinking";

#[cfg(test)]
mod tests {
    use super::*;

    fn json_of(text: &str) -> Option<Value> {
        let answer = ModelAnswer { text: text.into(), finish: AnswerFinish::Stop, input_tokens: None, output_tokens: None };
        answer.json()
    }

    #[test]
    fn json_is_read_with_and_without_a_fence() {
        for text in ["{\"a\":1}", " {\"a\":1}\n", "```json\n{\"a\":1}\n```", "```\n{\"a\":1}```"] {
            assert_eq!(json_of(text), Some(serde_json::json!({"a": 1})), "{text}");
        }
        assert_eq!((json_of("no"), json_of("``````"), json_of("```")), (None, None, None));
    }
}
