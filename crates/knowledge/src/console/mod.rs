//! `/console/knowledge`: chats with their policies, questions, how updates come, and documents; with `?document=ID`, one document and its text;
//! with `?questions=all`, the questions, and with `?question=ID` one of them with what was found and said.
//!
//! Filters are links and no form: the console replaces the region after every change, and a choice that was not sent yet would be lost.

mod document;
mod list;
mod questions;

use futures::future::BoxFuture;
use kernel::Problem;
use platform::{
    console::{ConsolePage, Tone, escape, parse_query, shell_word},
    http::{Ctx, Failure},
};
use serde::Deserialize;

use crate::{
    questions as asked,
    reads::{self, DocumentFilter, STATUSES},
};

pub(crate) const PAGE: ConsolePage = ConsolePage {
    path: "knowledge",
    title: "Knowledge",
    lead: "What groups shared, as text that can be found; what was asked, and what was answered.",
    topics: &["knowledge"],
    render,
};

const ADDRESS: &str = "/console/knowledge";
/// How many documents a page has.
const ROWS: i64 = 50;
/// How many looks of the watchdog are shown.
const MOMENTS: i64 = 20;
/// How many questions and days the overview has.
const QUESTIONS: i64 = 10;
const DAYS: i64 = 14;

/// The query of the address.
#[derive(Debug, Default, Deserialize)]
struct KnowledgeQuery {
    chat: Option<i64>,
    #[serde(default)]
    status: String,
    before: Option<i64>,
    document: Option<i64>,
    question: Option<i64>,
    /// The status of questions, or `all`.
    questions: Option<String>,
}

impl KnowledgeQuery {
    fn filter(&self) -> Result<DocumentFilter, Problem> {
        let status = Some(self.status.clone()).filter(|status| !status.is_empty());
        if status.as_ref().is_some_and(|status| !STATUSES.contains(&status.as_str())) {
            return Err(Problem::validation("status", format!("`status` is one of: {}", STATUSES.join(", "))));
        }
        Ok(DocumentFilter { chat_id: self.chat, status, doc_type: None, before: self.before, limit: ROWS })
    }

    fn of_questions(&self, status: &str) -> Result<asked::QuestionFilter, Problem> {
        let status = Some(status.to_owned()).filter(|status| status != "all");
        if status.as_ref().is_some_and(|status| !asked::STATUSES.contains(&status.as_str())) {
            let words = format!("`questions` is `all` or one of: {}", asked::STATUSES.join(", "));
            return Err(Problem::validation("questions", words));
        }
        Ok(asked::QuestionFilter { status, chat_id: self.chat, before: self.before, limit: ROWS })
    }
}

fn render<'a>(ctx: &'a Ctx, query: &'a str) -> BoxFuture<'a, Result<String, Failure>> {
    Box::pin(async move {
        let wanted: KnowledgeQuery = parse_query(query)?;
        let workspace = &ctx.principal.workspace_name;
        let mut tx = ctx.begin().await?;
        if let Some(id) = wanted.document {
            let found = reads::document(&mut tx, id).await?.ok_or_else(|| Problem::not_found("document"))?;
            return Ok(document::region(&found, workspace));
        }
        if let Some(id) = wanted.question {
            let found = asked::question(&mut tx, id).await?.ok_or_else(|| Problem::not_found("question"))?;
            let (candidates, citations) = (asked::candidates(&mut tx, id).await?, asked::citations(&mut tx, id).await?);
            return Ok(questions::one(&found, &candidates, &citations, workspace));
        }
        if let Some(status) = &wanted.questions {
            let filter = wanted.of_questions(status)?;
            return Ok(questions::list(&asked::questions(&mut tx, &filter).await?, &filter));
        }
        let filter = wanted.filter()?;
        let page = list::KnowledgeOverview {
            chats: reads::chats(&mut tx).await?,
            transports: reads::transports(&mut tx).await?,
            moments: reads::transport_moments(&mut tx, MOMENTS).await?,
            documents: reads::documents(&mut tx, &filter).await?,
            days: asked::quality(&mut tx, DAYS).await?,
            questions: asked::questions(&mut tx, &asked::QuestionFilter { limit: QUESTIONS, ..Default::default() }).await?,
        };
        Ok(list::region(&page, &filter, workspace))
    })
}

fn document_tone(status: &str) -> Tone {
    match status {
        "done" => Tone::Good,
        "error" => Tone::Bad,
        _ => Tone::Busy,
    }
}

/// A command for the terminal: the console has no forms for the pages of modules.
fn command(words: &str, workspace: &str) -> String {
    let command = format!("beresta knowledge {words} --workspace {}", shell_word(workspace));
    format!(r#"<pre class="command"><code>{}</code></pre>"#, escape(&command))
}
