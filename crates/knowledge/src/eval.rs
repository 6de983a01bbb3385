//! `beresta knowledge eval`: how well questions find their paragraphs, by the search that answers them, in a workspace made for it.
//!
//! Guarantee: the workspace and all that was loaded into it are gone at the end, also after an error.

mod load;
mod measure;

use std::{collections::HashMap, time::Instant};

use futures::{StreamExt, TryStreamExt, stream};
use kernel::{Problem, WorkspaceId, new_id};
use platform::{DbError, workspaces};
use serde::{Deserialize, Serialize};

pub use measure::EvalReport;

use crate::{
    Knowledge,
    search::{Asker, QuestionChannel, SearchRequest, SourceRef, search},
};

/// One text that can be found.
#[derive(Clone, Debug, Deserialize)]
pub struct Paragraph {
    pub pid: String,
    pub text: String,
}

/// One question with the paragraph that answers it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EvalQuestion {
    pub pid: String,
    pub question: String,
}

#[derive(Clone, Debug, Default)]
pub struct EvalInput {
    pub paragraphs: Vec<Paragraph>,
    pub questions: Vec<EvalQuestion>,
    /// Questions whose answer is not there.
    pub foreign: Vec<EvalQuestion>,
    /// What the vectors are worth beside the words, 0 to 1; as the model has it if not given.
    pub vector_weight: Option<f64>,
    /// The paragraphs are spread over so many groups. With more than one, a question is asked in the group of its paragraph, or in
    /// private by a member of all of them.
    pub groups: usize,
    pub in_private: bool,
    /// How many ask at the same time.
    pub askers: usize,
}

/// The one person of the workspace, and the first of its groups; the others have the numbers below.
const PERSON: i64 = 1;
const FIRST_GROUP: i64 = -1_000_000_000_001;
/// The rank from which an answer counts as not found.
const RANKS: usize = 10;

/// What is told while it runs: the step, how far it is, and how much there is.
pub type EvalProgress<'a> = &'a (dyn Fn(&str, usize, usize) + Sync);

/// Loads, asks, measures, and removes everything again.
pub async fn run(knowledge: &Knowledge, input: &EvalInput, progress: EvalProgress<'_>) -> Result<EvalReport, Problem> {
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
    progress: EvalProgress<'_>,
) -> Result<EvalReport, Problem> {
    let started = Instant::now();
    load::load(knowledge, workspace, input, progress).await?;
    let load_seconds = started.elapsed().as_secs_f64();
    let total = input.questions.len() + input.foreign.len();
    let places: HashMap<&str, usize> =
        input.paragraphs.iter().enumerate().map(|(at, paragraph)| (paragraph.pid.as_str(), at)).collect();
    let all =
        input.questions.iter().map(|question| (question, true)).chain(input.foreign.iter().map(|question| (question, false)));
    let mut answers = stream::iter(all)
        .map(|(question, is_answerable)| ask(knowledge, workspace, input, &places, question, is_answerable))
        .buffer_unordered(input.askers.max(1));
    let mut asked = measure::EvalTally::default();
    let mut count = 0;
    while let Some(one) = answers.try_next().await? {
        progress("asking", count, total);
        count += 1;
        asked.add(one);
    }
    drop(answers);
    let model = knowledge.embedder.model();
    let report = asked.report();
    Ok(EvalReport {
        paragraphs: input.paragraphs.len(),
        model: format!("{} {}", model.provider, model.model),
        load_seconds,
        ..report
    })
}

async fn ask(
    knowledge: &Knowledge,
    workspace: WorkspaceId,
    input: &EvalInput,
    places: &HashMap<&str, usize>,
    question: &EvalQuestion,
    is_answerable: bool,
) -> Result<measure::AskedOnce, Problem> {
    let place = places.get(question.pid.as_str()).copied().unwrap_or_default();
    let group = FIRST_GROUP - i64::try_from(place % input.groups.max(1)).unwrap_or_default();
    let asker = if input.in_private {
        Asker { tg_user_id: PERSON, channel: QuestionChannel::Private, chat_id: None }
    } else {
        Asker { tg_user_id: PERSON, channel: QuestionChannel::Group, chat_id: Some(group) }
    };
    let request = SearchRequest { workspace, asker, question: &question.question, limit: RANKS, but_message: None };
    let started = Instant::now();
    let found = search(knowledge, &request).await?;
    let took = started.elapsed();
    // The number of a message is the place of its paragraph, from one. The paragraphs that say the same are one hit.
    let is_it = |source: &SourceRef| source.message_id.is_some_and(|id| usize::try_from(id - 1).is_ok_and(|at| at == place));
    let rank = found.hits.iter().position(|hit| is_it(&hit.source_ref) || hit.also.iter().any(is_it));
    let rank = rank.filter(|_| is_answerable);
    Ok(measure::AskedOnce { is_answerable, rank, share: found.share, is_refused: found.is_too_little(), took })
}

async fn execute(knowledge: &Knowledge, query: &'static str, workspace: WorkspaceId) -> Result<(), Problem> {
    sqlx::query(query).bind(workspace.uuid()).execute(knowledge.db.pool()).await.map_err(DbError::from)?;
    Ok(())
}
