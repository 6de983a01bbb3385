//! Random batches. What proptest draws is only an intention; against the model it becomes actions, most of which can be done,
//! so that long batches succeed often and still fail in every way there is.

use std::collections::BTreeSet;

use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

use super::{
    action::{Action, Fields},
    model::Model,
};

/// Actions, and how often each is drawn.
const NAMES: [(u32, &str); 16] = [
    (4, "goal.create"),
    (3, "goal.update"),
    (3, "goal.complete"),
    (2, "goal.reopen"),
    (2, "goal.delete"),
    (8, "step.create"),
    (3, "step.update"),
    (5, "step.complete"),
    (3, "step.reopen"),
    (3, "step.delete"),
    (4, "step.reorder"),
    (3, "habit.create"),
    (2, "habit.update"),
    (5, "habit.mark_completed"),
    (3, "habit.unmark"),
    (1, "habit.archive"),
];
const PRIORITIES: [&str; 4] = ["low", "medium", "high", "critical"];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// Before anything that a session calls today.
const DATES: [&str; 3] = ["2026-02-27", "2026-02-28", "2026-03-01"];

/// Nobody's id, and the largest that JavaScript can count to.
const NEVER: i64 = (1 << 53) - 1;

#[derive(Clone, Debug)]
pub(super) struct Raw {
    name: &'static str,
    aim: Aim,
    pick: Index,
    /// Which optional fields there are, and their values.
    dice: u32,
}

#[derive(Clone, Copy, Debug)]
enum Aim {
    /// Something with which it can be done.
    Fit,
    /// Anything of the right kind.
    Any,
    /// Another's, one that is gone, one that never was.
    Wrong,
}

pub(super) fn raws() -> impl Strategy<Value = Vec<Raw>> {
    let name = prop::strategy::Union::new_weighted(NAMES.iter().map(|(weight, name)| (*weight, Just(*name))).collect());
    let aim = prop_oneof![40 => Just(Aim::Fit), 2 => Just(Aim::Any), 1 => Just(Aim::Wrong)];
    let raw = (name, aim, any::<Index>(), any::<u32>()).prop_map(|(name, aim, pick, dice)| Raw { name, aim, pick, dice });
    prop::collection::vec(raw, 1..=12)
}

/// Around what the intentions become actions.
pub(super) struct Scene<'a> {
    pub(super) model: &'a Model,
    pub(super) today: &'a str,
    /// Ids of a goal, a step and a habit of somebody else.
    pub(super) strangers: [i64; 3],
    /// Makes every text another one.
    pub(super) batch: usize,
}

/// What the action at this place would create, as long as nobody knows its number.
pub(super) fn tentative(at: usize) -> i64 {
    -1 - i64::try_from(at).expect("a short batch")
}

impl Scene<'_> {
    pub(super) fn actions(&self, raws: &[Raw]) -> Vec<Action> {
        let mut batch: Vec<Action> = Vec::new();
        for (at, raw) in raws.iter().enumerate() {
            let mut now = self.model.clone();
            // After an action that cannot be done the others are as good as any.
            let _ = now.run(&batch, tentative);
            let action = self.action(raw, at, &now);
            batch.push(action);
        }
        let referred: BTreeSet<i64> = batch.iter().map(|action| action.target).collect();
        for (at, (action, raw)) in batch.iter_mut().zip(raws).enumerate() {
            let is_named = raw.dice >> 31 == 1 || referred.contains(&tentative(at));
            action.client_action_id = is_named.then(|| format!("дело-{at}"));
        }
        batch
    }

    fn action(&self, raw: &Raw, at: usize, now: &Model) -> Action {
        let text = format!("{}.{at}", self.batch);
        let make = |name| Action {
            name,
            target: 0,
            params: params(name, raw.dice, &text),
            today: self.today.to_owned(),
            client_action_id: None,
        };
        let action = make(raw.name);
        let Some(kind) = action.names() else { return action };
        let mut candidates = now.ids(kind);
        match raw.aim {
            Aim::Fit => candidates.retain(|id| now.check(&action, *id).is_ok()),
            Aim::Any => {}
            Aim::Wrong => {
                candidates = now.gone(kind);
                candidates.extend(self.strangers);
                candidates.push(NEVER);
            }
        }
        if candidates.is_empty() {
            return make(if kind == "habit" { "habit.create" } else { "goal.create" });
        }
        Action { target: *raw.pick.get(&candidates), ..action }
    }
}

fn params(name: &str, dice: u32, text: &str) -> Fields {
    let bit = |at: u32| (dice >> at) & 1 == 1;
    let of = |at: u32, count: usize| usize::try_from((dice >> at) & 0xff).expect("a byte") % count;
    let (kind, verb) = name.split_once('.').expect("an action");
    let mut params = Fields::new();
    let mut put = |name: &str, value: Value| drop(params.insert(name.to_owned(), value));
    match verb {
        "create" | "update" => {
            // An update always brings at least one text that was not there before.
            let is_titled = verb == "create" || bit(0);
            if is_titled {
                put("title", json!(if bit(1) { format!("  Дело {text}\t") } else { format!("Plan {text}") }));
            }
            if !is_titled || bit(2) {
                put("description", json!(format!("as it was said:\n{text}")));
            } else if verb == "update" && bit(3) {
                put("description", Value::Null);
            }
            if kind != "step" && bit(4) {
                put("category", if verb == "update" && bit(5) { Value::Null } else { json!(["work", "здоровье"][of(6, 2)]) });
            }
            if kind != "habit" && bit(7) {
                put("priority", json!(PRIORITIES[of(8, 4)]));
            }
            if kind != "habit" && bit(10) {
                put("due_date", if verb == "update" && bit(11) { Value::Null } else { json!(DATES[of(12, 3)]) });
            }
            if kind == "habit" && bit(13) {
                // From the last to the first, to be sorted.
                put("days", json!(DAYS.iter().rev().step_by(1 + of(14, 3)).collect::<Vec<_>>()));
            }
            if name == "step.create" && bit(16) {
                put("order", json!(of(17, 6)));
            }
        }
        "reorder" => put("order", json!(of(17, 6))),
        "mark_completed" | "unmark" if bit(0) => put("date", json!(DATES[of(12, 3)])),
        _ => {}
    }
    params
}

/// What can be wrong with a batch before anything is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flaw {
    Itself,
    Forward,
    Unknown,
    WrongKind,
    ToNothing,
    SameName,
    Field,
    Quoted,
}

pub(super) const FLAWS: [Flaw; 8] =
    [Flaw::Itself, Flaw::Forward, Flaw::Unknown, Flaw::WrongKind, Flaw::ToNothing, Flaw::SameName, Flaw::Field, Flaw::Quoted];

impl Flaw {
    /// Puts one flawed action among the others; its place.
    pub(super) fn put(self, batch: &mut Vec<Value>, place: Index) -> usize {
        let named = |action: &str, id: &str, params: Value| json!({ "action": action, "client_action_id": id, "params": params });
        let update = |id: &str| named("goal.update", "flawed", json!({ "goal_id": id, "title": "never" }));
        let (before, flawed, after) = match self {
            Self::Itself => (None, update("$ref:flawed"), None),
            Self::Forward => (None, update("$ref:later"), Some(named("goal.create", "later", json!({ "title": "never" })))),
            Self::Unknown => (None, update("$ref:nobody"), None),
            Self::WrongKind => (Some(named("habit.create", "first", json!({ "title": "never" }))), update("$ref:first"), None),
            Self::ToNothing => (Some(named("goal.reopen", "first", json!({ "goal_id": 1 }))), update("$ref:first"), None),
            Self::SameName => (
                Some(named("goal.create", "first", json!({ "title": "never" }))),
                named("goal.create", "first", json!({ "title": "never" })),
                None,
            ),
            Self::Field => (None, named("goal.create", "flawed", json!({ "titel": "never" })), None),
            Self::Quoted => (None, update("123"), None),
        };
        let mut at = place.index(batch.len() + 1);
        if let Some(before) = before {
            batch.insert(0, before);
            at += 1;
        }
        batch.insert(at, flawed);
        batch.extend(after);
        at
    }
}
