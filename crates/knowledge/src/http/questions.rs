//! `GET /api/knowledge/questions`: what was asked, and how it was answered; `…/{id}`: one question with what was found and cited.

use axum::response::IntoResponse;
use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Page, Path, Query};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    questions::{self, CandidateRead, CitationRead, QuestionFilter, QuestionRead, STATUSES},
    scopes,
};

const LIMIT_DEFAULT: i64 = 50;

/// Which questions are asked for.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct QuestionQuery {
    /// `asked`, `answered`, `refused` or `failed`
    status: Option<String>,
    /// where it was asked; a private chat has the id of its person
    chat_id: Option<i64>,
    /// the questions before this one
    before: Option<i64>,
    limit: Option<i64>,
}

/// List the questions, the newest first. Of private ones neither question nor answer is told: they are their askers', not the workspace's.
#[utoipa::path(get, path = "/api/knowledge/questions", params(QuestionQuery), responses((status = 200, description = "the questions")))]
pub(super) async fn list_questions(ctx: Ctx, Query(asked): Query<QuestionQuery>) -> Result<impl IntoResponse, Failure> {
    ctx.require(scopes::READ)?;
    if asked.status.as_ref().is_some_and(|status| !STATUSES.contains(&status.as_str())) {
        return Err(Problem::validation("status", format!("`status` is one of: {}", STATUSES.join(", "))).into());
    }
    let limit = Page::checked(asked.limit.unwrap_or(LIMIT_DEFAULT))?;
    let filter = QuestionFilter { status: asked.status, chat_id: asked.chat_id, before: asked.before, limit };
    let mut tx = ctx.begin().await?;
    let rows: Vec<Value> = questions::questions(&mut tx, &filter).await?.iter().map(told).collect();
    Ok(Answer::ok(json!({ "questions": rows })))
}

/// One question with the chunks that were found, the score of each leg, and the citations as they are now: `there`, `gone` or `not_visible`.
#[utoipa::path(get, path = "/api/knowledge/questions/{id}", params(("id" = i64, Path, description = "the question")),
    responses((status = 200, description = "the question"), (status = 404)))]
pub(super) async fn show_question(ctx: Ctx, Path(id): Path<i64>) -> Result<impl IntoResponse, Failure> {
    ctx.require(scopes::READ)?;
    let mut tx = ctx.begin().await?;
    let question = questions::question(&mut tx, id).await?.ok_or_else(|| Problem::not_found("question"))?;
    let mut body = told(&question);
    body["candidates"] = questions::candidates(&mut tx, id).await?.iter().map(told_candidate).collect();
    body["citations"] = questions::citations(&mut tx, id).await?.iter().map(told_citation).collect();
    Ok(Answer::ok(json!({ "question": body })))
}

fn told(asked: &QuestionRead) -> Value {
    json!({
        "turn_id": asked.turn_id, "asked_at": asked.asked_at.to_jiff(), "tg_user_id": asked.tg_user_id, "asker": asked.asker,
        "is_private": asked.is_private, "chat_id": asked.chat_id, "chat_title": asked.chat_title, "question": asked.question,
        "status": asked.status, "share": asked.share, "is_useful": asked.is_useful, "answered_by": asked.answered_by,
        "model": asked.model, "input_tokens": asked.input_tokens, "output_tokens": asked.output_tokens, "took_ms": asked.took_ms,
        "answer_text": asked.answer_text,
    })
}

fn told_candidate(found: &CandidateRead) -> Value {
    json!({
        "rank": found.rank, "chunk_id": found.chunk_id, "document_id": found.document_id, "score": found.score, "words": found.words,
        "vector": found.vector, "beginning": found.beginning,
    })
}

fn told_citation(cited: &CitationRead) -> Value {
    json!({
        "rank": cited.rank, "chunk_id": cited.chunk_id, "document_id": cited.document_id, "score": cited.score, "state": cited.state,
        "snippet": cited.snippet, "source_ref": cited.source_ref,
    })
}
