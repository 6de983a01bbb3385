//! Where Rust takes the time from, so that a test can let seven days pass.
//!
//! The database has its own door to the time, `platform.now()`; a frozen clock and that function are kept
//! together by the test database, which hands the clock's time to every connection it lends.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// The system's time, or a time that only moves when told to. Clones share the frozen time.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    frozen: Option<Arc<Mutex<Timestamp>>>,
}

impl Clock {
    pub fn system() -> Self {
        Self { frozen: None }
    }

    pub fn frozen(at: Timestamp) -> Self {
        Self { frozen: Some(Arc::new(Mutex::new(at))) }
    }

    pub fn now(&self) -> Timestamp {
        self.frozen_at().unwrap_or_else(Timestamp::now)
    }

    /// The frozen time, or nothing for the system's clock.
    pub fn frozen_at(&self) -> Option<Timestamp> {
        let frozen = self.frozen.as_ref()?;
        Some(*frozen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Moves a frozen clock. The system's clock cannot be moved, so asking for it is a mistake in a test.
    pub fn advance(&self, by: SignedDuration) {
        let frozen = self.frozen.as_ref().expect("only a frozen clock can be moved");
        let mut at = frozen.lock().unwrap_or_else(PoisonError::into_inner);
        *at += by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_clock_moves_only_when_told_and_its_clones_move_with_it() {
        let start: Timestamp = "2026-02-11T11:45:12Z".parse().unwrap();
        let clock = Clock::frozen(start);
        let clone = clock.clone();
        assert_eq!(clone.now(), start);
        clock.advance(SignedDuration::from_hours(7 * 24));
        assert_eq!(clone.now().to_string(), "2026-02-18T11:45:12Z");
    }
}
