//! Embed, answer, transcribe: one way to ask each, one answer and one normalized error, whoever serves it.
//!
//! No call of this crate changes anything at the provider: each can be repeated, and a lost answer is a timeout. No error
//! carries a key or an address. How many calls run at once is the caller's decision, and so is when to repeat one.

mod answer;
mod classify;
mod container;
mod embed;
mod gemini;
mod local;
mod openai;
mod reply;
mod settings;
mod transcribe;
mod transcript;
mod vectors;

pub use answer::{AnswerFinish, AnswerPrompt, Answerer, ModelAnswer};
pub use embed::{DIMENSIONS, EmbedTask, Embedder, EmbeddingModel};
pub use gemini::{
    GEMINI_AUDIO_BYTES_MAX, GEMINI_BATCH_MAX, GEMINI_INPUT_TOKENS_MAX, GeminiAnswerer, GeminiEmbedder, GeminiTranscriber,
};
pub use local::{BucketCountError, BucketWeights, LocalEmbedder, TextWord, WordReader, feature_hash, normal_form};
pub use openai::{
    OPENAI_AUDIO_BYTES_MAX, OPENAI_BATCH_MAX, OPENAI_INPUT_TOKENS_MAX, OPENAI_REQUEST_TOKENS_MAX, OpenAiAnswerOptions,
    OpenAiAnswerer, OpenAiAudioOptions, OpenAiEmbedOptions, OpenAiEmbedder, OpenAiTranscriber, TranscriptFormat,
};
pub use settings::{
    ANSWER_BYTES_MAX, ANSWER_TIMEOUT, EMBED_TIMEOUT, GEMINI_BASE_URL, GeminiSettings, LlmSettingsError, OPENAI_BASE_URL,
    OpenAiSettings, TRANSCRIBE_TIMEOUT,
};
pub use transcribe::{Audio, Transcriber, TranscriptSegment, Transcription};
