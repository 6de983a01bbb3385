//! What a preview says to a person: one line for each action, and the fields that change.

use std::fmt::Write;

use kernel::text::is_turning;
use serde_json::Value;

use super::{
    answer::{Change, PreviewedAction, XpEffect},
    run::BatchRun,
};
use crate::{
    model::{
        PlannedAction, References,
        spec::{self, EntityKind},
    },
    store::ActionOutcome,
};

/// What is shown of a thing, in this order. Times become facts: a preview knows that something would be completed, not when.
const FIELDS: [&str; 9] = ["goal_id", "title", "description", "category", "priority", "due_date", "days", "order", "completed"];
const FACTS: [(&str, &str); 2] = [("completed_at", "completed"), ("archived_at", "archived")];
/// Values in a diff are cut here; the fields beside it have all of them.
const VALUE_CHARS_MAX: usize = 200;
/// How much of what two long values have in common is shown before the place where they differ.
const CONTEXT_CHARS: usize = 30;

/// The actions of a preview: those that were tried, and those that come after one that fails.
pub(super) fn actions<'a>(run: &'a BatchRun<'_>, failed: Option<&str>) -> Vec<PreviewedAction<'a>> {
    let tried = run.plan.iter().zip(&run.done).map(|(planned, outcome)| PreviewedAction {
        action: &planned.action,
        client_action_id: planned.client_action_id.as_deref(),
        entity: &outcome.entity,
        id: kind_of(&outcome.entity).map_or(Value::Null, |kind| run.references.shown(kind, outcome.id)),
        summary: summary(planned, outcome),
        changes: changes(planned, outcome, &run.references),
        xp: outcome.xp,
    });
    let left = run.plan.iter().enumerate().skip(run.done.len()).map(|(index, planned)| {
        let spec = spec::find(&planned.action);
        let named = spec.and_then(spec::ActionSpec::names).and_then(|(param, _)| planned.params.get(param.name));
        let is_failed = index == run.done.len();
        PreviewedAction {
            action: &planned.action,
            client_action_id: planned.client_action_id.as_deref(),
            entity: planned.action.split_once('.').map_or("", |(entity, _)| entity),
            id: named.filter(|_| spec.is_some_and(|spec| spec.creates.is_none())).cloned().unwrap_or_default(),
            summary: match failed.filter(|_| is_failed) {
                Some(error) => format!("Would fail: {error}"),
                None => "Would not be reached".to_owned(),
            },
            changes: Vec::new(),
            xp: 0,
        }
    });
    tried.chain(left).collect()
}

/// All of it as a text to show.
pub(super) fn diff(actions: &[PreviewedAction<'_>], xp: &XpEffect) -> String {
    let mut text = String::new();
    for (place, action) in actions.iter().enumerate() {
        let _ = writeln!(text, "{}. {}", place + 1, action.summary);
        for change in &action.changes {
            let _ = match (&change.before, &change.after) {
                (Value::Null, after) => writeln!(text, "   + {}: {}", change.field, cut(value(after))),
                (before, Value::Null) => writeln!(text, "   - {}: {}", change.field, cut(value(before))),
                (before, after) => {
                    let (before, after) = from_difference(value(before), value(after));
                    writeln!(text, "   {}: {} → {}", change.field, cut(before), cut(after))
                }
            };
        }
    }
    let _ = write!(text, "XP: {} → {} ({:+})", xp.before, xp.after, xp.change);
    text
}

fn value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", plain(text)),
        Value::Array(items) => {
            let item = |item: &Value| item.as_str().map_or_else(|| item.to_string(), plain);
            items.iter().map(item).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A text that stays where it is put: it begins no line that could be taken for one of ours, and turns the words around it in no direction.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => shown.push('⏎'),
            c if is_turning(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Two long texts from shortly before the place where they differ, so that a cut does not leave two halves that are the same.
fn from_difference(before: String, after: String) -> (String, String) {
    let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other).count();
    let skipped = same.saturating_sub(CONTEXT_CHARS);
    let is_long = [&before, &after].iter().any(|text| text.chars().nth(VALUE_CHARS_MAX).is_some());
    if !is_long || skipped == 0 {
        return (before, after);
    }
    let rest = |text: &str| format!("…{}", text.chars().skip(skipped).collect::<String>());
    (rest(&before), rest(&after))
}

fn cut(text: String) -> String {
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn kind_of(entity: &str) -> Option<EntityKind> {
    [EntityKind::Goal, EntityKind::Step, EntityKind::Habit].into_iter().find(|kind| kind.as_str() == entity)
}

/// The fields that an action changes. Something new has all its fields, something deleted loses them.
fn changes(planned: &PlannedAction, outcome: &ActionOutcome, references: &References) -> Vec<Change> {
    let (before, after) = (outcome.before.as_ref(), outcome.after.as_ref());
    let field = |field: &'static str| {
        let get = |image: Option<&Value>| image.and_then(|image| image.get(field)).cloned().unwrap_or_default();
        let shown = |value: Value| match (field, value.as_i64()) {
            ("goal_id", Some(id)) => references.shown(EntityKind::Goal, id),
            _ => value,
        };
        Change { field, before: shown(get(before)), after: shown(get(after)) }
    };
    let fact = |(key, field): (&str, &'static str)| {
        let get = |image: Option<&Value>| image.and_then(|image| image.get(key)).map(|at| !at.is_null());
        let (before, after) = (get(before), get(after));
        // That a new thing is not completed goes without saying.
        let is_said = before == Some(true) || after == Some(true);
        is_said.then(|| Change { field, before: before.into(), after: after.into() })
    };
    // Of a step its goal; of a goal that would be itself.
    let is_own_id = |name: &&str| *name == "goal_id" && outcome.entity == "goal";
    let mut all: Vec<Change> = FIELDS.into_iter().filter(|name| !is_own_id(name)).map(field).collect();
    if let Some(order) = all.iter_mut().find(|change| change.field == "order") {
        place(planned, outcome, order);
    }
    all.retain(|change| change.before != change.after);
    all.extend(FACTS.into_iter().filter_map(fact).filter(|change| change.before != change.after));
    // Steps that come and go with their goal.
    let steps = || outcome.also.iter().filter(|also| also.entity == "step" && outcome.entity == "goal");
    let title = |step: &ActionOutcome| step.title.clone().unwrap_or_default();
    let gone: Vec<String> = steps().filter(|step| step.before.is_some()).map(title).collect();
    let made: Vec<String> = steps().filter(|step| step.after.is_some()).map(title).collect();
    if gone != made {
        all.push(Change { field: "steps", before: gone.into(), after: made.into() });
    }
    all
}

/// The places of a step before and after an action, as the list of its goal's steps has them; the step itself may be moved only later. One that goes to the
/// end has no number: others may come before it until then.
fn place(planned: &PlannedAction, outcome: &ActionOutcome, order: &mut Change) {
    if is_at_the_end(planned) {
        order.after = Value::Null;
    } else if let Some(list) = outcome.also.iter().find(|also| also.entity == "order" && outcome.entity == "step") {
        let place = |image: Option<&Value>| image?.as_array()?.iter().position(|id| *id == outcome.id).map(Value::from);
        order.before = place(list.before.as_ref()).unwrap_or_default();
        order.after = place(list.after.as_ref()).unwrap_or_default();
    }
}

fn is_at_the_end(planned: &PlannedAction) -> bool {
    planned.action == "step.create" && !planned.params.contains_key("order")
}

/// What an action would do, in one line.
fn summary(planned: &PlannedAction, outcome: &ActionOutcome) -> String {
    let name = format!("{} “{}”", outcome.entity, plain(outcome.title.as_deref().unwrap_or_default()));
    let field = |image: Option<&Value>, key: &str| image.and_then(|image| image.get(key)).cloned().unwrap_or_default();
    let (before, after) = (outcome.before.as_ref(), outcome.after.as_ref());
    let date = || field(after, "date").as_str().unwrap_or_default().to_owned();
    let steps = outcome.also.iter().filter(|also| also.entity == "step").count();
    let mut text = match planned.action.as_str() {
        "step.create" => {
            let goal = plain(outcome.also.iter().find_map(|also| also.title.as_deref()).unwrap_or_default());
            let place = if is_at_the_end(planned) { "at the end".to_owned() } else { format!("place {}", field(after, "order")) };
            format!("Create {name} in goal “{goal}”, {place}")
        }
        "step.reorder" => format!("Move {name} from place {} to {}", field(before, "order"), field(after, "order")),
        "goal.delete" if steps > 0 => format!("Delete {name} with {steps} {}", if steps == 1 { "step" } else { "steps" }),
        "habit.mark_completed" => format!("Mark {name} completed on {}", date()),
        "habit.unmark" => format!("Take back the mark of {name} on {}", date()),
        action => {
            if let Some((way, of)) = action.split_once(' ') {
                format!("{} {of}: {}", if way == "redo" { "Redo" } else { "Undo" }, reversal(outcome, &name))
            } else {
                let verb = action.split_once('.').map_or(action, |(_, verb)| verb);
                let mut chars = verb.chars();
                let capital: String = chars.next().map(|first| first.to_ascii_uppercase()).into_iter().collect();
                format!("{capital}{} {name}", chars.as_str())
            }
        }
    };
    if outcome.xp != 0 {
        let _ = write!(text, " ({:+} XP)", outcome.xp);
    }
    text
}

/// What taking back an action comes to.
fn reversal(outcome: &ActionOutcome, name: &str) -> String {
    match (&outcome.before, &outcome.after) {
        (None, _) => format!("{name} comes back"),
        (_, None) => format!("{name} goes"),
        _ => format!("{name} is as it was"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(value: Value) -> ActionOutcome {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_new_thing_shows_its_fields_and_what_does_not_exist_yet_has_no_number() {
        let made = outcome(json!({
            "entity": "step", "id": 12, "title": "S", "created": true, "before": null, "xp": 0, "also": [],
            "after": { "step_id": 12, "goal_id": 7, "title": "S", "description": null, "priority": "medium", "order": 0, "completed_at": null }
        }));
        let mut references = References::default();
        references.created(EntityKind::Goal, 7, Some("g"));
        let planned = |params: Value| PlannedAction {
            action: "step.create".into(),
            client_action_id: None,
            params: params.as_object().cloned().unwrap_or_default(),
        };
        let last = changes(&planned(json!({})), &made, &references);
        assert!(last.iter().all(|change| change.field != "order"), "others may come before it");
        let changes = changes(&planned(json!({ "order": 0 })), &made, &references);
        let fields: Vec<(&str, &Value)> = changes.iter().map(|change| (change.field, &change.after)).collect();
        assert_eq!(
            fields,
            [("goal_id", &json!("$ref:g")), ("title", &json!("S")), ("priority", &json!("medium")), ("order", &json!(0))]
        );
    }

    #[test]
    fn a_completion_is_a_fact_and_not_a_time() {
        let done = outcome(json!({
            "entity": "goal", "id": 7, "title": "G", "created": false, "xp": 100, "also": [],
            "before": { "title": "G", "completed_at": null }, "after": { "title": "G", "completed_at": "2026-03-02T09:00:00Z" }
        }));
        let planned = PlannedAction { action: "goal.complete".into(), client_action_id: None, params: serde_json::Map::new() };
        let changes = changes(&planned, &done, &References::default());
        assert_eq!(changes, [Change { field: "completed", before: json!(false), after: json!(true) }]);
        assert_eq!(summary(&planned, &done), "Complete goal “G” (+100 XP)");
    }

    #[test]
    fn a_day_of_a_habit_is_marked_or_not() {
        let mark = outcome(json!({
            "entity": "habit", "id": 7, "title": "Run", "created": false, "xp": -10, "also": [],
            "before": { "date": "2026-03-02", "completed": true }, "after": { "date": "2026-03-02", "completed": false }
        }));
        let planned = PlannedAction { action: "habit.unmark".into(), client_action_id: None, params: serde_json::Map::new() };
        assert_eq!(
            changes(&planned, &mark, &References::default()),
            [Change { field: "completed", before: json!(true), after: json!(false) }]
        );
        assert_eq!(summary(&planned, &mark), "Take back the mark of habit “Run” on 2026-03-02 (-10 XP)");
        let undone = PlannedAction { action: "undo habit.mark_completed".into(), ..planned };
        assert_eq!(summary(&undone, &mark), "Undo habit.mark_completed: habit “Run” is as it was (-10 XP)");
    }

    #[test]
    fn a_move_is_shown_by_the_list_that_it_changes() {
        let moved = outcome(json!({
            "entity": "step", "id": 12, "title": "S", "created": false, "xp": 0,
            "before": { "step_id": 12, "title": "S", "order": 1 }, "after": { "step_id": 12, "title": "S", "order": 1 },
            "also": [{ "entity": "order", "id": 7, "title": null, "created": false, "xp": 0, "also": [], "before": [11, 12], "after": [12, 11] }]
        }));
        let planned =
            PlannedAction { action: "undo step.reorder".into(), client_action_id: None, params: serde_json::Map::new() };
        let changes = changes(&planned, &moved, &References::default());
        assert_eq!(changes, [Change { field: "order", before: json!(1), after: json!(0) }]);
    }

    #[test]
    fn no_text_forges_a_line_or_turns_the_words_around_it() {
        assert_eq!(plain("a\nb\u{2028}2. Delete goal\u{2029}\u{85}c"), "a⏎b⏎2. Delete goal⏎⏎c");
        assert_eq!(plain("photo\u{202e}gpj.exe"), "photo\\u{202e}gpj.exe");
        assert_eq!(value(&json!(["x\u{2028}y"])), "x⏎y");
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        let (before, after) = (format!("{}old", "x".repeat(500)), format!("{}new", "x".repeat(500)));
        let changed = |text: &str| json!({ "title": "G", "description": text });
        let outcome = outcome(json!({
            "entity": "goal", "id": 7, "title": "G", "created": false, "xp": 0, "also": [], "before": changed(&before), "after": changed(&after)
        }));
        let planned = PlannedAction { action: "goal.update".into(), client_action_id: None, params: serde_json::Map::new() };
        let action = PreviewedAction {
            action: "goal.update",
            client_action_id: None,
            entity: "goal",
            id: json!(7),
            summary: String::new(),
            changes: changes(&planned, &outcome, &References::default()),
            xp: 0,
        };
        let text = diff(&[action], &XpEffect { before: 0, change: 0, after: 0 });
        assert!(text.contains("xxxold\" → …x") && text.contains("xxxnew\"\n"), "{text}");
    }
}
