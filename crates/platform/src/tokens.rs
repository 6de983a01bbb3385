//! API tokens: made once, shown once, stored as a hash.

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use kernel::{Scopes, Secret, WorkspaceId};
use sqlx::PgExecutor;
use uuid::Uuid;

use crate::{Db, DbError, reads::Time};

/// Who calls: what a valid token says about its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub workspace_id: WorkspaceId,
    pub workspace_name: String,
    pub token_id: Uuid,
    pub token_name: String,
    pub scopes: Scopes,
    /// Whose token it is; nobody's for a program.
    pub person: Option<String>,
}

/// A new token; this is the only moment at which it can be seen.
pub async fn create(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    name: &str,
    scopes: &Scopes,
    expires_at: Option<Timestamp>,
    person: Option<&str>,
) -> Result<(Uuid, Secret), DbError> {
    let token = Secret::new_token();
    let id = sqlx::query_scalar("select core.create_token($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(name)
        .bind(token.sha256_hex())
        .bind(scopes.to_strings())
        .bind(expires_at.map(ToSqlx::to_sqlx))
        .bind(person)
        .fetch_one(db)
        .await?;
    Ok((id, token))
}

#[derive(sqlx::FromRow)]
struct TokenRow {
    workspace_id: Uuid,
    workspace_name: String,
    token_id: Uuid,
    token_name: String,
    token_hash: String,
    scopes: Vec<String>,
    person: Option<String>,
}

/// Whose token this is; nothing for a wrong, revoked or expired one, all alike.
pub async fn authenticate(db: impl PgExecutor<'_>, token: &Secret) -> Result<Option<Principal>, DbError> {
    let found: Option<TokenRow> =
        sqlx::query_as("select * from core.find_token($1)").bind(token.sha256_hex()).fetch_optional(db).await?;
    Ok(found.filter(|found| token.matches_hash(&found.token_hash)).map(|found| Principal {
        workspace_id: found.workspace_id.into(),
        workspace_name: found.workspace_name,
        token_id: found.token_id,
        token_name: found.token_name,
        scopes: found.scopes.iter().collect(),
        person: found.person,
    }))
}

/// The same for somebody who comes from outside.
pub async fn authenticate_at_the_door(db: &Db, token: &Secret) -> Result<Option<Principal>, DbError> {
    let (pool, token) = (db.pool().clone(), token.clone());
    db.at_the_door(async move { authenticate(&pool, &token).await }).await
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Listed {
    pub token_id: Uuid,
    pub name: String,
    pub scopes: Vec<String>,
    pub person: Option<String>,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
}

pub async fn list(db: impl PgExecutor<'_>, workspace: WorkspaceId) -> Result<Vec<Listed>, DbError> {
    let query = "select token_id, name, scopes, person, created_at, expires_at, revoked_at from core.api_tokens
                  where workspace_id = $1 order by created_at, token_id";
    Ok(sqlx::query_as(query).bind(workspace.uuid()).fetch_all(db).await?)
}

/// Ends a token; says whether there was a live one.
pub async fn revoke(db: impl PgExecutor<'_>, workspace: WorkspaceId, token_id: Uuid) -> Result<bool, DbError> {
    Ok(sqlx::query_scalar("select core.revoke_token($1, $2)").bind(workspace.uuid()).bind(token_id).fetch_one(db).await?)
}
