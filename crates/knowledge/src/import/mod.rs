//! The import of an export of Telegram Desktop (`result.json`). Guarantees: every message is stored once, by the functions that store
//! those of updates, however often it is imported and whatever exports overlap; what an update brought is not replaced by something
//! older, and what was forgotten does not come back; an import that ended early is completed by the next one.

mod error;
mod files;
mod message;
mod reader;
mod summary;
mod text;

pub use error::Error;
pub use files::IMPORT_FILE_BYTES_MAX;
pub use summary::{BrokenElement, ImportProgress, ImportSummary, ImportedChat, LeftChat};

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use kernel::WorkspaceId;
use platform::{DbError, wake::Topic};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use self::{
    files::{ExportFolder, FileRefusal},
    message::{FileNote, NamedFile, NotTaken, ReadMessage, Topics},
    reader::{ExportChat, ExportItem, WantedChats},
};
use crate::{Knowledge, blobs::StoredBytes, jobs, workflows::read_facts};

/// Messages that one transaction stores.
const BATCH: usize = 50;
/// How often progress is told when nothing is stored.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// What to import.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// `result.json`, or the folder that has it.
    pub export: PathBuf,
    /// The bot that the messages belong to.
    pub bot: Uuid,
    /// Only this chat.
    pub chat: Option<i64>,
}

pub async fn run(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    request: &ImportRequest,
    tell: &mut dyn FnMut(&ImportProgress<'_>),
) -> Result<ImportSummary, Error> {
    let begun = Instant::now();
    let path = if request.export.is_dir() { request.export.join("result.json") } else { request.export.clone() };
    let file = open(&path)?;
    let unreadable = |error| Error::Unreadable(path.clone(), error);
    let bytes = file.metadata().map_err(unreadable)?.len();
    let folder = ExportFolder::of(&path).map_err(unreadable)?;
    let wanted = wanted(knowledge, workspace, request.chat).await?;
    // The queue takes jobs of registered types only, and no server may have run yet.
    jobs::registry(knowledge).put_types(&knowledge.db).await?;

    let (sender, mut items) = mpsc::channel(4 * BATCH);
    let bytes_read = Arc::new(AtomicU64::new(0));
    let counter = bytes_read.clone();
    let reading = tokio::task::spawn_blocking(move || reader::read(file, counter, wanted, sender));
    let mut import = Import {
        knowledge,
        workspace,
        bot: request.bot,
        folder,
        topics: Topics::new(),
        is_download_allowed: true,
        summary: ImportSummary::default(),
    };
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let count = tokio::time::timeout(TELL_EVERY, items.recv_many(&mut batch, BATCH)).await;
        if count == Ok(0) {
            break;
        }
        import.take(batch.drain(..)).await?;
        tell(&ImportProgress { bytes_read: bytes_read.load(Ordering::Relaxed), bytes, summary: &import.summary });
    }
    let mut summary = import.summary;
    match reading.await.unwrap_or_else(|panic| Err(Error::Broken(panic.to_string()))) {
        Ok(()) => {}
        Err(Error::Broken(place)) => summary.ended_early = Some(place),
        Err(refused) => return Err(refused),
    }
    if let Some(chat) =
        request.chat.filter(|chat| summary.ended_early.is_none() && summary.chats.iter().all(|one| one.chat_id != *chat))
    {
        return Err(Error::NoSuchChat(chat));
    }
    summary.seconds = begun.elapsed().as_secs_f64();
    note_in_journal(knowledge, workspace, &summary).await?;
    Ok(summary)
}

fn open(path: &Path) -> Result<File, Error> {
    let unreadable = |error| Error::Unreadable(path.to_owned(), error);
    let mut start = [0; 64];
    let count = std::io::Read::read(&mut File::open(path).map_err(unreadable)?, &mut start).map_err(unreadable)?;
    if start[..count].trim_ascii_start().starts_with(b"<") {
        return Err(Error::Html);
    }
    File::open(path).map_err(unreadable)
}

async fn wanted(knowledge: &Knowledge, workspace: WorkspaceId, only: Option<i64>) -> Result<WantedChats, Error> {
    let registered = "select chat_id from core.tenant_chats where (workspace_id, status) = ($1, 'active')";
    let allowed = "select tg_user_id from core.tenant_users where workspace_id = $1 and role <> 'blocked'";
    let pool = knowledge.db.pool();
    let registered: Vec<i64> =
        sqlx::query_scalar(registered).bind(workspace.uuid()).fetch_all(pool).await.map_err(DbError::from)?;
    let allowed: Vec<i64> = sqlx::query_scalar(allowed).bind(workspace.uuid()).fetch_all(pool).await.map_err(DbError::from)?;
    Ok(WantedChats { registered: registered.into_iter().collect(), allowed: allowed.into_iter().collect(), only })
}

async fn note_in_journal(knowledge: &Knowledge, workspace: WorkspaceId, summary: &ImportSummary) -> Result<(), Error> {
    let counts = json!({
        "chats": summary.chats.iter().map(|chat| chat.chat_id).collect::<Vec<_>>(), "messages_new": summary.messages_new,
        "messages_newer": summary.messages_newer, "files_taken": summary.files_taken,
    });
    let query = sqlx::query("select ops.append_journal($1, 'knowledge', 'imported', null, null, $2)");
    query.bind(workspace.uuid()).bind(counts).execute(knowledge.db.pool()).await.map_err(DbError::from)?;
    knowledge.db.wake().tell(Topic::JOBS);
    knowledge.db.wake().tell(Topic::BUS);
    Ok(())
}

struct Import<'a> {
    knowledge: &'a Knowledge,
    workspace: WorkspaceId,
    bot: Uuid,
    folder: ExportFolder,
    /// Of the chat that is being read.
    topics: Topics,
    is_download_allowed: bool,
    summary: ImportSummary,
}

/// A message that can be stored.
struct Candidate {
    position: u64,
    read: ReadMessage,
    facts: Value,
    payload: Value,
    blob: Option<Value>,
}

impl Import<'_> {
    async fn take(&mut self, items: impl Iterator<Item = ExportItem>) -> Result<(), Error> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut of: Option<Arc<ExportChat>> = None;
        for item in items {
            match item {
                ExportItem::Chat(chat) => {
                    self.store(of.take(), std::mem::take(&mut found)).await?;
                    self.begin(&chat).await?;
                }
                ExportItem::Left { chat_id, title, why, messages } => {
                    self.summary.chats_left.push(LeftChat { chat_id, title, why: why.words(), messages });
                }
                ExportItem::Message { chat, position, body } => {
                    if let Some(chat) = self.summary.chats.last_mut() {
                        chat.messages += 1;
                    }
                    found.extend(self.read(&chat, position, body));
                    of = Some(chat);
                }
            }
        }
        self.store(of, found).await
    }

    async fn begin(&mut self, chat: &ExportChat) -> Result<(), Error> {
        self.topics.clear();
        let query = sqlx::query_scalar("select (knowledge.policy_of($1, $2)).allow_file_download");
        let query = query.bind(self.workspace.uuid()).bind(chat.chat_id);
        self.is_download_allowed = query.fetch_one(self.knowledge.db.pool()).await.map_err(DbError::from)?;
        self.summary.chats.push(ImportedChat { chat_id: chat.chat_id, title: chat.title.clone(), messages: 0 });
        Ok(())
    }

    fn read(&mut self, chat: &ExportChat, position: u64, body: Result<Value, String>) -> Option<Candidate> {
        let read = body.map_err(NotTaken::Broken).and_then(|body| message::read(chat, &body, &mut self.topics));
        let read = read.and_then(|read| {
            let (facts, payload) = read_facts(&read.update).map_err(NotTaken::Broken)?;
            Ok(Candidate { position, read, facts, payload, blob: None })
        });
        match read {
            Ok(candidate) => return Some(candidate),
            Err(NotTaken::Skipped(why)) => self.summary.note_skipped(why),
            Err(NotTaken::Broken(why)) => self.summary.note_broken(chat.chat_id, position, why),
        }
        None
    }

    async fn store(&mut self, chat: Option<Arc<ExportChat>>, found: Vec<Candidate>) -> Result<(), Error> {
        let Some(chat) = chat.filter(|_| !found.is_empty()) else { return Ok(()) };
        let mut wanted = Vec::new();
        for (mut candidate, verdict) in self.judge(&chat, found).await? {
            if matches!(verdict.as_str(), "new" | "newer") {
                self.take_file(&mut candidate).await?;
                wanted.push(candidate);
            } else {
                self.summary.note_verdict(&verdict);
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        match self.put(&wanted).await {
            Ok(verdicts) => self.note(&wanted, &verdicts),
            Err(DbError::Unavailable(_) | DbError::Bug(_) | DbError::Constraint { .. } | DbError::Refused { .. }) => {
                // One of them cannot be stored, or live updates stood in the way: each by itself.
                for candidate in wanted {
                    let alone = std::slice::from_ref(&candidate);
                    match self.put(alone).await {
                        Ok(verdicts) => self.note(alone, &verdicts),
                        Err(gone @ DbError::Unavailable(_)) => return Err(gone.into()),
                        Err(error) => self.summary.note_broken(chat.chat_id, candidate.position, error.to_string()),
                    }
                }
            }
        }
        self.knowledge.db.wake().tell(Topic::JOBS);
        Ok(())
    }

    /// What would become of each, before any file is read.
    async fn judge(&self, chat: &ExportChat, found: Vec<Candidate>) -> Result<Vec<(Candidate, String)>, Error> {
        let messages: Vec<Value> = found
            .iter()
            .map(|candidate| {
                let message = &candidate.facts["message"];
                json!({ "message_id": message["message_id"], "tg_user_id": message["tg_user_id"], "date": message["date"],
                        "edit_date": message["edit_date"],
                        "has_file": self.is_download_allowed && matches!(candidate.read.file, FileNote::Named(_)) })
            })
            .collect();
        let query =
            "select knowledge.judge_import($1, $2, $3, m) from jsonb_array_elements($4) with ordinality l (m, n) order by n";
        let query = sqlx::query_scalar(query)
            .bind(self.workspace.uuid())
            .bind(chat.chat_id)
            .bind(chat.chat_type)
            .bind(Value::Array(messages));
        let verdicts: Vec<String> = query.fetch_all(self.knowledge.db.pool()).await.map_err(DbError::from)?;
        Ok(found.into_iter().zip(verdicts).collect())
    }

    async fn put(&self, wanted: &[Candidate]) -> Result<Vec<String>, DbError> {
        let elements: Vec<Value> =
            wanted.iter().map(|one| json!({ "facts": one.facts, "payload": one.payload, "blob": one.blob })).collect();
        let query = "select knowledge.store_imported($1, $2, e -> 'facts', e -> 'payload', nullif(e -> 'blob', 'null'))
                       from jsonb_array_elements($3) with ordinality l (e, n) order by n";
        let query = sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(self.bot).bind(Value::Array(elements));
        Ok(query.fetch_all(self.knowledge.db.pool()).await?)
    }

    fn note(&mut self, stored: &[Candidate], verdicts: &[String]) {
        for (candidate, verdict) in stored.iter().zip(verdicts) {
            self.summary.note_verdict(verdict);
            let is_stored = matches!(verdict.as_str(), "new" | "newer");
            self.summary.files_taken += u64::from(is_stored && candidate.blob.is_some());
        }
    }

    /// The file of a message on its way into object storage. Without it the message is kept all the same.
    async fn take_file(&mut self, candidate: &mut Candidate) -> Result<(), Error> {
        let Some((file, bytes)) = self.read_file(&candidate.read.file).await else { return Ok(()) };
        let stored = StoredBytes::put(self.knowledge, self.workspace, Bytes::from(bytes), file.mime.as_deref()).await?;
        message::attach(&mut candidate.read.update, &file, stored.sha256(), stored.bytes);
        if let Ok((facts, payload)) = read_facts(&candidate.read.update) {
            (candidate.facts, candidate.payload, candidate.blob) = (facts, payload, Some(stored.to_json()));
        }
        Ok(())
    }

    async fn read_file(&mut self, note: &FileNote) -> Option<(NamedFile, Vec<u8>)> {
        let file = match note {
            FileNote::Absent => return None,
            FileNote::NotIncluded => {
                self.summary.files_missing += 1;
                return None;
            }
            FileNote::WithoutText => {
                self.skip_file("stickers, animations and videos have no text");
                return None;
            }
            FileNote::Named(_) if !self.is_download_allowed => {
                self.skip_file("the policy of the chat allows no files");
                return None;
            }
            FileNote::Named(file) => file.clone(),
        };
        let (folder, path) = (self.folder.clone(), file.path.clone());
        let read = tokio::task::spawn_blocking(move || folder.read(&path)).await;
        match read.unwrap_or(Err(FileRefusal::Missing)) {
            Ok(bytes) => return Some((file, bytes)),
            Err(FileRefusal::Missing) => self.summary.files_missing += 1,
            Err(refusal) => self.skip_file(refusal.words()),
        }
        None
    }

    fn skip_file(&mut self, why: &str) {
        *self.summary.files_skipped.entry(why.to_owned()).or_default() += 1;
    }
}
