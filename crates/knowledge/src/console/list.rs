//! Chats with their policies, how updates come, and a page of documents.

use std::fmt::Write;

use platform::console::{Cell, Tone, escape, table};

use super::{ADDRESS, ROWS, command, document_tone, questions};
use crate::{
    questions::{QualityDay, QuestionRead},
    reads::{ArchivedChat, DocumentFilter, DocumentRead, STATUSES, TransportMoment, TransportRead},
};

/// What the page shows.
pub(super) struct KnowledgeOverview {
    pub(super) chats: Vec<ArchivedChat>,
    pub(super) transports: Vec<TransportRead>,
    pub(super) moments: Vec<TransportMoment>,
    pub(super) documents: Vec<DocumentRead>,
    pub(super) days: Vec<QualityDay>,
    pub(super) questions: Vec<QuestionRead>,
}

pub(super) fn region(page: &KnowledgeOverview, filter: &DocumentFilter, workspace: &str) -> String {
    let mut html = chats(&page.chats, workspace);
    html.push_str(&questions::overview(&page.days, &page.questions, workspace));
    html.push_str(&documents(&page.documents, filter));
    if !page.transports.is_empty() {
        html.push_str(r#"<header class="section-head"><h2>How updates come</h2></header>"#);
        let columns = ["Bot", "Serves", "Mode", "Wanted", "Waiting", "Failures", "Last error", "Checked"];
        html.push_str(&table("Transports of the bots", columns, page.transports.iter().map(transport)));
    }
    if !page.moments.is_empty() {
        let columns = ["When", "Bot", "What", "Waiting", "Detail"];
        html.push_str(&table("What the watchdog saw, newest first", columns, page.moments.iter().map(moment)));
    }
    html
}

fn chats(chats: &[ArchivedChat], workspace: &str) -> String {
    if chats.is_empty() {
        let register = command("chat register CHAT_ID", workspace);
        return format!(r#"<section class="panel"><p class="empty">No chat is registered yet.</p>{register}</section>"#);
    }
    let columns = ["Chat", "Status", "Members", "Documents", "Unreadable", "Links", "Files", "Found", "Raw, days", "Kept, days"];
    table("Chats and their policies", columns, chats.iter().map(chat))
}

fn chat(chat: &ArchivedChat) -> [Cell; 10] {
    let title = chat.title.clone().unwrap_or_else(|| chat.chat_id.to_string());
    let (status, tone) = match (chat.status.as_str(), chat.bot_is_here) {
        ("active", true) => ("active", Tone::Good),
        ("active", false) => ("the bot is not there", Tone::Warn),
        _ => ("disabled", Tone::Quiet),
    };
    let allowed =
        |field: &str| if chat.policy[field] == true { Cell::badge("yes", Tone::Good) } else { Cell::badge("no", Tone::Quiet) };
    let days = |field: &str| Cell::from(chat.policy[field].to_string());
    let failed = match chat.failed {
        0 => Cell::from("0".to_owned()),
        count => Cell::link(&address(Some(chat.chat_id), Some("error"), None), &count.to_string()),
    };
    [
        Cell::link(&address(Some(chat.chat_id), None, None), &title),
        Cell::badge(status, tone),
        chat.members.to_string().into(),
        chat.documents.to_string().into(),
        failed,
        allowed("allow_url_fetch"),
        allowed("allow_file_download"),
        allowed("allow_embedding"),
        days("retention_days_raw"),
        days("retention_days_documents"),
    ]
}

fn documents(documents: &[DocumentRead], filter: &DocumentFilter) -> String {
    let mut html = r#"<header class="section-head"><h2>Documents</h2></header><nav class="pager" aria-label="Filter by status"><span class="quiet">Status</span>"#.to_owned();
    for status in std::iter::once(None).chain(STATUSES.map(Some)) {
        let name = status.unwrap_or("all");
        let current = if filter.status.as_deref() == status { r#" aria-current="true""# } else { "" };
        let _ = write!(html, r#"<a href="{}"{current}>{name}</a>"#, escape(&address(filter.chat_id, status, None)));
    }
    html.push_str("</nav>");
    if documents.is_empty() {
        html.push_str(r#"<section class="panel"><p class="empty">No document here.</p></section>"#);
        return html;
    }
    let columns = ["Document", "Kind", "Status", "Chunks", "From", "Chat", "Reason", "Changed"];
    html.push_str(&table("Documents, newest first", columns, documents.iter().map(document)));
    if let Some(last) = documents.last().filter(|_| i64::try_from(documents.len()).is_ok_and(|count| count == ROWS)) {
        let older = escape(&address(filter.chat_id, filter.status.as_deref(), Some(last.document_id)));
        let _ = write!(html, r#"<nav class="pager"><a href="{older}">older</a></nav>"#);
    }
    html
}

fn document(document: &DocumentRead) -> [Cell; 8] {
    let name = document.title.as_ref().or(document.url.as_ref()).or(document.beginning.as_ref());
    let name: String = name.map_or_else(|| format!("#{}", document.document_id), |text| text.chars().take(80).collect());
    [
        Cell::link(&format!("{ADDRESS}?document={}", document.document_id), &name),
        document.doc_type.clone().into(),
        Cell::badge(&document.status, document_tone(&document.status)),
        document.chunks.to_string().into(),
        Cell::maybe(document.author.as_ref()),
        Cell::maybe(document.chat_title.as_ref()),
        Cell::maybe(document.error.as_ref()),
        Cell::time(document.updated_at.to_jiff()),
    ]
}

fn transport(bot: &TransportRead) -> [Cell; 8] {
    let tone = match (bot.mode.as_deref(), bot.failures.unwrap_or(0)) {
        (None, _) => Tone::Quiet,
        (_, 0) => Tone::Good,
        (_, 1..3) => Tone::Warn,
        _ => Tone::Bad,
    };
    [
        bot.name.clone().into(),
        bot.serves.clone().into(),
        Cell::badge(bot.mode.as_deref().unwrap_or("not watched"), tone),
        Cell::maybe(bot.wanted.as_ref()),
        Cell::maybe(bot.pending),
        Cell::maybe(bot.failures),
        Cell::maybe(bot.last_error.as_ref()),
        bot.checked_at.map_or_else(Cell::none, |at| Cell::time(at.to_jiff())),
    ]
}

fn moment(moment: &TransportMoment) -> [Cell; 5] {
    [
        Cell::time(moment.at.to_jiff()),
        moment.bot.clone().into(),
        moment.what.clone().into(),
        Cell::maybe(moment.pending),
        Cell::maybe(moment.detail.as_ref()),
    ]
}

fn address(chat: Option<i64>, status: Option<&str>, before: Option<i64>) -> String {
    let mut parts = Vec::new();
    parts.extend(chat.map(|chat| format!("chat={chat}")));
    parts.extend(status.map(|status| format!("status={status}")));
    parts.extend(before.map(|before| format!("before={before}")));
    if parts.is_empty() { ADDRESS.to_owned() } else { format!("{ADDRESS}?{}", parts.join("&")) }
}
