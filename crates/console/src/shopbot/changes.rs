//! What is different between two versions of a rule.

use serde_json::Value;
use shopbot::reads::RuleRead;

use crate::views::{FieldChange, RuleButton};

/// The keywords of a rule as its author wrote them.
pub(super) fn keywords(rule: &RuleRead) -> Vec<String> {
    texts(&rule.pattern["keywords"])
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

pub(super) fn buttons(rule: &RuleRead) -> Vec<Vec<RuleButton>> {
    let rows = rule.buttons.as_array().into_iter().flatten().filter_map(Value::as_array);
    rows.map(|row| row.iter().map(button).collect()).collect()
}

fn button(button: &Value) -> RuleButton {
    let text = button["text"].as_str().unwrap_or_default();
    let payload = button["payload"].as_str().filter(|payload| *payload != text).unwrap_or_default();
    RuleButton { text: text.to_owned(), payload: payload.to_owned() }
}

/// Buttons in a line for each of their rows.
fn lines(rows: &[Vec<RuleButton>]) -> String {
    let line = |row: &Vec<RuleButton>| {
        let words = row.iter().map(|button| match button.payload.as_str() {
            "" => button.text.clone(),
            payload => format!("{} → {payload}", button.text),
        });
        words.collect::<Vec<_>>().join(" | ")
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The fields in which `after` differs from `before`, in the order of reading.
pub(super) fn between(before: &RuleRead, after: &RuleRead) -> Vec<FieldChange> {
    let (old, new) = (keywords(before), keywords(after));
    let without = |list: &[String], other: &[String]| {
        list.iter().filter(|word| !other.contains(word)).cloned().collect::<Vec<_>>().join(", ")
    };
    let text = |value: Option<&String>| value.cloned().unwrap_or_default();
    let fields = [
        ("Intent", before.intent.clone(), after.intent.clone()),
        ("Keywords", without(&old, &new), without(&new, &old)),
        ("For the state", text(before.state.as_ref()), text(after.state.as_ref())),
        ("Priority", before.priority.to_string(), after.priority.to_string()),
        ("Keeps", text(before.capture.as_ref()), text(after.capture.as_ref())),
        ("Check", text(before.check_pattern.as_ref()), text(after.check_pattern.as_ref())),
        ("Answer", before.response_template.clone(), after.response_template.clone()),
        ("Asks again", text(before.re_ask_template.as_ref()), text(after.re_ask_template.as_ref())),
        ("Quick replies", lines(&buttons(before)), lines(&buttons(after))),
        ("Next state", text(before.next_state.as_ref()), text(after.next_state.as_ref())),
        ("Messages at most", before.max_turns.to_string(), after.max_turns.to_string()),
    ];
    let changed = fields.into_iter().filter(|(_, before, after)| before != after);
    changed.map(|(field, before, after)| FieldChange { field: field.to_owned(), before, after }).collect()
}
