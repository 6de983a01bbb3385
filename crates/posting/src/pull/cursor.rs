//! How far a source has been read, and when to look again.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{config::SourceConfig, database::Mark, item::hashed_key};

/// A source that fails is asked at most this rarely, however often it has failed.
const PAUSE_MAX: Duration = Duration::from_hours(6);

/// `posting.pull_cursors.cursor_json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SourceCursor {
    /// How many pulls were taken; a pull that started from an older number is too late.
    pub(super) runs: u64,
    /// Whether the first run is over.
    pub(super) started: bool,
    /// Which address or query all of this is about.
    pub(super) place: String,
    pub(super) failures: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_pull_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_modified: Option<String>,
    /// The cursor of an API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_seen_ts: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_seen_id: Option<String>,
    /// What somebody else wrote here stays.
    #[serde(flatten)]
    pub(super) others: Map<String, Value>,
}

impl SourceCursor {
    /// The cursor as it counts for these settings: for another address or another query, reading starts anew.
    pub(super) fn load(json: &Value, config: &SourceConfig) -> Result<Self, String> {
        let cursor: Self = serde_json::from_value(json.clone())
            .map_err(|_| "the cursor of this source cannot be read: delete its row, and the source starts anew")?;
        let place = hashed_key(&[&config.place()]);
        if cursor.place == place {
            return Ok(cursor);
        }
        Ok(Self { runs: cursor.runs, next_pull_at: cursor.next_pull_at, place, ..Self::default() })
    }

    pub(super) fn mark(&self) -> Option<Mark> {
        Some(Mark { ts: self.last_seen_ts?, id: self.last_seen_id.clone()? })
    }

    /// A pull went well: look again after the usual time, or at once while there is more.
    pub(super) fn went_well(&mut self, now: Timestamp, config: &SourceConfig, is_more: bool) {
        let wait = if is_more { 0 } else { i64::from(config.every_seconds) };
        self.failures = 0;
        self.next_pull_at = Some(later(now, SignedDuration::from_secs(wait)));
    }
}

/// How long to leave a source alone that has failed this many times in a row.
pub(super) fn pause(every_seconds: u32, failures: u32, retry_after: Option<Duration>) -> Duration {
    let every = Duration::from_secs(u64::from(every_seconds));
    let growing = every.saturating_mul(1 << failures.min(16)).min(PAUSE_MAX.max(every));
    growing.max(retry_after.unwrap_or_default().min(Duration::from_hours(24)))
}

pub(super) fn later(now: Timestamp, wait: SignedDuration) -> Timestamp {
    now.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(url: &str) -> SourceConfig {
        SourceConfig::parse("rss", &json!({"url": url})).unwrap()
    }

    #[test]
    fn the_pause_grows_with_every_failure_up_to_a_quarter_of_a_day() {
        let pauses: Vec<u64> = (1..9).map(|failures| pause(300, failures, None).as_secs()).collect();
        assert_eq!(pauses, [600, 1200, 2400, 4800, 9600, 19200, 21600, 21600]);
        assert_eq!(pause(86_400, 3, None), Duration::from_hours(24));
        assert_eq!(pause(10, 1, Some(Duration::from_mins(10))), Duration::from_mins(10));
        assert_eq!(pause(10, u32::MAX, Some(Duration::MAX)), Duration::from_hours(24));
    }

    #[test]
    fn a_cursor_of_another_address_does_not_count() {
        let (old, new) = (config("https://example.org/a"), config("https://example.org/b"));
        let mut cursor = SourceCursor::load(&json!({}), &old).unwrap();
        cursor.runs = 7;
        cursor.etag = Some("x".into());
        cursor.went_well("2026-03-02T09:00:00Z".parse().unwrap(), &old, false);
        let stored = serde_json::to_value(&cursor).unwrap();
        assert_eq!(SourceCursor::load(&stored, &old).unwrap(), cursor);
        let anew = SourceCursor::load(&stored, &new).unwrap();
        assert_eq!((anew.runs, anew.started, anew.etag), (7, false, None));
    }

    #[test]
    fn a_cursor_that_was_spoiled_by_hand_is_refused_with_what_to_do() {
        assert!(
            SourceCursor::load(&json!({"runs": "many"}), &config("https://example.org/")).unwrap_err().contains("delete its row")
        );
    }
}
