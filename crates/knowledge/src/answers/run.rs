//! One question from its turn to its answer.

use std::time::{Duration, Instant};

use kernel::{Kind, Problem, WorkspaceId, new_id};
use platform::{DbError, failpoint, wake::Topic};
use serde_json::{Value, json};

use super::{
    QuestionTurn,
    compose::{Statement, compose, one_line},
    membership,
    model::{self, ModelSaid},
    shape::{self, AnswerLanguage, ShapedAnswer},
};
use crate::{
    Knowledge,
    replies::REPLIES,
    search::{FoundChunks, Hit, QuestionChannel, SearchRequest, search},
};

/// Hits that an answer may rest on.
const HITS: usize = 8;
/// Candidates that the turn keeps.
const CANDIDATES_KEPT: usize = 20;
const SNIPPET_CHARS_MAX: usize = 300;
/// A question with fewer words of its own is about what was asked before: "а по вторникам?".
const OWN_WORDS_MIN: usize = 2;
/// A source that is forgotten while the answer is made: it is made again.
const TRIES: usize = 3;

/// Answers the question of a turn. A turn that has its answer keeps it, and the model is not asked again.
pub(crate) async fn answer_turn(knowledge: &Knowledge, workspace: WorkspaceId, turn_id: i64) -> Result<QuestionTurn, Problem> {
    let turn = QuestionTurn::read(knowledge, workspace, turn_id).await?;
    if turn.has_ended() {
        return Ok(turn);
    }
    // What an assistant asks is seen by nobody in the chat.
    let action = turn.bot_id.map(|_| format!("knowledge-{turn_id}-{}", new_id()));
    if let Some(action) = &action {
        knowledge.activity.begin(workspace, turn.chat_id, action).await;
    }
    membership::show_typing(knowledge, workspace, &turn).await;
    let answered = tokio::time::timeout(ANSWER_MAX, answer(knowledge, workspace, &turn)).await;
    let answered = answered.unwrap_or_else(|_| Err(took_too_long()));
    if let Some(action) = &action {
        knowledge.activity.end(workspace, action, answered.is_ok()).await;
    }
    answered
}

fn took_too_long() -> Problem {
    let mut problem =
        Problem::new(504, Kind::Timeout, "knowledge.answer_too_slow", "the answer took too long; it is tried again");
    problem.retryable = true;
    problem
}

/// With two tries of a model.
const ANSWER_MAX: Duration = Duration::from_mins(4);

async fn answer(knowledge: &Knowledge, workspace: WorkspaceId, turn: &QuestionTurn) -> Result<QuestionTurn, Problem> {
    membership::prove(knowledge, workspace, turn.asker(), turn.bot_id).await?;
    for _ in 0..TRIES {
        let started = Instant::now();
        let found = find(knowledge, workspace, turn).await?;
        let made = make(knowledge, turn, &found).await;
        failpoint::hit("knowledge.answer_made");
        let body = stored(&made, &found, turn, started.elapsed());
        let query = sqlx::query_scalar("select knowledge.end_turn($1, $2, $3)").bind(workspace.uuid()).bind(turn.id).bind(body);
        let ended: Option<Value> = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
        if let Some(ended) = ended {
            knowledge.db.wake().tell(REPLIES);
            knowledge.db.wake().tell(Topic::BUS);
            let outcome = if made.shaped.cited.is_empty() { "refused" } else { "answered" };
            metrics::counter!("knowledge_questions_total", "outcome" => outcome).increment(1);
            return QuestionTurn::of(ended);
        }
    }
    Err(Problem::conflict("knowledge.sources_change", "what the answer rests on changes all the time; it is tried again"))
}

/// What there is to say, by the question and, where it says little by itself, by the one before it.
async fn find(knowledge: &Knowledge, workspace: WorkspaceId, turn: &QuestionTurn) -> Result<FoundChunks, Problem> {
    let ask = async |question: &str| {
        let request =
            SearchRequest { workspace, asker: turn.asker(), question, limit: HITS, but_message: turn.question_message_fk };
        search(knowledge, &request).await
    };
    let found = ask(&turn.question).await?;
    let own_words = crate::search::terms::words(&turn.question).iter().filter(|word| !word.is_function).count();
    match turn.before.last() {
        // A question that says enough by itself is not about the one before: together they would find its answer again.
        Some(earlier) if own_words < OWN_WORDS_MIN => {
            let wider = ask(&format!("{} {}", earlier.question, turn.question)).await?;
            Ok(if wider.share > found.share { wider } else { found })
        }
        _ => Ok(found),
    }
}

/// What is said, and who said it.
struct MadeAnswer {
    shaped: ShapedAnswer,
    by: &'static str,
    model: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

async fn make(knowledge: &Knowledge, turn: &QuestionTurn, found: &FoundChunks) -> MadeAnswer {
    let language = AnswerLanguage::of(&turn.question);
    let refusal = || shape::refusal(turn.channel() == QuestionChannel::Group, found.audience.len(), language);
    let offline = |statements: Vec<Statement>| MadeAnswer {
        shaped: if statements.is_empty() { refusal() } else { shape::answer(&statements, found, language) },
        by: "sentences",
        model: None,
        input_tokens: None,
        output_tokens: None,
    };
    if found.is_too_little() || found.hits.is_empty() {
        return offline(Vec::new());
    }
    let Some(answerer) = &knowledge.answerer else { return offline(compose(&turn.question, found)) };
    let model = Some(answerer.model().to_owned());
    match model::ask(answerer, &turn.question, &turn.before, found).await {
        Some(ModelSaid::Statements { statements, input_tokens, output_tokens }) => {
            MadeAnswer { shaped: shape::answer(&statements, found, language), by: "model", model, input_tokens, output_tokens }
        }
        Some(ModelSaid::NotInSources) => {
            MadeAnswer { shaped: refusal(), by: "model", model, input_tokens: None, output_tokens: None }
        }
        None => offline(compose(&turn.question, found)),
    }
}

/// As `knowledge.end_turn` takes it.
fn stored(made: &MadeAnswer, found: &FoundChunks, turn: &QuestionTurn, took: Duration) -> Value {
    let is_refused = made.shaped.cited.is_empty();
    let citation = |hit: &Hit| {
        json!({ "chunk_id": hit.chunk_id, "document_id": hit.document_id, "score": hit.score,
                "snippet": one_line(&hit.text, SNIPPET_CHARS_MAX), "source_ref": hit.source_ref })
    };
    let candidate = |hit: &Hit| json!({ "chunk_id": hit.chunk_id, "score": hit.score, "words": hit.words, "vector": hit.vector });
    let button = |text: &str, word: &str| json!({ "text": text, "payload": format!("{word}:{}", turn.id) });
    json!({
        "status": if is_refused { "refused" } else { "answered" },
        "answer_text": made.shaped.text,
        "candidates": found.hits.iter().take(CANDIDATES_KEPT).map(candidate).collect::<Vec<_>>(),
        "share": found.share, "answered_by": made.by, "model": made.model,
        "input_tokens": made.input_tokens, "output_tokens": made.output_tokens,
        "took_ms": u32::try_from(took.as_millis()).unwrap_or(u32::MAX),
        "citations": made.shaped.cited.iter().filter_map(|at| found.hits.get(*at)).map(citation).collect::<Vec<_>>(),
        "parts": made.shaped.pieces,
        "buttons": if is_refused { json!([]) } else { json!([[button("👍 Полезно", "useful"), button("👎 Не то", "useless")]]) },
    })
}

/// What WF51 answers.
pub(crate) fn told(turn: &QuestionTurn) -> Value {
    json!({
        "session_id": turn.session_id, "turn_id": turn.id, "status": turn.status, "answer_text": turn.answer_text,
        "citations": turn.citations,
    })
}
