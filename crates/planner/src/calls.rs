//! Calls of tools that are under way in this process: how many there may be, and the word that the last one has ended. A call outlives its
//! connection, so whoever stops the process has to wait here before taking the database away.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

/// Each holds its arguments until it ends.
const IN_ALL_MAX: usize = 1024;
/// So that one person's calls, which wait for each other, leave places for everybody else.
const PER_PERSON_MAX: usize = 256;
/// Longer than calls are given to end by themselves after the word to stop.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Calls {
    people: Mutex<HashMap<i64, usize>>,
    under_way: TaskTracker,
    in_all_max: usize,
    per_person_max: usize,
}

impl Default for Calls {
    fn default() -> Self {
        Self::new(IN_ALL_MAX, PER_PERSON_MAX)
    }
}

impl Calls {
    fn new(in_all_max: usize, per_person_max: usize) -> Self {
        let under_way = TaskTracker::new();
        // Closed means that there is no task beyond those that hold a token: then the last of them is the end.
        under_way.close();
        Self { people: Mutex::default(), under_way, in_all_max, per_person_max }
    }

    /// A place for one more call of a person; nothing when there are too many.
    pub(crate) fn begin(self: &Arc<Self>, person: i64) -> Option<CallPlace> {
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = people.get(&person).copied().unwrap_or(0);
        if self.under_way.len() >= self.in_all_max || theirs >= self.per_person_max {
            return None;
        }
        people.insert(person, theirs + 1);
        Some(CallPlace { calls: Arc::clone(self), person, _token: self.under_way.token() })
    }

    /// Waits until every call has ended, and its row in the request log is written; not for ever.
    pub(crate) async fn ended(&self) {
        if tokio::time::timeout(PATIENCE, self.under_way.wait()).await.is_err() {
            tracing::warn!(calls = self.under_way.len(), "planner.calls_left");
        }
    }
}

/// The place of one call, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct CallPlace {
    calls: Arc<Calls>,
    person: i64,
    _token: TaskTrackerToken,
}

impl Drop for CallPlace {
    fn drop(&mut self) {
        let mut people = self.calls.people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut theirs) = people.entry(self.person) {
            *theirs.get_mut() -= 1;
            if *theirs.get() == 0 {
                theirs.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn there_are_so_many_places_for_one_person_and_in_all_and_the_end_is_when_the_last_is_given_back() {
        let calls = Arc::new(Calls::new(3, 2));
        let first = calls.begin(1).unwrap();
        let second = calls.begin(1).unwrap();
        assert!(calls.begin(1).is_none(), "of one person");
        let third = calls.begin(2).unwrap();
        assert!(calls.begin(3).is_none(), "in all");
        drop(first);
        assert!(tokio::time::timeout(Duration::ZERO, calls.under_way.wait()).await.is_err());
        drop((second, third));
        calls.ended().await;
        assert!(calls.people.lock().unwrap().is_empty() && calls.begin(1).is_some());
    }
}
