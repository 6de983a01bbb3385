//! The monitor: gives back what stuck senders hold. Any number of monitors may run; the database
//! lets each thing be done once.

use std::time::Duration;

use platform::{
    Db, DbError,
    db::{ANSWER_MAX, within},
};
use tokio_util::sync::CancellationToken;

use crate::store;

const LOOK_EVERY: Duration = Duration::from_secs(5);

pub async fn run(db: Db, stop: CancellationToken) {
    loop {
        // First of all at the start: processes that die again and again within seconds would otherwise never look.
        if let Err(error) = within(ANSWER_MAX, look(&db)).await {
            tracing::warn!(%error, "shopbot.look");
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
        db.wake().tell(crate::ANSWERS);
    }
    Ok(freed)
}
