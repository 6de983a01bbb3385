//! Waiting for a fact, never for a time.

use std::time::{Duration, Instant};

/// Long enough for a busy machine; nothing waits this long unless it is broken.
pub const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);

/// Looks until the fact is there.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "still waiting: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
