//! `beresta workspace`: the tenants.

use std::process::ExitCode;

use anyhow::{Result, bail};
use platform::{embedded::Use, workspaces, workspaces::Workspace};
use serde_json::json;

use super::progress;
use crate::{config::Config, database::Database};

pub(crate) async fn create(config: &Config, name: &str, is_json: bool) -> Result<ExitCode> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    if name.trim() != name || name.is_empty() || name.chars().count() > 100 || !name.chars().all(is_plain) || name == "system" {
        bail!("`{name}` cannot be the name of a workspace; use 1 to 100 letters, digits, spaces, `-`, `_` or `.`");
    }
    let database = Database::open(config, Use::Share, progress).await?;
    let id = workspaces::create(database.db.pool(), name).await?;
    if is_json {
        println!("{}", json!({"workspace_id": id, "name": name}));
    } else {
        println!("{id}");
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn list(config: &Config, is_json: bool) -> Result<ExitCode> {
    let database = Database::open(config, Use::Share, progress).await?;
    let query = "select workspace_id, name, status from core.workspaces where name <> 'system' order by name";
    let rows: Vec<Workspace> = sqlx::query_as(query).fetch_all(database.db.pool()).await?;
    if is_json {
        let rows: Vec<_> =
            rows.iter().map(|row| json!({"workspace_id": row.workspace_id, "name": row.name, "status": row.status})).collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(ExitCode::SUCCESS);
    }
    for row in rows {
        println!("{}  {:8}  {}", row.workspace_id, row.status, row.name);
    }
    Ok(ExitCode::SUCCESS)
}
