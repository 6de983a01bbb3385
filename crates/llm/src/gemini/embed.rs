//! Vectors of Gemini.

use kernel::AdapterError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    embed::{DIMENSIONS, EmbedTask, EmbeddingModel},
    reply::{self, ProviderLink},
    settings::{EMBED_TIMEOUT, GeminiSettings, LlmSettingsError},
    vectors,
};

/// A batch of one more is refused as INVALID_ARGUMENT.
pub const GEMINI_BATCH_MAX: usize = 100;
/// What `gemini-embedding-001` reads of a text. It may drop the rest in silence, so the rest is cut here.
pub const GEMINI_INPUT_TOKENS_MAX: usize = 2048;

const DOCUMENT_TASK: &str = "RETRIEVAL_DOCUMENT";
const QUERY_TASK: &str = "RETRIEVAL_QUERY";

#[derive(Clone, Debug)]
pub struct GeminiEmbedder {
    link: ProviderLink,
    model: EmbeddingModel,
}

#[derive(Deserialize)]
struct GeminiVectors {
    embeddings: Vec<GeminiVector>,
}

#[derive(Deserialize)]
struct GeminiVector {
    #[serde(default)]
    values: Vec<f32>,
}

impl GeminiEmbedder {
    pub fn new(settings: GeminiSettings) -> Result<Self, LlmSettingsError> {
        let (link, model) = super::connect(settings, EMBED_TIMEOUT)?;
        Ok(Self { link, model: EmbeddingModel::new("gemini", &model, DOCUMENT_TASK, QUERY_TASK) })
    }

    pub(crate) fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    pub(crate) async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<Vec<Vec<f32>>, AdapterError> {
        let cut: Vec<&str> = texts.iter().map(|text| vectors::cut(text, GEMINI_INPUT_TOKENS_MAX)).collect();
        let mut all = Vec::with_capacity(texts.len());
        for batch in cut.chunks(GEMINI_BATCH_MAX) {
            let path = format!("models/{}:batchEmbedContents", self.model.model);
            let body = self.link.post_json(&path, &self.request(batch, task)).await?;
            let answer: GeminiVectors =
                serde_json::from_slice(&body).map_err(|_| reply::unreadable("the answer has no list of vectors"))?;
            let vectors = answer.embeddings.into_iter().map(|vector| vector.values).collect();
            all.extend(vectors::checked(vectors, batch.len(), "choose a model that takes `outputDimensionality`")?);
        }
        Ok(all)
    }

    fn request(&self, batch: &[&str], task: EmbedTask) -> Value {
        let task = match task {
            EmbedTask::Document => DOCUMENT_TASK,
            EmbedTask::Query => QUERY_TASK,
        };
        let model = format!("models/{}", self.model.model);
        let item = |text: &&str| {
            json!({
                "model": model,
                "content": {"parts": [{"text": text}]},
                "taskType": task,
                "outputDimensionality": DIMENSIONS,
            })
        };
        json!({"requests": batch.iter().map(item).collect::<Vec<_>>()})
    }
}
