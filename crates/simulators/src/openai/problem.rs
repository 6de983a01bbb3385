//! Refusals as OpenAI words them: message, type, param, code.

use axum::http::Method;
use axum::response::Response;
use serde_json::json;

use crate::http;

pub(super) struct Problem {
    status: u16,
    pub(super) message: String,
    kind: &'static str,
    param: Option<String>,
    code: Option<&'static str>,
}

impl Problem {
    fn new(status: u16, kind: &'static str, code: Option<&'static str>, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), kind, param: None, code }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", None, message)
    }

    /// About one parameter; `code` may be the empty text for none.
    pub(super) fn param(param: &str, code: &'static str, message: impl Into<String>) -> Self {
        let code = Some(code).filter(|code| !code.is_empty());
        Self { param: Some(param.to_owned()), code, ..Self::invalid(message) }
    }

    pub(super) fn missing(param: &str) -> Self {
        Self::param(param, "missing_required_parameter", format!("Missing required parameter: '{param}'."))
    }

    pub(super) fn no_key() -> Self {
        let message = "You didn't provide an API key. You need to provide your API key in an Authorization header using \
                       Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
        Self::new(401, "invalid_request_error", None, message)
    }

    pub(super) fn bad_key(key: &str) -> Self {
        // The service shows both ends of a key; of a short one that would be all of it.
        let tail: String = key.chars().skip(key.chars().count().saturating_sub(4).max(8)).collect();
        let head: String = key.chars().take(3).collect();
        let message = format!(
            "Incorrect API key provided: {head}***{tail}. You can find your API key at https://platform.openai.com/account/api-keys."
        );
        Self::new(401, "invalid_request_error", Some("invalid_api_key"), message)
    }

    pub(super) fn unknown_model(model: &str) -> Self {
        let message = format!("The model `{model}` does not exist or you do not have access to it.");
        Self::new(404, "invalid_request_error", Some("model_not_found"), message)
    }

    pub(super) fn unknown_url(method: &Method, path: &str) -> Self {
        Self::new(404, "invalid_request_error", None, format!("Invalid URL ({method} {path})"))
    }

    pub(super) fn too_large(bytes: usize, bytes_max: usize) -> Self {
        let message = format!("Maximum content size limit ({bytes_max}) exceeded ({bytes} bytes read)");
        Self::new(413, "server_error", None, message)
    }

    /// Another type than the usual one.
    pub(super) fn of_kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    pub(super) fn response(&self) -> Response {
        let error = json!({"message": self.message, "type": self.kind, "param": self.param, "code": self.code});
        http::json(self.status, &json!({"error": error}))
    }
}

/// The body a fault gets when the test names only a status.
pub(super) fn of_status(status: u16, retry_after: Option<u32>) -> Response {
    let invalid = |message: &str| Problem { status, ..Problem::invalid(message) };
    let problem = match status {
        401 => Problem::bad_key("sk-revoked"),
        403 => Problem::new(
            403,
            "request_forbidden",
            Some("unsupported_country_region_territory"),
            "Country, region, or territory not supported",
        ),
        404 => Problem::unknown_model("unknown"),
        413 => Problem::too_large(1, 0),
        429 => {
            let pause = retry_after.map_or_else(String::new, |seconds| format!(" Please try again in {seconds}s."));
            let message = format!("Rate limit reached for requests.{pause}");
            Problem::new(429, "requests", Some("rate_limit_exceeded"), message)
        }
        500 => {
            Problem::new(500, "server_error", None, "The server had an error while processing your request. Sorry about that!")
        }
        503 => Problem::new(503, "server_error", None, "The engine is currently overloaded, please try again later"),
        502 | 504 => Problem::new(status, "server_error", None, "Bad gateway."),
        _ => invalid("The request is invalid."),
    };
    problem.response()
}
