//! A POST to an address that came from outside, under the rules of the fetcher. Redirects are not followed: what was signed for one
//! receiver is sent to no other.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use reqwest::{Response, header};

use super::{FetchError, FetchRequest, Fetcher, broken, headers, host_port};

/// A receiver that sends its answer slowly has answered: the status counts.
const BODY_WITHIN: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub struct PostRequest {
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// How much of the answer is read; the rest is dropped.
    pub answer_bytes_max: usize,
}

/// An answer of any status.
#[derive(Clone, Debug)]
pub struct Posted {
    pub status: u16,
    /// The header as it came: seconds, or a date.
    pub retry_after: Option<String>,
    /// The beginning of the answer.
    pub answer: Bytes,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct PostError {
    pub error: FetchError,
    /// The request left, and may have arrived.
    pub outcome_unknown: bool,
}

impl Fetcher {
    pub async fn post(&self, url: &str, request: PostRequest) -> Result<Posted, PostError> {
        let has_left = AtomicBool::new(false);
        let error = match tokio::time::timeout(self.settings.deadline, self.post_once(url, request, &has_left)).await {
            Ok(Ok(posted)) => return Ok(posted),
            Ok(Err(error)) => error,
            Err(_elapsed) => FetchError::Timeout,
        };
        Err(PostError { error, outcome_unknown: has_left.load(Ordering::Relaxed) })
    }

    async fn post_once(&self, url: &str, request: PostRequest, has_left: &AtomicBool) -> Result<Posted, FetchError> {
        let headers = headers(&FetchRequest { headers: request.headers, ..FetchRequest::default() })?;
        let url = self.vetting.parse(url)?;
        let _place = self.all.acquire().await;
        let host = self.place_at(&host_port(&url));
        let _place = host.acquire().await;
        let addresses = self.vetting.resolve(&url).await?;
        let client = self.client(addresses).map_err(|error| FetchError::Unreachable(error.to_string()))?;
        has_left.store(true, Ordering::Relaxed);
        let response = client.post(url).headers(headers).body(request.body).send().await.map_err(|error| {
            // Without a connection nothing was sent.
            has_left.store(!error.is_connect() && !error.is_builder(), Ordering::Relaxed);
            broken(error)
        })?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|value| Some(value.to_str().ok()?.to_owned()));
        Ok(Posted { status, retry_after, answer: beginning(response, request.answer_bytes_max).await })
    }
}

/// As much of the answer as comes soon.
async fn beginning(response: Response, bytes_max: usize) -> Bytes {
    let mut read = BytesMut::new();
    let mut parts = response.bytes_stream();
    let reading = async {
        while read.len() < bytes_max
            && let Some(Ok(part)) = parts.next().await
        {
            read.extend_from_slice(&part[..part.len().min(bytes_max - read.len())]);
        }
    };
    let _ = tokio::time::timeout(BODY_WITHIN, reading).await;
    read.freeze()
}
