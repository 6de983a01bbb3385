//! What was found, as people read it: the text with its source, what stands around it, and each thing once.

use std::collections::{HashMap, HashSet};

use jiff_sqlx::Timestamp as SqlTimestamp;
use kernel::{Problem, WorkspaceId};
use platform::DbError;
use serde::Serialize;
use serde_json::Value;
use sqlx::FromRow;

use super::{fusion::LegScores, terms};
use crate::Knowledge;

/// One chunk that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    pub rank: usize,
    pub chunk_id: i64,
    pub document_id: i64,
    /// What the order is by.
    pub score: f64,
    /// The share of the best score that the words of the question could get.
    pub words: f64,
    /// The cosine of the vectors, where the model is worth something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<f64>,
    pub text: String,
    pub source_ref: SourceRef,
    /// The found question that this text is a reply to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers_chunk: Option<i64>,
    /// What stands around it.
    pub around: Vec<Neighbour>,
    /// Others that say the same.
    pub also: Vec<SourceRef>,
}

/// Where a text comes from, as far as its audience may know it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SourceRef {
    /// `message`, `url` or `file`.
    pub kind: String,
    pub document_id: i64,
    pub chat_id: i64,
    pub chat_title: Option<String>,
    pub message_id: Option<i32>,
    pub author: Option<String>,
    pub date: Option<String>,
    pub title: Option<String>,
    pub url: Option<String>,
    pub file_name: Option<String>,
    /// The page, slide or sheet.
    pub mark: Option<Value>,
    /// Opens the message in Telegram; the page for a link.
    pub link: Option<String>,
}

/// A text beside one that was found: `answers` what it is a reply to, `answered` a reply to it, `before` and `after` it in its thread or
/// document.
#[derive(Clone, Debug, Serialize, FromRow)]
pub struct Neighbour {
    #[serde(skip)]
    of_chunk: i64,
    pub place: String,
    pub chunk_id: i64,
    pub author: Option<String>,
    pub text: String,
}

#[derive(Clone, Debug, FromRow)]
pub(super) struct HitRow {
    chunk_id: i64,
    document_id: i64,
    text: String,
    mark: Option<Value>,
    doc_type: String,
    chat_id: i64,
    chat_title: Option<String>,
    chat_username: Option<String>,
    title: Option<String>,
    author: Option<String>,
    doc_date: Option<String>,
    url: Option<String>,
    file_name: Option<String>,
    message_id: Option<i32>,
    thread_id: Option<i32>,
    said_at: Option<SqlTimestamp>,
    /// The chat in which its number counts: a group that became a supergroup has another one by now.
    message_chat_id: Option<i64>,
}

pub(super) async fn read(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    audience: &[i64],
    chunks: &[i64],
    but_message: Option<i64>,
) -> Result<HashMap<i64, HitRow>, Problem> {
    let query = sqlx::query_as("select * from knowledge.read_hits($1, $2, $3, $4)")
        .bind(workspace.uuid())
        .bind(audience)
        .bind(chunks)
        .bind(but_message);
    let rows: Vec<HitRow> = query.fetch_all(knowledge.db.pool()).await.map_err(DbError::from)?;
    Ok(rows.into_iter().map(|row| (row.chunk_id, row)).collect())
}

/// Texts whose words are nearly the same are one hit: a post that was forwarded, a page that two people shared.
const SAME_SHARE: f64 = 0.9;

pub(super) fn collapse(scores: Vec<(i64, LegScores)>, mut rows: HashMap<i64, HitRow>, limit: usize) -> Vec<Hit> {
    let mut hits: Vec<(Hit, HashSet<i32>)> = Vec::new();
    for (chunk_id, legs) in scores {
        let Some(row) = rows.remove(&chunk_id) else { continue };
        let stems: HashSet<i32> = terms::words(&row.text).iter().map(terms::stem).collect();
        if let Some((same, _)) = hits.iter_mut().find(|(_, known)| is_same(known, &stems)) {
            same.also.push(row.source());
            continue;
        }
        if hits.len() == limit {
            break;
        }
        hits.push((row.hit(legs), stems));
    }
    numbered(hits.into_iter().map(|(hit, _)| hit).collect())
}

fn numbered(mut hits: Vec<Hit>) -> Vec<Hit> {
    for (at, hit) in hits.iter_mut().enumerate() {
        hit.rank = at + 1;
    }
    hits
}

/// Where a question was found, what was replied to it is the answer: the replies follow it, each a hit of its own.
pub(super) async fn add_replies(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    audience: &[i64],
    hits: Vec<Hit>,
    but_message: Option<i64>,
) -> Result<Vec<Hit>, Problem> {
    let known: HashSet<i64> = hits.iter().map(|hit| hit.chunk_id).collect();
    let replies = |hit: &Hit| -> Vec<i64> {
        let near = hit.around.iter().filter(|near| near.place == "answered" && !known.contains(&near.chunk_id));
        near.map(|near| near.chunk_id).filter(|_| hit.is_question()).collect()
    };
    let wanted: Vec<i64> = hits.iter().flat_map(replies).collect();
    if wanted.is_empty() {
        return Ok(hits);
    }
    let mut rows = read(knowledge, workspace, audience, &wanted, but_message).await?;
    let mut all = Vec::with_capacity(hits.len() + wanted.len());
    for hit in hits {
        let (of, legs) = (hit.chunk_id, LegScores { score: hit.score, words: hit.words, vector: hit.vector });
        let found: Vec<HitRow> = replies(&hit).iter().filter_map(|chunk| rows.remove(chunk)).collect();
        all.push(hit);
        all.extend(found.into_iter().map(|row| Hit { answers_chunk: Some(of), ..row.hit(legs) }));
    }
    Ok(numbered(all))
}

impl Hit {
    pub fn is_question(&self) -> bool {
        self.text.trim_end().ends_with('?')
    }
}

#[expect(clippy::cast_precision_loss, reason = "a chunk has few words")]
fn is_same(known: &HashSet<i32>, stems: &HashSet<i32>) -> bool {
    let shared = known.intersection(stems).count();
    let all = known.len() + stems.len() - shared;
    all > 0 && shared as f64 >= SAME_SHARE * all as f64
}

/// Adds what stands around each hit.
pub(super) async fn widen(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    audience: &[i64],
    hits: &mut [Hit],
) -> Result<(), Problem> {
    let ids: Vec<i64> = hits.iter().map(|hit| hit.chunk_id).collect();
    let query =
        sqlx::query_as("select * from knowledge.read_neighbours($1, $2, $3)").bind(workspace.uuid()).bind(audience).bind(&ids);
    let rows: Vec<Neighbour> = query.fetch_all(knowledge.db.pool()).await.map_err(DbError::from)?;
    for row in rows {
        if let Some(hit) = hits.iter_mut().find(|hit| hit.chunk_id == row.of_chunk) {
            hit.around.push(row);
        }
    }
    Ok(())
}

impl HitRow {
    fn hit(self, legs: LegScores) -> Hit {
        Hit {
            rank: 0,
            chunk_id: self.chunk_id,
            document_id: self.document_id,
            score: legs.score,
            words: legs.words,
            vector: legs.vector,
            source_ref: self.source(),
            text: self.text,
            answers_chunk: None,
            around: Vec::new(),
            also: Vec::new(),
        }
    }

    fn source(&self) -> SourceRef {
        let link = match &self.url {
            Some(url) => Some(url.clone()),
            None => self
                .message_chat_id
                .and_then(|chat| message_link(chat, self.chat_username.as_deref(), self.thread_id, self.message_id)),
        };
        SourceRef {
            kind: self.doc_type.clone(),
            document_id: self.document_id,
            chat_id: self.chat_id,
            chat_title: self.chat_title.clone(),
            message_id: self.message_id,
            author: self.author.clone(),
            date: self.said_at.map(|at| at.to_jiff().strftime("%Y-%m-%d").to_string()).or_else(|| self.doc_date.clone()),
            title: self.title.clone(),
            url: self.url.clone(),
            file_name: self.file_name.clone(),
            mark: self.mark.clone().filter(Value::is_object),
            link,
        }
    }
}

/// The ids of supergroups and channels, as bots know them, begin with this.
const SUPERGROUP: i64 = -1_000_000_000_000;

/// Opens a message in Telegram, for members of its chat. Basic groups and private chats have no such links.
fn message_link(chat_id: i64, username: Option<&str>, thread: Option<i32>, message: Option<i32>) -> Option<String> {
    let message = message.filter(|message| *message > 0)?;
    let place = match username {
        Some(name) => name.to_owned(),
        None if chat_id < SUPERGROUP => format!("c/{}", SUPERGROUP - chat_id),
        None => return None,
    };
    let thread = thread.map(|thread| format!("{thread}/")).unwrap_or_default();
    Some(format!("https://t.me/{place}/{thread}{message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_a_supergroup_has_a_link_and_one_of_a_private_chat_has_none() {
        assert_eq!(message_link(-1_001_234_567_890, None, None, Some(7)).unwrap(), "https://t.me/c/1234567890/7");
        assert_eq!(message_link(-1_001_234_567_890, None, Some(3), Some(7)).unwrap(), "https://t.me/c/1234567890/3/7");
        assert_eq!(message_link(-1_001_234_567_890, Some("beresta"), None, Some(7)).unwrap(), "https://t.me/beresta/7");
        assert_eq!(message_link(-123, None, None, Some(7)), None);
        assert_eq!(message_link(5, None, None, Some(7)), None);
        assert_eq!(
            message_link(-1_001_234_567_890, None, None, Some(-7)),
            None,
            "imported private messages have no number in Telegram"
        );
    }
}
