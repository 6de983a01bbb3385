//! Sending one delivery.

use std::time::Instant;

use jiff::{Timestamp, fmt::rfc2822};
use kernel::redact;
use outbound::PostRequest;
use platform::failpoint;
use serde::Serialize;
use uuid::Uuid;

use super::WebhookDeliveries;
use crate::{signature::SigningKey, store::ClaimedDelivery};

/// How much of an answer is read. Of that, 500 characters are kept.
const ANSWER_BYTES_MAX: usize = 4096;
const ANSWER_CHARS_MAX: usize = 500;

/// What came of an attempt, as `webhooks.record_result` takes it.
#[derive(Clone, Debug, Serialize)]
pub struct SendResult {
    delivery_id: Uuid,
    claim_token: String,
    attempt: i32,
    /// Absent without an answer.
    status: Option<u16>,
    ms: Option<u64>,
    /// The beginning of the answer, redacted.
    answer: Option<String>,
    /// Why there is no answer.
    error: Option<String>,
    /// What the receiver asked for.
    retry_after_s: Option<f64>,
    /// There is no answer, and the event may have arrived all the same.
    is_unknown: bool,
}

impl SendResult {
    pub(super) fn not_sent(claimed: &ClaimedDelivery, why: &str) -> Self {
        Self {
            delivery_id: claimed.delivery_id,
            claim_token: claimed.claim_token.clone(),
            attempt: claimed.attempt,
            status: None,
            ms: None,
            answer: None,
            error: Some(redact::snippet(why, ANSWER_CHARS_MAX)),
            retry_after_s: None,
            is_unknown: false,
        }
    }
}

pub(super) async fn perform(tools: &WebhookDeliveries, claimed: &ClaimedDelivery, keys: &[SigningKey]) -> SendResult {
    let now = tools.db.clock().now();
    let started = Instant::now();
    let posted = tools.fetcher.post(&claimed.url, request(claimed, keys, now.as_second())).await;
    let ms = u64::try_from(started.elapsed().as_millis()).ok();
    failpoint::hit("webhooks.acknowledged");
    match posted {
        Ok(posted) => SendResult {
            status: Some(posted.status),
            ms,
            answer: Some(shown(&posted.answer)),
            error: None,
            retry_after_s: posted.retry_after.as_deref().and_then(|text| retry_after_s(text, now)),
            ..SendResult::not_sent(claimed, "")
        },
        Err(error) => {
            // The owner of the subscription reads words that tell nothing of our network; this log is for the operator.
            tracing::info!(delivery.id = %claimed.delivery_id, webhook = claimed.name, reason = error.error.reason(), "webhooks.no_answer");
            SendResult { ms, is_unknown: error.outcome_unknown, ..SendResult::not_sent(claimed, &error.to_string()) }
        }
    }
}

fn request(claimed: &ClaimedDelivery, keys: &[SigningKey], timestamp_s: i64) -> PostRequest {
    let webhook_id = claimed.event_id.to_string();
    let signatures: Vec<String> = keys.iter().map(|key| key.sign(&webhook_id, timestamp_s, &claimed.body)).collect();
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("webhook-id", webhook_id),
        ("webhook-timestamp", timestamp_s.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ];
    PostRequest {
        headers: headers.map(|(name, value)| (name.to_owned(), value)).into(),
        body: claimed.body.clone().into(),
        answer_bytes_max: ANSWER_BYTES_MAX,
    }
}

/// What may be written down of an answer: without secrets, and without what a text of the database cannot hold.
fn shown(answer: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(answer).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    redact::snippet(text.trim(), ANSWER_CHARS_MAX)
}

/// Seconds, or a date.
fn retry_after_s(text: &str, now: Timestamp) -> Option<f64> {
    let text = text.trim();
    let seconds = text.parse().ok().or_else(|| {
        let at = rfc2822::parse(text).ok()?.timestamp();
        Some(at.duration_since(now).as_secs_f64())
    });
    seconds.filter(|seconds: &f64| seconds.is_finite()).map(|seconds| seconds.clamp(0.0, 86_400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_asks_to_wait_in_seconds_or_by_a_date() {
        let now: Timestamp = "2026-03-02T09:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("120", Some(120.0)),
            (" 0.5 ", Some(0.5)),
            ("Mon, 02 Mar 2026 09:02:00 GMT", Some(120.0)),
            ("Mon, 02 Mar 2026 08:00:00 GMT", Some(0.0)),
            ("-5", Some(0.0)),
            ("999999999", Some(86_400.0)),
            ("NaN", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after_s(text, now), expected, "{text}");
        }
    }

    #[test]
    fn an_answer_is_written_down_redacted_cut_and_as_text() {
        assert_eq!(shown(b"  ok\0\r\nthanks \xff"), "ok   thanks \u{fffd}");
        assert_eq!(shown("я".repeat(3000).as_bytes()).chars().count(), 500);
        assert!(!shown(b"mail anna@example.org").contains("anna"));
    }
}
