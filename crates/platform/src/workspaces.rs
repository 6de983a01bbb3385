//! Workspaces, by name or by id.

use kernel::{Problem, WorkspaceId};
use sqlx::PgExecutor;
use uuid::Uuid;

use crate::{Db, DbError};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Workspace {
    pub workspace_id: Uuid,
    pub name: String,
    pub status: String,
}

impl Workspace {
    pub fn id(&self) -> WorkspaceId {
        self.workspace_id.into()
    }
}

/// Makes a workspace, or returns the one of that name.
pub async fn create(db: impl PgExecutor<'_>, name: &str) -> Result<WorkspaceId, DbError> {
    let id: Uuid = sqlx::query_scalar("select core.create_workspace($1)").bind(name).fetch_one(db).await?;
    Ok(id.into())
}

/// Finds a workspace by its name or its id, as people give it on the command line.
pub async fn find(db: &Db, name_or_id: &str) -> Result<Workspace, Problem> {
    let found: Option<Workspace> = sqlx::query_as(
        "select workspace_id, name, status from core.workspaces where name = $1 or workspace_id::text = lower($1)",
    )
    .bind(name_or_id)
    .fetch_optional(db.pool())
    .await
    .map_err(DbError::from)?;
    let names: Vec<String> = match found {
        Some(workspace) if workspace.id() != WorkspaceId::SYSTEM => return Ok(workspace),
        _ => sqlx::query_scalar("select name from core.workspaces where name <> 'system' order by name limit 20")
            .fetch_all(db.pool())
            .await
            .map_err(DbError::from)?,
    };
    let known = if names.is_empty() {
        "there are none yet: `beresta seed` makes `demo`".into()
    } else {
        format!("there are: {}", names.join(", "))
    };
    Err(Problem::validation("workspace", format!("there is no workspace `{name_or_id}`; {known}")))
}
