//! A batch from outside becomes a plan: checked field by field and in its normal form. What is wrong is said with the action and the
//! field it is in, and with what to write instead.

use jiff::civil::Date;
use serde_json::{Map, Number, Value};

use super::{
    ACTIONS_MAX, CLIENT_ACTION_ID_CHARS_MAX, Mistake, PlannedAction, kind_of, nearest, refs,
    spec::{self, ActionSpec, DAYS, ParamSpec, Shape},
    unknown_field,
};

const TOOL: &str = "preview_actions";
const ACTION_FIELDS: [&str; 3] = ["action", "client_action_id", "params"];

/// The arguments of `preview_actions` as a plan whose references lead where they should.
pub(crate) fn parse_batch(arguments: &Map<String, Value>) -> Result<Vec<PlannedAction>, Mistake> {
    if let Some(name) = arguments.keys().find(|name| *name != "actions") {
        return Err(unknown_field(name, TOOL, &["actions"]));
    }
    let actions = match arguments.get("actions") {
        None | Some(Value::Null) => return Err(Mistake::required("actions").hint("write a list of actions")),
        Some(Value::Array(actions)) => actions,
        Some(Value::String(_)) => {
            return Err(Mistake::of("actions", "actions is an array, not a string")
                .hint("write the array itself, without quotes around it"));
        }
        Some(other) => {
            return Err(Mistake::of("actions", format!("actions is an array, not {}", kind_of(other)))
                .hint("write [ … ] around the actions"));
        }
    };
    if actions.is_empty() {
        return Err(Mistake::of("actions", "actions is empty").hint("write at least one action"));
    }
    if actions.len() > ACTIONS_MAX {
        let error = format!("too many actions: {} of at most {ACTIONS_MAX}", actions.len());
        return Err(Mistake::of("actions", error).hint("make several previews, and apply one before you make the next"));
    }
    let plan = actions.iter().enumerate().map(|(index, action)| parse_action(index, action)).collect::<Result<Vec<_>, _>>()?;
    refs::check(&plan)?;
    Ok(plan)
}

fn parse_action(index: usize, value: &Value) -> Result<PlannedAction, Mistake> {
    let Value::Object(fields) = value else {
        let error = format!("an action is an object, not {}", kind_of(value));
        return Err(Mistake::new(error)
            .hint("write {\"action\": …, \"params\": {…}} for each; lists are not nested")
            .at("", None, index));
    };
    let name = fields.get("action").and_then(Value::as_str).unwrap_or_default();
    let given_id = fields.get("client_action_id").and_then(Value::as_str);
    let checked = check_action(fields, name);
    checked.map_err(|mistake| {
        let shown_id = given_id.map(|id| id.chars().take(CLIENT_ACTION_ID_CHARS_MAX).collect::<String>());
        mistake.at(&kernel::redact::snippet(name, 60), shown_id.as_deref(), index)
    })
}

fn check_action(fields: &Map<String, Value>, name: &str) -> Result<PlannedAction, Mistake> {
    if let Some(unknown) = fields.keys().find(|field| !ACTION_FIELDS.contains(&field.as_str())) {
        return Err(unknown_field(unknown, "an action", &ACTION_FIELDS));
    }
    let names = || spec::ACTIONS.iter().map(|spec| spec.name);
    match fields.get("action") {
        None | Some(Value::Null) => {
            let all = names().collect::<Vec<_>>().join(", ");
            return Err(Mistake::required("action").hint(format!("write one of {all}")));
        }
        Some(Value::String(_)) => {}
        Some(other) => {
            return Err(
                Mistake::of("action", format!("action is a string, not {}", kind_of(other))).hint("such as \"goal.create\"")
            );
        }
    }
    let Some(spec) = spec::find(name) else {
        let shown = kernel::redact::snippet(name, 60);
        let error = match nearest(name, names()) {
            Some(near) => format!("unknown action `{shown}`; did you mean `{near}`?"),
            None => format!("unknown action `{shown}`"),
        };
        return Err(Mistake::of("action", error).hint(format!("the actions are {}", names().collect::<Vec<_>>().join(", "))));
    };
    let client_action_id = check_client_action_id(fields.get("client_action_id"))?;
    let params = match fields.get("params") {
        None | Some(Value::Null) => &Map::new(),
        Some(Value::Object(params)) => params,
        Some(other) => {
            let error = format!("params is an object, not {}", kind_of(other));
            return Err(Mistake::of("params", error).hint(format!(
                "{} has the fields {}",
                spec.name,
                spec.param_names().join(", ")
            )));
        }
    };
    Ok(PlannedAction { action: spec.name.to_owned(), client_action_id, params: check_params(spec, params)? })
}

fn check_client_action_id(value: Option<&Value>) -> Result<Option<String>, Mistake> {
    const FIELD: &str = "client_action_id";
    let rule = format!("client_action_id has 1 to {CLIENT_ACTION_ID_CHARS_MAX} visible characters");
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => {
            let is_visible = |c: char| !c.is_control() && !c.is_whitespace();
            let chars = id.chars().count();
            if (1..=CLIENT_ACTION_ID_CHARS_MAX).contains(&chars) && id.chars().all(is_visible) {
                Ok(Some(id.clone()))
            } else {
                Err(Mistake::of(FIELD, rule)
                    .hint("a UUID will do, or a short name such as goal-1; leave it out if nothing refers to it"))
            }
        }
        Some(other) => Err(Mistake::of(FIELD, format!("client_action_id is a string, not {}", kind_of(other))).hint(rule)),
    }
}

fn check_params(spec: &ActionSpec, params: &Map<String, Value>) -> Result<Map<String, Value>, Mistake> {
    if let Some(unknown) = params.keys().find(|name| spec.param(name).is_none()) {
        return Err(unknown_field(unknown, spec.name, &spec.param_names()));
    }
    let mut checked = Map::new();
    for param in spec.params {
        // Null is "nothing was said", except where it takes a value away.
        match params.get(param.name) {
            Some(Value::Null) if param.is_nullable && spec.is_update => drop(checked.insert(param.name.to_owned(), Value::Null)),
            Some(Value::Null) if spec.is_update && !param.is_required => {
                let error = format!("{} cannot be null", param.name);
                return Err(Mistake::of(param.name, error).hint("leave it out to keep it as it is"));
            }
            None | Some(Value::Null) => {}
            Some(value) => drop(checked.insert(param.name.to_owned(), check_param(param, value)?)),
        }
        if param.is_required && !checked.contains_key(param.name) {
            return Err(Mistake::required(param.name).hint(format!("{}: {}", spec.name, spec.about)));
        }
        // A blank text is nothing: when something is made, nothing was said.
        if !spec.is_update && checked.get(param.name).is_some_and(Value::is_null) {
            checked.remove(param.name);
        }
    }
    if spec.is_update && checked.len() < 2 {
        let others = spec.param_names()[1..].join(", ");
        return Err(Mistake::new("nothing to change").hint(format!("write at least one of {others}")));
    }
    Ok(checked)
}

fn check_param(param: &ParamSpec, value: &Value) -> Result<Value, Mistake> {
    match param.shape {
        Shape::Id(_) => check_id(param.name, value),
        Shape::Title { chars_max } => {
            let text = check_line(param.name, value, chars_max)?;
            if text.is_empty() {
                return Err(Mistake::required(param.name).hint("write something that can be seen"));
            }
            Ok(Value::from(text))
        }
        Shape::Line { chars_max } => {
            let text = check_line(param.name, value, chars_max)?;
            Ok(if text.is_empty() { Value::Null } else { Value::from(text) })
        }
        Shape::Text { chars_max } => {
            let text = check_text(param.name, value, chars_max)?;
            Ok(if text.is_empty() { Value::Null } else { Value::from(text) })
        }
        Shape::Choice(choices) => match value.as_str() {
            Some(choice) if choices.contains(&choice) => Ok(Value::from(choice)),
            _ => Err(Mistake::of(param.name, format!("{} is one of {}", param.name, choices.join(", ")))),
        },
        Shape::Date => check_date(param.name, value).map(|date| Value::from(date.to_string())),
        Shape::Days => check_days(param.name, value),
        Shape::Order => match value.as_i64() {
            Some(order) if (0..=i64::from(i32::MAX)).contains(&order) => Ok(Value::from(order)),
            _ => Err(Mistake::of(param.name, format!("{} is an integer from 0 on", param.name)).hint("0 is the first place")),
        },
    }
}

/// A positive integer, or a reference as it was written; where that leads is checked later.
pub(crate) fn check_id(field: &str, value: &Value) -> Result<Value, Mistake> {
    let rule = || Mistake::of(field, format!("{field} is a positive integer or \"$ref:<client_action_id>\""));
    match value {
        Value::Number(number) => number.as_i64().filter(|id| *id > 0).map(Value::from).ok_or_else(|| match whole(number) {
            Some(id) => rule().hint(format!("write {id} without a fraction")),
            None => rule(),
        }),
        Value::String(text) if super::reference_of(text).is_some() => Ok(value.clone()),
        Value::String(text) if !text.is_empty() && text.len() < 20 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Err(rule().hint(format!("write {text} without quotes")))
        }
        _ => Err(rule()),
    }
}

/// The integer that a number such as 7.0 stands for.
fn whole(number: &Number) -> Option<String> {
    let value = number.as_f64().filter(|value| *value >= 1.0 && *value <= 9e15 && value.fract() == 0.0)?;
    Some(format!("{value:.0}"))
}

/// Trimmed, with line breaks and tabs as its only control characters.
fn check_text(field: &str, value: &Value, chars_max: usize) -> Result<String, Mistake> {
    let Value::String(text) = value else {
        let error = format!("{field} is a string, not {}", kind_of(value));
        return Err(Mistake::of(field, error).hint("write it in quotes"));
    };
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        let error = format!("{field} has control characters");
        return Err(Mistake::of(field, error).hint("only line breaks (\\n) and tabs (\\t) are allowed"));
    }
    let text = text.trim();
    let chars = text.chars().count();
    if chars > chars_max {
        let error = format!("{field} has {chars} characters, and at most {chars_max} are allowed");
        return Err(Mistake::of(field, error).hint("make it shorter"));
    }
    Ok(text.to_owned())
}

/// On one line: a diff has a line for each thing, and nobody may write lines of their own into it.
fn check_line(field: &str, value: &Value, chars_max: usize) -> Result<String, Mistake> {
    let text = check_text(field, value, chars_max)?;
    if text.contains(['\n', '\t', '\u{2028}', '\u{2029}']) {
        return Err(Mistake::of(field, format!("{field} stands on one line"))
            .hint("take out line breaks and tabs; a description may have them"));
    }
    Ok(text)
}

pub(crate) fn check_date(field: &str, value: &Value) -> Result<Date, Mistake> {
    let rule = || Mistake::of(field, format!("{field} is a date such as 2026-03-02")).hint("write YYYY-MM-DD");
    let text = value.as_str().ok_or_else(rule)?;
    // Other forms of ISO 8601 are dates too, and not what was asked for.
    let is_plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let date: Date = text.parse().map_err(|_| rule())?;
    if is_plain && date.year() >= 1 { Ok(date) } else { Err(rule()) }
}

fn check_days(field: &str, value: &Value) -> Result<Value, Mistake> {
    let rule =
        || Mistake::of(field, format!("{field} is a list of {}", DAYS.join(", "))).hint("such as [\"mon\", \"wed\", \"fri\"]");
    let given = value.as_array().filter(|given| !given.is_empty()).ok_or_else(rule)?;
    if given.iter().any(|day| day.as_str().is_none_or(|day| !DAYS.contains(&day))) {
        return Err(rule());
    }
    Ok(DAYS.iter().filter(|day| given.iter().any(|given| given == *day)).copied().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "cases read better without a sign before each")]
    fn parse(actions: Value) -> Result<Vec<PlannedAction>, Mistake> {
        parse_batch(json!({ "actions": actions }).as_object().unwrap())
    }

    #[expect(clippy::needless_pass_by_value, reason = "cases read better without a sign before each")]
    fn refused(action: Value) -> Mistake {
        parse(json!([action])).unwrap_err()
    }

    #[test]
    fn a_batch_comes_out_in_its_normal_form() {
        let plan = parse(json!([
            { "action": "goal.create", "client_action_id": "g", "params": { "title": "  Learn \n", "description": " ", "category": null } },
            { "action": "habit.create", "params": { "title": "Run", "days": ["sun", "mon", "sun"] } },
            { "action": "goal.update", "params": { "goal_id": "$ref:g", "due_date": null, "category": "" } },
        ]))
        .unwrap();
        assert_eq!(json!(plan[0].params), json!({ "title": "Learn" }));
        assert_eq!(json!(plan[1].params), json!({ "title": "Run", "days": ["mon", "sun"] }));
        assert_eq!(json!(plan[2].params), json!({ "goal_id": "$ref:g", "due_date": null, "category": null }));
        assert_eq!(serde_json::to_value(&plan[1]).unwrap(), json!({ "action": "habit.create", "params": plan[1].params }));
    }

    #[test]
    fn what_is_required_is_required_in_the_words_of_the_specification() {
        let mistake = refused(json!({ "action": "goal.create", "client_action_id": "uuid-xxx", "params": {} }));
        assert_eq!(mistake.error, "title is required");
        let at = mistake.at.unwrap();
        assert_eq!((at.action.as_str(), at.client_action_id.as_deref(), at.index), ("goal.create", Some("uuid-xxx"), 0));
        assert_eq!(at.field.as_deref(), Some("title"));
        assert_eq!(refused(json!({ "action": "goal.create", "params": { "title": "\t " } })).error, "title is required");
        assert_eq!(refused(json!({ "action": "step.reorder", "params": { "step_id": 1 } })).error, "order is required");
        assert_eq!(refused(json!({ "params": {} })).error, "action is required");
    }

    #[test]
    fn an_id_in_quotes_is_refused_with_what_to_write() {
        let mistake = refused(json!({ "action": "goal.complete", "params": { "goal_id": "123" } }));
        assert_eq!(mistake.hint.as_deref(), Some("write 123 without quotes"));
        let mistake = refused(json!({ "action": "goal.complete", "params": { "goal_id": 7.0 } }));
        assert_eq!(mistake.hint.as_deref(), Some("write 7 without a fraction"));
        for id in [json!(0), json!(-1), json!(1.5), json!(true), json!("seven"), json!([1]), json!(""), json!(1e300)] {
            assert!(
                refused(json!({ "action": "goal.complete", "params": { "goal_id": id } })).error.starts_with("goal_id is "),
                "{id}"
            );
        }
    }

    #[test]
    fn dates_days_orders_and_choices_say_what_to_write() {
        let goal =
            |name: &str, value: Value| refused(json!({ "action": "goal.create", "params": { "title": "T", name: value } })).error;
        for date in [
            json!("tomorrow"),
            json!("2026-02-30"),
            json!("20260302"),
            json!("2026-03-02T00:00:00Z"),
            json!(7),
            json!("0000-01-01"),
        ] {
            assert_eq!(goal("due_date", date), "due_date is a date such as 2026-03-02");
        }
        assert_eq!(goal("priority", json!("urgent")), "priority is one of low, medium, high, critical");
        for days in [json!([]), json!("mon"), json!(["monday"]), json!([1])] {
            let mistake = refused(json!({ "action": "habit.create", "params": { "title": "T", "days": days } }));
            assert_eq!(mistake.error, "days is a list of mon, tue, wed, thu, fri, sat, sun");
        }
        for order in [json!(-1), json!(1.5), json!("0"), json!(1_u64 << 40)] {
            let mistake = refused(json!({ "action": "step.reorder", "params": { "step_id": 1, "order": order } }));
            assert_eq!(mistake.error, "order is an integer from 0 on");
        }
    }

    #[test]
    fn texts_have_their_limits_and_no_characters_that_nobody_sees() {
        let goal =
            |name: &str, value: String| parse(json!([{ "action": "goal.update", "params": { "goal_id": 1, name: value } }]));
        for (name, most) in [("title", 200), ("description", 4000), ("category", 50)] {
            assert!(goal(name, format!(" {} ", "щ".repeat(most))).is_ok(), "{name}");
            let error = goal(name, "щ".repeat(most + 1)).unwrap_err().error;
            assert_eq!(error, format!("{name} has {} characters, and at most {most} are allowed", most + 1));
        }
        assert!(goal("description", "one\n\ttwo".into()).is_ok());
        for forged in ["Milk”\n2. Complete goal “Rent”", "a\tb", "a\u{2028}b"] {
            for name in ["title", "category"] {
                assert_eq!(goal(name, forged.into()).unwrap_err().error, format!("{name} stands on one line"));
            }
        }
        assert!(goal("title", "a\u{0}b".into()).unwrap_err().error.contains("control characters"));
    }

    #[test]
    fn an_update_changes_something_and_cannot_take_away_what_has_to_be() {
        assert_eq!(refused(json!({ "action": "goal.update", "params": { "goal_id": 1 } })).error, "nothing to change");
        assert_eq!(
            refused(json!({ "action": "goal.update", "params": { "goal_id": 1, "title": null } })).error,
            "title cannot be null"
        );
        assert_eq!(
            refused(json!({ "action": "habit.update", "params": { "habit_id": 1, "days": null } })).error,
            "days cannot be null"
        );
    }

    #[test]
    fn unknown_fields_and_actions_are_refused_wherever_they_are() {
        let error = |arguments: Value| parse_batch(arguments.as_object().unwrap()).unwrap_err().error;
        assert_eq!(error(json!({ "action": [] })), "unknown field `action` in preview_actions; did you mean `actions`?");
        assert_eq!(
            refused(json!({ "action": "goal.create", "param": {} })).error,
            "unknown field `param` in an action; did you mean `params`?"
        );
        let mistake = refused(json!({ "action": "goal.create", "params": { "titel": "T" } }));
        assert_eq!(mistake.error, "unknown field `titel` in goal.create; did you mean `title`?");
        assert_eq!(
            refused(json!({ "action": "goal.creat", "params": {} })).error,
            "unknown action `goal.creat`; did you mean `goal.create`?"
        );
        assert_eq!(error(json!({})), "actions is required");
        assert_eq!(error(json!({ "actions": "[]" })), "actions is an array, not a string");
        assert_eq!(error(json!({ "actions": [] })), "actions is empty");
        assert_eq!(error(json!({ "actions": [[]] })), "an action is an object, not an array");
    }

    #[test]
    fn fifty_actions_are_the_most() {
        let many = |count: usize| json!(vec![json!({ "action": "goal.create", "params": { "title": "T" } }); count]);
        assert_eq!(parse(many(50)).unwrap().len(), 50);
        assert_eq!(parse(many(51)).unwrap_err().error, "too many actions: 51 of at most 50");
    }
}
