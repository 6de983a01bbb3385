//! WF41: the vectors of a document's chunks, and the filling of a model that is to take the place of another.

use std::time::Duration;

use kernel::{AdapterError, Category, Kind, Problem, WorkspaceId};
use llm::EmbedTask;
use platform::{DbError, failpoint};
use serde_json::{Value, json};

use super::{Request, refused};
use crate::Knowledge;

/// Chunks of one round; the adapter cuts it into what its provider takes.
const BATCH: i32 = 200;

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let document_id = request.number("document_id")?;
    let exists: bool = sqlx::query_scalar("select exists (select from content.documents where (workspace_id, id) = ($1, $2))")
        .bind(request.workspace.uuid())
        .bind(document_id)
        .fetch_one(knowledge.db.pool())
        .await
        .map_err(DbError::from)?;
    if !exists {
        return Err(Problem::not_found("document"));
    }
    let (model_id, _) = put_model(knowledge, request.workspace).await?;
    if let Some(asked) = request.optional_number("model_id")?
        && asked != model_id
    {
        let known: bool =
            sqlx::query_scalar("select exists (select from kg.embedding_models where (workspace_id, id) = ($1, $2))")
                .bind(request.workspace.uuid())
                .bind(asked)
                .fetch_one(knowledge.db.pool())
                .await
                .map_err(DbError::from)?;
        return Err(if known {
            Problem::conflict("knowledge.model_not_configured", "this model is not the one that is configured (BERESTA_EMBEDDER)")
        } else {
            Problem::not_found("embedding model")
        });
    }
    embed_missing(knowledge, request.workspace, Some(document_id), model_id).await?;
    let count: i64 = sqlx::query_scalar(
        "select count(*) from kg.chunks c join kg.chunk_embeddings_1536 e on (e.workspace_id, e.chunk_id) = (c.workspace_id, c.id)
          where (c.workspace_id, c.document_id) = ($1, $2) and e.model_id = $3",
    )
    .bind(request.workspace.uuid())
    .bind(document_id)
    .bind(model_id)
    .fetch_one(knowledge.db.pool())
    .await
    .map_err(DbError::from)?;
    Ok(json!({ "document_id": document_id, "model_id": model_id, "embeddings_upserted": count }))
}

/// The job that fills a model beside the active one, and switches to it once nothing is missing.
pub(crate) async fn fill_model(knowledge: &Knowledge, workspace: WorkspaceId, model_id: i64) -> Result<(), Problem> {
    let (configured, state) = put_model(knowledge, workspace).await?;
    // Another one was configured meanwhile.
    if configured != model_id || state != "filling" {
        return Ok(());
    }
    loop {
        embed_missing(knowledge, workspace, None, model_id).await?;
        let query = sqlx::query_scalar("select knowledge.switch_model($1, $2)").bind(workspace.uuid()).bind(model_id);
        if query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)? {
            return Ok(());
        }
    }
}

pub(crate) async fn put_model(knowledge: &Knowledge, workspace: WorkspaceId) -> Result<(i64, String), Problem> {
    let model = knowledge.embedder.model();
    let query = sqlx::query_as("select * from knowledge.put_model($1, $2, $3, $4, $5)")
        .bind(workspace.uuid())
        .bind(model.provider)
        .bind(&model.model)
        .bind(&model.document_task)
        .bind(&model.query_task);
    Ok(query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?)
}

/// Until no chunk lacks a vector. What changes meanwhile is found by the next round, or by its own job.
pub(crate) async fn embed_missing(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    document_id: Option<i64>,
    model_id: i64,
) -> Result<(), Problem> {
    loop {
        let query = sqlx::query_as("select * from knowledge.chunks_to_embed($1, $2, $3, $4)")
            .bind(workspace.uuid())
            .bind(document_id)
            .bind(model_id)
            .bind(BATCH);
        let rows: Vec<(i64, String, String)> = query.fetch_all(knowledge.db.pool()).await.map_err(DbError::from)?;
        if rows.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = rows.iter().map(|(_, text, _)| text.clone()).collect();
        let vectors = knowledge.embedder.embed(&texts, EmbedTask::Document).await.map_err(|error| problem(&error))?;
        failpoint::hit("knowledge.embedded");
        let vectors: Vec<String> = vectors.iter().map(|vector| vector_text(vector)).collect();
        let ids: Vec<i64> = rows.iter().map(|(id, ..)| *id).collect();
        let md5s: Vec<&str> = rows.iter().map(|(.., md5)| md5.as_str()).collect();
        let query = sqlx::query_scalar("select knowledge.store_embeddings($1, $2, $3, $4, $5)")
            .bind(workspace.uuid())
            .bind(model_id)
            .bind(ids)
            .bind(md5s)
            .bind(vectors);
        let _stored: i32 = query.fetch_one(knowledge.db.pool()).await.map_err(|error| refused(DbError::from(error)))?;
    }
}

/// As pgvector reads a vector.
pub(crate) fn vector_text(vector: &[f32]) -> String {
    let mut text = String::with_capacity(vector.len() * 10);
    text.push('[');
    for (at, value) in vector.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{value}"));
    }
    text.push(']');
    text
}

fn problem(error: &AdapterError) -> Problem {
    let is_transient = error.category == Category::Transient;
    let status = if is_transient { 502 } else { 422 };
    let mut problem =
        Problem::new(status, Kind::Upstream, "knowledge.embedder", format!("the embedder failed: {}", error.message));
    problem.retryable = is_transient;
    problem.retry_after = error.retry_after_ms.map(Duration::from_millis);
    problem
}
