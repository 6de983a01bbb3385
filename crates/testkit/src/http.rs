//! Requests: to a router without a socket between, and to a server over one.

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, Request},
};
use kernel::Secret;
use serde_json::Value;
use tower::ServiceExt;

/// More than any answer in a test.
const BODY_BYTES_MAX: usize = 4 << 20;

/// What a router answered.
pub struct HttpReply {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

impl HttpReply {
    /// The body; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_default()
    }
}

pub async fn send(router: &Router, request: Request<Body>) -> HttpReply {
    let response = router.clone().oneshot(request).await.expect("a router always answers");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let bytes = axum::body::to_bytes(response.into_body(), BODY_BYTES_MAX).await.expect("a whole body");
    HttpReply { status, headers, bytes }
}

/// A request with a JSON body or none, of a caller who shows this token.
pub fn request(token: Option<&Secret>, method: &str, path: &str, body: Option<&Value>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {}", token.expose()));
    }
    request.body(body.map_or_else(Body::empty, |body| Body::from(body.to_string()))).expect("a request")
}

pub async fn ask(router: &Router, token: Option<&Secret>, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let reply = send(router, request(token, method, path, body)).await;
    (reply.status, reply.json())
}

/// The data of an answer that is no refusal.
pub async fn get(router: &Router, token: &Secret, path: &str) -> Value {
    let (status, body) = ask(router, Some(token), "GET", path, None).await;
    assert_eq!(status, 200, "{path}: {body}");
    body["data"].clone()
}

/// A client for sockets; reqwest is built without a default for TLS.
pub fn client() -> reqwest::Client {
    static CRYPTO: std::sync::Once = std::sync::Once::new();
    CRYPTO.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    reqwest::Client::builder().no_proxy().build().expect("a client")
}
