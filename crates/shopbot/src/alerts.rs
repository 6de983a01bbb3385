//! How the alerts of the shop bot are worded. What is wrong is found by `shopbot.find_trouble`.

use platform::alerts::{AlertKind, AlertSource};

pub const ALERTS: AlertSource = AlertSource {
    module: "shopbot",
    kinds: &[
        AlertKind {
            name: "error_rate",
            title: "too many messages to the bot go wrong",
            advice: "The page says how.",
            page: "/console/bots",
        },
        AlertKind {
            name: "late_answers",
            title: "answers of the bot that are late",
            advice: "Check its token and the provider.",
            page: "/console/bots",
        },
    ],
};
