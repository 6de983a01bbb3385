//! `beresta token`: make, list and end API tokens.

use std::process::ExitCode;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};
use kernel::Scopes;
use platform::{embedded::Use, reads::Time, tokens, workspaces};
use serde_json::json;
use uuid::Uuid;

use super::progress;
use crate::{cli::TokenCreate, config::Config, database::Database, modules};

pub(crate) async fn create(config: &Config, create: &TokenCreate) -> Result<ExitCode> {
    let scopes = Scopes::named(&create.scopes, &modules::scopes())?;
    if let Some(person) = &create.person
        && (person.trim().is_empty() || person.chars().count() > 64 || person.chars().any(char::is_control))
    {
        bail!("`--person` is a name of 1 to 64 characters");
    }
    let database = Database::open(config, Use::Share, progress).await?;
    let workspace = workspaces::find(&database.db, &create.workspace).await?;
    let expires_at = create.days.map(|days| Timestamp::now() + SignedDuration::from_hours(24 * i64::from(days)));
    let (id, token) =
        tokens::create(database.db.pool(), workspace.id(), &create.name, &scopes, expires_at, create.person.as_deref()).await?;
    if create.json {
        let printed = json!({
            "token": token.expose(), "token_id": id, "workspace_id": workspace.workspace_id,
            "scopes": scopes.to_strings(), "person": create.person, "expires_at": expires_at,
        });
        println!("{}", serde_json::to_string_pretty(&printed)?);
    } else {
        println!("{}", token.expose());
        progress("keep it now: only its hash is stored, so it cannot be shown again");
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn list(config: &Config, workspace: &str, is_json: bool) -> Result<ExitCode> {
    let database = Database::open(config, Use::Share, progress).await?;
    let workspace = workspaces::find(&database.db, workspace).await?;
    let rows = tokens::list(database.db.pool(), workspace.id()).await?;
    let state = |row: &tokens::Listed| match (row.revoked_at, row.expires_at) {
        (Some(_), _) => "revoked",
        (None, Some(at)) if at.to_jiff() <= Timestamp::now() => "expired",
        _ => "live",
    };
    if is_json {
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                json!({
                    "token_id": row.token_id, "name": row.name, "scopes": row.scopes, "person": row.person, "state": state(row),
                    "created_at": row.created_at.to_jiff(), "expires_at": row.expires_at.map(Time::to_jiff),
                })
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(ExitCode::SUCCESS);
    }
    for row in rows {
        let person = row.person.as_deref().map(|person| format!(", of {person}")).unwrap_or_default();
        println!("{}  {:8} {:20} {}{person}", row.token_id, state(&row), row.scopes.join(","), row.name);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn revoke(config: &Config, workspace: &str, token_id: Uuid) -> Result<ExitCode> {
    let database = Database::open(config, Use::Share, progress).await?;
    let workspace = workspaces::find(&database.db, workspace).await?;
    if !tokens::revoke(database.db.pool(), workspace.id(), token_id).await? {
        bail!("{} has no live token {token_id}; `beresta token list --workspace {}` shows them", workspace.name, workspace.name);
    }
    println!("revoked {token_id}");
    Ok(ExitCode::SUCCESS)
}
