//! What the checker judges by: the ledger of those who wrote, the rows of the database, the vectors as their maker makes them again, and
//! every place where a marker of the run still stands.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Context, Result, ensure};

use super::{
    groups::{GroupMessage, message_marker, page_marker, page_path},
    traces::{self, MarkerTrace},
    writers::ArchiveLedger,
};
use crate::chaos::{
    evidence::{ProviderCall, call},
    stage::Stage,
};

/// An update, as it was kept.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct KeptUpdate {
    pub(super) update_id: i64,
    pub(super) copies: i64,
    pub(super) is_processed: bool,
    pub(super) problem: Option<String>,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct KeptMessage {
    pub(super) chat_id: i64,
    pub(super) message_id: i32,
    pub(super) versions: i64,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct KeptDocument {
    pub(super) id: i64,
    pub(super) chat_id: i64,
    /// Of a message.
    pub(super) message_id: Option<i32>,
    /// Of a page.
    pub(super) url: Option<String>,
    pub(super) status: String,
    pub(super) error: Option<String>,
    pub(super) text: Option<String>,
    pub(super) version: i32,
    /// The messages that share a page.
    pub(super) sources: Vec<i32>,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct KeptChunk {
    pub(super) document_id: i64,
    pub(super) chunk_no: i32,
    pub(super) text: String,
    pub(super) context: String,
    pub(super) start_char: i32,
    pub(super) end_char: i32,
    pub(super) version: i32,
    /// Vectors by the active model, and by others.
    pub(super) vectors: i64,
    pub(super) other_vectors: i64,
    /// Whether the vector says that it was made from this chunk.
    pub(super) is_own: bool,
    vector: Option<String>,
    /// How near the vector is to the one that the chunk's text has: 1 if it is the same.
    #[sqlx(skip)]
    pub(super) nearness: f64,
}

#[cfg(test)]
impl KeptChunk {
    /// The first chunk of a document of version 2, as it should be.
    pub(super) fn of_text(document_id: i64, text: &str, end_char: i32) -> Self {
        Self {
            document_id,
            chunk_no: 0,
            text: text.to_owned(),
            context: String::new(),
            start_char: 0,
            end_char,
            version: 2,
            vectors: 1,
            other_vectors: 0,
            is_own: true,
            vector: None,
            nearness: 1.0,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct ArchiveEvidence {
    pub(super) seed: u64,
    pub(super) written: Vec<GroupMessage>,
    /// The `/forget`s: chat and number.
    pub(super) commands: Vec<(i64, u64)>,
    pub(super) taken: Vec<u64>,
    pub(super) calls: Vec<ProviderCall>,
    pub(super) updates: Vec<KeptUpdate>,
    pub(super) messages: Vec<KeptMessage>,
    pub(super) documents: Vec<KeptDocument>,
    pub(super) chunks: Vec<KeptChunk>,
    /// Where markers stand: tables and files.
    pub(super) traces: Vec<MarkerTrace>,
    /// How often each kind of job ended for good without success, and the last reason.
    pub(super) failed_jobs: BTreeMap<String, String>,
    /// Addresses by page, as messages link them.
    pub(super) urls: HashMap<u64, String>,
}

const UPDATES: &str = "
    select update_id, count(*) as copies, bool_and(processed_at is not null or body = '{}') as is_processed, max(problem) as problem
      from raw.telegram_updates where update_id is not null group by update_id";
const MESSAGES: &str = "
    select m.chat_id, m.message_id, (select count(*) from tg.message_versions v where (v.workspace_id, v.message_fk) = (m.workspace_id, m.id)) as versions
      from tg.messages m order by m.id";
const DOCUMENTS: &str = "
    select d.id, d.chat_id, m.message_id, u.normalized_url as url, d.status, d.error, d.text, d.version,
           array(select s.message_id from content.document_sources o
                   join tg.messages s on (s.workspace_id, s.id) = (o.workspace_id, o.message_fk)
                  where (o.workspace_id, o.document_id) = (d.workspace_id, d.id) order by 1) as sources
      from content.documents d
      left join tg.messages m on (m.workspace_id, m.id) = (d.workspace_id, d.message_fk)
      left join content.urls u on (u.workspace_id, u.id) = (d.workspace_id, d.url_id) order by d.id";
const CHUNKS: &str = "
    select c.document_id, c.chunk_no, c.text, c.context, c.start_char, c.end_char, c.version,
           count(e.*) filter (where o.state = 'active') as vectors, count(e.*) filter (where o.state <> 'active') as other_vectors,
           coalesce(bool_and(e.index_md5 = c.index_md5 and e.index_md5 = md5(c.context || E'\\n' || c.text)), false) as is_own,
           max(e.embedding::text) filter (where o.state = 'active') as vector
      from kg.chunks c
      left join kg.chunk_embeddings_1536 e on (e.workspace_id, e.chunk_id) = (c.workspace_id, c.id)
      left join kg.embedding_models o on (o.workspace_id, o.id) = (e.workspace_id, e.model_id)
     group by c.workspace_id, c.id order by c.document_id, c.chunk_no";
const FAILED_JOBS: &str = "
    select job_type || ' ' || count(*), max(last_error ->> 'message') from ops.jobs
     where status = 'failed' and job_type like 'knowledge.%' group by job_type";

impl ArchiveEvidence {
    pub(super) async fn gather(stage: &Stage, ledger: &ArchiveLedger) -> Result<Self> {
        let written = ledger.messages();
        let pages: BTreeSet<u64> =
            written.iter().flat_map(|message| &message.versions).flat_map(|version| version.pages.iter().copied()).collect();
        let failed: Vec<(String, Option<String>)> = sqlx::query_as(FAILED_JOBS).fetch_all(&stage.db).await?;
        Ok(Self {
            seed: stage.seed,
            commands: ledger.commands(),
            taken: ledger.taken(),
            calls: stage.simulator_ledger("calls").await?.iter().filter_map(call).collect(),
            updates: sqlx::query_as(UPDATES).fetch_all(&stage.db).await?,
            messages: sqlx::query_as(MESSAGES).fetch_all(&stage.db).await?,
            documents: sqlx::query_as(DOCUMENTS).fetch_all(&stage.db).await?,
            chunks: chunks(stage).await?,
            traces: traces::find(stage).await?,
            failed_jobs: failed.into_iter().map(|(kind, reason)| (kind, reason.unwrap_or_default())).collect(),
            urls: pages.into_iter().map(|page| (page, stage.page_url(&page_path(stage.seed, page)))).collect(),
            written,
        })
    }

    /// The markers of everything that has to be gone: forgotten messages, and pages that only such ones ever linked.
    pub(super) fn forgotten_markers(&self) -> BTreeSet<String> {
        let pages = |is_forgotten: bool| -> BTreeSet<u64> {
            let messages = self.written.iter().filter(|message| message.is_forgotten == is_forgotten);
            messages.flat_map(|message| &message.versions).flat_map(|version| version.pages.iter().copied()).collect()
        };
        let kept = pages(false);
        let messages = self.written.iter().filter(|message| message.is_forgotten);
        let messages = messages.map(|message| message_marker(self.seed, message.n));
        messages.chain(pages(true).difference(&kept).map(|page| page_marker(self.seed, *page))).collect()
    }

    /// What was said, and what is kept, of the message with this number.
    pub(super) fn story(&self, id: &str) -> String {
        let Some(message) = self.written.iter().find(|message| message.n.to_string() == id) else { return String::new() };
        let mut lines = vec![format!("    message {} of chat {}, forgotten: {}", message.n, message.chat, message.is_forgotten)];
        for (k, version) in message.versions.iter().enumerate() {
            let start: String = version.text.chars().take(60).collect();
            lines.push(format!(
                "    version {k}: {} characters, pages {:?}: {start}",
                version.text.chars().count(),
                version.pages
            ));
        }
        for document in self.documents.iter().filter(|document| document.message_id.is_some_and(|found| found.to_string() == id))
        {
            lines.push(format!("    document {} version {} {}", document.id, document.version, document.status));
            for chunk in self.chunks.iter().filter(|chunk| chunk.document_id == document.id) {
                lines.push(format!(
                    "    chunk {} version {} {}..{}",
                    chunk.chunk_no, chunk.version, chunk.start_char, chunk.end_char
                ));
            }
        }
        lines.extend(self.failed_jobs.iter().map(|(kind, reason)| format!("    failed jobs of the run: {kind}: {reason}")));
        lines.join("\n")
    }
}

/// The chunks, and how near their vectors are to those that the embedder makes of their texts now.
async fn chunks(stage: &Stage) -> Result<Vec<KeptChunk>> {
    let mut chunks: Vec<KeptChunk> = sqlx::query_as(CHUNKS).fetch_all(&stage.db).await?;
    for batch in chunks.chunks_mut(50) {
        let indexed = |chunk: &KeptChunk| match chunk.context.as_str() {
            "" => chunk.text.clone(),
            context => format!("{context}\n{}", chunk.text),
        };
        let texts: Vec<String> = batch.iter().map(indexed).collect();
        let made = stage.vectors(&texts).await?;
        ensure!(made.len() == batch.len(), "{} vectors of {} texts", made.len(), batch.len());
        for (chunk, made) in batch.iter_mut().zip(made) {
            if let Some(kept) = &chunk.vector {
                let kept: Vec<f64> = serde_json::from_str(kept).context("a vector")?;
                chunk.nearness = cosine(&kept, &made);
            }
        }
    }
    Ok(chunks)
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}
