//! From a text to the exact addresses that may be connected to: the whole check, made anew on every hop.

use std::{collections::BTreeSet, io, net::SocketAddr, sync::Arc};

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::{FetchError, FetchSettings};
use crate::{SettingsError, address};

/// Longer addresses are refused: nobody types them, and they only cost memory and log lines.
pub(super) const URL_BYTES_MAX: usize = 2048;

/// Asks for the addresses of a name. A value, so that a test can answer instead of the network.
pub(super) type Lookup = Arc<dyn Fn(String, u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

pub(super) struct Vetting {
    ports: Vec<u16>,
    /// `host:port`, as the parser spells it.
    allow: BTreeSet<String>,
    refuse: BTreeSet<String>,
    lookup: Lookup,
}

impl Vetting {
    pub(super) fn new(settings: &FetchSettings, lookup: Lookup) -> Result<Self, SettingsError> {
        let allow = settings.allow.iter().map(|entry| allowed_entry(entry)).collect::<Result<_, _>>()?;
        let refuse = settings.refuse.iter().map(|entry| refused_entry(entry)).collect::<Result<_, _>>()?;
        Ok(Self { ports: settings.ports.clone(), allow, refuse, lookup })
    }

    /// Parses once; what is judged, resolved and asked for afterwards is this value, never the text.
    pub(super) fn parse(&self, text: &str) -> Result<Url, FetchError> {
        let too_long = || invalid(format!("an address has at most {URL_BYTES_MAX} bytes"));
        if text.len() > URL_BYTES_MAX {
            return Err(too_long());
        }
        let url = Url::parse(text).map_err(|error| invalid(format!("this is not an address: {error}")))?;
        self.check(url)
    }

    /// The rules that need no resolver.
    pub(super) fn check(&self, mut url: Url) -> Result<Url, FetchError> {
        if url.as_str().len() > URL_BYTES_MAX {
            return Err(invalid(format!("an address has at most {URL_BYTES_MAX} bytes")));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid("an address starts with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("an address carries no user name and no password: give them as a header"));
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !self.ports.contains(&port) && !self.is_allowed(&url) {
            let ports: Vec<String> = self.ports.iter().map(ToString::to_string).collect();
            return Err(invalid(format!("the port {port} is not open to addresses from outside, only {}", ports.join(", "))));
        }
        url.set_fragment(None);
        Ok(url)
    }

    /// The addresses that may be connected to, every one of them judged.
    pub(super) async fn resolve(&self, url: &Url) -> Result<Vec<SocketAddr>, FetchError> {
        let port = url.port_or_known_default().unwrap_or_default();
        let is_allowed = self.is_allowed(url);
        let addresses = match url.host() {
            Some(Host::Ipv4(ip)) => vec![SocketAddr::new(ip.into(), port)],
            Some(Host::Ipv6(ip)) => vec![SocketAddr::new(ip.into(), port)],
            Some(Host::Domain(host)) => {
                self.judge_name(host, is_allowed)?;
                (self.lookup)(host.to_owned(), port)
                    .await
                    .map_err(|error| FetchError::Unreachable(format!("{host} has no address: {error}")))?
            }
            None => return Err(invalid("an address names a host")),
        };
        if addresses.is_empty() {
            return Err(FetchError::Unreachable(format!("{} has no address", host_port(url))));
        }
        for address in &addresses {
            let ip = address.ip().to_canonical();
            if self.refuse.contains(&ip.to_string()) {
                return Err(FetchError::Refused(format!("{} is {ip}, which is ours", host_port(url))));
            }
            // One answer that is not public spoils all: a name that means two places at once is an attack or a mistake.
            if let (false, Some(why)) = (is_allowed, address::refusal(ip)) {
                return Err(FetchError::Refused(format!("{} is {ip}: {why}", host_port(url))));
            }
        }
        Ok(addresses)
    }

    fn judge_name(&self, host: &str, is_allowed: bool) -> Result<(), FetchError> {
        if self.refuse.contains(host.strip_suffix('.').unwrap_or(host)) {
            return Err(FetchError::Refused(format!("{host} is ours")));
        }
        match address::name_refusal(host) {
            Some(why) if !is_allowed => Err(FetchError::Refused(format!("{host}: {why}"))),
            _ => Ok(()),
        }
    }

    fn is_allowed(&self, url: &Url) -> bool {
        self.allow.contains(&host_port(url))
    }
}

fn invalid(text: impl Into<String>) -> FetchError {
    FetchError::Invalid(text.into())
}

pub(super) fn host_port(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// Reads an entry with the parser that will read the addresses, so that both spell a host in the same way.
fn allowed_entry(entry: &str) -> Result<String, SettingsError> {
    let failed = || SettingsError::Entry { entry: entry.to_owned(), expected: "`host:port`, such as `feeds.lan:8080`" };
    let has_port = entry.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let url = Url::parse(&format!("http://{entry}/")).map_err(|_| failed())?;
    let is_plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    if has_port && is_plain { Ok(host_port(&url)) } else { Err(failed()) }
}

fn refused_entry(entry: &str) -> Result<String, SettingsError> {
    let failed = || SettingsError::Entry { entry: entry.to_owned(), expected: "a host name or an IP address" };
    if let Ok(ip) = entry.parse::<std::net::IpAddr>() {
        return Ok(ip.to_canonical().to_string());
    }
    match Host::parse(entry).map_err(|_| failed())? {
        Host::Domain(host) => Ok(host.strip_suffix('.').unwrap_or(&host).to_owned()),
        Host::Ipv4(ip) => Ok(ip.to_string()),
        Host::Ipv6(ip) => Ok(ip.to_canonical().to_string()),
    }
}

pub(super) fn system_lookup() -> Lookup {
    Arc::new(|host, port| Box::pin(async move { Ok(tokio::net::lookup_host((host.as_str(), port)).await?.collect()) }))
}

/// The resolver of a client that lives for one request: knows the vetted addresses and nothing else, so that whatever
/// name the client asks about, it cannot be led elsewhere between the judgment and the connection.
pub(super) struct Pinned(pub(super) Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}
