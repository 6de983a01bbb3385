//! A simulated provider, the adapter under test, and the control plane between them.

use std::time::Duration;

use bytes::Bytes;
use kernel::{AdapterError, Category, ErrorScope, Secret};
use messengers::{Button, Channel, Max, Media, MediaKind, MediaSource, Messenger, Meta, Sent, Telegram};
use outbound::{Client, ClientSettings};
use reqwest::Method;
use serde_json::{Value, json};
use simulators::Simulators;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Long enough to be taken for a token, short enough that no redaction by looks finds it.
pub(crate) const TELEGRAM_TOKEN: &str = "123456:contract-suite";
pub(crate) const MAX_TOKEN: &str = "max-contract-suite";
pub(crate) const TARGET: &str = "-1001234567890";
/// Of the answers that a test adapter reads.
pub(crate) const BODY_BYTES_MAX: usize = 64 << 10;

/// A picture every decoder accepts: one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xdc\xccY\xe7\0\0\0\0IEND\xaeB`\x82";

pub(crate) const PERMANENT_CHANNEL: (Category, ErrorScope) = (Category::Permanent, ErrorScope::Channel);
pub(crate) const PERMANENT_DELIVERY: (Category, ErrorScope) = (Category::Permanent, ErrorScope::Delivery);
pub(crate) const TRANSIENT_DELIVERY: (Category, ErrorScope) = (Category::Transient, ErrorScope::Delivery);
pub(crate) const TRANSIENT_PLATFORM: (Category, ErrorScope) = (Category::Transient, ErrorScope::Platform);

pub(crate) struct Stage {
    pub(crate) provider: &'static str,
    pub(crate) messenger: Messenger,
    pub(crate) channel: Channel,
    base: String,
    control: Client,
    _stop: DropGuard,
}

impl Stage {
    /// One for each provider, each with a simulator of its own.
    pub(crate) async fn both() -> [Self; 2] {
        [Self::telegram().await, Self::max().await]
    }

    pub(crate) async fn telegram() -> Self {
        Self::start("telegram").await
    }

    pub(crate) async fn max() -> Self {
        Self::start("max").await
    }

    async fn start(provider: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        tokio::spawn(simulators::serve(listener, Simulators::new(), stop.clone()));
        let control = Client::new(&ClientSettings::default()).unwrap();
        let (messenger, channel) = adapter(provider, &format!("{base}/{provider}"));
        Self { provider, messenger, channel, base, control, _stop: stop.drop_guard() }
    }

    /// Where the adapter finds the provider.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/{}", self.base, self.provider)
    }

    pub(crate) fn is_telegram(&self) -> bool {
        self.provider == "telegram"
    }

    /// Whichever of the two holds for the provider of this stage.
    pub(crate) fn pick<T>(&self, telegram: T, max: T) -> T {
        if self.is_telegram() { telegram } else { max }
    }

    /// The provider's name for the call that sends a text.
    pub(crate) fn send_method(&self) -> &'static str {
        self.pick("sendMessage", "POST /messages")
    }

    /// Posts to the control plane; it must agree. The provider is filled in.
    pub(crate) async fn control(&self, path: &str, mut body: Value) {
        body["provider"] = json!(self.provider);
        let request = self.control.request(Method::POST, &format!("{}/control/{path}", self.base)).json(&body);
        let reply = self.control.send(request).await.unwrap();
        assert_eq!(reply.status, 200, "{path}: {:?}", reply.json());
    }

    pub(crate) async fn chat_is(&self, state: Value) {
        let mut chat = state;
        chat["target"] = json!(TARGET);
        self.control("chats", chat).await;
    }

    async fn read(&self, what: &str) -> Vec<Value> {
        let url = format!("{}/control/{what}?provider={}", self.base, self.provider);
        let reply = self.control.send(self.control.request(Method::GET, &url)).await.unwrap();
        reply.json().unwrap()[what].as_array().cloned().unwrap()
    }

    /// What the provider accepted, in order.
    pub(crate) async fn sent(&self) -> Vec<Value> {
        self.read("sent").await
    }

    /// What was accepted last.
    pub(crate) async fn last(&self) -> Value {
        self.sent().await.pop().unwrap()
    }

    /// Every call of that name, also those refused.
    pub(crate) async fn calls(&self, method: &str) -> usize {
        self.read("calls").await.iter().filter(|call| call["method"] == method).count()
    }

    /// The structured parameter of an accepted call, whatever encoding it came in.
    pub(crate) fn param(sent: &Value, name: &str) -> Value {
        match &sent["params"][name] {
            Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            other => other.clone(),
        }
    }

    /// Sends media with nothing beside them but a text.
    pub(crate) async fn media(&self, media: &[Media], text: Option<&str>) -> Result<Sent, AdapterError> {
        self.messenger.send_media(&self.channel, media, text, &Meta::default()).await
    }

    /// Sends a text that must pass.
    pub(crate) async fn text(&self, text: &str) -> Sent {
        self.messenger.send_text(&self.channel, text, &Meta::default()).await.unwrap()
    }

    pub(crate) async fn text_refusal(&self, text: &str) -> AdapterError {
        self.messenger.send_text(&self.channel, text, &Meta::default()).await.unwrap_err()
    }
}

/// The adapter of a provider at an address, without pauses, and a channel for it.
pub(crate) fn adapter(provider: &str, base_url: &str) -> (Messenger, Channel) {
    adapter_with(&ClientSettings { body_bytes_max: BODY_BYTES_MAX, ..ClientSettings::default() }, provider, base_url)
}

pub(crate) fn adapter_with(settings: &ClientSettings, provider: &str, base_url: &str) -> (Messenger, Channel) {
    let client = Client::new(settings).unwrap();
    let (messenger, token) = match provider {
        "telegram" => (Messenger::Telegram(Telegram::new(client, base_url)), TELEGRAM_TOKEN),
        _ => (Messenger::Max(Max::new(client, base_url).with_not_ready_pauses(&[Duration::ZERO; 4])), MAX_TOKEN),
    };
    (messenger, Channel { target_id: TARGET.to_owned(), token: Secret::new(token) })
}

pub(crate) fn class(error: &AdapterError) -> (Category, ErrorScope) {
    (error.category, error.scope)
}

pub(crate) fn file(kind: MediaKind, name: &str) -> Media {
    let content_type = match kind {
        MediaKind::Image => "image/png",
        MediaKind::Video => "video/mp4",
        MediaKind::Audio => "audio/mpeg",
        MediaKind::File => "application/pdf",
    };
    let bytes = if kind == MediaKind::Image { Bytes::from_static(PNG) } else { Bytes::from(format!("bytes of {name}")) };
    let source = MediaSource::File { name: name.to_owned(), content_type: content_type.to_owned(), bytes };
    Media { kind, source, caption: None }
}

pub(crate) fn by_id(kind: MediaKind, id: &str) -> Media {
    Media { kind, source: MediaSource::FileId(id.to_owned()), caption: None }
}

pub(crate) fn by_url(kind: MediaKind, url: &str) -> Media {
    Media { kind, source: MediaSource::Url(url.to_owned()), caption: None }
}

pub(crate) fn link(text: &str, url: &str) -> Button {
    Button { text: text.to_owned(), url: Some(url.to_owned()), payload: None }
}

/// Everything that is known of an error, in one text.
pub(crate) fn all_of(error: &AdapterError) -> String {
    format!("{error} {error:?} {} {}", error.raw, serde_json::to_string(error).unwrap())
}
