//! Audio into text: one way to ask, whoever listens.
//!
//! Guarantees: audio above the provider's limit is refused before it is sent; a file is sent with the extension and the
//! content type that its bytes have; the answer is kept byte for byte beside what was read in it.

use bytes::Bytes;
use kernel::AdapterError;

use crate::{gemini::GeminiTranscriber, openai::OpenAiTranscriber, reply};

#[derive(Clone, Debug)]
pub struct Audio {
    pub bytes: Bytes,
    /// As the messenger says; the bytes themselves are believed more.
    pub mime: String,
    /// Only its extension is read. The name itself stays here: it may name people.
    pub file_name: String,
    /// ISO 639-1, when it is known.
    pub language: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Transcription {
    /// The answer exactly as it came.
    pub raw: Bytes,
    /// Everything that was said; empty for silence.
    pub text: String,
    pub duration_seconds: Option<f64>,
    /// Empty when the model tells none.
    pub segments: Vec<TranscriptSegment>,
    /// As the provider says it, in small letters: `ru`, or `russian`.
    pub language: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptSegment {
    /// Unique inside one transcription, and nowhere else.
    pub id: String,
    pub start_seconds: Option<f64>,
    pub end_seconds: Option<f64>,
    /// A label that means somebody inside this transcription only.
    pub speaker: Option<String>,
    /// Never empty, without space around it.
    pub text: String,
}

#[derive(Clone, Debug)]
pub enum Transcriber {
    OpenAi(OpenAiTranscriber),
    Gemini(GeminiTranscriber),
}

impl From<OpenAiTranscriber> for Transcriber {
    fn from(transcriber: OpenAiTranscriber) -> Self {
        Self::OpenAi(transcriber)
    }
}

impl From<GeminiTranscriber> for Transcriber {
    fn from(transcriber: GeminiTranscriber) -> Self {
        Self::Gemini(transcriber)
    }
}

impl Transcriber {
    /// The name of the model that listens, for the journal.
    pub fn model(&self) -> &str {
        match self {
            Self::OpenAi(openai) => openai.model(),
            Self::Gemini(gemini) => gemini.model(),
        }
    }

    /// How large a file may be. A larger one is the caller's to cut: labels of speakers do not hold across two pieces.
    pub fn audio_bytes_max(&self) -> usize {
        match self {
            Self::OpenAi(openai) => openai.audio_bytes_max(),
            Self::Gemini(_) => crate::gemini::GEMINI_AUDIO_BYTES_MAX,
        }
    }

    pub async fn transcribe(&self, audio: Audio) -> Result<Transcription, AdapterError> {
        let (bytes, bytes_max) = (audio.bytes.len(), self.audio_bytes_max());
        if bytes == 0 {
            return Err(reply::invalid("the audio file is empty"));
        }
        if bytes > bytes_max {
            let message = format!("the audio file has {bytes} bytes; the provider takes {bytes_max} at most");
            return Err(reply::refused(reply::INVALID, "too_large", &message));
        }
        match self {
            Self::OpenAi(openai) => openai.transcribe(audio).await,
            Self::Gemini(gemini) => gemini.transcribe(audio).await,
        }
    }
}
