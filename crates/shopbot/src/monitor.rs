//! The monitor: gives back what stuck senders hold, and looks for trouble that somebody should know of. Any number of
//! monitors may run; the database lets each thing be done once.

use std::time::{Duration, Instant};

use platform::{Db, DbError, wake::Topic};
use tokio_util::sync::CancellationToken;

use crate::store;

const LOOK_EVERY: Duration = Duration::from_secs(5);
const ALERTS_EVERY: Duration = Duration::from_secs(30);

pub async fn run(db: Db, stop: CancellationToken) {
    let mut alerts_at = Instant::now();
    loop {
        // First of all at the start: processes that die again and again within seconds would otherwise never look.
        if let Err(error) = look(&db).await {
            tracing::warn!(%error, "shopbot.look");
        }
        if alerts_at.elapsed() >= ALERTS_EVERY {
            alerts_at = Instant::now();
            if let Err(error) = check_alerts(&db).await {
                tracing::warn!(%error, "shopbot.alerts");
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// One look for leases that are over; how many there were.
pub async fn look(db: &Db) -> Result<i32, DbError> {
    let freed = store::expire_answer_leases(db.pool()).await?;
    if freed > 0 {
        tracing::warn!(freed, "shopbot.leases_expired");
        db.wake().tell(Topic::Answers);
    }
    Ok(freed)
}

/// One look for trouble; how many alerts were told.
pub async fn check_alerts(db: &Db) -> Result<i32, DbError> {
    let told = store::check_alerts(db.pool()).await?;
    if told > 0 {
        db.wake().tell(Topic::Jobs);
    }
    Ok(told)
}
