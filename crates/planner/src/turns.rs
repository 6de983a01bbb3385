//! Turns inside one process: whoever changes what belongs to one person waits here, before taking a connection. The database makes people
//! wait as well (`planner.take_turn`), across processes; without this a thousand calls for one person would hold the whole pool meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use platform::DbError;
use tokio::sync::{Mutex as Line, OwnedMutexGuard};

/// Beyond so many, those whose turn nobody waits for are forgotten.
const KNOWN_MAX: usize = 1024;
/// A batch of fifty takes a second, and the database ends a statement that takes half a minute. What takes longer than this waits for an answer that
/// the network has swallowed.
const TURN_MAX: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub(crate) struct Turns {
    people: Mutex<HashMap<i64, Weak<Line<()>>>>,
    turn_max: Duration,
}

impl Default for Turns {
    fn default() -> Self {
        Self::new(TURN_MAX)
    }
}

/// The turn of a person, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _guard: OwnedMutexGuard<()>,
    max: Duration,
}

impl Turn {
    /// Does this, and gives the turn back. It is given up when nobody can be waiting for a good end any more: the next ones of this person wait for it.
    pub(crate) async fn during<T, E: From<DbError>>(self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        match tokio::time::timeout(self.max, work).await {
            Ok(result) => result,
            Err(_elapsed) => Err(DbError::Unavailable(sqlx::Error::PoolTimedOut).into()),
        }
    }
}

impl Turns {
    fn new(turn_max: Duration) -> Self {
        Self { people: Mutex::default(), turn_max }
    }

    /// Waits for the person's turn, which lasts while the guard lives. In the order of coming. Whoever gives up waiting has had none.
    pub(crate) async fn take(&self, person: i64) -> Turn {
        Turn { _guard: self.line_of(person).lock_owned().await, max: self.turn_max }
    }

    fn line_of(&self, person: i64) -> Arc<Line<()>> {
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = people.get(&person).and_then(Weak::upgrade) {
            return line;
        }
        if people.len() >= KNOWN_MAX {
            people.retain(|_, line| line.strong_count() > 0);
        }
        let line = Arc::default();
        people.insert(person, Arc::downgrade(&line));
        line
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const AT_ONCE: Duration = Duration::ZERO;

    #[tokio::test]
    async fn a_person_has_one_turn_at_a_time_and_waits_for_nobody_else() {
        let turns = Turns::default();
        let first = turns.take(7).await;
        assert!(timeout(AT_ONCE, turns.take(7)).await.is_err());
        for other in 8..200 {
            assert!(timeout(AT_ONCE, turns.take(other)).await.is_ok());
        }
        drop(first);
        assert!(timeout(AT_ONCE, turns.take(7)).await.is_ok());
    }

    #[tokio::test]
    async fn a_turn_whose_answer_never_comes_ends_and_the_next_one_has_it() {
        let turns = Turns::new(Duration::from_millis(20));
        let lost: Result<(), DbError> = turns.take(7).await.during(std::future::pending()).await;
        assert!(lost.unwrap_err().is_retryable());
        let next: Result<i32, DbError> = turns.take(7).await.during(async { Ok(1) }).await;
        assert_eq!(next.unwrap(), 1);
    }

    #[tokio::test]
    async fn only_those_who_wait_are_remembered() {
        let turns = Turns::default();
        let held = turns.take(0).await;
        for person in 1..5000 {
            drop(turns.take(person).await);
        }
        assert!(turns.people.lock().unwrap().len() <= KNOWN_MAX);
        assert!(timeout(AT_ONCE, turns.take(0)).await.is_err(), "whoever has a turn keeps it");
        drop(held);
    }
}
