//! One search: who may see what, then what was found in it.

use std::{collections::HashMap, time::Instant};

use kernel::{Kind, Problem, WorkspaceId};
use llm::EmbedTask;
use platform::DbError;
use sqlx::AssertSqlSafe;

use super::{
    fusion::{self, LegScores},
    hits::{self, Hit},
    question::{QuestionTerms, SHARE_MIN, WeighedQuestion},
};
use crate::{Knowledge, store, workflows::vector_text};

/// Where a question is asked, which decides who reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionChannel {
    Group,
    Private,
}

impl QuestionChannel {
    /// As the contracts write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Private => "dm",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Group, Self::Private].into_iter().find(|channel| channel.as_str() == text)
    }
}

/// Who asks, and where.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    pub tg_user_id: i64,
    pub channel: QuestionChannel,
    /// Of a group; a private chat has the id of its person.
    pub chat_id: Option<i64>,
}

impl Asker {
    pub fn chat(&self) -> i64 {
        self.chat_id.filter(|_| self.channel == QuestionChannel::Group).unwrap_or(self.tg_user_id)
    }
}

#[derive(Clone, Debug)]
pub struct SearchRequest<'a> {
    pub workspace: WorkspaceId,
    pub asker: Asker,
    pub question: &'a str,
    pub limit: usize,
    /// The message that asks: it is no answer to itself.
    pub but_message: Option<i64>,
}

/// What was found, best first.
#[derive(Clone, Debug)]
pub struct FoundChunks {
    pub hits: Vec<Hit>,
    /// The chats that were searched.
    pub audience: Vec<i64>,
    /// The best score as a share of the best that this question could get, 0 to 1.
    pub share: f64,
    pub took_ms: u128,
}

impl FoundChunks {
    /// Whether the best chunk answers too little of the question to be an answer.
    pub fn is_too_little(&self) -> bool {
        self.share < SHARE_MIN
    }
}

/// Characters of a question that are read.
pub(crate) const QUESTION_CHARS_MAX: usize = 4096;
/// FoundChunks chunks that are ranked, for each one that is returned: some are questions, or say the same.
const RANKED: usize = 5;
const RANKED_MIN: usize = 50;
pub const LIMIT_MAX: usize = 50;

/// Searches what the asker may see. Refused with the words of WF00c: 403 for people who may not ask, 404 for a chat that is not kept.
pub async fn search(knowledge: &Knowledge, request: &SearchRequest<'_>) -> Result<FoundChunks, Problem> {
    let started = Instant::now();
    let asker = request.asker;
    let context =
        store::load_context(&knowledge.db, request.workspace, asker.tg_user_id, asker.chat_id, asker.channel.as_str()).await?;
    refuse(&context)?;
    let audience = audience(knowledge, request.workspace, asker).await?;
    let question: String = request.question.chars().take(QUESTION_CHARS_MAX).collect();
    let (scores, share) = rank(knowledge, request, &question, &audience).await?;
    let ids: Vec<i64> = scores.iter().map(|(id, _)| *id).collect();
    let rows = hits::read(knowledge, request.workspace, &audience, &ids, request.but_message).await?;
    let mut hits = hits::collapse(scores, rows, request.limit.clamp(1, LIMIT_MAX));
    hits::widen(knowledge, request.workspace, &audience, &mut hits).await?;
    let hits = hits::add_replies(knowledge, request.workspace, &audience, hits, request.but_message).await?;
    // What was found may have been left out (a question to the bot): then the best that is left counts. A vector that is very near
    // answers too, where the model is worth something and no word is shared.
    let share = hits.iter().map(|hit| hit.words.min(share).max(hit.score)).fold(0.0, f64::max).min(1.0);
    Ok(FoundChunks { hits, audience, share, took_ms: started.elapsed().as_millis() })
}

fn refuse(context: &serde_json::Value) -> Result<(), Problem> {
    let Some(status) = context["status"].as_u64() else { return Ok(()) };
    let reason = context["reason"].as_str().unwrap_or_default().to_owned();
    Err(match status {
        403 => Problem::new(403, Kind::Auth, "knowledge.not_allowed", reason),
        _ => Problem::new(404, Kind::NotFound, "knowledge.chat_not_registered", reason),
    })
}

pub(crate) async fn audience(knowledge: &Knowledge, workspace: WorkspaceId, asker: Asker) -> Result<Vec<i64>, Problem> {
    let query = sqlx::query_scalar("select knowledge.audience_chats($1, $2, $3, $4)")
        .bind(workspace.uuid())
        .bind(asker.tg_user_id)
        .bind(asker.chat_id)
        .bind(asker.channel.as_str());
    Ok(query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?)
}

/// The best chunks with their scores, and the best share of the words.
async fn rank(
    knowledge: &Knowledge,
    request: &SearchRequest<'_>,
    question: &str,
    audience: &[i64],
) -> Result<(Vec<(i64, LegScores)>, f64), Problem> {
    let limit = (request.limit.clamp(1, LIMIT_MAX) * RANKED).max(RANKED_MIN);
    let weighed = weigh(knowledge, request.workspace, question).await?;
    let words = match &weighed {
        Some(weighed) => find_words(knowledge, request.workspace, audience, weighed, limit).await?,
        None => Vec::new(),
    };
    let vectors = find_vectors(knowledge, request.workspace, audience, question, limit).await?;
    let share = words.first().map_or(0.0, |(_, share)| *share);
    Ok((fusion::fuse(&words, vectors.as_ref()), share))
}

async fn weigh(knowledge: &Knowledge, workspace: WorkspaceId, question: &str) -> Result<Option<WeighedQuestion>, Problem> {
    let terms = QuestionTerms::of(question);
    let query =
        sqlx::query_as("select term, chunks from knowledge.look_up_terms($1, $2)").bind(workspace.uuid()).bind(terms.all());
    let counts: Vec<(i32, i64)> = query.fetch_all(knowledge.db.pool()).await.map_err(DbError::from)?;
    let mut frequencies: HashMap<i32, i64> = counts.into_iter().collect();
    let chunks = frequencies.remove(&0).unwrap_or_default();
    Ok(terms.weigh(chunks, &frequencies))
}

/// Chunks with their share of the best score.
async fn find_words(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    audience: &[i64],
    weighed: &WeighedQuestion,
    limit: usize,
) -> Result<Vec<(i64, f64)>, Problem> {
    let query = sqlx::query_as("select chunk_id, score from knowledge.find_words($1, $2, $3, $4::sparsevec, $5)")
        .bind(workspace.uuid())
        .bind(audience)
        .bind(&weighed.candidates)
        .bind(&weighed.weights)
        .bind(i32::try_from(limit).unwrap_or(i32::MAX));
    let rows: Vec<(i64, f64)> = query.fetch_all(knowledge.db.pool()).await.map_err(DbError::from)?;
    Ok(rows.into_iter().map(|(id, score)| (id, score / weighed.best)).collect())
}

/// What a model found, and what it is worth.
pub(super) struct VectorLeg {
    pub(super) weight: f64,
    pub(super) scores: Vec<(i64, f64)>,
}

/// Nothing where the model of the workspace is worth nothing, and where it cannot be asked now: words alone answer then.
async fn find_vectors(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    audience: &[i64],
    question: &str,
    limit: usize,
) -> Result<Option<VectorLeg>, Problem> {
    let model = knowledge.embedder.model();
    let query = "select id, search_weight from kg.embedding_models
                  where (workspace_id, provider, model, state) = ($1, $2, $3, 'active') and search_weight > 0";
    let query = sqlx::query_as(query).bind(workspace.uuid()).bind(model.provider).bind(&model.model);
    let active: Option<(i64, f64)> = query.fetch_optional(knowledge.db.pool()).await.map_err(DbError::from)?;
    let Some((model_id, weight)) = active else { return Ok(None) };
    let vector = match knowledge.embedder.embed(&[question.to_owned()], EmbedTask::Query).await {
        Ok(vectors) => vectors.into_iter().next().unwrap_or_default(),
        Err(error) => {
            tracing::warn!(code = %error.code, "knowledge.question_not_embedded");
            return Ok(None);
        }
    };
    let mut tx = knowledge.db.begin_system().await?;
    // The index answers in about the right order and goes on until enough rows passed the filter.
    sqlx::query(AssertSqlSafe("set local hnsw.iterative_scan = relaxed_order")).execute(&mut *tx).await.map_err(DbError::from)?;
    let query = sqlx::query_as("select chunk_id, score from knowledge.find_vectors($1, $2, $3, $4::halfvec, $5)")
        .bind(workspace.uuid())
        .bind(audience)
        .bind(model_id)
        .bind(vector_text(&vector))
        .bind(i32::try_from(limit).unwrap_or(i32::MAX));
    let scores = query.fetch_all(&mut *tx).await.map_err(DbError::from)?;
    tx.commit().await.map_err(DbError::from)?;
    Ok(Some(VectorLeg { weight, scores }))
}
