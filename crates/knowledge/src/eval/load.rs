//! The paragraphs become messages of a group, cut, indexed and embedded by the workflows that do it for everybody.

use futures::{StreamExt, TryStreamExt, stream};
use kernel::{Problem, WorkspaceId};
use platform::DbError;
use serde_json::json;

use super::{EvalInput, GROUP, PERSON, Progress, execute};
use crate::{
    Knowledge,
    workflows::{self, Request},
};

/// Paragraphs that are cut and embedded at the same time.
const AT_ONCE: usize = 4;
/// Rows of one statement.
const BATCH: usize = 1000;

pub(super) async fn load(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    input: &EvalInput,
    progress: Progress<'_>,
) -> Result<(), Problem> {
    sqlx::query(
        "with chat as (insert into tg.chats (workspace_id, chat_id, type, title) values ($1, $2, 'supergroup', 'eval')),
              kept as (insert into core.tenant_chats (workspace_id, chat_id) values ($1, $2)),
              person as (insert into core.tenant_users (workspace_id, tg_user_id) values ($1, $3))
         insert into tg.chat_memberships_current (workspace_id, chat_id, tg_user_id, status, is_member, changed_at, proved_at)
         values ($1, $2, $3, 'member', true, platform.now(), platform.now())",
    )
    .bind(workspace.uuid())
    .bind(GROUP)
    .bind(PERSON)
    .execute(knowledge.db.pool())
    .await
    .map_err(DbError::from)?;
    let mut documents = Vec::with_capacity(input.paragraphs.len());
    for (at, batch) in input.paragraphs.chunks(BATCH).enumerate() {
        progress("loading", at * BATCH, input.paragraphs.len());
        let texts: Vec<&str> = batch.iter().map(|paragraph| paragraph.text.as_str()).collect();
        let query = sqlx::query_scalar(
            "with given as (
                 select text, $3 + n::int as number from unnest($4::text[]) with ordinality g (text, n)
             ), message as (
                 insert into tg.messages (workspace_id, chat_id, message_id, kind, date)
                 select $1, $2, number, 'message', platform.now() from given returning id, message_id
             )
             insert into content.documents (workspace_id, doc_type, visibility, chat_id, message_fk, text, text_sha256, status)
             select $1, 'message', 'group', $2, m.id, g.text, encode(sha256(convert_to(g.text, 'UTF8')), 'hex'), 'done'
               from given g join message m on m.message_id = g.number returning id",
        )
        .bind(workspace.uuid())
        .bind(GROUP)
        .bind(i32::try_from(at * BATCH).unwrap_or_default())
        .bind(texts);
        let ids: Vec<i64> = query.fetch_all(knowledge.db.pool()).await.map_err(DbError::from)?;
        documents.extend(ids);
    }
    let total = documents.len();
    let mut done = stream::iter(documents).map(|document| index(knowledge, workspace, document, input)).buffer_unordered(AT_ONCE);
    let mut count = 0;
    while done.try_next().await?.is_some() {
        count += 1;
        progress("indexing", count, total);
    }
    drop(done);
    loop {
        let query = sqlx::query_scalar("select knowledge.count_terms($1, 1000)").bind(workspace.uuid());
        let counted: i32 = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
        if counted == 0 {
            return Ok(());
        }
    }
}

async fn index(knowledge: &Knowledge, workspace: WorkspaceId, document: i64, input: &EvalInput) -> Result<(), Problem> {
    let request = || Request { workspace, req: json!({ "document_id": document }), trace: None, is_last_attempt: false };
    workflows::run(knowledge, "WF40", request()).await?;
    if input.vector_weight == Some(0.0) {
        return Ok(());
    }
    workflows::run(knowledge, "WF41", request()).await?;
    if let Some(weight) = input.vector_weight {
        let query = "update kg.embedding_models set search_weight = $2 where workspace_id = $1 and search_weight <> $2";
        let query = sqlx::query(query).bind(workspace.uuid()).bind(weight);
        query.execute(knowledge.db.pool()).await.map_err(DbError::from)?;
    }
    Ok(())
}

/// In the order of their references. The journal keeps that there was such a workspace.
pub(super) async fn remove(knowledge: &Knowledge, workspace: WorkspaceId) -> Result<(), Problem> {
    for query in [
        "delete from ops.jobs where workspace_id = $1",
        "delete from content.documents where workspace_id = $1",
        "delete from tg.messages where workspace_id = $1",
        "delete from kg.term_changes where workspace_id = $1",
        "delete from kg.term_frequencies where workspace_id = $1",
        "delete from kg.embedding_models where workspace_id = $1",
        "delete from tg.chat_memberships_current where workspace_id = $1",
        "delete from core.tenant_users where workspace_id = $1",
        "delete from core.tenant_chats where workspace_id = $1",
        "delete from tg.chats where workspace_id = $1",
        "delete from core.workspaces where workspace_id = $1",
    ] {
        execute(knowledge, query, workspace).await?;
    }
    Ok(())
}
