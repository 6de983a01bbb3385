//! The paragraphs become messages of groups, cut, indexed and embedded as everything else is, only in batches.

use kernel::{Problem, WorkspaceId};
use platform::DbError;

use super::{EvalInput, EvalProgress, FIRST_GROUP, PERSON, execute};
use crate::{
    Knowledge,
    model::chunking::{Chunking, cut, text_sha256},
    search::terms,
    workflows::{embed_missing, put_model},
};

/// Paragraphs of one transaction.
const BATCH: usize = 500;

pub(super) async fn load(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    input: &EvalInput,
    progress: EvalProgress<'_>,
) -> Result<(), Problem> {
    let groups = i64::try_from(input.groups.max(1)).unwrap_or(1);
    sqlx::query(
        "with chat as (insert into tg.chats (workspace_id, chat_id, type, title)
                       select $1, $2 - n, 'supergroup', 'eval' from generate_series(0, $4 - 1) n),
              kept as (insert into core.tenant_chats (workspace_id, chat_id) select $1, $2 - n from generate_series(0, $4 - 1) n),
              person as (insert into core.tenant_users (workspace_id, tg_user_id) values ($1, $3))
         insert into tg.chat_memberships_current (workspace_id, chat_id, tg_user_id, status, is_member, changed_at, proved_at)
         select $1, $2 - n, $3, 'member', true, platform.now(), platform.now() from generate_series(0, $4 - 1) n",
    )
    .bind(workspace.uuid())
    .bind(FIRST_GROUP)
    .bind(PERSON)
    .bind(groups)
    .execute(knowledge.db.pool())
    .await
    .map_err(DbError::from)?;
    let total = input.paragraphs.len();
    for (at, batch) in input.paragraphs.chunks(BATCH).enumerate() {
        progress("loading", at * BATCH, total);
        let texts: Vec<String> = batch.iter().map(|paragraph| paragraph.text.clone()).collect();
        let rows = tokio::task::spawn_blocking(move || ChunkRows::of(&texts)).await.map_err(|_| Problem::internal())?;
        rows.store(knowledge, workspace, at * BATCH, groups).await?;
    }
    embed(knowledge, workspace, input, progress).await?;
    let mut counted = 0;
    loop {
        progress("counting words", counted, total);
        let query = sqlx::query_scalar("select knowledge.count_terms($1, 1000)").bind(workspace.uuid());
        let now: i32 = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
        counted += usize::try_from(now).unwrap_or_default();
        if now == 0 {
            return Ok(());
        }
    }
}

/// The chunks of a batch of paragraphs, by column.
#[derive(Debug, Default)]
struct ChunkRows {
    paragraph: Vec<i32>,
    paragraph_text: Vec<String>,
    number: Vec<i32>,
    text: Vec<String>,
    sha: Vec<String>,
    start: Vec<i32>,
    end: Vec<i32>,
    terms: Vec<String>,
}

impl ChunkRows {
    fn of(texts: &[String]) -> Self {
        let number = |at: usize| i32::try_from(at).unwrap_or(i32::MAX);
        let mut rows = Self { paragraph_text: texts.to_vec(), ..Self::default() };
        for (at, text) in texts.iter().enumerate() {
            for (piece_at, piece) in cut(text, Chunking::default()).into_iter().enumerate() {
                rows.paragraph.push(number(at));
                rows.number.push(number(piece_at));
                rows.sha.push(text_sha256(&piece.text));
                rows.start.push(number(piece.start));
                rows.end.push(number(piece.end));
                rows.terms.push(terms::weights(&piece.text));
                rows.text.push(piece.text);
            }
        }
        rows
    }

    /// `first` is the place of the first paragraph: the number of a message is the place of its paragraph, from one.
    async fn store(self, knowledge: &Knowledge, workspace: WorkspaceId, first: usize, groups: i64) -> Result<(), Problem> {
        let query = sqlx::query(
            "with given as (
                 select text, $2 + n::int as number, $3 - (($2 + n - 1) % $4) as chat_id
                   from unnest($5::text[]) with ordinality g (text, n)
             ), message as (
                 insert into tg.messages (workspace_id, chat_id, message_id, kind, date)
                 select $1, chat_id, number, 'message', platform.now() from given returning id, chat_id, message_id
             ), document as (
                 insert into content.documents (workspace_id, doc_type, visibility, chat_id, message_fk, text, text_sha256, status)
                 select $1, 'message', 'group', m.chat_id, m.id, g.text, encode(sha256(convert_to(g.text, 'UTF8')), 'hex'), 'done'
                   from given g join message m on m.message_id = g.number returning id, message_fk
             ), piece as (
                 select * from unnest($6::int[], $7::int[], $8::text[], $9::text[], $10::int[], $11::int[], $12::text[])
                        as p (paragraph, chunk_no, text, sha, start_char, end_char, terms)
             ), chunk as (
                 insert into kg.chunks (workspace_id, document_id, chunk_no, text, text_sha256, start_char, end_char, version)
                 select $1, d.id, p.chunk_no, p.text, p.sha, p.start_char, p.end_char, 1
                   from piece p join message m on m.message_id = $2 + p.paragraph + 1 join document d on d.message_fk = m.id
                 returning id, document_id, chunk_no
             )
             insert into kg.chunk_terms (workspace_id, chunk_id, chat_id, weights)
             select $1, c.id, m.chat_id, p.terms::sparsevec
               from piece p join message m on m.message_id = $2 + p.paragraph + 1 join document d on d.message_fk = m.id
               join chunk c on (c.document_id, c.chunk_no) = (d.id, p.chunk_no)",
        )
        .bind(workspace.uuid())
        .bind(i32::try_from(first).unwrap_or_default())
        .bind(FIRST_GROUP)
        .bind(groups)
        .bind(self.paragraph_text)
        .bind(self.paragraph)
        .bind(self.number)
        .bind(self.text)
        .bind(self.sha)
        .bind(self.start)
        .bind(self.end)
        .bind(self.terms);
        query.execute(knowledge.db.pool()).await.map_err(DbError::from)?;
        Ok(())
    }
}

/// The vectors, unless they count for nothing.
async fn embed(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    input: &EvalInput,
    progress: EvalProgress<'_>,
) -> Result<(), Problem> {
    let (model_id, _) = put_model(knowledge, workspace).await?;
    if let Some(weight) = input.vector_weight {
        let query = "update kg.embedding_models set search_weight = $2 where workspace_id = $1";
        let query = sqlx::query(query).bind(workspace.uuid()).bind(weight);
        query.execute(knowledge.db.pool()).await.map_err(DbError::from)?;
    }
    let query = sqlx::query_scalar("select search_weight > 0 from kg.embedding_models where (workspace_id, id) = ($1, $2)");
    let query = query.bind(workspace.uuid()).bind(model_id);
    if query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)? {
        progress("embedding", 0, input.paragraphs.len());
        embed_missing(knowledge, workspace, None, model_id).await?;
    }
    Ok(())
}

/// In the order of their references. The journal keeps that there was such a workspace.
pub(super) async fn remove(knowledge: &Knowledge, workspace: WorkspaceId) -> Result<(), Problem> {
    loop {
        // In parts: a statement has a limit of time.
        let query = "delete from content.documents d where d.workspace_id = $1
                        and d.id in (select x.id from content.documents x where x.workspace_id = $1 limit 2000)";
        let done = sqlx::query(query).bind(workspace.uuid()).execute(knowledge.db.pool()).await.map_err(DbError::from)?;
        let query = "delete from tg.messages m where m.workspace_id = $1 and m.id in (
                        select x.id from tg.messages x where x.workspace_id = $1
                           and not exists (select from content.documents d
                                            where (d.workspace_id, d.message_fk) = (x.workspace_id, x.id)) limit 4000)";
        sqlx::query(query).bind(workspace.uuid()).execute(knowledge.db.pool()).await.map_err(DbError::from)?;
        if done.rows_affected() == 0 {
            break;
        }
    }
    for query in [
        "delete from ops.jobs where workspace_id = $1",
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
