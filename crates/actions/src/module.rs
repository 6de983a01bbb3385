//! What actions bring to the program, and the settings that are theirs.

use std::{sync::Arc, time::Duration};

use platform::{
    Db,
    console::MenuEntry,
    http::with_cors,
    module::{Metric, Module, Role, Service},
    settings::{Setting, SettingError, Values, setting},
};
use utoipa::OpenApi;

use crate::{SQL, StreamLimits, http, retention, scopes, watchdog};

const SETTINGS: &[Setting] = &[
    setting(
        "bot_action_max_processing_hours",
        "BOT_ACTION_MAX_PROCESSING_HOURS",
        "2",
        "how long an action of a bot may be processing before it counts as lost",
    ),
    setting(
        "bot_action_watchdog_interval_minutes",
        "BOT_ACTION_WATCHDOG_INTERVAL_MINUTES",
        "30",
        "how often lost actions are looked for",
    ),
    setting(
        "chat_origins",
        "BERESTA_CHAT_ORIGINS",
        "",
        "origins whose pages may call the chat API, such as https://app.example.org; besides localhost and the public address",
    ),
    setting("streams_max", "BERESTA_STREAMS_MAX", "8000", "how many people watch chats through this process at once"),
    setting("streams_per_token_max", "BERESTA_STREAMS_PER_TOKEN_MAX", "1000", "how many of them with one token"),
    setting("streams_per_address_max", "BERESTA_STREAMS_PER_ADDRESS_MAX", "1000", "how many of them from one address"),
];

#[derive(Clone, Debug)]
pub struct ActionsSettings {
    pub http: http::ChatSettings,
    /// Whose pages may call the chat API.
    pub origins: Vec<String>,
    pub watchdog_interval: Duration,
}

impl ActionsSettings {
    pub fn read(values: &Values) -> Result<Self, SettingError> {
        let limits = StreamLimits {
            streams_max: values.count("streams_max", 1, 1_000_000)?,
            per_token_max: values.count("streams_per_token_max", 1, 1_000_000)?,
            per_address_max: values.count("streams_per_address_max", 1, 1_000_000)?,
            ..StreamLimits::default()
        };
        let processing_max = values.span("bot_action_max_processing_hours", 3600.0)?;
        Ok(Self {
            http: http::ChatSettings { processing_max, limits },
            origins: values.origins("chat_origins")?,
            watchdog_interval: values.span("bot_action_watchdog_interval_minutes", 60.0)?,
        })
    }
}

pub const MODULE: Module = Module {
    sql: SQL,
    settings: SETTINGS,
    metrics: &[
        Metric::Counter("actions_timeouts_total", "actions that the watchdog ended because their deadline was over"),
        Metric::Gauge("actions_streams_open", "people who watch a chat through this process right now"),
    ],
    scopes: scopes::ALL,
    alerts: None,
    openapi: Some(<http::Docs as OpenApi>::openapi),
};

/// The console has the pages.
pub const MENU: &[MenuEntry] = &[MenuEntry { path: "chats", title: "Chats", topics: &["chat"] }];

/// The surface is shared with the console, so that the limits of streams count both.
pub fn service(db: &Db, settings: ActionsSettings, surface: Arc<http::Surface>) -> Service {
    let ActionsSettings { origins, watchdog_interval, .. } = settings;
    let db = db.clone();
    let look = move || {
        let db = db.clone();
        async move { watchdog::look(&db).await }
    };
    Service::default().routes(with_cors(http::router(surface), origins, [])).retention(retention::rules()).menu(MENU).look_every(
        Role::Monitor,
        "actions.watchdog",
        watchdog_interval,
        look,
    )
}
