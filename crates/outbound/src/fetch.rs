//! Safe fetch of addresses that came from users, feeds or the answers of providers.
//!
//! Guarantees: only http and https on listed ports; the connection goes to an address that was judged for this very
//! request, on every hop; redirects are followed by hand, at most a few; nothing of the caller's headers reaches
//! another host; time, headers and decoded body are bounded; no proxy, no cookies, no reuse of connections; and an
//! outsider cannot tell a blocked address from a closed or an absent one.

mod error;
mod post;
mod vet;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use kernel::redact;
use reqwest::{
    Response,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use rustls::ClientConfig;
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::sync::Semaphore;
use url::Url;

pub use error::FetchError;
pub use post::{PostError, PostRequest, Posted};
use vet::{Lookup, Pinned, Vetting, host_port};

use crate::client::{SettingsError, describe, install_crypto};

/// Headers that a page may set for any host: they tell nothing about the caller.
const HARMLESS: &[HeaderName] = &[header::ACCEPT, header::ACCEPT_LANGUAGE];
/// Headers that the client sets itself; a second opinion on them is how requests are smuggled.
const OURS: &[HeaderName] = &[
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::COOKIE,
    header::PROXY_AUTHORIZATION,
];

#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// For everything together: names, redirects, the whole body.
    pub deadline: Duration,
    pub connect_timeout: Duration,
    pub redirects_max: usize,
    pub ports: Vec<u16>,
    pub header_bytes_max: usize,
    /// The most that a request may ask for, after decompression.
    pub body_bytes_max: usize,
    /// How many fetches run at once; the others wait, within their deadline.
    pub at_once_max: usize,
    pub at_once_per_host_max: usize,
    /// `host:port` that may be fetched wherever it leads: feeds of the operator's own network.
    pub allow: Vec<String>,
    /// Hosts and addresses of our own (this server, the database, the object store), refused although they are public.
    pub refuse: Vec<String>,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            redirects_max: 5,
            ports: vec![80, 443, 8080, 8443],
            header_bytes_max: 64 << 10,
            body_bytes_max: 64 << 20,
            at_once_max: 32,
            at_once_per_host_max: 4,
            allow: Vec::new(),
            refuse: Vec::new(),
        }
    }
}

/// What to ask for besides the address.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// Sent to the host of the address only; after a redirect to another one they stay behind.
    pub headers: Vec<(String, String)>,
    /// What the last answer said about itself: an unchanged page then answers 304 with no body.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub body_bytes_max: usize,
}

impl Default for FetchRequest {
    fn default() -> Self {
        Self { headers: Vec::new(), etag: None, last_modified: None, body_bytes_max: 10 << 20 }
    }
}

/// An answer of 2xx, or 304 when the request was conditional.
#[derive(Clone, Debug)]
pub struct Fetched {
    pub status: u16,
    pub final_url: String,
    pub content_type: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub body: Bytes,
}

#[derive(Clone)]
pub struct Fetcher {
    settings: Arc<FetchSettings>,
    vetting: Arc<Vetting>,
    tls: ClientConfig,
    all: Arc<Semaphore>,
    hosts: Arc<Mutex<HashMap<String, Weak<Semaphore>>>>,
}

impl Fetcher {
    pub fn new(settings: FetchSettings) -> Result<Self, SettingsError> {
        Self::with_lookup(settings, vet::system_lookup())
    }

    fn with_lookup(settings: FetchSettings, lookup: Lookup) -> Result<Self, SettingsError> {
        install_crypto();
        let vetting = Arc::new(Vetting::new(&settings, lookup)?);
        let all = Arc::new(Semaphore::new(settings.at_once_max.max(1)));
        // The authorities are read once, not for every request.
        let tls = ClientConfig::with_platform_verifier().map_err(|error| SettingsError::Client(error.to_string()))?;
        let fetcher = Self { settings: Arc::new(settings), vetting, tls, all, hosts: Arc::default() };
        fetcher.client(Vec::new()).map_err(|error| SettingsError::Client(error.to_string()))?;
        Ok(fetcher)
    }

    /// Whether this address could be asked for at all, without asking: for settings that are being saved. Returns it in its normal form.
    pub fn check(&self, url: &str) -> Result<Url, FetchError> {
        self.vetting.parse(url)
    }

    pub async fn fetch(&self, url: &str, request: &FetchRequest) -> Result<Fetched, FetchError> {
        match tokio::time::timeout(self.settings.deadline, self.follow(url, request)).await {
            Ok(result) => result,
            Err(_elapsed) => Err(FetchError::Timeout),
        }
    }

    async fn follow(&self, url: &str, request: &FetchRequest) -> Result<Fetched, FetchError> {
        let mut headers = headers(request)?;
        let mut url = self.vetting.parse(url)?;
        let _place = self.all.acquire().await;
        for _ in 0..=self.settings.redirects_max {
            let host = self.place_at(&host_port(&url));
            let _place = host.acquire().await;
            let addresses = self.vetting.resolve(&url).await?;
            let response = self.ask(&url, addresses, headers.clone()).await?;
            let Some(next) = redirect(&url, &response)? else {
                return self.read(response, &url, request).await;
            };
            // Where a page leads is not the caller's mistake, so a forbidden hop is not told from an absent one.
            let next =
                self.vetting.check(next).map_err(|error| FetchError::Refused(format!("a redirect: {}", error.reason())))?;
            if next.origin() != url.origin() {
                headers = harmless(&headers);
            }
            url = next;
        }
        Err(FetchError::Redirects { redirects_max: self.settings.redirects_max })
    }

    async fn ask(&self, url: &Url, addresses: Vec<std::net::SocketAddr>, headers: HeaderMap) -> Result<Response, FetchError> {
        let client = self.client(addresses).map_err(|error| FetchError::Unreachable(error.to_string()))?;
        let response = client.get(url.clone()).headers(headers).send().await.map_err(broken)?;
        let header_bytes: usize = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if header_bytes > self.settings.header_bytes_max {
            return Err(FetchError::TooLarge { bytes_max: self.settings.header_bytes_max });
        }
        Ok(response)
    }

    /// A client for one request to vetted addresses: what was vetted for another request is never used again.
    fn client(&self, addresses: Vec<std::net::SocketAddr>) -> Result<reqwest::Client, reqwest::Error> {
        reqwest::Client::builder()
            .connect_timeout(self.settings.connect_timeout)
            .pool_max_idle_per_host(0)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_proxy()
            // Repeating a request behind our back would repeat it without the check.
            .retry(reqwest::retry::never())
            .http1_only()
            .tls_backend_preconfigured(self.tls.clone())
            .dns_resolver(Pinned(addresses))
            .user_agent(concat!("beresta/", env!("CARGO_PKG_VERSION")))
            .build()
    }

    async fn read(&self, response: Response, url: &Url, request: &FetchRequest) -> Result<Fetched, FetchError> {
        let status = response.status().as_u16();
        let is_unchanged = status == 304 && (request.etag.is_some() || request.last_modified.is_some());
        let text = |name: HeaderName| response.headers().get(name).and_then(|value| Some(value.to_str().ok()?.to_owned()));
        if !response.status().is_success() && !is_unchanged {
            let retry_after = text(header::RETRY_AFTER).and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
            return Err(FetchError::Status { status, retry_after });
        }
        let mut fetched = Fetched {
            status,
            final_url: url.to_string(),
            content_type: text(header::CONTENT_TYPE),
            etag: text(header::ETAG),
            last_modified: text(header::LAST_MODIFIED),
            body: Bytes::new(),
        };
        if !is_unchanged {
            fetched.body = read_body(response, request.body_bytes_max.min(self.settings.body_bytes_max)).await?;
        }
        Ok(fetched)
    }

    /// The places at one host. Hosts that nobody asks any more are forgotten.
    fn place_at(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = hosts.get(host).and_then(Weak::upgrade) {
            return places;
        }
        hosts.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(self.settings.at_once_per_host_max.max(1)));
        hosts.insert(host.to_owned(), Arc::downgrade(&places));
        places
    }
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("settings", &self.settings).finish_non_exhaustive()
    }
}

async fn read_body(response: Response, bytes_max: usize) -> Result<Bytes, FetchError> {
    let too_large = FetchError::TooLarge { bytes_max };
    // Known only when the body is not compressed; a liar is caught below.
    if response.content_length().is_some_and(|length| length > bytes_max as u64) {
        return Err(too_large);
    }
    let mut body = BytesMut::new();
    let mut parts = response.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(broken)?;
        if body.len() + part.len() > bytes_max {
            return Err(too_large);
        }
        body.extend_from_slice(&part);
    }
    Ok(body.freeze())
}

/// Where the answer sends us, if it does.
fn redirect(url: &Url, response: &Response) -> Result<Option<Url>, FetchError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let refused = |why: &str| FetchError::Refused(format!("{} redirects {why}", host_port(url)));
    let Some(location) = response.headers().get(header::LOCATION) else { return Err(refused("nowhere")) };
    // Many servers send the path as it is, in UTF-8.
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| refused("to what is not text"))?;
    url.join(location).map(Some).map_err(|_| refused("to what is not an address"))
}

fn headers(request: &FetchRequest) -> Result<HeaderMap, FetchError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        // The value is not repeated: it may be a secret.
        let failed = || FetchError::Invalid(format!("the header `{}` cannot be sent", redact::snippet(name, 100)));
        let name = HeaderName::try_from(name).map_err(|_| failed())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| failed())?;
        if OURS.contains(&name) {
            return Err(failed());
        }
        value.set_sensitive(true);
        headers.append(name, value);
    }
    // What a server once sent and cannot be sent back costs a whole answer, no more.
    let conditions = [(header::IF_NONE_MATCH, &request.etag), (header::IF_MODIFIED_SINCE, &request.last_modified)];
    for (name, value) in conditions {
        if let Some(value) = value.as_deref().and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(name, value);
        }
    }
    Ok(headers)
}

/// What may follow to another host. Conditions may: a feed that moved is still unchanged.
fn harmless(headers: &HeaderMap) -> HeaderMap {
    let keeps = |name: &HeaderName| HARMLESS.contains(name) || [header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE].contains(name);
    headers.iter().filter(|(name, _)| keeps(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn broken(error: reqwest::Error) -> FetchError {
    if error.is_timeout() {
        return FetchError::Timeout;
    }
    FetchError::Unreachable(redact::snippet(&describe(&error.without_url()), 500))
}
