//! Gemini: `batchEmbedContents` and `generateContent`, for answers and for audio.

mod audio;
mod embed;
mod generate;

pub use self::audio::{GEMINI_AUDIO_BYTES_MAX, GeminiTranscriber};
pub use self::embed::{GEMINI_BATCH_MAX, GEMINI_INPUT_TOKENS_MAX, GeminiEmbedder};
pub use self::generate::GeminiAnswerer;

use std::time::Duration;

use crate::reply::{KeyHeader, ProviderLink};
use crate::settings::{self, GeminiSettings, LlmSettingsError};

/// The way to Gemini, and the name of the model as the path has it.
fn connect(settings: GeminiSettings, request_timeout: Duration) -> Result<(ProviderLink, String), LlmSettingsError> {
    let client = settings::client(settings.client, request_timeout)?;
    let base_url = settings::base_url(&settings.base_url)?;
    let model = settings::model_name(settings.model.trim().trim_start_matches("models/"))?;
    Ok((ProviderLink::new(client, base_url, KeyHeader::Google(settings.key)), model))
}
