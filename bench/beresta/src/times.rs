//! Moments on the clock that all processes of a benchmark read, and how long things took.

use std::time::SystemTime;

use serde_json::{Value, json};

/// Since 1970.
pub fn now_micros() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

/// The middle, the slow end and the longest of times in microseconds, each in milliseconds.
pub fn spread(mut micros: Vec<u64>) -> Value {
    micros.sort_unstable();
    let at = |part: f64| {
        micros.get(((micros.len() as f64 - 1.0) * part).round() as usize).map_or(0.0, |micros| *micros as f64 / 1000.0)
    };
    json!({"p50_ms": at(0.5), "p90_ms": at(0.9), "p99_ms": at(0.99), "max_ms": at(1.0)})
}
