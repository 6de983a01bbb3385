//! What became of a batch, and what its changes are about.

use std::collections::BTreeSet;

/// What a change is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Goal(i64),
    Step(i64),
    Habit(i64),
    Mark(i64, String),
    /// All marks of a habit: they come and go with it.
    Marks(i64),
    /// The steps of a goal, in their order.
    Order(i64),
}

impl Key {
    /// Whether a change of one is a change of the other.
    pub(super) fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Marks(habit), Self::Mark(of, _)) | (Self::Mark(of, _), Self::Marks(habit)) => habit == of,
            _ => self == other,
        }
    }
}

/// Whose doing it is that an action cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// An earlier action of the batch made, ended or deleted what this one names: the preview warns.
    Own,
    /// None did: there is no preview. The steps of a goal and another day of a habit are not the goal and the habit.
    Elsewhere,
}

#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) at: usize,
    pub(super) error: &'static str,
    pub(super) cause: Cause,
}

#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) created: Option<i64>,
    pub(super) xp: i64,
}

/// What a whole batch did.
#[derive(Clone, Debug, Default)]
pub(super) struct Ran {
    pub(super) done: Vec<Done>,
    pub(super) touched: BTreeSet<Key>,
    /// What it made, completed, reopened, marked or deleted: what a later action can fail by.
    pub(super) ended: BTreeSet<Key>,
}

impl Ran {
    pub(super) fn xp(&self) -> i64 {
        self.done.iter().map(|done| done.xp).sum()
    }

    /// Why something cannot be done with this thing, or with this day of it, after all that.
    pub(super) fn cause(&self, named: &Key, day: &str) -> Cause {
        let is_its_day = |key: &Key| matches!((named, key), (Key::Habit(id), Key::Mark(habit, of)) if id == habit && of == day);
        if self.ended.contains(named) || self.ended.iter().any(is_its_day) { Cause::Own } else { Cause::Elsewhere }
    }
}
