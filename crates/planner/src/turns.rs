//! Turns inside one process: whoever changes what belongs to one person waits here, before taking a connection. The database makes people
//! wait as well (`planner.take_turn`), across processes; without this a thousand calls for one person would hold the whole pool meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Beyond so many, those whose turn nobody waits for are forgotten.
const KNOWN_MAX: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Turns {
    people: Mutex<HashMap<i64, Weak<Turn<()>>>>,
}

impl Turns {
    /// Waits for the person's turn, which lasts while the guard lives. In the order of coming. Whoever gives up waiting has had none.
    pub(crate) async fn take(&self, person: i64) -> OwnedMutexGuard<()> {
        self.of(person).lock_owned().await
    }

    fn of(&self, person: i64) -> Arc<Turn<()>> {
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = people.get(&person).and_then(Weak::upgrade) {
            return turn;
        }
        if people.len() >= KNOWN_MAX {
            people.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::default();
        people.insert(person, Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
