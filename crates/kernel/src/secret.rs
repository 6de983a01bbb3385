//! Secrets: made with enough randomness, stored only as hashes, compared in constant time, given by reference.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Problem;

/// A secret in memory: prints as `[secret]`, is wiped when dropped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// API tokens start with this, so that a leaked one is recognized and redacted.
    pub const TOKEN_PREFIX: &'static str = "brs_";

    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// A new API token: 256 random bits.
    pub fn new_token() -> Self {
        Self::new(format!("{}{}", Self::TOKEN_PREFIX, random_text()))
    }

    /// A new webhook secret, within the alphabet that Telegram and MAX accept.
    pub fn new_webhook_secret() -> Self {
        Self::new(random_text())
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// What is stored instead of the secret. The secrets are random, so a fast hash is enough.
    pub fn sha256_hex(&self) -> String {
        hex::encode(Sha256::digest(self.expose().as_bytes()))
    }

    /// Compares without telling by its timing how far two secrets agree.
    pub fn matches_hash(&self, sha256_hex: &str) -> bool {
        self.sha256_hex().as_bytes().ct_eq(sha256_hex.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

fn random_text() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// Where a secret is kept: `env:NAME` or `file:PATH`. Configuration and tables hold only this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretRef {
    Env(String),
    File(String),
}

impl SecretRef {
    pub fn parse(text: &str) -> Result<Self, Problem> {
        match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() => Ok(Self::Env(name.to_owned())),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.to_owned())),
            // The text itself is not repeated: it may be the secret that somebody pasted here.
            _ => Err(Problem::validation("secret", "a secret is given by reference, as `env:NAME` or `file:PATH`")),
        }
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{path}"),
        }
    }
}

impl<'de> Deserialize<'de> for SecretRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints_itself() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), "[secret]");
    }

    #[test]
    fn a_token_matches_only_its_own_hash() {
        let token = Secret::new_token();
        assert!(token.expose().starts_with("brs_") && token.expose().len() == 47);
        assert!(token.matches_hash(&token.sha256_hex()));
        assert!(!token.matches_hash(&Secret::new_token().sha256_hex()));
        assert!(!token.matches_hash(""));
    }

    #[test]
    fn a_pasted_secret_is_refused_without_being_repeated() {
        let problem = SecretRef::parse("123456:AAE-very-secret").unwrap_err();
        assert!(problem.message.contains("env:NAME") && !problem.message.contains("AAE"));
        assert_eq!(SecretRef::parse("env:TG_TOKEN").unwrap(), SecretRef::Env("TG_TOKEN".into()));
    }
}
