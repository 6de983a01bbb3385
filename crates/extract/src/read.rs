//! The whole way from bytes to text, in this process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    html, image, language,
    model::{ExtractedText, Refusal, RefusalReason, Source},
    office, pdf, plain,
    sniff::{self, FileKind},
    text::{Writing, one_line},
};

/// What a reader of one format found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) writing: Writing,
    pub(crate) mime: &'static str,
    pub(crate) title: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) date: Option<String>,
    /// What the document says of itself.
    pub(crate) language: Option<String>,
}

/// What programs write where they know nothing.
const NO_NAMES: [&str; 6] = ["(anonymous)", "(unspecified)", "untitled", "anonymous", "unknown", "python-docx"];

/// Reads a document. It takes as much memory and time as the document asks for: whoever does not trust it uses [`crate::Extractor`].
pub fn extract(source: &Source<'_>) -> Result<ExtractedText, Refusal> {
    // The readers of other people's formats are other people's too.
    let found = catch_unwind(AssertUnwindSafe(|| read(source)))
        .unwrap_or_else(|_| Err(Refusal::broken("The file is damaged in a way that its reader does not understand.")))?;
    if found.writing.is_empty() {
        return Err(Refusal::new(RefusalReason::Empty, "The document holds no text."));
    }
    let (text, marks) = found.writing.end();
    let language = language::language(&text, found.language.as_deref());
    let name = |raw: Option<String>| {
        raw.map(|raw| one_line(&raw)).filter(|name| !name.is_empty() && !NO_NAMES.contains(&name.to_lowercase().as_str()))
    };
    let (title, author, date) = (name(found.title), name(found.author), name(found.date));
    Ok(ExtractedText { text, title, author, date, language, mime: found.mime.to_owned(), marks })
}

fn read(source: &Source<'_>) -> Result<Found, Refusal> {
    match sniff::kind(source)? {
        FileKind::Pdf => pdf::read(source.bytes),
        FileKind::Zip => office::read(source.bytes),
        FileKind::Image(mime) => image::read(source.bytes, mime),
        FileKind::Html(text) => html::read(&text, source.url),
        FileKind::Json(text) => plain::json(&text),
        FileKind::Csv(text) => plain::csv(&text),
        FileKind::Markdown(text) => plain::markdown(&text),
        FileKind::Plain(text) => plain::text(&text),
    }
}
