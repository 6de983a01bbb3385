//! Calls over connections that stay open.

use anyhow::{Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, header::CONTENT_TYPE};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};

#[derive(Clone)]
pub struct Http(Client<HttpConnector, Full<Bytes>>);

impl Default for Http {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Self(Client::builder(TokioExecutor::new()).build(connector))
    }
}

impl Http {
    pub async fn get(&self, url: &str) -> Result<Bytes> {
        self.call(Request::builder().method(Method::GET).uri(url).body(Full::default())?).await
    }

    /// Posts JSON, with a secret in the header that it belongs into.
    pub async fn post(&self, url: &str, (header, secret): (&str, &str), body: String) -> Result<Bytes> {
        let request = Request::post(url).header(CONTENT_TYPE, "application/json").header(header, secret);
        self.call(request.body(Full::from(body))?).await
    }

    async fn call(&self, request: Request<Full<Bytes>>) -> Result<Bytes> {
        let what = request.uri().path().to_owned();
        let response = self.0.request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{what} answered {status}: {}", String::from_utf8_lossy(&body));
        Ok(body)
    }
}
