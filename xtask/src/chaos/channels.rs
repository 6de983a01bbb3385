//! The channels of a run, as the harness knows them: its own list, against which routing and limits are judged.

use serde_json::{Value, json};

/// What all channels of one provider may send in a second together.
pub(super) const GROUP_RATE: f64 = 40.0;
/// The tag that filters look at.
pub(super) const TAG: &str = "special";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Everything,
    Special,
    NotSpecial,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ChaosChannel {
    pub(super) id: &'static str,
    pub(super) platform: &'static str,
    pub(super) target: &'static str,
    /// A second; nothing means as fast as it goes.
    pub(super) rate: Option<f64>,
    pub(super) parallel: u32,
    /// `on_unknown: hold`.
    pub(super) holds: bool,
    pub(super) filter: Filter,
}

const fn telegram(
    id: &'static str,
    target: &'static str,
    rate: Option<f64>,
    parallel: u32,
    holds: bool,
    filter: Filter,
) -> ChaosChannel {
    ChaosChannel { id, platform: "telegram", target, rate, parallel, holds, filter }
}

const fn max(
    id: &'static str,
    target: &'static str,
    rate: Option<f64>,
    parallel: u32,
    holds: bool,
    filter: Filter,
) -> ChaosChannel {
    ChaosChannel { id, platform: "max", target, rate, parallel, holds, filter }
}

use Filter::{Everything, NotSpecial, Special};

pub(super) const CHANNELS: [ChaosChannel; 20] = [
    telegram("tg-one", "-1001000000001", None, 1, false, Everything),
    telegram("tg-one-more", "-1001000000002", None, 1, false, Everything),
    telegram("tg-three", "-1001000000003", None, 3, false, Everything),
    telegram("tg-three-more", "-1001000000004", None, 3, false, Everything),
    telegram("tg-slow", "-1001000000005", Some(5.0), 1, false, Everything),
    telegram("tg-slow-three", "-1001000000006", Some(5.0), 3, false, Everything),
    telegram("tg-hold", "-1001000000007", None, 3, true, Everything),
    telegram("tg-slow-hold", "-1001000000008", Some(8.0), 2, true, Everything),
    telegram("tg-special", "-1001000000009", None, 2, false, Special),
    telegram("tg-plain", "-1001000000010", None, 2, false, NotSpecial),
    max("max-one", "-70000000000001", None, 1, false, Everything),
    max("max-one-more", "-70000000000002", None, 1, false, Everything),
    max("max-three", "-70000000000003", None, 3, false, Everything),
    max("max-three-more", "-70000000000004", None, 3, false, Everything),
    max("max-slow-three", "-70000000000005", Some(5.0), 3, false, Everything),
    max("max-ten", "-70000000000006", Some(10.0), 5, false, Everything),
    max("max-hold", "-70000000000007", None, 1, true, Everything),
    max("max-hold-three", "-70000000000008", None, 3, true, Everything),
    max("max-special", "-70000000000009", None, 2, false, Special),
    max("max-plain", "-70000000000010", None, 3, false, NotSpecial),
];

impl ChaosChannel {
    pub(super) fn takes(&self, is_special: bool) -> bool {
        match self.filter {
            Everything => true,
            Special => is_special,
            NotSpecial => !is_special,
        }
    }

    pub(super) fn row(&self) -> Value {
        json!({
            "channel_id": self.id, "platform": self.platform, "target_id": self.target, "rate_rps": self.rate,
            "max_parallel": self.parallel,
            "settings": if self.holds { json!({"on_unknown": "hold"}) } else { json!({}) },
            "route_filter": match self.filter {
                Everything => Value::Null,
                Special => json!({"include_any": [TAG]}),
                NotSpecial => json!({"exclude": [TAG]}),
            },
        })
    }
}
