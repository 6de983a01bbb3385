//! The arguments of the other tools, checked in the same way as actions are.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{KEY_CHARS_MAX, LIMIT, LIMIT_MAX, Mistake, kind_of, unknown_field};

/// The arguments of one call, of which none is unknown.
pub(crate) struct Arguments<'a> {
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn check(tool: &str, known: &[&str], given: &'a Map<String, Value>) -> Result<Self, Mistake> {
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            Some(unknown) => Err(unknown_field(unknown, tool, known)),
            None => Ok(Self { given }),
        }
    }

    /// Null is the same as nothing.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.given.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Mistake> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.chars().any(char::is_control) => {
                Err(Mistake::of(name, format!("{name} has control characters")).hint("write it in plain characters, on one line"))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => {
                Err(Mistake::of(name, format!("{name} is a string, not {}", kind_of(other))).hint("write it in quotes"))
            }
        }
    }

    pub(crate) fn required_text(&self, name: &str) -> Result<&'a str, Mistake> {
        self.text(name)?.filter(|text| !text.trim().is_empty()).ok_or_else(|| Mistake::required(name))
    }

    pub(crate) fn choice(&self, name: &str, choices: &[&'static str]) -> Result<&'static str, Mistake> {
        let Some(given) = self.get(name) else { return Ok(choices[0]) };
        let found = choices.iter().copied().find(|choice| given == choice);
        found.ok_or_else(|| Mistake::of(name, format!("{name} is one of {}", choices.join(", "))))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Mistake> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => {
                Err(Mistake::of(name, format!("{name} is true or false, not {}", kind_of(other))).hint("write it without quotes"))
            }
        }
    }

    pub(crate) fn id(&self, name: &str) -> Result<Option<i64>, Mistake> {
        let Some(value) = self.get(name) else { return Ok(None) };
        if let Some(id) = value.as_i64().filter(|id| *id > 0) {
            return Ok(Some(id));
        }
        let mistake = Mistake::of(name, format!("{name} is a positive integer"));
        Err(match value.as_str() {
            Some(text) if !text.is_empty() && text.len() < 20 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                mistake.hint(format!("write {text} without quotes"))
            }
            _ => mistake,
        })
    }

    pub(crate) fn required_id(&self, name: &str) -> Result<i64, Mistake> {
        self.id(name)?.ok_or_else(|| Mistake::required(name))
    }

    pub(crate) fn limit(&self) -> Result<i32, Mistake> {
        let Some(value) = self.get("limit") else { return Ok(i32::try_from(LIMIT).unwrap_or(i32::MAX)) };
        let limit = value.as_i64().filter(|limit| (1..=LIMIT_MAX).contains(limit)).and_then(|limit| i32::try_from(limit).ok());
        limit.ok_or_else(|| Mistake::of("limit", format!("limit is an integer from 1 to {LIMIT_MAX}")))
    }

    pub(crate) fn after(&self) -> Result<Option<i64>, Mistake> {
        let Some(value) = self.get("after") else { return Ok(None) };
        let mistake = || Mistake::of("after", "after is an integer").hint("give the `next` of the page before, without quotes");
        value.as_i64().map(Some).ok_or_else(mistake)
    }

    /// Printable ASCII: a key is compared byte by byte and shows up in logs.
    pub(crate) fn idempotency_key(&self) -> Result<&'a str, Mistake> {
        const FIELD: &str = "idempotency_key";
        let hint = "make a new random UUID for each preview, and repeat it only to retry the same apply";
        let key =
            self.required_text(FIELD).map_err(|mistake| if mistake.hint.is_none() { mistake.hint(hint) } else { mistake })?;
        let is_printable = key.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if key.len() <= KEY_CHARS_MAX && is_printable {
            return Ok(key);
        }
        Err(Mistake::of(FIELD, format!("idempotency_key has 1 to {KEY_CHARS_MAX} visible ASCII characters")).hint(hint))
    }
}

/// An id as previews have them; what is none is nobody's preview.
pub(crate) fn check_uuid(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text.trim()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_told_what_to_write() {
        let given = json!({
            "preview_id": 7, "limit": 101, "after": "x", "goal_id": "12", "status": "done", "include_archived": "yes",
            "idempotency_key": "ключ"
        });
        let names: Vec<&str> = given.as_object().unwrap().keys().map(String::as_str).collect();
        let arguments =
            Arguments::check("a tool", &names, given.as_object().unwrap()).unwrap_or_else(|mistake| panic!("{mistake:?}"));
        assert_eq!(arguments.required_text("preview_id").unwrap_err().error, "preview_id is a string, not a number");
        assert_eq!(arguments.limit().unwrap_err().error, "limit is an integer from 1 to 100");
        assert_eq!(arguments.after().unwrap_err().error, "after is an integer");
        assert_eq!(arguments.id("goal_id").unwrap_err().hint.as_deref(), Some("write 12 without quotes"));
        assert_eq!(arguments.choice("status", &["open", "all"]).unwrap_err().error, "status is one of open, all");
        assert_eq!(arguments.flag("include_archived").unwrap_err().error, "include_archived is true or false, not a string");
        assert_eq!(arguments.idempotency_key().unwrap_err().error, "idempotency_key has 1 to 255 visible ASCII characters");
    }

    #[test]
    fn what_is_absent_has_its_default_or_is_required() {
        let nothing = Map::new();
        let arguments = Arguments::check("a tool", &[], &nothing).unwrap_or_else(|mistake| panic!("{mistake:?}"));
        assert_eq!((arguments.limit().unwrap(), arguments.after().unwrap(), arguments.flag("x").unwrap()), (50, None, false));
        assert_eq!(arguments.choice("status", &["open", "all"]).unwrap(), "open");
        assert_eq!(arguments.required_id("goal_id").unwrap_err().error, "goal_id is required");
        assert_eq!(arguments.idempotency_key().unwrap_err().error, "idempotency_key is required");
    }

    #[test]
    fn an_unknown_argument_is_told_the_nearest_name() {
        let given = json!({ "preview": "x" });
        let mistake =
            Arguments::check("apply_actions", &["preview_id", "idempotency_key"], given.as_object().unwrap()).err().unwrap();
        assert_eq!(mistake.error, "unknown field `preview` in apply_actions; did you mean `preview_id`?");
    }
}
