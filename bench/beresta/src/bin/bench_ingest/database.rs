//! What is in the database before the clock starts, and what has to be there when it has stopped.

use std::{collections::HashMap, time::Duration};

use anyhow::{Context, Result, ensure};
use beresta_bench::times::spread;
use kernel::Secret;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor, PgConnection};

use crate::group::{BroughtMessage, CHAT, PERSON};

/// How long after the last webhook the last vector may come.
const PATIENCE: Duration = Duration::from_mins(5);
/// The loaded messages have numbers that no message of a run has.
const LOADED_FROM: i64 = 1_000_000_000;
/// So many different vectors are loaded, again and again: they are stored and not compared.
const VECTORS: i64 = 500;
const LOAD: [&str; 6] = [
    "create temp table pool as
     select n, (select array_agg(random() - 0.5 + (n + g) * 0) from generate_series(1, 1536) g)::vector::halfvec(1536) as vector
       from generate_series(0, {vectors} - 1) n",
    "insert into tg.messages (workspace_id, chat_id, message_id, kind, date, tg_user_id)
     select w.workspace_id, {chat}, {from} + n, 'message', platform.now() - n * interval '1 second', {person}
       from core.workspaces w, generate_series(1, {chunks}) n where w.name = 'bench'",
    "insert into tg.message_versions (workspace_id, message_fk, version_no, said_at, text, normalized_text, payload, payload_sha256)
     select workspace_id, id, 1, date, 'Заказ номер ' || message_id, 'Заказ номер ' || message_id, '{}', message_id::text
       from tg.messages where message_id > {from}",
    "insert into content.documents (workspace_id, doc_type, visibility, chat_id, message_fk, message_version_id, author, text, text_sha256, status)
     select v.workspace_id, 'message', 'group', {chat}, v.message_fk, v.id, 'Анна',
            repeat(v.text || ': берёзовый короб, два лукошка и туесок с крышкой. ', 4), v.payload_sha256, 'done'
       from tg.message_versions v where v.payload = '{}'",
    "insert into kg.chunks (workspace_id, document_id, chunk_no, text, text_sha256, start_char, end_char, version)
     select d.workspace_id, d.id, 0, d.text, d.text_sha256, 0, char_length(d.text), d.version
       from content.documents d join tg.messages m on (m.workspace_id, m.id) = (d.workspace_id, d.message_fk) where m.message_id > {from}",
    "insert into kg.chunk_embeddings_1536 (workspace_id, chunk_id, model_id, embedding, index_md5)
     select c.workspace_id, c.id, o.id, p.vector, c.index_md5
       from kg.chunks c join kg.embedding_models o on o.workspace_id = c.workspace_id and o.state = 'active' join pool p on p.n = c.id % {vectors}
      where not exists (select from kg.chunk_embeddings_1536 e where (e.workspace_id, e.chunk_id) = (c.workspace_id, c.id))",
];

/// A workspace with a bot that takes webhooks with this secret, and a group that is kept.
pub(crate) async fn prepare(db: &mut PgConnection, secret: &str) -> Result<()> {
    let sql = format!(
        "select core.create_workspace('bench');
         insert into core.bots (workspace_id, provider, name, secret_ref, serves)
         select workspace_id, 'telegram', 'archive', 'env:BENCH_TELEGRAM_TOKEN', 'knowledge' from core.workspaces where name = 'bench';
         insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id, ingress_rps)
         select b.workspace_id, 'bot_webhook', '{}', b.bot_id, 100000 from core.bots b join core.workspaces w using (workspace_id) where w.name = 'bench';
         insert into core.tenant_users (workspace_id, tg_user_id, role)
         select workspace_id, {PERSON}, 'user' from core.workspaces where name = 'bench';
         select knowledge.register_chat(b.workspace_id, {CHAT}, b.bot_id, {PERSON}) from core.bots b join core.workspaces w using (workspace_id)
          where w.name = 'bench';",
        Secret::new(secret).sha256_hex()
    );
    db.execute(AssertSqlSafe(sql)).await.context("the workspace")?;
    Ok(())
}

/// Messages of one chunk, until there are so many chunks; the model is the one that the first message was embedded with.
pub(crate) async fn fill(db: &mut PgConnection, chunks: i64) -> Result<Value> {
    let there: i64 = sqlx::query_scalar("select count(*) from kg.chunks").fetch_one(&mut *db).await?;
    for sql in LOAD {
        let sql = sql
            .replace("{chunks}", &(chunks - there).max(0).to_string())
            .replace("{vectors}", &VECTORS.to_string())
            .replace("{from}", &LOADED_FROM.to_string())
            .replace("{chat}", &CHAT.to_string())
            .replace("{person}", &PERSON.to_string());
        db.execute(AssertSqlSafe(sql.clone())).await.context(sql)?;
    }
    for table in ["tg.messages", "tg.message_versions", "content.documents", "kg.chunks", "kg.chunk_embeddings_1536"] {
        db.execute(AssertSqlSafe(format!("vacuum analyze {table}"))).await?;
    }
    db.execute("checkpoint").await?;
    let (chunks, vectors): (i64, i64) =
        sqlx::query_as("select (select count(*) from kg.chunks), (select count(*) from kg.chunk_embeddings_1536)").fetch_one(db).await?;
    ensure!(chunks == vectors, "{chunks} chunks have {vectors} vectors");
    Ok(json!({"chunks": chunks}))
}

/// Waits until nothing is left to do.
pub(crate) async fn settle(db: &mut PgConnection) -> Result<()> {
    let deadline = std::time::Instant::now() + PATIENCE;
    let query = "select exists (select from ops.jobs where job_type in
                    ('knowledge.process_update', 'knowledge.chunk', 'knowledge.embed', 'knowledge.fetch_url', 'knowledge.extract'))";
    while sqlx::query_scalar::<_, bool>(query).fetch_one(&mut *db).await? {
        ensure!(std::time::Instant::now() < deadline, "the jobs do not come to their end");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Every message can be found by its one vector; how long its webhook and its way took.
pub(crate) async fn judge(db: &mut PgConnection, first: u64, posts: &[BroughtMessage], seconds: f64) -> Result<Value> {
    let query = "select m.message_id, (extract(epoch from max(e.created_at)) * 1000000)::bigint, count(*)
                   from tg.messages m
                   join content.documents d on (d.workspace_id, d.message_fk) = (m.workspace_id, m.id)
                   join kg.chunks c on (c.workspace_id, c.document_id) = (d.workspace_id, d.id)
                   join kg.chunk_embeddings_1536 e on (e.workspace_id, e.chunk_id, e.index_md5) = (c.workspace_id, c.id, c.index_md5)
                  where m.chat_id = $1 and m.message_id between $2 and $3 group by m.message_id";
    let last = first + u64::try_from(posts.len())? - 1;
    let rows: Vec<(i32, i64, i64)> =
        sqlx::query_as(query).bind(CHAT).bind(i32::try_from(first)?).bind(i32::try_from(last)?).fetch_all(db).await?;
    ensure!(rows.len() == posts.len(), "{} of {} messages can be found", rows.len(), posts.len());
    ensure!(rows.iter().all(|(.., vectors)| *vectors == 1), "a message has more than one vector");
    let found: HashMap<u64, u64> = rows.iter().map(|(n, at, _)| (u64::from(n.unsigned_abs()), at.unsigned_abs())).collect();
    let ways = posts.iter().map(|post| found.get(&post.n).map_or(0, |at| at.saturating_sub(post.posted_at))).collect();
    let taken = posts.iter().map(|post| post.taken_at - post.posted_at).collect();
    Ok(json!({"seconds": seconds, "taken": spread(taken), "found": spread(ways)}))
}
