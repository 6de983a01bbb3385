//! The loop of a worker that looks for something again and again: leases that are over, actions whose deadline is over.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{
    DbError,
    db::{ANSWER_MAX, within},
};

/// When a look that failed because the database was away is taken again.
const AFTER_A_FAILURE: Duration = Duration::from_secs(10);

/// Looks until told to stop, first of all at the start: a process that is restarted more often than it looks would otherwise never look. A look
/// that has no answer is given up, and a stop waits for none.
pub(crate) async fn look_every<T, R: Future<Output = Result<T, DbError>>>(
    name: &str,
    every: Duration,
    look: impl Fn() -> R,
    stop: CancellationToken,
) {
    let looking = async {
        loop {
            let wait = match within(ANSWER_MAX, look()).await {
                Ok(_) => every,
                Err(error) => {
                    tracing::warn!(%error, worker = name, "worker.look");
                    if error.is_retryable() { every.min(AFTER_A_FAILURE) } else { every }
                }
            };
            tokio::time::sleep(wait).await;
        }
    };
    tokio::select! {
        () = looking => {}
        () = stop.cancelled() => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::Instant;

    use super::*;

    const EVERY: Duration = Duration::from_mins(30);

    /// The seconds at which looks began in the first two hours, where a look ends as `ends` says of its number.
    async fn looks(ends: impl AsyncFn(usize) -> Result<(), DbError>) -> Vec<u64> {
        let (started, began) = (Instant::now(), Mutex::new(Vec::new()));
        let look = || async {
            let number = {
                let mut began = began.lock().unwrap();
                began.push(started.elapsed().as_secs());
                began.len() - 1
            };
            ends(number).await
        };
        let stop = CancellationToken::new();
        let stopping = async {
            tokio::time::sleep(Duration::from_mins(119)).await;
            stop.cancel();
        };
        tokio::join!(look_every("test", EVERY, look, stop.clone()), stopping);
        began.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_looks_at_its_start_and_then_again_and_again_until_it_is_stopped() {
        assert_eq!(looks(async |_| Ok(())).await, [0, 1800, 3600, 5400]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_without_an_answer_is_given_up_after_a_minute_and_taken_again_soon() {
        let first_is_lost = async |number| if number == 0 { std::future::pending().await } else { Ok(()) };
        assert_eq!(looks(first_is_lost).await, [0, 70, 1870, 3670, 5470]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_is_a_mistake_of_ours_is_not_taken_again_sooner() {
        let mistaken = async |_| Err(DbError::Bug(sqlx::Error::RowNotFound));
        assert_eq!(looks(mistaken).await, [0, 1800, 3600, 5400]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_does_not_wait_for_a_look() {
        let stop = CancellationToken::new();
        let look = || async {
            stop.cancel();
            std::future::pending::<Result<(), DbError>>().await
        };
        let started = Instant::now();
        look_every("test", EVERY, look, stop.clone()).await;
        assert_eq!(started.elapsed(), Duration::ZERO);
    }
}
