//! What an operator says of a provider, and what holds for all of them.

use std::time::Duration;

use kernel::Secret;
use outbound::{Client, ClientSettings, SettingsError};

/// A vector takes up to 34 kB as text, and a batch has a hundred.
pub const ANSWER_BYTES_MAX: usize = 16 << 20;
pub const EMBED_TIMEOUT: Duration = Duration::from_mins(1);
pub const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);
/// Twenty minutes of audio are read in minutes.
pub const TRANSCRIBE_TIMEOUT: Duration = Duration::from_mins(10);

pub const GEMINI_BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

#[derive(Clone, Debug)]
pub struct GeminiSettings {
    /// With the version, as in [`GEMINI_BASE_URL`].
    pub base_url: String,
    pub key: Secret,
    /// With or without `models/` before it.
    pub model: String,
    /// How many tokens an answer may think before it speaks; a thinking model may otherwise think all of them away.
    pub thinking_tokens: Option<u32>,
    /// Timeouts and limits; without them, those that suit the use.
    pub client: Option<ClientSettings>,
}

impl GeminiSettings {
    pub fn new(key: Secret, model: &str) -> Self {
        Self { base_url: GEMINI_BASE_URL.to_owned(), key, model: model.to_owned(), thinking_tokens: None, client: None }
    }
}

#[derive(Clone, Debug)]
pub struct OpenAiSettings {
    /// With the version, as in [`OPENAI_BASE_URL`].
    pub base_url: String,
    /// A server of one's own often wants none.
    pub key: Option<Secret>,
    pub model: String,
    /// Timeouts and limits; without them, those that suit the use.
    pub client: Option<ClientSettings>,
}

impl OpenAiSettings {
    pub fn new(base_url: &str, key: Option<Secret>, model: &str) -> Self {
        Self { base_url: base_url.to_owned(), key, model: model.to_owned(), client: None }
    }
}

/// The words repeat no address: it may carry a password.
#[derive(Debug, thiserror::Error)]
pub enum LlmSettingsError {
    #[error("the address of the provider must begin with http:// or https:// and have neither query nor fragment")]
    BaseUrl,
    #[error("`{0}` is not the name of a model")]
    Model(String),
    #[error("{name} is {found}; it must be from {min} to {max}")]
    Range { name: &'static str, found: usize, min: usize, max: usize },
    #[error(transparent)]
    Client(#[from] SettingsError),
}

pub(crate) fn client(settings: Option<ClientSettings>, request_timeout: Duration) -> Result<Client, LlmSettingsError> {
    let defaults = || ClientSettings { request_timeout, body_bytes_max: ANSWER_BYTES_MAX, ..ClientSettings::default() };
    Ok(Client::new(&settings.unwrap_or_else(defaults))?)
}

/// The address without a slash at its end.
pub(crate) fn base_url(text: &str) -> Result<String, LlmSettingsError> {
    let url = reqwest::Url::parse(text.trim()).map_err(|_| LlmSettingsError::BaseUrl)?;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
    if is_plain { Ok(url.as_str().trim_end_matches('/').to_owned()) } else { Err(LlmSettingsError::BaseUrl) }
}

/// A name of a model is a part of Gemini's path: one with a question mark in it would be another path.
pub(crate) fn model_name(text: &str) -> Result<String, LlmSettingsError> {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | ':' | '@' | '+');
    let name = text.trim();
    let is_name =
        !name.is_empty() && name.chars().all(is_allowed) && !name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if is_name { Ok(name.to_owned()) } else { Err(LlmSettingsError::Model(kernel::redact::snippet(text, 100))) }
}

pub(crate) fn within(name: &'static str, found: usize, min: usize, max: usize) -> Result<usize, LlmSettingsError> {
    if (min..=max).contains(&found) { Ok(found) } else { Err(LlmSettingsError::Range { name, found, min, max }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_checked_and_never_repeated() {
        assert_eq!(base_url(" http://localhost:11434/v1/ ").unwrap(), "http://localhost:11434/v1");
        assert_eq!(base_url(OPENAI_BASE_URL).unwrap(), OPENAI_BASE_URL);
        for wrong in ["", "localhost:8080", "ftp://x", "https://x/v1?key=hunter2", "https://x/#a"] {
            let error = base_url(wrong).unwrap_err().to_string();
            assert!(error.contains("http://") && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_name_of_a_model_cannot_leave_its_place_in_the_path() {
        for name in ["gemini-2.5-flash", "models/gemini-embedding-001", "nomic-embed-text:latest", "BAAI/bge-m3"] {
            assert_eq!(model_name(name).unwrap(), name);
        }
        for name in ["", " ", "a?b", "a#b", "../x", "a//b", "a b", "модель"] {
            assert!(matches!(model_name(name), Err(LlmSettingsError::Model(_))), "{name}");
        }
    }
}
