//! What can be asked for, and what is wrong with what was: pure rules, before anything is looked up. Everything about actions follows from
//! one table, [`spec::ACTIONS`].

pub mod spec;

mod arguments;
mod parse;
mod refs;
pub mod schema;

pub(crate) use arguments::{Arguments, check_uuid};
pub(crate) use kernel::text::nearest;
pub(crate) use parse::{check_date, parse_batch};
pub(crate) use refs::{References, reference_of};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Actions of one batch.
pub const ACTIONS_MAX: usize = 50;
/// Characters of a `client_action_id`.
pub const CLIENT_ACTION_ID_CHARS_MAX: usize = 128;
/// Characters of an `idempotency_key`.
pub const KEY_CHARS_MAX: usize = 255;
/// How many rows a list returns at most.
pub const LIMIT_MAX: i64 = 100;
/// The same unless somebody asks for another number.
pub const LIMIT: i64 = 50;

/// One action of a batch in its normal form: as it was checked, is kept, and is carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedAction {
    pub(crate) action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_action_id: Option<String>,
    pub(crate) params: Map<String, Value>,
}

/// Which action of a batch it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FailedAction {
    pub(crate) action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_action_id: Option<String>,
    pub(crate) index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
}

/// What is wrong with the arguments of a call, and how to correct it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) error: String,
    pub(crate) hint: Option<String>,
    pub(crate) field: Option<String>,
    /// Boxed, because most mistakes are about no action.
    pub(crate) at: Option<Box<FailedAction>>,
}

impl Mistake {
    pub(crate) fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), hint: None, field: None, at: None }
    }

    /// About one field.
    pub(crate) fn of(field: &str, error: impl Into<String>) -> Self {
        Self { field: Some(field.to_owned()), ..Self::new(error) }
    }

    pub(crate) fn required(field: &str) -> Self {
        Self::of(field, format!("{field} is required"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says in which action it is; its field is the one that was named.
    pub(crate) fn at(mut self, action: &str, client_action_id: Option<&str>, index: usize) -> Self {
        let field = self.field.take();
        let client_action_id = client_action_id.map(ToOwned::to_owned);
        self.at = Some(Box::new(FailedAction { action: action.to_owned(), client_action_id, index, field }));
        self
    }
}

/// An unknown field, with the nearest known name; the hint lists all of them.
pub(crate) fn unknown_field(name: &str, place: &str, known: &[&str]) -> Mistake {
    let shown = kernel::redact::snippet(name, 60);
    let error = match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown field `{shown}` in {place}; did you mean `{near}`?"),
        None => format!("unknown field `{shown}` in {place}"),
    };
    let hint =
        if known.is_empty() { format!("{place} has no fields") } else { format!("{place} has the fields {}", known.join(", ")) };
    Mistake::of(&shown, error).hint(hint)
}

/// What a JSON value is, for the words of a refusal.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_field_is_refused_with_the_nearest_known_name() {
        let mistake = unknown_field("titel", "goal.create", &["title", "description"]);
        assert_eq!(mistake.error, "unknown field `titel` in goal.create; did you mean `title`?");
        assert_eq!(mistake.hint.as_deref(), Some("goal.create has the fields title, description"));
        let mistake = unknown_field("xyz", "goal.create", &["title", "description"]);
        assert_eq!(mistake.error, "unknown field `xyz` in goal.create");
        let mistake = unknown_field("id", "goal.update", &["goal_id", "title"]);
        assert_eq!(mistake.error, "unknown field `id` in goal.update; did you mean `goal_id`?");
        assert_eq!(nearest(&"title".repeat(1_000_000), ["title"]), None, "and quickly");
    }
}
