//! OpenAI, and every server that speaks its protocol: `embeddings`, `chat/completions`, `audio/transcriptions`.

mod audio;
mod chat;
mod embed;

pub use self::audio::{OPENAI_AUDIO_BYTES_MAX, OpenAiAudioOptions, OpenAiTranscriber, TranscriptFormat};
pub use self::chat::{OpenAiAnswerOptions, OpenAiAnswerer};
pub use self::embed::{OPENAI_BATCH_MAX, OPENAI_INPUT_TOKENS_MAX, OPENAI_REQUEST_TOKENS_MAX, OpenAiEmbedOptions, OpenAiEmbedder};

use std::time::Duration;

use crate::reply::{KeyHeader, ProviderLink};
use crate::settings::{self, LlmSettingsError, OpenAiSettings};

/// The way to the server, and the name of the model.
fn connect(settings: OpenAiSettings, request_timeout: Duration) -> Result<(ProviderLink, String), LlmSettingsError> {
    let client = settings::client(settings.client, request_timeout)?;
    let base_url = settings::base_url(&settings.base_url)?;
    let model = settings::model_name(&settings.model)?;
    Ok((ProviderLink::new(client, base_url, KeyHeader::Bearer(settings.key)), model))
}
