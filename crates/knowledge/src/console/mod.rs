//! `/console/knowledge`: chats with their policies, how updates come, and documents; with `?document=ID`, one document and its text.
//!
//! Filters are links and no form: the console replaces the region after every change, and a choice that was not sent yet would be lost.

mod document;
mod list;

use futures::future::BoxFuture;
use kernel::Problem;
use platform::{
    console::{ConsolePage, Tone, escape, parse_query, shell_word},
    http::{Ctx, Failure},
};
use serde::Deserialize;

use crate::reads::{self, DocumentFilter, STATUSES};

pub(crate) const PAGE: ConsolePage = ConsolePage {
    path: "knowledge",
    title: "Knowledge",
    lead: "What groups shared, as text that can be found, and what could not be read.",
    topics: &["knowledge"],
    render,
};

const ADDRESS: &str = "/console/knowledge";
/// How many documents a page has.
const ROWS: i64 = 50;
/// How many looks of the watchdog are shown.
const MOMENTS: i64 = 20;

/// The query of the address.
#[derive(Debug, Default, Deserialize)]
struct KnowledgeQuery {
    chat: Option<i64>,
    #[serde(default)]
    status: String,
    before: Option<i64>,
    document: Option<i64>,
}

impl KnowledgeQuery {
    fn filter(&self) -> Result<DocumentFilter, Problem> {
        let status = Some(self.status.clone()).filter(|status| !status.is_empty());
        if status.as_ref().is_some_and(|status| !STATUSES.contains(&status.as_str())) {
            return Err(Problem::validation("status", format!("`status` is one of: {}", STATUSES.join(", "))));
        }
        Ok(DocumentFilter { chat_id: self.chat, status, doc_type: None, before: self.before, limit: ROWS })
    }
}

fn render<'a>(ctx: &'a Ctx, query: &'a str) -> BoxFuture<'a, Result<String, Failure>> {
    Box::pin(async move {
        let asked: KnowledgeQuery = parse_query(query)?;
        let workspace = &ctx.principal.workspace_name;
        let mut tx = ctx.begin().await?;
        if let Some(id) = asked.document {
            let found = reads::document(&mut tx, id).await?.ok_or_else(|| Problem::not_found("document"))?;
            return Ok(document::region(&found, workspace));
        }
        let filter = asked.filter()?;
        let page = list::KnowledgeOverview {
            chats: reads::chats(&mut tx).await?,
            transports: reads::transports(&mut tx).await?,
            moments: reads::transport_moments(&mut tx, MOMENTS).await?,
            documents: reads::documents(&mut tx, &filter).await?,
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
