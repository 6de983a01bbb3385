//! Pages of other origins: which may call, and how their browsers are told so.

use std::time::Duration;

use axum::{
    Router,
    http::{HeaderName, HeaderValue, Method, header::RETRY_AFTER, request::Parts},
};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::{layers::TRACE_HEADER, method_not_allowed};

/// For so long a browser need not ask again whether a page may call.
const PREFLIGHT_FOR: Duration = Duration::from_hours(1);

/// Lets a page whose origin is listed read what it is answered. What it shows is a token, never a cookie, so that no page can borrow somebody's.
pub fn with_cors<S, const N: usize>(router: Router<S>, origins: Vec<String>, exposed: [HeaderName; N]) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let is_listed = move |origin: &HeaderValue, _: &Parts| origin.to_str().is_ok_and(|origin| is_listed(&origins, origin));
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(is_listed))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(exposed.into_iter().chain([RETRY_AFTER, TRACE_HEADER]).collect::<Vec<_>>())
        .max_age(PREFLIGHT_FOR);
    // Inside of the layer: a browser asks by a method that no path has.
    router.method_not_allowed_fallback(method_not_allowed).layer(cors)
}

/// Whether an origin is one of those that may call: `scheme://host:port`, where the default port may be left out, and `:*` is any.
fn is_listed(origins: &[String], origin: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let whole = |origin: &str| match origin.rsplit_once(':') {
        Some((_, port)) if is_port(port) => origin.to_owned(),
        _ => format!("{origin}:{}", if origin.starts_with("https://") { 443 } else { 80 }),
    };
    origins.iter().any(|listed| match listed.strip_suffix(":*") {
        Some(base) => {
            let rest = origin.strip_prefix(base);
            rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
        }
        None => whole(listed) == whole(origin),
    })
}

/// Pages on this machine, on any port.
pub fn loopback_origins() -> Vec<String> {
    ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:*")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_listed_with_its_port_or_with_any() {
        let mut origins = loopback_origins();
        origins.push("https://app.example.org:443".to_owned());
        for listed in
            ["http://localhost", "http://localhost:3000", "http://[::1]:8080", "http://[::1]", "https://app.example.org"]
        {
            assert!(is_listed(&origins, listed), "{listed}");
        }
        for other in [
            "https://localhost",
            "http://localhost.evil.org",
            "http://localhost:3000.evil.org",
            "http://app.example.org",
            "https://app.example.org:8443",
            "https://evil.org",
            "null",
            "",
        ] {
            assert!(!is_listed(&origins, other), "{other}");
        }
    }
}
