//! How the alerts of posting are worded. What is wrong is found by `posting.find_trouble`.

use platform::alerts::{AlertKind, AlertSource};

pub const ALERTS: AlertSource = AlertSource {
    module: "posting",
    kinds: &[
        AlertKind {
            name: "dead_letters",
            title: "deliveries that are dead after their last attempt",
            advice: "`beresta ops requeue-dead` sends them again.",
            page: "/console/posts",
        },
        AlertKind {
            name: "failures",
            title: "deliveries that failed for good in the last ten minutes",
            advice: "`beresta ops errors` says why.",
            page: "/console/events",
        },
        AlertKind {
            name: "paused_channels",
            title: "paused channels",
            advice: "They are probed again by themselves; `beresta ops enable` opens one now.",
            page: "/console/channels",
        },
        AlertKind {
            name: "disabled_channels",
            title: "channels that were disabled after failing again and again",
            advice: "`beresta ops enable` brings one back.",
            page: "/console/channels",
        },
        AlertKind {
            name: "credential_missing",
            title: "channels whose token is missing or refused",
            advice: "Set the variable or write the file that posting.credential_bindings names, then `beresta ops enable`.",
            page: "/console/channels",
        },
        AlertKind {
            name: "failing_sources",
            title: "sources that fail again and again",
            advice: "They are asked less and less often until they answer.",
            page: "/console/ingest",
        },
        AlertKind {
            name: "orphan_events",
            title: "events that refer to nothing",
            advice: "Rows were removed by hand, or a restore is incomplete.",
            page: "/console/events",
        },
    ],
};
