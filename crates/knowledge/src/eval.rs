//! `beresta knowledge eval`: how well questions find their paragraphs, by the search that answers them, in a workspace made for it.
//!
//! Guarantee: the workspace and all that was loaded into it are gone at the end, also after an error.

mod load;
mod measure;

use std::time::Instant;

use kernel::{Problem, WorkspaceId, new_id};
use platform::{DbError, workspaces};
use serde::{Deserialize, Serialize};

pub use measure::EvalReport;

use crate::{
    Knowledge,
    search::{Asker, Channel, SearchRequest, search},
};

/// One text that can be found.
#[derive(Clone, Debug, Deserialize)]
pub struct Paragraph {
    pub pid: String,
    pub text: String,
}

/// One question with the paragraph that answers it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Question {
    pub pid: String,
    pub question: String,
}

#[derive(Clone, Debug, Default)]
pub struct EvalInput {
    pub paragraphs: Vec<Paragraph>,
    pub questions: Vec<Question>,
    /// Questions whose answer is not there.
    pub foreign: Vec<Question>,
    /// What the vectors are worth beside the words, 0 to 1; as the model has it if not given.
    pub vector_weight: Option<f64>,
}

/// The one person and the one group of the workspace.
const PERSON: i64 = 1;
const GROUP: i64 = -1_000_000_000_001;
/// The rank from which an answer counts as not found.
const RANKS: usize = 10;

/// What is told while it runs: the step, how far it is, and how much there is.
pub type Progress<'a> = &'a (dyn Fn(&str, usize, usize) + Sync);

/// Loads, asks, measures, and removes everything again.
pub async fn run(knowledge: &Knowledge, input: &EvalInput, progress: Progress<'_>) -> Result<EvalReport, Problem> {
    if input.paragraphs.is_empty() || input.questions.is_empty() {
        return Err(Problem::validation("paragraphs", "there is nothing to ask: both files need at least one line"));
    }
    let name = format!("eval-{}", new_id());
    let workspace = workspaces::create(knowledge.db.pool(), &name).await?;
    let done = measured(knowledge, workspace, input, progress).await;
    progress("removing the workspace", 0, 1);
    let removed = load::remove(knowledge, workspace).await;
    let report = done?;
    removed?;
    Ok(report)
}

async fn measured(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    input: &EvalInput,
    progress: Progress<'_>,
) -> Result<EvalReport, Problem> {
    let started = Instant::now();
    load::load(knowledge, workspace, input, progress).await?;
    let load_seconds = started.elapsed().as_secs_f64();
    let mut asked = measure::Asked::default();
    let total = input.questions.len() + input.foreign.len();
    for (at, question) in input.questions.iter().chain(&input.foreign).enumerate() {
        progress("asking", at, total);
        let request = SearchRequest {
            workspace,
            asker: Asker { tg_user_id: PERSON, channel: Channel::Group, chat_id: Some(GROUP) },
            question: &question.question,
            limit: RANKS,
            but_message: None,
        };
        let started = Instant::now();
        let found = search(knowledge, &request).await?;
        let took = started.elapsed();
        // The number of a message is the place of its paragraph.
        let ranks = found.hits.iter().map(|hit| hit.source_ref.message_id.and_then(|id| usize::try_from(id - 1).ok()));
        let rank = ranks.enumerate().find_map(|(rank, paragraph)| {
            let pid = &input.paragraphs.get(paragraph?)?.pid;
            (pid == &question.pid).then_some(rank)
        });
        asked.add(at < input.questions.len(), rank, found.share, found.is_too_little(), took);
    }
    let model = knowledge.embedder.model();
    let report = asked.report();
    Ok(EvalReport {
        paragraphs: input.paragraphs.len(),
        model: format!("{} {}", model.provider, model.model),
        load_seconds,
        ..report
    })
}

async fn execute(knowledge: &Knowledge, query: &'static str, workspace: WorkspaceId) -> Result<(), Problem> {
    sqlx::query(query).bind(workspace.uuid()).execute(knowledge.db.pool()).await.map_err(DbError::from)?;
    Ok(())
}
