//! One webhook call, and how it ended. Shared by both providers; what counts as success is theirs to say.

use std::time::Duration;

use axum::http::StatusCode;
use bytes::Bytes;
use serde::Serialize;
use tokio::sync::{oneshot, watch};

/// The part of a webhook's answer that is read: Telegram takes a method call from it.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// What `POST /control/updates` with `wait` tells.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Delivery {
    pub(crate) delivered: bool,
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<String>,
    pub(crate) attempts: u32,
}

/// An update on its way.
pub(crate) struct Queued {
    /// As the bot will see it, ids filled in.
    pub(crate) update: serde_json::Value,
    /// False when the bot did not ask for this kind: nobody will see it.
    pub(crate) allowed: bool,
    pub(crate) by_webhook: bool,
}

/// Tells the waiting test about the first attempt and about the end.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) first: Option<oneshot::Sender<Delivery>>,
    pub(crate) settled: Option<oneshot::Sender<Delivery>>,
}

impl Report {
    pub(crate) fn attempt(&mut self, delivery: &Delivery) {
        if let Some(first) = self.first.take() {
            // Nobody listening any more is fine: the test did not ask to wait.
            let _ = first.send(delivery.clone());
        }
    }

    pub(crate) fn settle(&mut self, delivery: Delivery) {
        self.attempt(&delivery);
        if let Some(settled) = self.settled.take() {
            let _ = settled.send(delivery);
        }
    }
}

/// How one attempt ended.
pub(crate) enum Attempt {
    Answered { status: StatusCode, retry_after: Option<u64>, body: Bytes },
    Failed(String),
}

pub(crate) struct Push<'a> {
    pub(crate) url: &'a str,
    pub(crate) secret: Option<(&'static str, &'a str)>,
    pub(crate) timeout: Duration,
    pub(crate) body: Bytes,
}

/// The client of the pushers, made on first use: it needs a TLS provider in the process.
pub(crate) struct Pusher {
    client: std::sync::OnceLock<Option<reqwest::Client>>,
    /// A stopped provider pushes nothing; started again it goes on where it was.
    running: watch::Sender<bool>,
}

impl Default for Pusher {
    fn default() -> Self {
        Self { client: std::sync::OnceLock::new(), running: watch::Sender::new(true) }
    }
}

impl Pusher {
    pub(crate) fn set_running(&self, running: bool) {
        self.running.send_replace(running);
    }

    pub(crate) async fn call(&self, push: Push<'_>) -> Attempt {
        // The sender lives as long as self, so waiting cannot fail.
        let _ = self.running.subscribe().wait_for(|running| *running).await;
        let Some(client) = self.client.get_or_init(build_client) else {
            return Attempt::Failed("Can't connect to the webhook".to_owned());
        };
        let mut request = client.post(push.url).header("content-type", "application/json").timeout(push.timeout).body(push.body);
        if let Some((name, value)) = push.secret {
            request = request.header(name, value);
        }
        match request.send().await {
            Ok(response) => read(response).await,
            Err(error) => Attempt::Failed(cause(&error).to_owned()),
        }
    }
}

async fn read(mut response: reqwest::Response) -> Attempt {
    let status = response.status();
    let retry_after =
        response.headers().get("retry-after").and_then(|value| value.to_str().ok()).and_then(|value| value.parse().ok());
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Attempt::Answered { status, retry_after, body: body.into() }
}

fn cause(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "Read timeout expired"
    } else if error.is_connect() {
        "Connection refused"
    } else {
        "Can't connect to the webhook"
    }
}

fn build_client() -> Option<reqwest::Client> {
    // Another part of the process may have installed its provider already: any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        // The webhooks of a simulator are local; a proxy from the environment would only lose them.
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| tracing::error!(%error, "no HTTP client for webhooks"))
        .ok()
}
