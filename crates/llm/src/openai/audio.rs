//! Transcriptions of an OpenAI-compatible server.

use kernel::AdapterError;
use reqwest::multipart::{Form, Part};

use crate::{
    container::{AudioContainer, container},
    reply::{self, ProviderLink},
    settings::{LlmSettingsError, OpenAiSettings, TRANSCRIBE_TIMEOUT},
    transcribe::{Audio, Transcription},
    transcript,
};

/// OpenAI takes 25 MB with everything around the file; this is below both readings of a megabyte.
pub const OPENAI_AUDIO_BYTES_MAX: usize = 25_000_000;

/// In which shape an answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptFormat {
    /// Text alone.
    Json,
    /// Segments with times.
    VerboseJson,
    /// Segments with times and speakers.
    DiarizedJson,
}

impl TranscriptFormat {
    /// The most that a model tells. A model that is not known is whisper under another name, on a server of one's own.
    fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        if model.contains("diarize") {
            Self::DiarizedJson
        } else if model.starts_with("gpt-") {
            Self::Json
        } else {
            Self::VerboseJson
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::VerboseJson => "verbose_json",
            Self::DiarizedJson => "diarized_json",
        }
    }
}

/// What servers of this protocol differ in.
#[derive(Clone, Copy, Debug)]
pub struct OpenAiAudioOptions {
    /// Without one, the model decides.
    pub format: Option<TranscriptFormat>,
    /// How large a file may be. A server of one's own may take more.
    pub audio_bytes_max: usize,
}

impl Default for OpenAiAudioOptions {
    fn default() -> Self {
        Self { format: None, audio_bytes_max: OPENAI_AUDIO_BYTES_MAX }
    }
}

#[derive(Clone, Debug)]
pub struct OpenAiTranscriber {
    link: ProviderLink,
    model: String,
    format: TranscriptFormat,
    audio_bytes_max: usize,
}

impl OpenAiTranscriber {
    pub fn new(settings: OpenAiSettings, options: OpenAiAudioOptions) -> Result<Self, LlmSettingsError> {
        let OpenAiAudioOptions { format, audio_bytes_max } = options;
        let (link, model) = super::connect(settings, TRANSCRIBE_TIMEOUT)?;
        Ok(Self { link, format: format.unwrap_or_else(|| TranscriptFormat::of(&model)), model, audio_bytes_max })
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn audio_bytes_max(&self) -> usize {
        self.audio_bytes_max
    }

    pub(crate) async fn transcribe(&self, audio: Audio) -> Result<Transcription, AdapterError> {
        let container = container(&audio.bytes, &audio.mime, &audio.file_name).ok_or_else(unknown_container)?;
        let form = self.form(audio, container)?;
        let raw = self.link.post("audio/transcriptions", |request| request.multipart(form)).await?;
        transcript::read(raw)
    }

    fn form(&self, audio: Audio, container: AudioContainer) -> Result<Form, AdapterError> {
        let length = audio.bytes.len() as u64;
        let file = Part::stream_with_length(audio.bytes, length).file_name(format!("audio.{}", container.extension));
        let file = file.mime_str(container.mime).map_err(|_| unknown_container())?;
        let mut form = Form::new().text("model", self.model.clone()).text("response_format", self.format.word());
        if let Some(language) = audio.language.filter(|language| !language.trim().is_empty()) {
            form = form.text("language", language.trim().to_lowercase());
        }
        if self.format == TranscriptFormat::DiarizedJson {
            // OpenAI documents it for audio above 30 seconds, and refuses any without it.
            form = form.text("chunking_strategy", "auto");
        }
        Ok(form.part("file", file))
    }
}

fn unknown_container() -> AdapterError {
    reply::invalid("the audio is none of flac, mp3, mp4, m4a, ogg, wav, webm: it must be converted before it is transcribed")
}
