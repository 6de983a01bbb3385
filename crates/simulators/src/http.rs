//! Small helpers of HTTP shared by both providers: bodies, answers, base URL, percent-decoding, multipart.

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;

/// The largest body any endpoint reads.
pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Why a body could not be read.
#[derive(Clone, Copy)]
pub(crate) enum BodyError {
    TooLarge,
    /// The client went away, or its multipart is malformed.
    Broken,
}

/// One part of a multipart body.
pub(crate) struct Part {
    pub(crate) field: String,
    pub(crate) file_name: Option<String>,
    pub(crate) bytes: Bytes,
}

pub(crate) async fn read_body(body: Body) -> Result<Bytes, BodyError> {
    axum::body::to_bytes(body, BODY_BYTES_MAX).await.map_err(|error| {
        // The limit is the only inner error with this text; a client gone does not need a good answer.
        if format!("{error:?}").contains("LengthLimitError") { BodyError::TooLarge } else { BodyError::Broken }
    })
}

pub(crate) async fn read_multipart(parts: &Parts, body: Body) -> Result<Vec<Part>, BodyError> {
    // Read whole first: the limit is then one and the same for every encoding.
    let bytes = read_body(body).await?;
    let mut request = Request::new(Body::from(bytes));
    if let Some(content_type) = parts.headers.get(header::CONTENT_TYPE) {
        request.headers_mut().insert(header::CONTENT_TYPE, content_type.clone());
    }
    axum::extract::DefaultBodyLimit::disable().apply(&mut request);
    let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| BodyError::Broken)?;
    let mut read = Vec::new();
    while let Some(field) = multipart.next_field().await.map_err(|_| BodyError::Broken)? {
        read.push(Part {
            field: field.name().unwrap_or_default().to_owned(),
            file_name: field.file_name().map(ToOwned::to_owned),
            bytes: field.bytes().await.map_err(|_| BodyError::Broken)?,
        });
    }
    Ok(read)
}

pub(crate) fn content_type(parts: &Parts) -> &str {
    parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The absolute address this request came to, for the URLs given out in answers.
pub(crate) fn base_url(parts: &Parts) -> String {
    let host = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost");
    format!("http://{host}")
}

pub(crate) fn json<T: Serialize + ?Sized>(status: u16, body: &T) -> Response {
    // Plain data of ours always serializes; an empty body would show at once in a test.
    bytes(status, "application/json", serde_json::to_vec(body).unwrap_or_default())
}

pub(crate) fn bytes(status: u16, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Decodes `%xx`; malformed escapes and bytes that are not UTF-8 stay as a client would see them in a log.
pub(crate) fn percent_decode(text: &str) -> String {
    let raw = text.as_bytes();
    let mut decoded = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let escaped =
            (raw[at] == b'%').then(|| text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok())).flatten();
        if let Some(byte) = escaped {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(raw[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// A host on this very machine. Providers demand https; for these hosts the simulators accept http, as a Bot API
/// server started with `--local` does, because a test's webhook has no certificate.
pub(crate) fn is_loopback(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// `*.invalid` never resolves (RFC 6761): the way to name a URL the provider cannot fetch, without a network.
pub(crate) fn is_unreachable(url: &url::Url) -> bool {
    url.host_str().is_none_or(|host| host.ends_with(".invalid") || host == "invalid")
}

#[cfg(test)]
mod tests {
    use super::percent_decode;

    #[test]
    fn percent_escapes_are_decoded_and_malformed_ones_kept() {
        assert_eq!(percent_decode("123%3Aabc"), "123:abc");
        assert_eq!(percent_decode("100%"), "100%");
        assert_eq!(percent_decode("%zz%D0%B9"), "%zzй");
    }
}
