//! The table of failures, row by row.

use kernel::{Category, ErrorScope};
use serde_json::json;

use super::*;

fn reply(status: u16, body: &impl ToString) -> Reply {
    Reply { status, retry_after: None, body: body.to_string().into() }
}

fn google(status: u16, word: &str, details: &Value) -> AdapterError {
    let body = json!({"error": {"code": status, "message": "words", "status": word, "details": details}});
    let error = refusal(&reply(status, &body));
    assert_eq!(
        error,
        AdapterError { raw: error.raw.clone(), ..refusal(&reply(status, &json!([body]))) },
        "the same in a list of one"
    );
    error
}

fn openai(status: u16, kind: &str, code: &Value) -> AdapterError {
    refusal(&reply(status, &json!({"error": {"message": "words", "type": kind, "param": null, "code": code}})))
}

#[test]
fn each_refusal_of_google_means_what_the_table_says() {
    for (status, word, class) in [
        (400, "INVALID_ARGUMENT", INVALID),
        (400, "FAILED_PRECONDITION", until_mended(ErrorKind::Forbidden)),
        (401, "UNAUTHENTICATED", until_mended(ErrorKind::Unauthorized)),
        (403, "PERMISSION_DENIED", until_mended(ErrorKind::Forbidden)),
        (404, "NOT_FOUND", until_mended(ErrorKind::NotFound)),
        (429, "RESOURCE_EXHAUSTED", for_now(ErrorKind::RateLimited)),
        (499, "CANCELLED", for_now(ErrorKind::Timeout)),
        (500, "INTERNAL", for_now(ErrorKind::Unavailable)),
        (503, "UNAVAILABLE", for_now(ErrorKind::Unavailable)),
        (504, "DEADLINE_EXCEEDED", for_now(ErrorKind::Timeout)),
    ] {
        let error = google(status, word, &json!([]));
        assert_eq!((error.category, error.scope, error.kind), class, "{status} {word}");
        assert_eq!((error.code.as_str(), error.message.as_str()), (word, "words"));
        assert!(!error.outcome_unknown());
    }
    let error = google(400, "INVALID_ARGUMENT", &json!([{"@type": "x/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]));
    assert_eq!((error.kind, error.code.as_str()), (ErrorKind::Unauthorized, "API_KEY_INVALID"));
}

#[test]
fn each_refusal_of_openai_and_its_followers_means_what_the_table_says() {
    for (status, kind, code, class) in [
        (400, "invalid_request_error", json!(null), INVALID),
        (400, "invalid_request_error", json!("context_length_exceeded"), INVALID),
        (400, "invalid_request_error", json!("model_not_found"), until_mended(ErrorKind::NotFound)),
        (400, "BadRequestError", json!(400), INVALID),
        (401, "invalid_request_error", json!("invalid_api_key"), until_mended(ErrorKind::Unauthorized)),
        (402, "unknown_error", json!("invalid_request_error"), for_now(ErrorKind::RateLimited)),
        (403, "request_forbidden", json!("unsupported_country_region_territory"), until_mended(ErrorKind::Forbidden)),
        (404, "invalid_request_error", json!("model_not_found"), until_mended(ErrorKind::NotFound)),
        (404, "api_error", json!(null), until_mended(ErrorKind::NotFound)),
        (408, "timeout", json!(null), for_now(ErrorKind::Timeout)),
        (409, "conflict", json!(null), for_now(ErrorKind::Unavailable)),
        (413, "Validation", json!(null), INVALID),
        (415, "x", json!(null), INVALID),
        (422, "Validation", json!(null), INVALID),
        (429, "requests", json!("rate_limit_exceeded"), for_now(ErrorKind::RateLimited)),
        (429, "insufficient_quota", json!("insufficient_quota"), for_now(ErrorKind::RateLimited)),
        (500, "server_error", json!(null), for_now(ErrorKind::Unavailable)),
        (500, "server_error", json!("invalid_api_key"), for_now(ErrorKind::Unavailable)),
        (529, "overloaded_error", json!(null), for_now(ErrorKind::Unavailable)),
    ] {
        let error = openai(status, kind, &code);
        assert_eq!((error.category, error.scope, error.kind), class, "{status} {kind} {code}");
    }
}

#[test]
fn an_error_is_read_in_each_of_its_shapes() {
    for (body, words) in [
        (json!({"error": "model 'x' not found"}), "model 'x' not found"),
        (json!({"error": "batch size 64 > maximum 32", "error_type": "Validation"}), "batch size 64 > maximum 32"),
        (json!({"object": "error", "message": "old vLLM", "type": "NotFoundError", "code": 404}), "old vLLM"),
        (json!({"detail": "Not Found"}), "Not Found"),
        (json!({"detail": [{"loc": ["body"], "msg": "Field required"}, {"msg": "too short"}]}), "Field required; too short"),
        (json!({"error": {"message": ""}}), "an answer with status 404 that is not in the provider's words"),
        (json!("strange"), "an answer with status 404 that is not in the provider's words"),
        (json!([]), "an answer with status 404 that is not in the provider's words"),
    ] {
        let error = refusal(&reply(404, &body));
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::NotFound, words), "{body}");
    }
    let plain = refusal(&reply(404, &"404 page not found"));
    assert_eq!((plain.kind, plain.code.as_str(), &plain.raw), (ErrorKind::NotFound, "404", &json!("404 page not found")));
}

#[test]
fn a_page_of_a_proxy_blames_neither_the_key_nor_the_request() {
    for status in [302, 400, 401, 403, 404, 502] {
        let error = refusal(&reply(status, &" <html>blocked</html>"));
        assert_eq!((error.category, error.scope, error.kind), for_now(ErrorKind::Unavailable), "{status}");
    }
    assert_eq!(refusal(&reply(413, &"<html>")).kind, ErrorKind::Invalid);
    assert_eq!(refusal(&reply(429, &"<html>")).kind, ErrorKind::RateLimited);
}

#[test]
fn a_request_that_is_too_large_is_called_so() {
    let error = refusal(&reply(413, &"<html>"));
    assert_eq!(error.message, "the request is too large for the provider");
    assert!(openai(413, "x", &json!(null)).message.ends_with("too large for the provider: words"));
}

#[test]
fn the_wait_is_the_one_that_the_provider_asks_for() {
    let minute = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerMinutePerProject"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"},
    ]);
    assert_eq!(google(429, "RESOURCE_EXHAUSTED", &minute).retry_after_ms, Some(31_000));
    assert_eq!(google(503, "UNAVAILABLE", &minute).retry_after_ms, Some(31_000));
    assert_eq!(google(400, "INVALID_ARGUMENT", &minute).retry_after_ms, None, "nothing to wait for");
    assert_eq!(google(429, "RESOURCE_EXHAUSTED", &json!([{"retryDelay": "0.25s"}])).retry_after_ms, Some(250));
    assert_eq!(google(429, "RESOURCE_EXHAUSTED", &json!([{"retryDelay": {"seconds": "7"}}])).retry_after_ms, Some(7000));
    for strange in [json!("soon"), json!("-1s"), json!("NaNs"), json!(7), json!("1e30s")] {
        assert_eq!(google(429, "RESOURCE_EXHAUSTED", &json!([{"retryDelay": strange}])).retry_after_ms, None, "{strange}");
    }
    let header = Reply { retry_after: Some(Duration::from_secs(7)), ..reply(429, &"{}") };
    assert_eq!(refusal(&header).retry_after_ms, Some(7000));
    let never = Reply { retry_after: Some(Duration::MAX), ..reply(429, &"{}") };
    assert_eq!(refusal(&never).retry_after_ms, Some(24 * 3_600_000));
}

#[test]
fn a_quota_of_a_day_and_spent_money_wait_for_hours() {
    let hours = Some(6 * 3_600_000);
    for id in ["GenerateRequestsPerDayPerProjectPerModel-FreeTier", "embed_requests_per_day", "Daily limit"] {
        let details = json!([{"violations": [{"quotaMetric": "x", "quotaId": id}]}, {"retryDelay": "31s"}]);
        let error = google(429, "RESOURCE_EXHAUSTED", &details);
        assert_eq!((error.kind, error.retry_after_ms), (ErrorKind::RateLimited, hours), "{id}");
    }
    assert_eq!(openai(429, "insufficient_quota", &json!("insufficient_quota")).retry_after_ms, hours);
    assert_eq!(openai(402, "x", &json!(null)).retry_after_ms, hours);
    let per_day = json!({"error": {"message": "Rate limit reached on requests per day (RPD)", "code": "rate_limit_exceeded"}});
    assert_eq!(refusal(&reply(429, &per_day)).retry_after_ms, hours);
    assert_eq!(openai(429, "requests", &json!("rate_limit_exceeded")).retry_after_ms, None, "a backoff of the caller's own");
}

#[test]
fn a_failure_inside_a_success_is_a_failure() {
    let body = json!({"error": {"code": 429, "message": "slow down"}});
    assert!(is_refusal_in_success(&reply(200, &body)));
    assert_eq!(refusal(&reply(200, &body)).kind, ErrorKind::RateLimited);
    assert_eq!(refusal(&reply(200, &json!({"error": {"message": "x"}}))).kind, ErrorKind::Unavailable);
    assert!(!is_refusal_in_success(&reply(200, &json!({"error": null, "data": []}))));
    assert!(!is_refusal_in_success(&reply(200, &json!({"text": "an \"error\" said"}))));
}

#[test]
fn what_a_refusal_quotes_is_redacted_and_cut() {
    let message = format!("the key sk-{} of anna@example.com is wrong: {}", "a".repeat(40), "x".repeat(9000));
    let error = refusal(&reply(400, &json!({"error": {"message": message, "code": "y".repeat(500)}})));
    let all = format!("{error:?}");
    assert!(!all.contains("sk-aaa") && !all.contains("anna@") && all.len() < 2000, "{all}");
    assert_eq!((error.category, error.scope), (Category::Permanent, ErrorScope::Delivery));
}
