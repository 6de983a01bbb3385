//! Vectors of an OpenAI-compatible server.

use base64::{Engine, engine::general_purpose::STANDARD};
use kernel::{AdapterError, ErrorKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    embed::{DIMENSIONS, EmbedTask, EmbeddingModel},
    reply::{self, ProviderLink},
    settings::{self, EMBED_TIMEOUT, LlmSettingsError, OpenAiSettings},
    vectors,
};

/// OpenAI takes 2048 texts; the vectors of so many make an answer of 60 MB. A hundred keep it below 4.
pub const OPENAI_BATCH_MAX: usize = 100;
/// What OpenAI's models read of a text.
pub const OPENAI_INPUT_TOKENS_MAX: usize = 8192;
/// What OpenAI takes in one request.
pub const OPENAI_REQUEST_TOKENS_MAX: usize = 300_000;

const BATCH_LIMIT: usize = 2048;
const INPUT_TOKENS_LIMIT: usize = 1 << 20;

/// What servers of this protocol differ in.
#[derive(Clone, Debug)]
pub struct OpenAiEmbedOptions {
    /// Texts in a request, from 1 to 2048. Some servers take 32 or 10.
    pub batch_max: usize,
    /// Tokens of a text; the rest is cut. Small models read 512.
    pub input_tokens_max: usize,
    /// Whether to ask for vectors of 1536 numbers. OpenAI cuts them to size; servers of one's own ignore or refuse it.
    pub send_dimensions: bool,
    /// Whether to fill shorter vectors with zeros up to 1536. Their products, and so what is near to what, stay the same.
    pub pad_vectors: bool,
    /// What stands before a document; E5 models want `passage: `.
    pub document_prefix: String,
    /// What stands before a question; E5 models want `query: `.
    pub query_prefix: String,
}

impl Default for OpenAiEmbedOptions {
    fn default() -> Self {
        Self {
            batch_max: OPENAI_BATCH_MAX,
            input_tokens_max: OPENAI_INPUT_TOKENS_MAX,
            send_dimensions: true,
            pad_vectors: false,
            document_prefix: String::new(),
            query_prefix: String::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct OpenAiEmbedder {
    link: ProviderLink,
    model: EmbeddingModel,
    options: OpenAiEmbedOptions,
}

#[derive(Deserialize)]
struct OpenAiVectors {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    index: Option<usize>,
    embedding: EncodedVector,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum EncodedVector {
    /// A number that is none is written as null.
    Floats(Vec<Option<f32>>),
    /// Little-endian f32.
    Base64(String),
}

impl EncodedVector {
    fn decode(self) -> Option<Vec<f32>> {
        match self {
            Self::Floats(values) => Some(values.into_iter().map(|value| value.unwrap_or(f32::NAN)).collect()),
            Self::Base64(text) => {
                let bytes = STANDARD.decode(text).ok()?;
                let (values, rest) = bytes.as_chunks::<4>();
                rest.is_empty().then(|| values.iter().map(|value| f32::from_le_bytes(*value)).collect())
            }
        }
    }
}

impl OpenAiEmbedder {
    pub fn new(settings: OpenAiSettings, options: OpenAiEmbedOptions) -> Result<Self, LlmSettingsError> {
        settings::within("batch_max", options.batch_max, 1, BATCH_LIMIT)?;
        settings::within("input_tokens_max", options.input_tokens_max, 1, INPUT_TOKENS_LIMIT)?;
        let (link, model) = super::connect(settings, EMBED_TIMEOUT)?;
        let model = EmbeddingModel::new("openai", &model, &options.document_prefix, &options.query_prefix);
        Ok(Self { link, model, options })
    }

    pub(crate) fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    pub(crate) async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<Vec<Vec<f32>>, AdapterError> {
        let prefix = match task {
            EmbedTask::Document => &self.options.document_prefix,
            EmbedTask::Query => &self.options.query_prefix,
        };
        let prefixed: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let cut: Vec<&str> = prefixed.iter().map(|text| vectors::cut(text, self.options.input_tokens_max)).collect();
        let mut all = Vec::with_capacity(texts.len());
        for batch in vectors::batches(&cut, self.options.batch_max, OPENAI_REQUEST_TOKENS_MAX) {
            let body = self.link.post_json("embeddings", &self.request(&batch)).await;
            let body = body.map_err(|error| self.with_help(error))?;
            all.extend(self.read(&body, batch.len())?);
        }
        Ok(all)
    }

    fn request(&self, batch: &[&str]) -> Value {
        let mut request = json!({"model": self.model.model, "input": batch});
        if self.options.send_dimensions {
            request["dimensions"] = json!(DIMENSIONS);
        }
        request
    }

    fn read(&self, body: &[u8], wanted: usize) -> Result<Vec<Vec<f32>>, AdapterError> {
        let answer: OpenAiVectors =
            serde_json::from_slice(body).map_err(|_| reply::unreadable("the answer has no list of vectors"))?;
        let mut data = answer.data;
        // The order of the list means nothing where an index does; servers that give no index keep the order.
        if data.iter().any(|vector| vector.index.is_some()) {
            data.sort_by_key(|vector| vector.index);
            if !data.iter().enumerate().all(|(at, vector)| vector.index == Some(at)) {
                return Err(reply::unreadable("the indexes of the vectors are not those of the texts"));
            }
        }
        let decoded: Option<Vec<Vec<f32>>> = data.into_iter().map(|vector| vector.embedding.decode()).collect();
        let mut vectors = decoded.ok_or_else(|| reply::unreadable("a vector is not base64 of numbers"))?;
        if self.options.pad_vectors {
            vectors.iter_mut().filter(|vector| !vector.is_empty() && vector.len() < DIMENSIONS).for_each(|vector| {
                vector.resize(DIMENSIONS, 0.0);
            });
        }
        vectors::checked(vectors, wanted, self.size_help())
    }

    /// What to set when a vector has another size.
    fn size_help(&self) -> &'static str {
        match (self.options.send_dimensions, self.options.pad_vectors) {
            (true, false) => "the server ignored `dimensions`; set `pad_vectors` for a smaller model, or choose another model",
            (false, false) => {
                "set `send_dimensions` if the server can cut vectors, `pad_vectors` for a smaller model, or choose another model"
            }
            (true, true) => "the server ignored `dimensions`, and a larger vector is not cut; choose another model",
            (false, true) => "set `send_dimensions` if the server can cut vectors, or choose another model",
        }
    }

    /// Servers refuse `dimensions` in their own words, and none of them knows our setting.
    fn with_help(&self, mut error: AdapterError) -> AdapterError {
        let words = error.message.to_lowercase();
        let is_about_size = words.contains("dimension") || words.contains("matryoshka");
        if error.kind == ErrorKind::Invalid && self.options.send_dimensions && is_about_size {
            error.message.push_str(" (set `send_dimensions` to false for a server that does not take `dimensions`)");
        }
        error
    }
}
