//! Queues by key, one worker each: what belongs to one chat goes out in order, different chats in parallel.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use crate::sync::lock;

/// A lane exists exactly while a worker runs it, so that an idle chat costs nothing.
pub(crate) struct Lanes<T>(Mutex<HashMap<i64, VecDeque<T>>>);

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Lanes<T> {
    /// Adds to the lane of `key`. True: the lane is new, and the caller starts its worker.
    #[must_use]
    pub(crate) fn push(&self, key: i64, item: T) -> bool {
        let mut lanes = lock(&self.0);
        let is_new = !lanes.contains_key(&key);
        lanes.entry(key).or_default().push_back(item);
        is_new
    }

    /// The next item for the worker of `key`. `None` closes the lane: the worker ends.
    pub(crate) fn next(&self, key: i64) -> Option<T> {
        let mut lanes = lock(&self.0);
        let item = lanes.get_mut(&key).and_then(VecDeque::pop_front);
        if item.is_none() {
            lanes.remove(&key);
        }
        item
    }
}
