//! DOCX: paragraphs, tables and text boxes in the order of the text, footnotes behind it, pages where Word saw them last.

use super::{Archive, XmlPiece, push, relations};
use crate::{
    model::Refusal,
    plain::write_row,
    read::Found,
    text::{PAGE_BREAK, Writing},
};

pub(crate) fn read(archive: &mut Archive<'_>, main: &str) -> Result<Found, Refusal> {
    let mut found = Found { mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ..Found::default() };
    let has_rendered_breaks = has_rendered_breaks(archive, main)?;
    body(archive, main, has_rendered_breaks, &mut found.writing)?;
    for relation in relations(archive, main)? {
        if matches!(relation.kind.as_str(), "footnotes" | "endnotes") {
            body(archive, &relation.target, true, &mut found.writing)?;
        }
    }
    Ok(found)
}

/// Whether Word noted where its pages ended. Otherwise only the breaks that people made are known.
fn has_rendered_breaks(archive: &mut Archive<'_>, part: &str) -> Result<bool, Refusal> {
    let Some(mut xml) = archive.xml(part)? else {
        return Err(Refusal::broken("The document is damaged: its text is missing."));
    };
    while let Some(piece) = xml.next()? {
        if matches!(piece, XmlPiece::Open(element) if element.name == "lastRenderedPageBreak") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Elements whose text is not the document's: what was deleted or moved away, the other version of a drawing, notes of the program.
const SKIPPED: [&str; 7] = ["del", "moveFrom", "Fallback", "instrText", "rPr", "pPr", "sectPr"];

/// What stands around the place that is being read.
#[derive(Default)]
struct Around {
    /// Texts of the paragraphs that are open: a text box opens one inside another.
    open: Vec<String>,
    /// The tables that are open, each with the cells of its row.
    tables: Vec<Vec<String>>,
    /// Elements that are skipped, counted.
    skipped: usize,
    is_text: bool,
    /// Whether the table has a row already.
    has_rows: bool,
}

impl Around {
    fn add(&mut self, text: &str) {
        push(&mut self.open, text);
    }

    /// A paragraph ends: inside a table it is a part of its cell.
    fn end_paragraph(&mut self, writing: &mut Writing) -> Result<(), Refusal> {
        let text = self.open.pop().unwrap_or_default();
        match self.tables.last_mut().and_then(|cells| cells.last_mut()) {
            Some(cell) => {
                if !cell.is_empty() {
                    cell.push(' ');
                }
                cell.push_str(text.trim());
                Ok(())
            }
            None => writing.paragraph(&text),
        }
    }

    /// A row ends. Rows of a table inside a cell are parts of that cell.
    fn end_row(&mut self, writing: &mut Writing) -> Result<(), Refusal> {
        let Some(cells) = self.tables.last_mut() else { return Ok(()) };
        let cells = std::mem::take(cells);
        let outer = self.tables.len().checked_sub(2).and_then(|index| self.tables[index].last_mut());
        if let Some(cell) = outer {
            cell.push(' ');
            cell.push_str(&cells.join(" "));
            return Ok(());
        }
        write_row(writing, &cells, &mut self.has_rows)
    }
}

fn body(archive: &mut Archive<'_>, part: &str, has_rendered_breaks: bool, writing: &mut Writing) -> Result<(), Refusal> {
    let Some(mut xml) = archive.xml(part)? else { return Ok(()) };
    let mut around = Around::default();
    let page_break = PAGE_BREAK.to_string();
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) if SKIPPED.contains(&element.name.as_str()) => around.skipped += 1,
            XmlPiece::Close(name) if SKIPPED.contains(&name.as_str()) => around.skipped = around.skipped.saturating_sub(1),
            _ if around.skipped > 0 => {}
            XmlPiece::Open(element) => match element.name.as_str() {
                "p" => around.open.push(String::new()),
                "t" => around.is_text = true,
                "tab" | "ptab" => around.add("\t"),
                "br" if element.attribute("type") == Some("page") => {
                    around.add(if has_rendered_breaks { "\n" } else { &page_break });
                }
                "br" | "cr" => around.add("\n"),
                "noBreakHyphen" => around.add("-"),
                "lastRenderedPageBreak" if around.tables.is_empty() => around.add(&page_break),
                "tbl" => {
                    around.has_rows &= !around.tables.is_empty();
                    around.tables.push(Vec::new());
                }
                "tc" => {
                    if let Some(cells) = around.tables.last_mut() {
                        cells.push(String::new());
                    }
                }
                _ => {}
            },
            XmlPiece::Close(name) => match name.as_str() {
                "p" => around.end_paragraph(writing)?,
                "t" => around.is_text = false,
                "tr" => around.end_row(writing)?,
                "tbl" => drop(around.tables.pop()),
                _ => {}
            },
            XmlPiece::Text(text) if around.is_text => around.add(&text),
            XmlPiece::Text(_) => {}
        }
    }
    Ok(())
}
