//! The planner in plain maps: what every action does to one person's goals, steps, habits and XP. No SQL, no clock, no answers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    action::{Action, Fields, cleaned, fields},
    outcome::{Cause, Done, Failed, Key, Ran},
};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Thing {
    fields: Fields,
    /// Completed; of a habit: archived.
    is_done: bool,
    /// Of a step.
    goal: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    goals: BTreeMap<i64, Thing>,
    steps: BTreeMap<i64, Thing>,
    habits: BTreeMap<i64, Thing>,
    marks: BTreeSet<(i64, String)>,
    orders: BTreeMap<i64, Vec<i64>>,
    /// What the ledger says of each thing.
    ledger: BTreeMap<String, i64>,
    /// Which change was the last one of a key: a number that never comes back.
    stamps: BTreeMap<Key, u64>,
    changes: u64,
}

/// What a preview saw of one thing that an action names: the thing itself, or what can be seen through it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    through: Key,
    key: Key,
    stamp: u64,
}

impl Model {
    pub(super) fn xp(&self) -> i64 {
        self.ledger.values().sum()
    }

    pub(super) fn ids(&self, kind: &str) -> Vec<i64> {
        self.of(kind).keys().copied().collect()
    }

    /// Those that were there once.
    pub(super) fn gone(&self, kind: &str) -> Vec<i64> {
        let ever = self.stamps.keys().filter_map(|known| match (kind, known) {
            ("goal", Key::Goal(id)) | ("step", Key::Step(id)) | ("habit", Key::Habit(id)) => Some(*id),
            _ => None,
        });
        ever.filter(|id| *id > 0 && !self.of(kind).contains_key(id)).collect()
    }

    pub(super) fn is_new(&self, kind: &str, id: i64) -> bool {
        !self.stamps.contains_key(&key(kind, id))
    }

    fn of(&self, kind: &str) -> &BTreeMap<i64, Thing> {
        match kind {
            "goal" => &self.goals,
            "step" => &self.steps,
            _ => &self.habits,
        }
    }

    fn of_mut(&mut self, kind: &str) -> &mut BTreeMap<i64, Thing> {
        match kind {
            "goal" => &mut self.goals,
            "step" => &mut self.steps,
            _ => &mut self.habits,
        }
    }

    /// Whether the action can be done now, `target` being what it names.
    pub(super) fn check(&self, action: &Action, target: i64) -> Result<(), &'static str> {
        let Some(kind) = action.names() else { return Ok(()) };
        let Some(thing) = self.of(kind).get(&target) else {
            return Err(match kind {
                "goal" => "Goal not found",
                "step" => "Step not found",
                _ => "Habit not found",
            });
        };
        let is_marked = || self.marks.contains(&(target, action.day()));
        match action.name {
            "goal.complete" if thing.is_done => Err("Goal already completed"),
            "goal.reopen" if !thing.is_done => Err("Goal is not completed"),
            "step.complete" if thing.is_done => Err("Step already completed"),
            "step.reopen" if !thing.is_done => Err("Step is not completed"),
            "habit.archive" if thing.is_done => Err("Habit already archived"),
            "habit.mark_completed" if thing.is_done => Err("Habit is archived"),
            "habit.mark_completed" if is_marked() => Err("Habit already completed"),
            "habit.unmark" if !is_marked() => Err("Habit is not completed"),
            _ => Ok(()),
        }
    }

    /// Runs a batch, `id_of` naming what its creating actions create. After a failure this model is worth nothing.
    pub(super) fn run(&mut self, batch: &[Action], id_of: impl Fn(usize) -> i64) -> Result<Ran, Failed> {
        let mut ran = Ran::default();
        for (at, action) in batch.iter().enumerate() {
            let target = match usize::try_from(-action.target - 1) {
                Ok(earlier) => id_of(earlier),
                Err(_) => action.target,
            };
            self.check(action, target).map_err(|error| {
                let cause = action.names().map_or(Cause::Elsewhere, |kind| ran.cause(&key(kind, target), &action.day()));
                Failed { at, error, cause }
            })?;
            let mut touched = BTreeSet::new();
            ran.done.push(self.act(action, target, || id_of(at), &mut touched));
            if !action.name.ends_with(".update") && action.name != "step.reorder" {
                ran.ended.extend(touched.iter().cloned());
            }
            ran.touched.extend(touched);
        }
        Ok(ran)
    }

    fn act(&mut self, action: &Action, target: i64, new_id: impl FnOnce() -> i64, touched: &mut BTreeSet<Key>) -> Done {
        let kind = action.kind();
        let mut done = Done { created: None, xp: 0 };
        let mut keys = vec![key(kind, target)];
        match action.name {
            "goal.create" | "habit.create" | "step.create" => {
                let id = new_id();
                done.created = Some(id);
                keys = vec![key(kind, id)];
                let goal = (kind == "step").then_some(target);
                self.of_mut(kind).insert(id, Thing { fields: fields(kind, &action.params), is_done: false, goal });
                match kind {
                    "goal" => {
                        self.orders.insert(id, Vec::new());
                        keys.push(Key::Order(id));
                    }
                    "step" => {
                        self.place(target, id, action.params.get("order"));
                        keys.push(Key::Order(target));
                    }
                    _ => keys.push(Key::Marks(id)),
                }
            }
            "goal.update" | "step.update" | "habit.update" => {
                if let Some(thing) = self.of_mut(kind).get_mut(&target) {
                    thing.fields.extend(cleaned(&action.params));
                }
            }
            "goal.complete" | "step.complete" => {
                self.set_done(kind, target, true);
                done.xp = award(kind);
            }
            "goal.reopen" | "step.reopen" => {
                self.set_done(kind, target, false);
                done.xp = -award(kind);
            }
            "goal.delete" => {
                for step in self.orders.remove(&target).unwrap_or_default() {
                    self.steps.remove(&step);
                    keys.push(Key::Step(step));
                }
                self.goals.remove(&target);
                keys.push(Key::Order(target));
            }
            "step.delete" | "step.reorder" => {
                let goal = self.steps.get(&target).and_then(|step| step.goal).unwrap_or_default();
                if let Some(order) = self.orders.get_mut(&goal) {
                    order.retain(|step| *step != target);
                }
                keys.push(Key::Order(goal));
                if action.name == "step.delete" {
                    self.steps.remove(&target);
                } else {
                    self.place(goal, target, action.params.get("order"));
                }
            }
            "habit.mark_completed" => {
                self.marks.insert((target, action.day()));
                keys = vec![Key::Mark(target, action.day())];
                done.xp = award(kind);
            }
            "habit.unmark" => {
                self.marks.remove(&(target, action.day()));
                keys = vec![Key::Mark(target, action.day())];
                done.xp = -award(kind);
            }
            "habit.archive" => self.set_done(kind, target, true),
            other => panic!("the model does not know {other}"),
        }
        if done.xp != 0 {
            *self.ledger.entry(format!("{kind} {target}")).or_default() += done.xp;
        }
        for key in keys {
            self.stamp(key.clone());
            touched.insert(key);
        }
        done
    }

    fn stamp(&mut self, key: Key) {
        self.changes += 1;
        self.stamps.insert(key, self.changes);
    }

    fn set_done(&mut self, kind: &str, id: i64, is_done: bool) {
        if let Some(thing) = self.of_mut(kind).get_mut(&id) {
            thing.is_done = is_done;
        }
    }

    /// Puts a step where it is wanted among the others: at the end when that is further, or nowhere said.
    fn place(&mut self, goal: i64, step: i64, wanted: Option<&Value>) {
        let order = self.orders.entry(goal).or_default();
        let wanted = wanted.and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
        order.insert(wanted.map_or(order.len(), |at| at.min(order.len())), step);
    }

    /// The numbers of the last changes of all that a batch names, as a preview remembers them.
    pub(super) fn look(&self, batch: &[Action]) -> Vec<Look> {
        let mut looks = Vec::new();
        for action in batch {
            let Some(kind) = action.names() else { continue };
            let made = usize::try_from(-1 - action.target).ok().map(|earlier| &batch[earlier]);
            if let Some(made) = made.filter(|made| action.name == "step.reorder" && self.goals.contains_key(&made.target)) {
                let key = Key::Order(made.target);
                looks.push(Look { through: Key::Goal(made.target), stamp: self.stamp_of(&key), key });
            }
            if !self.of(kind).contains_key(&action.target) {
                continue;
            }
            let through = key(kind, action.target);
            let mut keys = vec![through.clone()];
            match action.name {
                "step.create" if action.params.contains_key("order") => keys.push(Key::Order(action.target)),
                "habit.mark_completed" | "habit.unmark" => keys.push(Key::Mark(action.target, action.day())),
                "step.reorder" => keys.extend(self.steps[&action.target].goal.map(Key::Order)),
                "goal.delete" => {
                    keys.push(Key::Order(action.target));
                    keys.extend(self.orders[&action.target].iter().map(|step| Key::Step(*step)));
                }
                _ => {}
            }
            looks.extend(keys.into_iter().map(|key| Look { through: through.clone(), stamp: self.stamp_of(&key), key }));
        }
        looks
    }

    /// What has changed since and is still there.
    pub(super) fn stale(&self, seen: &[Look]) -> BTreeSet<Key> {
        let is_there = |key: &Key| match key {
            Key::Goal(id) | Key::Order(id) => self.goals.contains_key(id),
            Key::Step(id) => self.steps.contains_key(id),
            Key::Habit(id) | Key::Mark(id, _) | Key::Marks(id) => self.habits.contains_key(id),
        };
        let is_stale = |look: &&Look| is_there(&look.through) && is_there(&look.key) && self.stamp_of(&look.key) != look.stamp;
        seen.iter().filter(is_stale).map(|look| look.key.clone()).collect()
    }

    fn stamp_of(&self, key: &Key) -> u64 {
        self.stamps.get(key).copied().unwrap_or_default()
    }

    /// Takes back one batch: everything that it touched is as it was before it, and so is what the ledger says of each thing.
    pub(super) fn restore(&mut self, touched: &BTreeSet<Key>, before: &Self, after: &Self) {
        for key in touched {
            match key {
                Key::Goal(id) => copy(&mut self.goals, &before.goals, *id),
                Key::Step(id) => copy(&mut self.steps, &before.steps, *id),
                Key::Habit(id) => copy(&mut self.habits, &before.habits, *id),
                Key::Order(id) => copy(&mut self.orders, &before.orders, *id),
                Key::Marks(_) => {}
                Key::Mark(id, day) => {
                    let mark = (*id, day.clone());
                    if before.marks.contains(&mark) {
                        self.marks.insert(mark);
                    } else {
                        self.marks.remove(&mark);
                    }
                }
            }
            self.stamp(key.clone());
        }
        // A goal that is not there has no order either.
        self.orders.retain(|goal, _| self.goals.contains_key(goal));
        for goal in self.goals.keys() {
            self.orders.entry(*goal).or_default();
        }
        for (name, now) in &after.ledger {
            let change = now - before.ledger.get(name).copied().unwrap_or_default();
            *self.ledger.entry(name.clone()).or_default() -= change;
        }
    }

    /// Without the ledger, which never forgets; its sum is all that a person sees.
    pub(super) fn dump_of_things(&self) -> Value {
        let mut all = self.dump();
        all["ledger"].take();
        all
    }

    /// All of it, as `dump.sql` shows the database.
    pub(super) fn dump(&self) -> Value {
        let things = |all: &BTreeMap<i64, Thing>, done: &str, more: &dyn Fn(i64, &Thing) -> (&'static str, Value)| {
            let one = |(id, thing): (&i64, &Thing)| {
                let mut shown = thing.fields.clone();
                shown.insert(done.to_owned(), json!(thing.is_done));
                let (name, value) = more(*id, thing);
                shown.insert(name.to_owned(), value);
                (id.to_string(), Value::Object(shown))
            };
            all.iter().map(one).collect::<Fields>()
        };
        let order = |id: i64, _: &Thing| ("steps", json!(self.orders[&id].iter().enumerate().collect::<Vec<_>>()));
        let goal = |_: i64, step: &Thing| ("goal_id", json!(step.goal));
        let marks = |id: i64, _: &Thing| {
            ("marks", json!(self.marks.iter().filter(|(habit, _)| *habit == id).map(|(_, day)| day).collect::<Vec<_>>()))
        };
        json!({
            "goals": things(&self.goals, "is_completed", &order),
            "steps": things(&self.steps, "is_completed", &goal),
            "habits": things(&self.habits, "is_archived", &marks),
            "ledger": self.ledger,
            "xp": self.xp(),
            "crooked": [],
        })
    }
}

fn key(kind: &str, id: i64) -> Key {
    match kind {
        "goal" => Key::Goal(id),
        "step" => Key::Step(id),
        _ => Key::Habit(id),
    }
}

fn award(kind: &str) -> i64 {
    match kind {
        "goal" => 100,
        "step" => 25,
        _ => 10,
    }
}

fn copy<T: Clone>(to: &mut BTreeMap<i64, T>, from: &BTreeMap<i64, T>, id: i64) {
    to.remove(&id);
    to.extend(from.get(&id).map(|thing| (id, thing.clone())));
}
