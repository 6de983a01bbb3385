//! OpenDocument: texts, and with the same reader spreadsheets and presentations.

use super::{Archive, XmlPiece, describe, encrypted, push};
use crate::{
    model::{MarkKind, Refusal},
    plain::write_row,
    read::Found,
    sniff::refuse_foreign,
    text::{PAGE_BREAK, Writing},
};

const TEXT: &str = "application/vnd.oasis.opendocument.text";
const SHEETS: &str = "application/vnd.oasis.opendocument.spreadsheet";
const SLIDES: &str = "application/vnd.oasis.opendocument.presentation";
/// A cell that stands many times in a row; the ones at the end of a row, which are empty, may stand 16384 times.
const REPEATED_MAX: usize = 64;

pub(crate) fn read(archive: &mut Archive<'_>, mime: &str) -> Result<Found, Refusal> {
    // A template is a document too.
    let known = [TEXT, SHEETS, SLIDES].into_iter().find(|known| mime == *known || mime.strip_suffix("-template") == Some(known));
    let Some(mime) = known else {
        return Err(refuse_foreign("This is a file of a kind that cannot be read here: save it as ODT, DOCX or PDF."));
    };
    if archive.text("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(encrypted());
    }
    let mut found = Found { mime, ..Found::default() };
    content(archive, &mut found.writing, mime)?;
    describe(archive, "meta.xml", &mut found)?;
    Ok(found)
}

/// What was deleted, what people said beside the text, and lists of what the file holds.
const SKIPPED: [&str; 5] = ["tracked-changes", "annotation", "forms", "automatic-styles", "notes-configuration"];

#[derive(Default)]
struct OdfPlace {
    /// A note opens a paragraph inside another.
    paragraphs: Vec<String>,
    tables: usize,
    row: Vec<String>,
    cell: String,
    repeated: usize,
    has_rows: bool,
    sheets: u32,
    slides: u32,
    skipped: usize,
}

fn content(archive: &mut Archive<'_>, writing: &mut Writing, mime: &str) -> Result<(), Refusal> {
    let Some(mut xml) = archive.xml("content.xml")? else {
        return Err(Refusal::broken("The document is damaged: its text is missing."));
    };
    let mut open = OdfPlace::default();
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) if SKIPPED.contains(&element.name.as_str()) => open.skipped += 1,
            XmlPiece::Close(name) if SKIPPED.contains(&name.as_str()) => open.skipped = open.skipped.saturating_sub(1),
            _ if open.skipped > 0 => {}
            XmlPiece::Open(element) => {
                let count = |name: &str| {
                    element.attribute(name).and_then(|text| text.parse::<usize>().ok()).unwrap_or(1).clamp(1, REPEATED_MAX)
                };
                match element.name.as_str() {
                    "p" | "h" => open.paragraphs.push(String::new()),
                    "tab" => push(&mut open.paragraphs, "\t"),
                    "s" => push(&mut open.paragraphs, &" ".repeat(count("c"))),
                    "line-break" => push(&mut open.paragraphs, "\n"),
                    "soft-page-break" if open.tables == 0 => page_break(&mut open, writing)?,
                    "page" if mime == SLIDES => {
                        open.slides += 1;
                        writing.mark(MarkKind::Slide, open.slides, element.attribute("name"));
                    }
                    "table" => {
                        open.tables += 1;
                        open.has_rows &= open.tables > 1;
                        if mime == SHEETS && open.tables == 1 {
                            open.sheets += 1;
                            writing.mark(MarkKind::Sheet, open.sheets, element.attribute("name"));
                        }
                    }
                    "table-cell" | "covered-table-cell" if open.tables == 1 => open.repeated = count("number-columns-repeated"),
                    _ => {}
                }
            }
            XmlPiece::Close(name) => close(&mut open, &name, writing)?,
            XmlPiece::Text(text) => push(&mut open.paragraphs, &text.replace('\n', " ")),
        }
    }
    Ok(())
}

fn page_break(open: &mut OdfPlace, writing: &mut Writing) -> Result<(), Refusal> {
    if open.paragraphs.is_empty() {
        return writing.paragraph(&PAGE_BREAK.to_string());
    }
    push(&mut open.paragraphs, &PAGE_BREAK.to_string());
    Ok(())
}

fn close(open: &mut OdfPlace, name: &str, writing: &mut Writing) -> Result<(), Refusal> {
    match name {
        "p" | "h" => {
            let text = open.paragraphs.pop().unwrap_or_default();
            if open.tables == 0 {
                return writing.paragraph(&text);
            }
            if !open.cell.is_empty() {
                open.cell.push(' ');
            }
            open.cell.push_str(&text);
        }
        // Cells of a table in a cell are parts of that cell.
        "table-cell" | "covered-table-cell" if open.tables == 1 => {
            let text = std::mem::take(&mut open.cell);
            open.row.extend(std::iter::repeat_n(text, open.repeated.max(1)));
        }
        "table-row" if open.tables == 1 => {
            let mut row = std::mem::take(&mut open.row);
            while row.last().is_some_and(|cell| cell.trim().is_empty()) {
                row.pop();
            }
            return write_row(writing, &row, &mut open.has_rows);
        }
        "table" => open.tables = open.tables.saturating_sub(1),
        _ => {}
    }
    Ok(())
}
