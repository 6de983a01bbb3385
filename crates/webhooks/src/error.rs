//! What a refusal of our SQL means to the caller.

use kernel::Problem;
use platform::DbError;

pub(crate) fn problem(error: DbError) -> Problem {
    match error {
        DbError::Refused { code, message, hint, field: None } => {
            let message = hint.map_or(message.clone(), |hint| format!("{message}; {hint}"));
            match code.as_str() {
                "ZW002" => Problem::conflict("webhook.status", message),
                "ZW003" => Problem { message, ..Problem::not_found("webhook") },
                _ => Problem::bad_request("request.refused", message).with("sqlstate", code),
            }
        }
        other => other.into(),
    }
}
