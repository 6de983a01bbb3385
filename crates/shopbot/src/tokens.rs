//! From where a bot's token is kept to the token, with an error in the words of an adapter: it says what to mend.

use kernel::{AdapterError, Category, ErrorScope, Secret};
use platform::secrets::Secrets;
use serde_json::Value;

pub(crate) fn find(secrets: &Secrets, reference: &str) -> Result<Secret, AdapterError> {
    secrets.find(reference).map_err(|message| AdapterError {
        category: Category::Permanent,
        scope: ErrorScope::Channel,
        code: "credential_missing".to_owned(),
        retry_after_ms: None,
        message,
        raw: Value::Null,
        outcome_unknown: false,
    })
}
