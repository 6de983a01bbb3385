//! References: `$ref:<client_action_id>` stands for the id of what an earlier action of the same batch creates. They are understood in id
//! fields alone, checked before anything runs, and replaced as the ids come to be.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    CLIENT_ACTION_ID_CHARS_MAX, Mistake, PlannedAction,
    spec::{self, EntityKind},
};

const PREFIX: &str = "$ref:";

/// The `client_action_id` that a text refers to.
pub(crate) fn reference_of(text: &str) -> Option<&str> {
    text.strip_prefix(PREFIX).filter(|id| !id.is_empty())
}

/// Checks that names are used once and that every reference goes back to an action that creates the right kind of thing.
pub(crate) fn check(plan: &[PlannedAction]) -> Result<(), Mistake> {
    let places = places(plan)?;
    for (index, planned) in plan.iter().enumerate() {
        let Some(spec) = spec::find(&planned.action) else { continue };
        let Some((param, kind)) = spec.names() else { continue };
        let Some(id) = planned.params.get(param.name).and_then(Value::as_str).and_then(reference_of) else { continue };
        let refuse = |error: String, hint: &str| {
            Err(Mistake::of(param.name, error).hint(hint).at(spec.name, planned.client_action_id.as_deref(), index))
        };
        let Some(place) = places.get(id).copied() else {
            let shown = kernel::redact::snippet(id, CLIENT_ACTION_ID_CHARS_MAX);
            return refuse(format!("unknown reference `{PREFIX}{shown}`"), "no action of this batch has that client_action_id");
        };
        if place == index {
            return refuse(
                format!("`{PREFIX}{id}` refers to its own action"),
                "refer to an earlier action that creates something",
            );
        }
        if place > index {
            return refuse(format!("`{PREFIX}{id}` refers to a later action"), "put the action that creates it first");
        }
        let target = &plan[place].action;
        match spec::find(target).and_then(|spec| spec.creates) {
            Some(created) if created == kind => {}
            Some(created) => {
                let error = format!(
                    "{} refers to {target} `{id}`, which creates a {}, not a {}",
                    param.name,
                    created.as_str(),
                    kind.as_str()
                );
                return refuse(error, "refer to an action that creates the right kind of thing");
            }
            None => {
                let error = format!("{} refers to {target} `{id}`, which creates nothing", param.name);
                return refuse(error, "write the id itself: it exists already");
            }
        }
    }
    Ok(())
}

/// Where each `client_action_id` is.
fn places(plan: &[PlannedAction]) -> Result<HashMap<&str, usize>, Mistake> {
    let mut places = HashMap::new();
    for (index, planned) in plan.iter().enumerate() {
        if let Some(id) = planned.client_action_id.as_deref()
            && places.insert(id, index).is_some()
        {
            let mistake = Mistake::of("client_action_id", format!("duplicate client_action_id `{id}`"));
            return Err(mistake.hint("each action has its own").at(&planned.action, Some(id), index));
        }
    }
    Ok(places)
}

/// What the actions of a batch have created so far.
#[derive(Debug, Default)]
pub(crate) struct References {
    ids: HashMap<String, i64>,
    /// The way back, for answers that must not tell an id that may never be.
    names: HashMap<(EntityKind, i64), Option<String>>,
}

impl References {
    pub(crate) fn created(&mut self, kind: EntityKind, id: i64, client_action_id: Option<&str>) {
        if let Some(name) = client_action_id {
            self.ids.insert(name.to_owned(), id);
        }
        self.names.insert((kind, id), client_action_id.map(|name| format!("{PREFIX}{name}")));
    }

    /// The parameters of an action with an id in place of its reference.
    pub(crate) fn resolve(&self, planned: &PlannedAction) -> Map<String, Value> {
        let mut params = planned.params.clone();
        let id_field = spec::find(&planned.action).and_then(spec::ActionSpec::names).map(|(param, _)| param.name);
        if let Some(value) = id_field.and_then(|field| params.get_mut(field))
            && let Some(id) = value.as_str().and_then(reference_of).and_then(|name| self.ids.get(name))
        {
            *value = Value::from(*id);
        }
        params
    }

    /// An id as a preview shows it: a reference, or null, for what does not exist yet.
    pub(crate) fn shown(&self, kind: EntityKind, id: i64) -> Value {
        match self.names.get(&(kind, id)) {
            Some(name) => name.clone().map_or(Value::Null, Value::from),
            None => Value::from(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::parse_batch;

    #[expect(clippy::needless_pass_by_value, reason = "cases read better without a sign before each")]
    fn error(actions: Value) -> (String, usize) {
        let mistake = parse_batch(json!({ "actions": actions }).as_object().unwrap()).unwrap_err();
        (mistake.error, mistake.at.unwrap().index)
    }

    fn step(id: &str, goal: &str) -> Value {
        json!({ "action": "step.create", "client_action_id": id, "params": { "goal_id": goal, "title": "S" } })
    }

    #[test]
    fn a_reference_leads_back_to_what_creates_the_right_kind() {
        let goal = json!({ "action": "goal.create", "client_action_id": "g", "params": { "title": "G" } });
        let done = json!({ "action": "goal.complete", "client_action_id": "c", "params": { "goal_id": 7 } });
        let cases = [
            (json!([step("s", "$ref:nobody")]), "unknown reference `$ref:nobody`", 0),
            (json!([step("s", "$ref:g"), goal]), "`$ref:g` refers to a later action", 0),
            (json!([step("s", "$ref:s")]), "`$ref:s` refers to its own action", 0),
            (
                json!([goal, step("s", "$ref:g"), step("t", "$ref:s")]),
                "goal_id refers to step.create `s`, which creates a step, not a goal",
                2,
            ),
            (json!([done, step("s", "$ref:c")]), "goal_id refers to goal.complete `c`, which creates nothing", 1),
            (json!([goal, goal]), "duplicate client_action_id `g`", 1),
        ];
        for (actions, expected, index) in cases {
            assert_eq!(error(actions), (expected.to_owned(), index));
        }
    }

    #[test]
    fn a_reference_is_understood_in_ids_alone() {
        let plan = parse_batch(
            json!({ "actions": [
                { "action": "goal.create", "client_action_id": "g", "params": { "title": "$ref:g" } },
                step("s", "$ref:g"),
            ] })
            .as_object()
            .unwrap(),
        )
        .unwrap();
        let mut references = References::default();
        references.created(EntityKind::Goal, 12, Some("g"));
        assert_eq!(references.resolve(&plan[0])["title"], "$ref:g");
        assert_eq!(references.resolve(&plan[1])["goal_id"], 12);
        assert_eq!(references.shown(EntityKind::Goal, 12), json!("$ref:g"));
        assert_eq!((references.shown(EntityKind::Step, 12), references.shown(EntityKind::Goal, 3)), (json!(12), json!(3)));
        references.created(EntityKind::Goal, 13, None);
        assert_eq!(references.shown(EntityKind::Goal, 13), Value::Null);
    }
}
