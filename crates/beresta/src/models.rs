//! The models that the modules ask: which provider embeds, answers and transcribes, made from the settings.

use anyhow::{Context, Result};
use kernel::{Secret, SecretRef};
use llm::{
    Answerer, Embedder, GeminiAnswerer, GeminiEmbedder, GeminiSettings, GeminiTranscriber, LocalEmbedder, OpenAiAnswerOptions,
    OpenAiAnswerer, OpenAiAudioOptions, OpenAiEmbedOptions, OpenAiEmbedder, OpenAiSettings, OpenAiTranscriber, Transcriber,
};
use platform::settings::{Setting, Values, setting};

use crate::config::read_secret;

pub(crate) const SETTINGS: &[Setting] = &[
    setting(
        "gemini_base_url",
        "BERESTA_GEMINI_BASE_URL",
        "https://generativelanguage.googleapis.com",
        "the Gemini API; without a version in its path, v1beta is used",
    ),
    setting("gemini_api_key", "BERESTA_GEMINI_API_KEY", "", "where the key of Gemini is kept: env:NAME or file:PATH"),
    setting(
        "openai_base_url",
        "BERESTA_OPENAI_BASE_URL",
        "https://api.openai.com",
        "OpenAI or any server that speaks its API; without a version in its path, v1 is used",
    ),
    setting(
        "openai_api_key",
        "BERESTA_OPENAI_API_KEY",
        "",
        "where the key of OpenAI is kept: env:NAME or file:PATH; a server of your own may want none",
    ),
    setting("embedder", "BERESTA_EMBEDDER", "local", "who makes vectors of texts: local (no network), gemini or openai"),
    setting(
        "embedder_model",
        "BERESTA_EMBEDDER_MODEL",
        "",
        "its model; gemini-embedding-001 or text-embedding-3-small if not set",
    ),
    setting(
        "embedder_dimensions",
        "BERESTA_EMBEDDER_DIMENSIONS",
        "ask",
        "ask the server for 1536 numbers, or pad the shorter vectors of a server of your own",
    ),
    setting("transcriber", "BERESTA_TRANSCRIBER", "none", "who transcribes recordings: none, openai or gemini"),
    setting(
        "answerer",
        "BERESTA_ANSWERER",
        "none",
        "who writes answers from what was found: none (sentences of the sources, no network), gemini or openai",
    ),
    setting("answerer_model", "BERESTA_ANSWERER_MODEL", "", "its model; gemini-2.5-flash or gpt-4o-mini if not set"),
    setting("transcriber_model", "BERESTA_TRANSCRIBER_MODEL", "", "its model; whisper-1 or gemini-2.5-flash if not set"),
];

/// The models of this process.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    pub(crate) embedder: Embedder,
    pub(crate) transcriber: Option<Transcriber>,
    pub(crate) answerer: Option<Answerer>,
}

impl Models {
    /// No network and no model file.
    pub(crate) fn offline() -> Self {
        Self { embedder: LocalEmbedder::new().into(), transcriber: None, answerer: None }
    }

    pub(crate) fn read(values: &Values) -> Result<Self> {
        let embedder = values.parsed("embedder", "local, gemini or openai", |value| {
            ["local", "gemini", "openai"].into_iter().find(|known| *known == value)
        })?;
        let transcriber = values.parsed("transcriber", "none, openai or gemini", |value| {
            ["none", "openai", "gemini"].into_iter().find(|known| *known == value)
        })?;
        let pads = values.parsed("embedder_dimensions", "ask or pad", |value| match value {
            "ask" => Some(false),
            "pad" => Some(true),
            _ => None,
        })?;
        let embedder = match embedder {
            "gemini" => GeminiEmbedder::new(gemini(values, "embedder_model", "gemini-embedding-001")?)?.into(),
            "openai" => {
                let options = OpenAiEmbedOptions { send_dimensions: !pads, pad_vectors: pads, ..OpenAiEmbedOptions::default() };
                OpenAiEmbedder::new(openai(values, "embedder_model", "text-embedding-3-small")?, options)?.into()
            }
            _ => LocalEmbedder::new().into(),
        };
        let transcriber = match transcriber {
            "gemini" => Some(GeminiTranscriber::new(gemini(values, "transcriber_model", "gemini-2.5-flash")?)?.into()),
            "openai" => {
                let settings = openai(values, "transcriber_model", "whisper-1")?;
                Some(OpenAiTranscriber::new(settings, OpenAiAudioOptions::default())?.into())
            }
            _ => None,
        };
        Ok(Self { embedder, transcriber, answerer: answerer(values)? })
    }
}

fn answerer(values: &Values) -> Result<Option<Answerer>> {
    let provider = values.parsed("answerer", "none, gemini or openai", |value| {
        ["none", "gemini", "openai"].into_iter().find(|known| *known == value)
    })?;
    Ok(match provider {
        "gemini" => Some(GeminiAnswerer::new(gemini(values, "answerer_model", "gemini-2.5-flash")?)?.into()),
        "openai" => {
            let settings = openai(values, "answerer_model", "gpt-4o-mini")?;
            Some(OpenAiAnswerer::new(settings, OpenAiAnswerOptions::default())?.into())
        }
        _ => None,
    })
}

fn gemini(values: &Values, model: &str, default: &str) -> Result<GeminiSettings> {
    let key = key(values, "gemini_api_key")?.context("BERESTA_GEMINI_API_KEY is needed for gemini, as env:NAME or file:PATH")?;
    let base_url = with_version(values.url("gemini_base_url")?, "v1beta");
    Ok(GeminiSettings { base_url, ..GeminiSettings::new(key, values.optional(model).as_deref().unwrap_or(default)) })
}

fn openai(values: &Values, model: &str, default: &str) -> Result<OpenAiSettings> {
    let base_url = with_version(values.url("openai_base_url")?, "v1");
    let model = values.optional(model);
    Ok(OpenAiSettings::new(&base_url, key(values, "openai_api_key")?, model.as_deref().unwrap_or(default)))
}

fn key(values: &Values, setting: &str) -> Result<Option<Secret>> {
    values.optional(setting).map(|text| read_secret(&SecretRef::parse(&text)?)).transpose()
}

/// An address ends with the version of the API: `…/v1`, `…/v1beta`.
fn with_version(base_url: String, version: &str) -> String {
    let last = base_url.rsplit('/').next().unwrap_or_default();
    let has_version = last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if has_version { base_url } else { format!("{base_url}/{version}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_version_gets_one() {
        assert_eq!(with_version("https://api.openai.com".to_owned(), "v1"), "https://api.openai.com/v1");
        assert_eq!(with_version("http://localhost:11434/v1".to_owned(), "v1"), "http://localhost:11434/v1");
        assert_eq!(with_version("http://127.0.0.1:7500/gemini".to_owned(), "v1beta"), "http://127.0.0.1:7500/gemini/v1beta");
        assert_eq!(with_version("https://host/api/v3".to_owned(), "v1"), "https://host/api/v3");
        assert_eq!(with_version("https://host/voice".to_owned(), "v1"), "https://host/voice/v1");
    }
}
