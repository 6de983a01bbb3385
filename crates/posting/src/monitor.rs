//! The monitor: gives back what stuck workers hold. Any number of monitors may run; the database lets each row be
//! freed once.

use std::time::Duration;

use platform::{Db, wake::Topic};
use tokio_util::sync::CancellationToken;

use crate::store;

const LOOK_EVERY: Duration = Duration::from_secs(5);

pub async fn run(db: Db, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        match store::expire_leases(db.pool()).await {
            Ok(0) => {}
            Ok(freed) => {
                tracing::warn!(freed, "monitor.leases_expired");
                db.wake().tell(Topic::Deliveries);
            }
            Err(error) => tracing::warn!(%error, "monitor.expire_leases"),
        }
    }
}
