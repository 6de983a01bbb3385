//! Refusals as Google words them: code, message, status, details.

use axum::response::Response;
use serde_json::{Value, json};

use crate::http;

pub(super) struct Problem {
    code: u16,
    status: &'static str,
    pub(super) message: String,
    details: Vec<Value>,
}

impl Problem {
    fn new(code: u16, status: &'static str, message: impl Into<String>) -> Self {
        Self { code, status, message: message.into(), details: Vec::new() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "INVALID_ARGUMENT", message)
    }

    /// A field that breaks a rule, named as the service names it: with a star, and a line end.
    pub(super) fn field(path: &str, rule: &str) -> Self {
        Self::invalid(format!("* {path}: {rule}\n"))
    }

    /// A name the schema of the request does not have.
    pub(super) fn unknown_name(name: &str, place: &str) -> Self {
        let at = if place.is_empty() { String::new() } else { format!(" at '{place}'") };
        let message = format!("Invalid JSON payload received. Unknown name \"{name}\"{at}: Cannot find field.");
        let mut problem = Self::invalid(message.clone());
        problem.details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": place, "description": message}],
        }));
        problem
    }

    pub(super) fn no_key() -> Self {
        let message = "Method doesn't allow unregistered callers (callers without established identity). \
                       Please use API Key or other form of API consumer identity to call this API.";
        Self::new(403, "PERMISSION_DENIED", message)
    }

    pub(super) fn bad_key() -> Self {
        let message = "API key not valid. Please pass a valid API key.";
        let mut problem = Self::invalid(message);
        problem.details = vec![
            json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            }),
            json!({"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": message}),
        ];
        problem
    }

    pub(super) fn unknown_model(model: &str, method: &str) -> Self {
        let message = format!(
            "models/{model} is not found for API version v1beta, or is not supported for {method}. \
             Call ListModels to see the list of available models and their supported methods."
        );
        Self::new(404, "NOT_FOUND", message)
    }

    /// The quota of a minute. With seconds it says when to come again.
    fn exhausted(retry_after: Option<u32>) -> Self {
        let pause = retry_after.map_or_else(String::new, |seconds| format!("\nPlease retry in {seconds}s."));
        let mut problem = Self::new(
            429,
            "RESOURCE_EXHAUSTED",
            format!("You exceeded your current quota, please check your plan and billing details.{pause}"),
        );
        problem.details.push(json!({
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
                "quotaId": "GenerateRequestsPerMinutePerProjectPerModel",
            }],
        }));
        if let Some(seconds) = retry_after {
            let delay = format!("{seconds}s");
            problem.details.push(json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}));
        }
        problem
    }

    pub(super) fn response(&self) -> Response {
        let mut error = json!({"code": self.code, "message": self.message, "status": self.status});
        if !self.details.is_empty() {
            error["details"] = json!(self.details);
        }
        http::json(self.code, &json!({"error": error}))
    }
}

/// The body a fault gets when the test names only a status.
pub(super) fn of_status(status: u16, retry_after: Option<u32>) -> Response {
    let problem = match status {
        400 => Problem::invalid("Request contains an invalid argument."),
        401 => Problem::new(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
        403 => Problem::new(403, "PERMISSION_DENIED", "The caller does not have permission"),
        404 => Problem::new(404, "NOT_FOUND", "Requested entity was not found."),
        429 => Problem::exhausted(retry_after),
        500 => Problem::new(500, "INTERNAL", "An internal error has occurred. Please retry."),
        503 => Problem::new(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        504 => Problem::new(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
        other => Problem::new(other, "UNKNOWN", "Unknown error."),
    };
    problem.response()
}
