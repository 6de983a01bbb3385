//! One document: its facts, why it has no text, or the text.

use platform::console::{Cell, escape, table};

use super::{ADDRESS, command, document_tone};
use crate::reads::DocumentRead;

pub(super) fn region(document: &DocumentRead, workspace: &str) -> String {
    let title = document.title.as_deref().or(document.url.as_deref()).unwrap_or("Message");
    let mut html = format!(
        r#"<header class="section-head"><h2>{}</h2><a class="more" href="{ADDRESS}">all documents</a></header>"#,
        escape(title)
    );
    let facts = [
        ("Status", Cell::badge(&document.status, document_tone(&document.status))),
        ("Kind", document.doc_type.clone().into()),
        ("Chat", document.chat_title.clone().unwrap_or_else(|| document.chat_id.to_string()).into()),
        ("From", Cell::maybe(document.author.as_ref())),
        ("Date", Cell::maybe(document.doc_date.as_ref())),
        ("Address", Cell::maybe(document.url.as_ref())),
        ("Type", Cell::maybe(document.mime.as_ref())),
        ("Bytes", Cell::maybe(document.bytes)),
        ("Language", Cell::maybe(document.language.as_ref())),
        ("Tokens", Cell::maybe(document.token_count)),
        ("Chunks", document.chunks.to_string().into()),
        ("Reason", Cell::maybe(document.error.as_ref())),
        ("Changed", Cell::time(document.updated_at.to_jiff())),
    ];
    html.push_str(&table("Facts of the document", ["Fact", "Value"], facts.map(|(name, cell)| [name.to_owned().into(), cell])));
    if document.status != "done" {
        html.push_str(r#"<section class="panel"><header class="section-head"><h2>Try again</h2></header>"#);
        html.push_str(&command(&format!("retry {}", document.document_id), workspace));
        html.push_str("</section>");
    }
    if let Some(text) = &document.beginning {
        html.push_str(r#"<section class="panel"><header class="section-head"><h2>Text</h2></header><pre class="command"><code>"#);
        html.push_str(&escape(text));
        html.push_str("</code></pre></section>");
    }
    html
}
