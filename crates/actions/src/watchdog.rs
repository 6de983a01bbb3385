//! The watchdog: ends actions whose deadline is over, so that no chat waits for a worker that died. Any number of watchdogs may run; the
//! database lets each action be ended once.

use std::time::Duration;

use platform::{Db, DbError, wake::Topic};

use crate::store;

/// How long an action may be processing (`BOT_ACTION_MAX_PROCESSING_HOURS`).
pub const PROCESSING_MAX: Duration = Duration::from_hours(2);
/// How often the watchdog looks (`BOT_ACTION_WATCHDOG_INTERVAL_MINUTES`).
pub const LOOK_EVERY: Duration = Duration::from_mins(30);
/// Actions that end in one transaction.
const BATCH: i32 = 100;

/// One look for everything that is overdue; how many actions it ended.
pub async fn look(db: &Db) -> Result<i32, DbError> {
    let mut all = 0;
    loop {
        let ended = store::expire_overdue(db.pool(), BATCH).await?;
        all += ended;
        if ended > 0 {
            tracing::warn!(ended, "actions.timeout");
            metrics::counter!("actions_timeouts_total").increment(u64::try_from(ended).unwrap_or_default());
            db.wake().tell(Topic::BUS);
        }
        if ended < BATCH {
            return Ok(all);
        }
    }
}
