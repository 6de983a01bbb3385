//! One action as the model and the wire know it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

pub(super) type Fields = Map<String, Value>;

/// One action of a batch.
#[derive(Clone, Debug)]
pub(super) struct Action {
    /// `goal.create` and so on.
    pub(super) name: &'static str,
    /// The goal, step or habit that it names; below zero, what the action at `-target - 1` of this batch creates. Zero where it names none.
    pub(super) target: i64,
    /// Everything but the id, as it is sent.
    pub(super) params: Fields,
    /// The day that a mark without a date is for.
    pub(super) today: String,
    pub(super) client_action_id: Option<String>,
}

impl Action {
    pub(super) fn kind(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(kind, _)| kind)
    }

    pub(super) fn creates(&self) -> bool {
        self.name.ends_with(".create")
    }

    /// The kind of thing that it names.
    pub(super) fn names(&self) -> Option<&'static str> {
        match self.name {
            "goal.create" | "habit.create" => None,
            "step.create" => Some("goal"),
            _ => Some(self.kind()),
        }
    }

    pub(super) fn day(&self) -> String {
        self.params.get("date").and_then(Value::as_str).unwrap_or(&self.today).to_owned()
    }
}

/// A batch as a client sends it.
pub(super) fn wire(batch: &[Action]) -> Vec<Value> {
    let one = |action: &Action| {
        let mut params = action.params.clone();
        if let Some(kind) = action.names() {
            let id = usize::try_from(-1 - action.target).ok().and_then(|at| batch[at].client_action_id.as_ref());
            params.insert(format!("{kind}_id"), id.map_or_else(|| json!(action.target), |name| json!(format!("$ref:{name}"))));
        }
        let mut sent = json!({ "action": action.name, "params": params });
        if let Some(name) = &action.client_action_id {
            sent["client_action_id"] = json!(name);
        }
        sent
    };
    batch.iter().map(one).collect()
}

/// The fields of a new thing.
pub(super) fn fields(kind: &str, params: &Fields) -> Fields {
    let defaults = match kind {
        "goal" => json!({ "description": null, "category": null, "priority": "medium", "due_date": null }),
        "step" => json!({ "description": null, "priority": "medium", "due_date": null }),
        _ => json!({ "description": null, "category": null, "days": [1, 2, 3, 4, 5, 6, 7] }),
    };
    let Value::Object(mut fields) = defaults else { return Fields::new() };
    fields.extend(cleaned(params));
    fields
}

/// Params as they are stored: titles trimmed, days as sorted numbers, without what is no field.
pub(super) fn cleaned(params: &Fields) -> Fields {
    let day = |name: &Value| {
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        names.iter().position(|known| name == known).map(|at| at + 1)
    };
    let clean = |(name, value): (&String, &Value)| {
        let value = match name.as_str() {
            "title" => json!(value.as_str().unwrap_or_default().trim()),
            "days" => json!(value.as_array().into_iter().flatten().filter_map(day).collect::<BTreeSet<_>>()),
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    params.iter().filter(|(name, _)| *name != "order" && *name != "date").map(clean).collect()
}
