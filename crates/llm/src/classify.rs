//! What a refusal means: its kind, whether to try again, and when. A pure function of the answer.
//!
//! One table for all providers, because they mix: Gemini's OpenAI-compatible door speaks Google's words, and servers that
//! imitate OpenAI have errors of their own. The words decide where they are known, the HTTP status everywhere else.

use std::time::Duration;

use kernel::{AdapterError, ErrorKind};
use outbound::Reply;
use serde_json::Value;

use crate::reply::{self, FailureClass, INVALID, for_now, until_mended};

/// A quota of a day, or money that is spent: asking again soon only spends requests.
pub(crate) const QUOTA_WAIT: Duration = Duration::from_hours(6);
/// Whatever a provider says, it is asked again within a day.
const WAIT_MAX: Duration = Duration::from_hours(24);

/// Words that say more than the status they come with, in small letters.
const KNOWN_WORDS: [(&str, FailureClass); 15] = [
    // Google says 400 to a wrong key, and to a country or an account that it does not serve.
    ("api_key_invalid", until_mended(ErrorKind::Unauthorized)),
    ("api_key_expired", until_mended(ErrorKind::Unauthorized)),
    ("failed_precondition", until_mended(ErrorKind::Forbidden)),
    ("unauthenticated", until_mended(ErrorKind::Unauthorized)),
    ("permission_denied", until_mended(ErrorKind::Forbidden)),
    ("resource_exhausted", for_now(ErrorKind::RateLimited)),
    ("deadline_exceeded", for_now(ErrorKind::Timeout)),
    // OpenAI and those who follow it, some of them with 400.
    ("invalid_api_key", until_mended(ErrorKind::Unauthorized)),
    ("authentication_error", until_mended(ErrorKind::Unauthorized)),
    ("unsupported_country_region_territory", until_mended(ErrorKind::Forbidden)),
    ("model_not_found", until_mended(ErrorKind::NotFound)),
    ("rate_limit_exceeded", for_now(ErrorKind::RateLimited)),
    ("insufficient_quota", for_now(ErrorKind::RateLimited)),
    ("billing_hard_limit_reached", for_now(ErrorKind::RateLimited)),
    ("context_length_exceeded", INVALID),
];
/// Of those, the ones that no minute of waiting heals.
const SPENT: [&str; 2] = ["insufficient_quota", "billing_hard_limit_reached"];

/// A failure that came with a status of success, as gateways do when the provider behind them failed.
pub(crate) fn is_refusal_in_success(reply: &Reply) -> bool {
    // Most successes are large and begin otherwise; parsing them here would be parsing them twice.
    let beginning = String::from_utf8_lossy(&reply.body[..reply.body.len().min(100)]);
    beginning.contains("\"error\"") && reply.json().is_some_and(|body| !error_of(&body)["error"].is_null())
}

/// What a refusal means. The body has no key in it any more.
pub(crate) fn refusal(reply: &Reply) -> AdapterError {
    let words = reply.json().map(|body| ErrorWords::read(&body)).unwrap_or_default();
    let status = if reply.status < 300 { words.status.unwrap_or(502) } else { reply.status };
    let class = class(status, reply, &words);
    let code = words.names.first().cloned().unwrap_or_else(|| status.to_string());
    let message = match (status, words.message.is_empty()) {
        (413, _) => format!("the request is too large for the provider: {}", words.message),
        (_, false) => words.message.clone(),
        _ => format!("an answer with status {status} that is not in the provider's words"),
    };
    let mut error = reply::refused(class, &code, message.trim_end_matches([':', ' ']));
    error.retry_after_ms = wait(reply, &words, class.2).map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    error.raw = reply::raw_of(reply);
    error
}

fn class(status: u16, reply: &Reply, words: &ErrorWords) -> FailureClass {
    // A page is a proxy's: it speaks neither of the key nor of the model.
    if (300..500).contains(&status) && !matches!(status, 413 | 429) && is_page(reply) {
        return for_now(ErrorKind::Unavailable);
    }
    let known = KNOWN_WORDS.iter().find(|(word, _)| words.names.iter().any(|name| name.eq_ignore_ascii_case(word)));
    // A server that fails may quote anything.
    if let Some((_, class)) = known.filter(|_| status < 500) {
        return *class;
    }
    match status {
        401 => until_mended(ErrorKind::Unauthorized),
        403 => until_mended(ErrorKind::Forbidden),
        // 405: the path exists with another method, so the address in the settings is not the one of the API.
        404 | 405 | 410 => until_mended(ErrorKind::NotFound),
        // 402: no money left.
        402 | 429 => for_now(ErrorKind::RateLimited),
        408 | 499 | 504 => for_now(ErrorKind::Timeout),
        409 | 421 | 423..=425 | 500.. => for_now(ErrorKind::Unavailable),
        400..500 => INVALID,
        _ => for_now(ErrorKind::Unavailable),
    }
}

fn is_page(reply: &Reply) -> bool {
    reply.body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<')
}

fn wait(reply: &Reply, words: &ErrorWords, kind: ErrorKind) -> Option<Duration> {
    if !matches!(kind, ErrorKind::RateLimited | ErrorKind::Unavailable) {
        return None;
    }
    let told = reply.retry_after.or(words.retry_after);
    let is_long = kind == ErrorKind::RateLimited && (words.is_spent || reply.status == 402);
    let wait = if is_long { Some(told.unwrap_or_default().max(QUOTA_WAIT)) } else { told };
    wait.map(|wait| wait.min(WAIT_MAX))
}

/// What an error says, in whichever of its shapes.
#[derive(Default)]
struct ErrorWords {
    /// What the body says that the status is.
    status: Option<u16>,
    /// Codes, statuses, types and reasons, the most telling first.
    names: Vec<String>,
    message: String,
    retry_after: Option<Duration>,
    /// A quota of a day is used up, or the money is spent.
    is_spent: bool,
}

impl ErrorWords {
    fn read(body: &Value) -> Self {
        let body = error_of(body);
        // `{"error": {…}}`, `{"error": "…"}` of Ollama and TEI, `{"message": "…"}` of old vLLM, `{"detail": …}` of FastAPI.
        let error = if body["error"].is_object() { &body["error"] } else { body };
        let details = error["details"].as_array().map(Vec::as_slice).unwrap_or_default();
        let reasons = details.iter().map(|detail| &detail["reason"]);
        let said_names = reasons.chain([&error["status"], &error["code"], &error["type"], &error["error_type"]]);
        let names: Vec<String> =
            said_names.filter_map(Value::as_str).filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect();
        let said = [&error["message"], &body["error"], &body["detail"], &body["message"]];
        let message = said.iter().find_map(|value| text_of(value)).unwrap_or_default();
        let is_spent = details.iter().any(is_daily)
            || names.iter().any(|name| SPENT.iter().any(|spent| name.eq_ignore_ascii_case(spent)))
            || message.to_lowercase().contains("per day");
        Self {
            status: error["code"].as_u64().and_then(|code| u16::try_from(code).ok()).filter(|code| (300..600).contains(code)),
            names,
            message,
            retry_after: details.iter().find_map(|detail| delay(&detail["retryDelay"])),
            is_spent,
        }
    }
}

/// Google wraps some errors in a list of one.
fn error_of(body: &Value) -> &Value {
    body.as_array().and_then(|items| items.first()).unwrap_or(body)
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        // What a validator of FastAPI says of each field.
        Value::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(|item| item["msg"].as_str().or(item.as_str())).collect();
            (!texts.is_empty()).then(|| texts.join("; "))
        }
        _ => None,
    }
}

/// Whether a `QuotaFailure` names a quota of a day, as `GenerateRequestsPerDayPerProjectPerModel-FreeTier` does.
fn is_daily(detail: &Value) -> bool {
    let violations = detail["violations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts =
        violations.iter().flat_map(|violation| ["quotaId", "quotaMetric", "subject", "description"].map(|key| &violation[key]));
    texts.filter_map(Value::as_str).any(|text| {
        let text = text.to_lowercase().replace(['_', ' ', '-'], "");
        text.contains("perday") || text.contains("daily")
    })
}

/// A duration as protobuf writes it in JSON: `31s`, `0.5s`; or with its fields.
fn delay(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::String(text) => text.trim().strip_suffix('s')?.parse::<f64>().ok()?,
        _ => value["seconds"].as_f64().or_else(|| value["seconds"].as_str()?.parse().ok())?,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
