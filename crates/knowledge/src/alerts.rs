//! How the alerts of knowledge are worded; what is wrong is found by `knowledge.find_trouble`.

use platform::alerts::{AlertKind, AlertSource};

pub const ALERTS: AlertSource = AlertSource {
    module: "knowledge",
    kinds: &[
        AlertKind {
            name: "unreadable_documents",
            title: "documents of a chat that could not be read",
            advice: "Open one and read its reason; files of a kind that is not known can be shared as PDF.",
            page: "/console/knowledge",
        },
        AlertKind {
            name: "bot_transport",
            title: "updates of a bot do not come",
            advice: "Check the address of the webhook, its certificate and the token of the bot.",
            page: "/console/knowledge",
        },
    ],
};
