//! The client for providers, whose addresses come from our own settings.

use std::{path::PathBuf, sync::Once, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use kernel::{AdapterError, Category, ErrorKind, ErrorScope, redact};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct ClientSettings {
    pub connect_timeout: Duration,
    pub request_timeout: Duration,
    /// How large an answer may be, after decompression.
    pub body_bytes_max: usize,
    /// More certificate authorities to trust, as PEM: MAX's chain ends in one that no system store has.
    pub ca_bundle: Option<PathBuf>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(30),
            body_bytes_max: 4 << 20,
            ca_bundle: None,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the CA bundle {path} cannot be read: {reason}", path = path.display())]
    CaBundle { path: PathBuf, reason: String },
    #[error("the HTTP client cannot be made: {0}")]
    Client(String),
    #[error("`{entry}` in the lists of the fetcher is not {expected}")]
    Entry { entry: String, expected: &'static str },
}

/// What a provider answered, whatever its status.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

impl Reply {
    /// The body as JSON, or nothing: providers answer with HTML when they are unwell.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Why there is no answer. The texts carry no URL, because Telegram's URLs carry the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The provider never saw the request.
    #[error("the provider could not be reached: {0}")]
    NotSent(String),
    /// The request left, and no whole answer came: it may have been carried out.
    #[error("the provider did not answer: {0}")]
    OutcomeUnknown(String),
}

impl From<CallError> for AdapterError {
    fn from(error: CallError) -> Self {
        let (kind, code) = match error {
            CallError::NotSent(_) => (ErrorKind::Unavailable, "unreachable"),
            CallError::OutcomeUnknown(_) => (ErrorKind::UnknownOutcome, "no_answer"),
        };
        Self::new(Category::Transient, ErrorScope::Platform, kind, code, error.to_string())
    }
}

#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    body_bytes_max: usize,
}

impl Client {
    pub fn new(settings: &ClientSettings) -> Result<Self, SettingsError> {
        install_crypto();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(settings.connect_timeout)
            .timeout(settings.request_timeout)
            .pool_idle_timeout(Duration::from_secs(30))
            .tcp_keepalive(Duration::from_secs(15))
            // A provider that redirects is not the provider; credentials follow no redirect.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("beresta/", env!("CARGO_PKG_VERSION")));
        if let Some(path) = &settings.ca_bundle {
            let failed = |reason: String| SettingsError::CaBundle { path: path.clone(), reason };
            let pem = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
            let certificates = reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| failed(error.to_string()))?;
            if certificates.is_empty() {
                return Err(failed("there is no certificate in it".into()));
            }
            builder = builder.tls_certs_merge(certificates);
        }
        let http = builder.build().map_err(|error| SettingsError::Client(error.to_string()))?;
        Ok(Self { http, body_bytes_max: settings.body_bytes_max })
    }

    /// The same connections with another limit on the size of an answer.
    #[must_use]
    pub fn with_body_bytes_max(&self, body_bytes_max: usize) -> Self {
        Self { http: self.http.clone(), body_bytes_max }
    }

    /// Starts a request; finish it with [`Client::send`].
    pub fn request(&self, method: reqwest::Method, url: &str) -> reqwest::RequestBuilder {
        self.http.request(method, url)
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Result<Reply, CallError> {
        let response = request.send().await.map_err(call_error)?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get(reqwest::header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let mut body = BytesMut::new();
        let mut parts = response.bytes_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(call_error)?;
            if body.len() + part.len() > self.body_bytes_max {
                let message = format!("its answer (status {status}) is larger than {} bytes", self.body_bytes_max);
                return Err(CallError::OutcomeUnknown(message));
            }
            body.extend_from_slice(&part);
        }
        Ok(Reply { status, retry_after, body: body.freeze() })
    }
}

pub(crate) fn install_crypto() {
    static CRYPTO: Once = Once::new();
    // Fails only when somebody installed a provider before, which is as good.
    CRYPTO.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}

fn call_error(error: reqwest::Error) -> CallError {
    // Nothing was sent if the connection was never made, or the request could not even be built.
    let was_not_sent = error.is_connect() || error.is_builder();
    let message = redact::snippet(&describe(&error.without_url()), 500);
    if was_not_sent { CallError::NotSent(message) } else { CallError::OutcomeUnknown(message) }
}

/// The error with its causes: the top of it alone never says what happened.
pub(crate) fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
