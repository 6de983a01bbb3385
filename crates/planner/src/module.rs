//! What the planner brings to the program, and the settings that are its own.

use std::time::Duration;

use platform::{
    console::MenuEntry,
    module::{Metric, Module, Service},
    settings::{Setting, SettingError, Values, list, setting},
};

use crate::{EngineSettings, Planner, SQL, mcp, retention, scopes};

const SETTINGS: &[Setting] = &[
    setting(
        "mcp_hosts",
        "BERESTA_MCP_HOSTS",
        "",
        "more names by which assistants call /mcp, besides localhost and the public address",
    ),
    setting(
        "mcp_origins",
        "BERESTA_MCP_ORIGINS",
        "",
        "origins whose pages may call /mcp, such as https://app.example.org; besides localhost and the public address",
    ),
    setting(
        "planner_results_hours",
        "BERESTA_PLANNER_RESULTS_HOURS",
        "168",
        "how long the answer of an applied batch is kept for retries with its key",
    ),
];

#[derive(Clone, Debug)]
pub struct PlannerSettings {
    pub mcp: mcp::McpSettings,
    pub results: EngineSettings,
}

impl PlannerSettings {
    pub fn read(values: &Values) -> Result<Self, SettingError> {
        let results_kept = Duration::from_hours(values.number("planner_results_hours", 24, 24 * 3650)?);
        Ok(Self { mcp: read_mcp(values)?, results: EngineSettings { results_kept } })
    }
}

/// Whom /mcp answers: this machine and the public address always, others by name.
fn read_mcp(values: &Values) -> Result<mcp::McpSettings, SettingError> {
    let mut settings = mcp::McpSettings { origins: values.origins("mcp_origins")?, ..mcp::McpSettings::default() };
    let is_host = |host: &String| host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']'));
    let hosts = |value: &str| Some(list(value)).filter(|hosts| hosts.iter().all(is_host));
    settings.hosts.extend(values.parsed("mcp_hosts", "a list of host names separated by commas", hosts)?);
    if let Some(public) = values.optional_url("public_url")? {
        let authority = public.split_once("://").and_then(|(_, rest)| rest.split('/').next());
        // Clients leave the default port out.
        let default_port = if public.starts_with("https://") { ":443" } else { ":80" };
        settings.hosts.extend(authority.map(|host| host.strip_suffix(default_port).unwrap_or(host).to_owned()));
    }
    Ok(settings)
}

pub const MODULE: Module = Module {
    sql: SQL,
    settings: SETTINGS,
    metrics: &[
        Metric::Counter("planner_batches_total", "batches of actions that were applied"),
        Metric::Histogram("planner_call_seconds", "how long calls of assistants took"),
    ],
    scopes: scopes::ALL,
    alerts: None,
    // MCP describes itself to its clients.
    openapi: None,
};

/// The console has the pages.
pub const MENU: &[MenuEntry] = &[MenuEntry { path: "planner", title: "Goals", topics: &["planner"] }];

pub fn service(planner: &Planner, settings: &PlannerSettings) -> Service {
    let running = planner.clone();
    Service::default()
        .routes(mcp::router(planner.clone(), settings.mcp.clone()))
        .retention(retention::rules(settings.results))
        .menu(MENU)
        // A call of an assistant may go on without its connection.
        .ended(async move { running.ended().await })
}
