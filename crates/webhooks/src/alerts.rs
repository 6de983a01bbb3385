//! How the alerts of webhooks are worded. What is wrong is found by `webhooks.find_trouble`.

use platform::alerts::{AlertKind, AlertSource};

pub const ALERTS: AlertSource = AlertSource {
    module: "webhooks",
    kinds: &[
        AlertKind {
            name: "stopped_webhooks",
            title: "webhooks that were stopped because their receiver fails or wants no more",
            advice: "Mend the receiver and enable the webhook on the page or with `beresta webhook enable`.",
            page: "/console/webhooks",
        },
        AlertKind {
            name: "dead_events",
            title: "events that a receiver did not get",
            advice: "Mend the receiver; `beresta webhook resend` sends one again.",
            page: "/console/webhooks?status=dead",
        },
    ],
};
