//! Texts into vectors: one way to ask, whoever computes them.
//!
//! Guarantees: as many vectors as texts, in their order; each has [`DIMENSIONS`] finite numbers and length 1. Texts that a
//! provider would refuse as empty are refused before the call; longer ones than it reads are cut on a character.

use kernel::AdapterError;

use crate::{gemini::GeminiEmbedder, local, local::LocalEmbedder, openai::OpenAiEmbedder, reply};

/// The size of every vector, because they stand in one column of the database.
pub const DIMENSIONS: usize = 1536;

/// What a vector is for. Some models place a question where its answers are, and not where questions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedTask {
    /// To be found.
    Document,
    /// To find by.
    Query,
}

/// The space that vectors are in. Vectors of different spaces do not compare: this is recorded beside every vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingModel {
    pub provider: &'static str,
    pub model: String,
    pub dimensions: usize,
    /// What the provider was told that a document is; empty when it is told nothing.
    pub document_task: String,
    /// What the provider was told that a question is; empty when it is told nothing.
    pub query_task: String,
    /// Whether every vector has length 1, so that a product is the cosine.
    pub is_normalised: bool,
}

impl EmbeddingModel {
    pub(crate) fn new(provider: &'static str, model: &str, document_task: &str, query_task: &str) -> Self {
        Self {
            provider,
            model: model.to_owned(),
            dimensions: DIMENSIONS,
            document_task: document_task.to_owned(),
            query_task: query_task.to_owned(),
            is_normalised: true,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Embedder {
    Local { embedder: LocalEmbedder, model: EmbeddingModel },
    Gemini(GeminiEmbedder),
    OpenAi(OpenAiEmbedder),
}

impl From<LocalEmbedder> for Embedder {
    fn from(embedder: LocalEmbedder) -> Self {
        Self::Local { embedder, model: EmbeddingModel::new("local", local::MODEL, "", "") }
    }
}

impl From<GeminiEmbedder> for Embedder {
    fn from(embedder: GeminiEmbedder) -> Self {
        Self::Gemini(embedder)
    }
}

impl From<OpenAiEmbedder> for Embedder {
    fn from(embedder: OpenAiEmbedder) -> Self {
        Self::OpenAi(embedder)
    }
}

impl Embedder {
    pub fn model(&self) -> &EmbeddingModel {
        match self {
            Self::Local { model, .. } => model,
            Self::Gemini(gemini) => gemini.model(),
            Self::OpenAi(openai) => openai.model(),
        }
    }

    /// Embeds any number of texts, in as many calls as the provider wants, one after the other. The first call that fails
    /// ends it: whoever wants to keep what was done before gives fewer texts at once.
    pub async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<Vec<Vec<f32>>, AdapterError> {
        if let Some(at) = texts.iter().position(|text| is_blank(text)) {
            return Err(reply::invalid(&format!("text {at} of {} is empty: there is nothing to embed", texts.len())));
        }
        match self {
            Self::Local { embedder, .. } => Ok(embedder.embed(texts, task).await),
            Self::Gemini(gemini) => gemini.embed(texts, task).await,
            Self::OpenAi(openai) => openai.embed(texts, task).await,
        }
    }
}

/// The local embedder would take it; it is refused all the same, so that a change of provider refuses nothing new.
fn is_blank(text: &str) -> bool {
    text.chars().all(|letter| letter.is_whitespace() || letter.is_control())
}
