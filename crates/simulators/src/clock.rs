//! Provider time: a webhook retry of 60 s takes 60 s × `scale` here, so that a test sees hours of retries at once.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use tokio::time::Instant;

/// Below this a failing webhook would be called in a tight loop.
pub(crate) const SCALE_MIN: f64 = 0.000_001;
pub(crate) const SCALE_MAX: f64 = 1_000.0;

pub(crate) struct Clock {
    scale: watch::Sender<f64>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { scale: watch::Sender::new(1.0) }
    }
}

impl Clock {
    pub(crate) fn set_scale(&self, scale: f64) {
        self.scale.send_replace(scale.clamp(SCALE_MIN, SCALE_MAX));
    }

    pub(crate) fn scale(&self) -> f64 {
        *self.scale.borrow()
    }

    /// How much provider time has passed since `start`.
    pub(crate) fn since(&self, start: Instant) -> Duration {
        Duration::try_from_secs_f64(start.elapsed().as_secs_f64() / self.scale()).unwrap_or(Duration::MAX)
    }

    /// Sleeps that long in provider time. A change of the scale is felt by those already asleep.
    pub(crate) async fn sleep(&self, provider_time: Duration) {
        let mut scale = self.scale.subscribe();
        let mut left = provider_time.as_secs_f64();
        while left > 0.0 {
            let now_scale = *scale.borrow_and_update();
            let started = Instant::now();
            let real = Duration::try_from_secs_f64(left * now_scale).unwrap_or(Duration::MAX);
            tokio::select! {
                () = tokio::time::sleep(real) => return,
                changed = scale.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    left -= started.elapsed().as_secs_f64() / now_scale;
                }
            }
        }
    }
}

/// Milliseconds since the epoch.
pub(crate) fn unix_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}
