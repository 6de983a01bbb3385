//! Questions: how well they were answered over time, the list, and one of them with what was found and said.

use std::fmt::Write;

use platform::console::{Cell, Tone, escape, table};

use super::{ADDRESS, ROWS, command};
use crate::questions::{CandidateRead, CitationRead, QualityDay, QuestionFilter, QuestionRead, STATUSES};

/// Days and questions of the overview.
pub(super) fn overview(days: &[QualityDay], questions: &[QuestionRead], workspace: &str) -> String {
    let mut html = format!(
        r#"<header class="section-head"><h2>Questions</h2><a class="more" href="{ADDRESS}?questions=all">all questions</a></header>"#
    );
    if questions.is_empty() {
        html.push_str(r#"<section class="panel"><p class="empty">Nothing was asked yet. What a person would find:</p>"#);
        html.push_str(&command("search 'QUESTION' --as TG_USER_ID", workspace));
        html.push_str("</section>");
        return html;
    }
    let columns = ["Day", "Answered", "Refused", "Failed", "Useful", "Not useful"];
    html.push_str(&table("How questions were answered, newest day first", columns, days.iter().map(day)));
    html.push_str(&rows(questions));
    html
}

fn day(day: &QualityDay) -> [String; 6] {
    let counts = [day.answered, day.refused, day.failed, day.useful, day.not_useful].map(|count| count.to_string());
    let [answered, refused, failed, useful, not_useful] = counts;
    [day.day.clone(), answered, refused, failed, useful, not_useful]
}

pub(super) fn list(questions: &[QuestionRead], filter: &QuestionFilter) -> String {
    let mut html = format!(
        r#"<header class="section-head"><h2>Questions</h2><a class="more" href="{ADDRESS}">all of knowledge</a></header><nav class="pager" aria-label="Filter by status"><span class="quiet">Status</span>"#
    );
    for status in std::iter::once(None).chain(STATUSES.map(Some)) {
        let name = status.unwrap_or("all");
        let current = if filter.status.as_deref() == status { r#" aria-current="true""# } else { "" };
        let _ = write!(html, r#"<a href="{}"{current}>{name}</a>"#, escape(&address(status, filter.chat_id, None)));
    }
    html.push_str("</nav>");
    if questions.is_empty() {
        html.push_str(r#"<section class="panel"><p class="empty">No question here.</p></section>"#);
        return html;
    }
    html.push_str(&rows(questions));
    if let Some(last) = questions.last().filter(|_| i64::try_from(questions.len()).is_ok_and(|count| count == ROWS)) {
        let older = escape(&address(filter.status.as_deref(), filter.chat_id, Some(last.turn_id)));
        let _ = write!(html, r#"<nav class="pager"><a href="{older}">older</a></nav>"#);
    }
    html
}

fn rows(questions: &[QuestionRead]) -> String {
    let columns = ["Question", "Status", "Share", "Useful", "Who", "Where", "Asked"];
    table("Questions, newest first", columns, questions.iter().map(row))
}

fn row(asked: &QuestionRead) -> [Cell; 7] {
    let words: String = asked.question.as_deref().unwrap_or("private").chars().take(80).collect();
    [
        Cell::link(&format!("{ADDRESS}?question={}", asked.turn_id), &words),
        Cell::badge(&asked.status, tone(&asked.status)),
        share(asked.share),
        useful(asked.is_useful),
        who(asked),
        place(asked),
        Cell::time(asked.asked_at.to_jiff()),
    ]
}

pub(super) fn one(asked: &QuestionRead, candidates: &[CandidateRead], citations: &[CitationRead], workspace: &str) -> String {
    let title = asked.question.as_deref().unwrap_or("A private question");
    let mut html = format!(
        r#"<header class="section-head"><h2>{}</h2><a class="more" href="{ADDRESS}?questions=all">all questions</a></header>"#,
        escape(title)
    );
    let tokens = asked.input_tokens.zip(asked.output_tokens).map(|(read, written)| format!("{read} read, {written} written"));
    let facts = [
        ("Status", Cell::badge(&asked.status, tone(&asked.status))),
        ("Share", share(asked.share)),
        ("Useful", useful(asked.is_useful)),
        ("Who", who(asked)),
        ("Where", place(asked)),
        ("Answered by", Cell::maybe(asked.answered_by.as_ref())),
        ("Model", Cell::maybe(asked.model.as_ref())),
        ("Tokens", Cell::maybe(tokens)),
        ("Took", Cell::maybe(asked.took_ms.map(|took| format!("{took} ms")))),
        ("Asked", Cell::time(asked.asked_at.to_jiff())),
    ];
    html.push_str(&table("Facts of the question", ["Fact", "Value"], facts.map(|(name, cell)| [name.to_owned().into(), cell])));
    if asked.is_private {
        html.push_str(r#"<section class="panel"><p class="empty">It was asked in private: what was asked, found and said belongs to the person who asked.</p></section>"#);
        return html;
    }
    if let Some(answer) = &asked.answer_text {
        html.push_str(
            r#"<section class="panel"><header class="section-head"><h2>Answer</h2></header><pre class="command"><code>"#,
        );
        html.push_str(&escape(answer));
        html.push_str("</code></pre></section>");
    }
    if !citations.is_empty() {
        let columns = ["Number", "State", "Score", "Source", "Snippet"];
        html.push_str(&table("What the answer cites, as it is now", columns, citations.iter().map(citation)));
    }
    if !candidates.is_empty() {
        html.push_str(r#"<header class="section-head"><h2>What was found</h2></header>"#);
        let columns = ["Rank", "Score", "Words", "Vector", "Document", "Text"];
        html.push_str(&table("Chunks that were found, best first", columns, candidates.iter().map(candidate)));
    }
    if let Some(question) = &asked.question {
        html.push_str(r#"<section class="panel"><header class="section-head"><h2>Ask again</h2></header>"#);
        let words = platform::console::shell_word(question);
        html.push_str(&command(&format!("search {words} --as {} --chat {}", asked.tg_user_id, asked.chat_id), workspace));
        html.push_str("</section>");
    }
    html
}

fn citation(cited: &CitationRead) -> [Cell; 5] {
    let state = match cited.state.as_str() {
        "there" => Cell::badge("there", Tone::Good),
        "gone" => Cell::badge("gone", Tone::Quiet),
        _ => Cell::badge("not visible any more", Tone::Warn),
    };
    let source = cited.source_ref.as_ref().map(|source| {
        let facts = ["title", "file_name", "url", "author", "date"].map(|field| source[field].as_str());
        facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    let source = match source {
        Some(source) => Cell::link(&format!("{ADDRESS}?document={}", cited.document_id), &source),
        None => Cell::none(),
    };
    [cited.rank.to_string().into(), state, share(Some(cited.score)), source, Cell::maybe(cited.snippet.as_ref())]
}

fn candidate(found: &CandidateRead) -> [Cell; 6] {
    let score = |score: Option<f64>| Cell::maybe(score.map(|score| format!("{score:.3}")));
    let document =
        found.document_id.map_or_else(Cell::none, |id| Cell::link(&format!("{ADDRESS}?document={id}"), &format!("#{id}")));
    let text = found.beginning.clone().unwrap_or_else(|| "gone, or not visible any more".to_owned());
    [found.rank.to_string().into(), score(found.score), score(found.words), score(found.vector), document, text.into()]
}

fn who(asked: &QuestionRead) -> Cell {
    asked.asker.clone().unwrap_or_else(|| asked.tg_user_id.to_string()).into()
}

fn place(asked: &QuestionRead) -> Cell {
    if asked.is_private {
        return "in private".to_owned().into();
    }
    asked.chat_title.clone().unwrap_or_else(|| asked.chat_id.to_string()).into()
}

fn share(share: Option<f32>) -> Cell {
    Cell::maybe(share.map(|share| format!("{share:.2}")))
}

fn useful(is_useful: Option<bool>) -> Cell {
    match is_useful {
        Some(true) => Cell::badge("useful", Tone::Good),
        Some(false) => Cell::badge("not useful", Tone::Warn),
        None => Cell::none(),
    }
}

fn tone(status: &str) -> Tone {
    match status {
        "answered" => Tone::Good,
        "refused" => Tone::Quiet,
        "failed" => Tone::Bad,
        _ => Tone::Busy,
    }
}

fn address(status: Option<&str>, chat: Option<i64>, before: Option<i64>) -> String {
    let mut address = format!("{ADDRESS}?questions={}", status.unwrap_or("all"));
    if let Some(chat) = chat {
        let _ = write!(address, "&chat={chat}");
    }
    if let Some(before) = before {
        let _ = write!(address, "&before={before}");
    }
    address
}
