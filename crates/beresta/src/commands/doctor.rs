//! `beresta doctor`: looks at everything that can be wrong and says what to do about it.

use std::{process::ExitCode, time::Duration};

use anyhow::Result;
use outbound::Client;
use platform::{Db, bus::Bus, embedded, embedded::Use, http::App, module::Finding, objects::Objects};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::progress;
use crate::{
    config::{Config, ProviderConfig},
    database::Database,
    modules,
    outside::Outside,
};

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckState {
    Ok,
    Warning,
    Failed,
}

#[derive(Serialize)]
struct Checked {
    check: &'static str,
    state: CheckState,
    detail: String,
}

/// Findings in order, and whether any of them is a failure.
#[derive(Default)]
struct Findings(Vec<Checked>);

impl Findings {
    fn add(&mut self, check: &'static str, state: CheckState, detail: impl Into<String>) {
        let detail = kernel::redact::redact_text(&detail.into()).into_owned();
        self.0.push(Checked { check, state, detail });
    }
}

pub(crate) async fn run(config: Result<Config>, is_json: bool) -> Result<ExitCode> {
    let mut findings = Findings::default();
    match config {
        Ok(config) => {
            findings.add("configuration", CheckState::Ok, "every setting can be used");
            check_database(&config, &mut findings).await;
            check_objects(&config, &mut findings).await;
            for provider in &config.providers {
                check_provider(provider, &mut findings).await;
            }
        }
        Err(error) => findings.add("configuration", CheckState::Failed, format!("{error:#}")),
    }
    let has_failed = findings.0.iter().any(|finding| finding.state == CheckState::Failed);
    if is_json {
        println!("{}", serde_json::to_string_pretty(&serde_json::json!({"ok": !has_failed, "checks": findings.0}))?);
    } else {
        for finding in &findings.0 {
            let mark = match finding.state {
                CheckState::Ok => "ok     ",
                CheckState::Warning => "warning",
                CheckState::Failed => "FAILED ",
            };
            println!("{mark}  {:14} {}", finding.check, finding.detail);
        }
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn check_database(config: &Config, findings: &mut Findings) {
    let is_running = config.database_url.is_some() || embedded::running_url(&config.data_dir, crate::database::NAME).is_ok();
    let database = match Database::open(config, Use::Share, progress).await {
        Ok(database) => database,
        Err(error) => return findings.add("database", CheckState::Failed, format!("{error:#}")),
    };
    let query = "select current_setting('server_version'), coalesce((select extversion from pg_extension where extname = 'vector'), 'missing'),
                        current_setting('fsync'), current_setting('synchronous_commit')";
    let row: Result<(String, String, String, String), sqlx::Error> = sqlx::query_as(query).fetch_one(database.db.pool()).await;
    let (version, vector, fsync, commit) = match row {
        Ok(row) => row,
        Err(error) => return findings.add("database", CheckState::Failed, error.to_string()),
    };
    let where_it_is = if is_running {
        database.place.clone()
    } else {
        format!("{}; no server runs, so it was started for this check", database.place)
    };
    findings.add("database", CheckState::Ok, format!("PostgreSQL {version}, {where_it_is}"));
    findings.add("pgvector", CheckState::Ok, vector);
    findings.add(
        "migrations",
        CheckState::Ok,
        if database.installed.is_newer { "a newer program was here" } else { "up to date" },
    );
    if fsync == "on" && commit != "off" {
        findings.add("durability", CheckState::Ok, "fsync and synchronous_commit are on");
    } else {
        let detail =
            format!("fsync is {fsync} and synchronous_commit is {commit}: a crash can lose what was acknowledged; turn both on");
        findings.add("durability", CheckState::Failed, detail);
    }
    check_modules(config, &database.db, findings).await;
}

/// What the modules look at by themselves.
async fn check_modules(config: &Config, db: &Db, findings: &mut Findings) {
    let (outside, objects) = match (Outside::new(config), Objects::open(&config.objects)) {
        (Ok(outside), Ok(objects)) => (outside, objects),
        (Err(error), _) => return findings.add("providers", CheckState::Failed, format!("{error:#}")),
        // Said by its own check.
        (_, Err(_)) => return,
    };
    let app = App { db: db.clone(), bus: Bus::new(db.clone()), objects, stop: CancellationToken::new() };
    let chats = actions::http::Surface::new(config.actions.http);
    for check in modules::services(config, &app, &outside, &chats).into_iter().flat_map(|service| service.checks) {
        for finding in check.run(db.clone()).await {
            match finding {
                Finding::Ok(detail) => findings.add(check.name, CheckState::Ok, detail),
                Finding::Warning(detail) => findings.add(check.name, CheckState::Warning, detail),
                Finding::Failed(detail) => findings.add(check.name, CheckState::Failed, detail),
            }
        }
    }
}

async fn check_objects(config: &Config, findings: &mut Findings) {
    let key = "doctor/probe";
    let probe = async {
        let objects = Objects::open(&config.objects)?;
        objects.put(kernel::WorkspaceId::SYSTEM, key, "beresta".into()).await?;
        let read = objects.get(kernel::WorkspaceId::SYSTEM, key).await?;
        objects.delete(kernel::WorkspaceId::SYSTEM, key).await?;
        Ok::<bool, platform::objects::Error>(read == "beresta")
    };
    match probe.await {
        Ok(true) => findings.add("objects", CheckState::Ok, "an object was written, read and removed"),
        Ok(false) => findings.add("objects", CheckState::Failed, "an object came back changed"),
        Err(error) => findings.add("objects", CheckState::Failed, error.to_string()),
    }
}

async fn check_provider(provider: &ProviderConfig, findings: &mut Findings) {
    let settings = outbound::ClientSettings {
        connect_timeout: Duration::from_secs(3),
        request_timeout: Duration::from_secs(5),
        ca_bundle: provider.ca_bundle.clone(),
        ..outbound::ClientSettings::default()
    };
    let client = match Client::new(&settings) {
        Ok(client) => client,
        Err(error) => return findings.add(provider.name, CheckState::Failed, error.to_string()),
    };
    let request = client.request("GET".parse().unwrap_or_default(), &provider.base_url);
    match client.send(request).await {
        Ok(reply) => {
            findings.add(provider.name, CheckState::Ok, format!("{} answers (status {})", provider.base_url, reply.status));
        }
        Err(error) => {
            let advice = format!(
                "{}: {error}; check the network, or set BERESTA_{}_BASE_URL",
                provider.base_url,
                provider.name.to_uppercase()
            );
            findings.add(provider.name, CheckState::Warning, advice);
        }
    }
}
