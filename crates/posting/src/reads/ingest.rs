//! Where posts come from: sources and the runs that brought them.

use platform::{
    DbError,
    reads::{Time, maybe_time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use super::{Rows, SCAN_MAX, scan_end};

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct SourceRead {
    pub source_id: String,
    /// `rss`, `api` or `db`.
    pub kind: String,
    pub enabled: bool,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    /// Its settings, without secrets.
    #[schema(value_type = Object)]
    pub config: Value,
    /// When it will be read again, as far as that is known.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_pull_at: Option<Time>,
    /// Failures in a row.
    pub failures: i64,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_run_at: Option<Time>,
    /// What the last run found.
    #[schema(value_type = Option<Object>)]
    pub last_stats: Option<Value>,
}

/// Sources by id, after the one named.
pub async fn sources(tx: &mut PgConnection, after: Option<&str>, limit: i64) -> Result<Vec<SourceRead>, DbError> {
    let query = "select s.source_id, s.kind, s.enabled, s.created_at, s.config_json as config,
                        case when pg_input_is_valid(c.cursor_json->>'next_pull_at', 'timestamptz')
                             then (c.cursor_json->>'next_pull_at')::timestamptz end as next_pull_at,
                        case jsonb_typeof(c.cursor_json->'failures') when 'number' then (c.cursor_json->>'failures')::numeric::bigint else 0 end as failures,
                        r.started_at as last_run_at, r.stats_json as last_stats
                   from posting.pull_sources s
                   left join posting.pull_cursors c using (workspace_id, source_id)
                   left join lateral (
                        select r.started_at, r.stats_json from posting.ingest_runs r
                         where r.workspace_id = s.workspace_id and r.source_id = s.source_id order by r.started_at desc limit 1) r on true
                  where s.workspace_id = platform.workspace_id() and ($1::text is null or s.source_id > $1)
                  order by s.source_id limit $2";
    let mut rows: Vec<SourceRead> = sqlx::query_as(query).bind(after).bind(limit).fetch_all(tx).await?;
    for row in &mut rows {
        // Secrets are references by rule; what somebody wrote in plain all the same stays where it is.
        kernel::redact::redact_json(&mut row.config);
        row.last_stats.iter_mut().for_each(kernel::redact::redact_json);
    }
    Ok(rows)
}

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct RunRead {
    pub run_id: Uuid,
    /// `push` or `pull`.
    pub kind: String,
    pub source_id: Option<String>,
    pub endpoint_id: Option<Uuid>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Time,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub finished_at: Option<Time>,
    #[schema(value_type = Object)]
    pub stats: Value,
}

#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub kind: Option<String>,
    pub source_id: Option<String>,
    /// Only runs with a smaller id: `next` of the page before.
    pub before: Option<Uuid>,
    pub limit: i64,
}

/// The runs of ingest, newest first.
pub async fn runs(tx: &mut PgConnection, filter: &RunFilter) -> Result<Rows<RunRead>, DbError> {
    let mut query = QueryBuilder::<Postgres>::new(
        "select r.run_id, r.kind, r.source_id, r.endpoint_id, r.started_at, r.finished_at, r.stats_json as stats
           from (select r.* from posting.ingest_runs r where r.workspace_id = platform.workspace_id()",
    );
    if let Some(before) = filter.before {
        query.push(" and r.run_id < ").push_bind(before);
    }
    // The runs of one source are few and have an index; those of a kind are looked for.
    if let Some(source_id) = &filter.source_id {
        query.push(" and r.source_id = ").push_bind(source_id);
    }
    query.push(format_args!(" order by r.run_id desc limit {SCAN_MAX}) r where true"));
    if let Some(kind) = &filter.kind {
        query.push(" and r.kind = ").push_bind(kind);
    }
    query.push(" order by r.run_id desc limit ").push_bind(filter.limit);
    let mut rows: Vec<RunRead> = query.build_query_as().fetch_all(&mut *tx).await?;
    for row in &mut rows {
        kernel::redact::redact_json(&mut row.stats);
    }
    let mut page = Rows::full(rows, filter.limit, |row| row.run_id);
    if page.next.is_none() && filter.source_id.is_none() {
        page.next = scan_end(tx, "posting.ingest_runs", "run_id", filter.before).await?;
    }
    Ok(page)
}
