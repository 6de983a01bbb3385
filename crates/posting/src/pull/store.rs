//! What pulling asks of the database, each in a transaction of its own: none is open while a source answers.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use kernel::WorkspaceId;
use platform::{Db, DbError, bus, wake::Topic};
use serde_json::{Value, json};
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use super::cursor::SourceCursor;

/// The SQLSTATE for a source that was removed or switched off meanwhile.
pub(super) const SOURCE_IS_OFF: &str = "ZD006";
/// How many sources one look starts at most; the next look takes the rest.
const DUE_MAX: i64 = 1000;

#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) workspace: WorkspaceId,
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) config: Value,
    pub(super) cursor: Value,
}

/// A source that is switched on.
pub(super) async fn find_source(db: &Db, workspace: WorkspaceId, source_id: &str) -> Result<Option<Source>, DbError> {
    let mut tx = db.begin(workspace).await?;
    let found: Option<(String, Value, Value)> = sqlx::query_as(
        "select s.kind, s.config_json, coalesce(c.cursor_json, '{}')
           from posting.pull_sources s left join posting.pull_cursors c using (workspace_id, source_id)
          where s.workspace_id = $1 and s.source_id = $2 and s.enabled",
    )
    .bind(workspace.uuid())
    .bind(source_id)
    .fetch_optional(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(found.map(|(kind, config, cursor)| Source { workspace, id: source_id.to_owned(), kind, config, cursor }))
}

/// The run as it begins, so that one that never ends is seen.
pub(super) async fn start_run(db: &Db, source: &Source, run_id: Uuid) -> Result<(), DbError> {
    let mut tx = db.begin(source.workspace).await?;
    sqlx::query(
        "insert into posting.ingest_runs (workspace_id, run_id, kind, source_id, started_at) values ($1, $2, 'pull', $3, $4)",
    )
    .bind(source.workspace.uuid())
    .bind(run_id)
    .bind(&source.id)
    .bind(db.clock().now().to_sqlx())
    .execute(&mut *tx)
    .await?;
    publish_run(db, tx, source, run_id).await
}

/// Commits a change of a run, and tells the pages that show it.
async fn publish_run(db: &Db, mut tx: Transaction<'_, Postgres>, source: &Source, run_id: Uuid) -> Result<(), DbError> {
    bus::publish(&mut tx, source.workspace, "posting", &json!({"run_id": run_id})).await?;
    tx.commit().await?;
    db.wake().tell(Topic::BUS);
    Ok(())
}

/// Those of the keys that the ledger holds.
pub(super) async fn known_keys(db: &Db, source: &Source, keys: &[&str]) -> Result<HashSet<String>, DbError> {
    let mut tx = db.begin(source.workspace).await?;
    let known: Vec<String> = sqlx::query_scalar(
        "select item_key from posting.pull_items where workspace_id = $1 and source_id = $2 and item_key = any ($3)",
    )
    .bind(source.workspace.uuid())
    .bind(&source.id)
    .bind(keys)
    .fetch_all(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(known.into_iter().collect())
}

/// See `sql/functions/take_pull_items.sql`.
pub(super) async fn take_pull_items(
    db: &Db,
    source: &Source,
    run_id: Uuid,
    items: Option<Value>,
    cursor: &SourceCursor,
) -> Result<Value, DbError> {
    let mut tx = db.begin(source.workspace).await?;
    let stats = sqlx::query_scalar("select posting.take_pull_items($1, $2, $3, $4, $5, $6)")
        .bind(source.workspace.uuid())
        .bind(&source.id)
        .bind(run_id)
        .bind(items)
        .bind(serde_json::to_value(cursor).unwrap_or_default())
        .bind(db.clock().now().to_sqlx())
        .fetch_one(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(stats)
}

/// A pull that failed: one more failure, a later time, and nothing else of the cursor. If another pull has gone well
/// meanwhile, not even that.
pub(super) async fn record_failure(db: &Db, source: &Source, next_pull_at: Timestamp) -> Result<(), DbError> {
    let mut tx = db.begin(source.workspace).await?;
    sqlx::query(
        "insert into posting.pull_cursors as c (workspace_id, source_id, cursor_json, updated_at)
         select s.workspace_id, s.source_id, jsonb_build_object('failures', 1, 'next_pull_at', $3::text), $4
           from posting.pull_sources s where s.workspace_id = $1 and s.source_id = $2
         on conflict (workspace_id, source_id) do update
            set cursor_json = c.cursor_json || jsonb_build_object(
                    'failures', case jsonb_typeof(c.cursor_json->'failures') when 'number' then (c.cursor_json->>'failures')::numeric else 0 end + 1,
                    'next_pull_at', $3::text),
                updated_at = excluded.updated_at
          where c.cursor_json->'runs' is not distinct from $5",
    )
    .bind(source.workspace.uuid())
    .bind(&source.id)
    .bind(next_pull_at.to_string())
    .bind(db.clock().now().to_sqlx())
    .bind(source.cursor.get("runs").cloned())
    .execute(&mut *tx)
    .await?;
    Ok(tx.commit().await?)
}

/// A run that ends with nothing but the reason.
pub(super) async fn end_run(db: &Db, source: &Source, run_id: Uuid, error: &str) -> Result<(), DbError> {
    let mut tx = db.begin(source.workspace).await?;
    sqlx::query("update posting.ingest_runs set finished_at = $3, stats_json = jsonb_build_object('error', $4::text) where workspace_id = $1 and run_id = $2")
        .bind(source.workspace.uuid())
        .bind(run_id)
        .bind(db.clock().now().to_sqlx())
        .bind(error)
        .execute(&mut *tx)
        .await?;
    publish_run(db, tx, source, run_id).await
}

/// Sources whose time has come, in every workspace.
pub(super) async fn due_sources(tx: &mut sqlx::PgConnection) -> Result<Vec<(Uuid, String)>, DbError> {
    // A time that somebody spoiled by hand counts as come, and must not keep the other sources waiting.
    Ok(sqlx::query_as(
        "select s.workspace_id, s.source_id
           from posting.pull_sources s left join posting.pull_cursors c using (workspace_id, source_id)
          where s.enabled
            and case when pg_input_is_valid(c.cursor_json->>'next_pull_at', 'timestamptz')
                     then (c.cursor_json->>'next_pull_at')::timestamptz <= platform.now() else true end
          order by c.updated_at nulls first, s.workspace_id, s.source_id limit $1",
    )
    .bind(DUE_MAX)
    .fetch_all(tx)
    .await?)
}
