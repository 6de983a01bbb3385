//! PPTX: slides in the order of the presentation, each with its title, its tables, the text of its diagrams and its notes.

use super::{Archive, XmlPiece, paragraphs, push, relations};
use crate::{
    model::{MarkKind, Refusal},
    plain::write_row,
    read::Found,
    text::Writing,
};

const SLIDES_MAX: usize = 5000;
/// What stands on every slide.
const FURNITURE: [&str; 5] = ["sldNum", "dt", "ftr", "hdr", "sldImg"];

pub(crate) fn read(archive: &mut Archive<'_>, main: &str) -> Result<Found, Refusal> {
    let mut found =
        Found { mime: "application/vnd.openxmlformats-officedocument.presentationml.presentation", ..Found::default() };
    let slides = slides(archive, main)?;
    for (number, slide) in (1..).zip(&slides) {
        found.writing.mark(MarkKind::Slide, number, None);
        shapes(archive, slide, &mut found.writing, true)?;
        for relation in relations(archive, slide)? {
            match relation.kind.as_str() {
                "diagramData" => {
                    let Some(mut xml) = archive.xml(&relation.target)? else { continue };
                    for text in paragraphs(&mut xml, "p", "t")? {
                        found.writing.paragraph(&text)?;
                    }
                }
                "notesSlide" => shapes(archive, &relation.target, &mut found.writing, false)?,
                _ => {}
            }
        }
    }
    Ok(found)
}

fn slides(archive: &mut Archive<'_>, main: &str) -> Result<Vec<String>, Refusal> {
    let targets = relations(archive, main)?;
    let Some(mut xml) = archive.xml(main)? else {
        return Err(Refusal::broken("The presentation is damaged: its list of slides is missing."));
    };
    let mut found = Vec::new();
    while let Some(piece) = xml.next()? {
        let XmlPiece::Open(element) = piece else { continue };
        if element.name != "sldId" {
            continue;
        }
        let id = element.prefixed(":id").unwrap_or_default();
        found.extend(targets.iter().find(|relation| relation.id == id).map(|relation| relation.target.clone()));
        if found.len() > SLIDES_MAX {
            return Err(Refusal::too_large(format!("The presentation has more than {SLIDES_MAX} slides.")));
        }
    }
    Ok(found)
}

/// The shape that is being read.
#[derive(Default)]
struct SlideShape {
    /// What it is on its slide: `title`, `sldNum`.
    place: String,
    paragraphs: Vec<String>,
    cells: Option<Vec<String>>,
    is_text: bool,
    has_rows: bool,
}

fn shapes(archive: &mut Archive<'_>, part: &str, writing: &mut Writing, is_slide: bool) -> Result<(), Refusal> {
    let Some(mut xml) = archive.xml(part)? else { return Ok(()) };
    let mut shape = SlideShape::default();
    let mut skipped = 0_usize;
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) if element.name == "Fallback" => skipped += 1,
            XmlPiece::Close(name) if name == "Fallback" => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            XmlPiece::Open(element) => match element.name.as_str() {
                "sp" | "graphicFrame" => shape = SlideShape::default(),
                "ph" => element.attribute("type").unwrap_or("body").clone_into(&mut shape.place),
                "p" => shape.paragraphs.push(String::new()),
                "t" => shape.is_text = true,
                "br" => push(&mut shape.paragraphs, "\n"),
                "tr" => shape.cells = Some(Vec::new()),
                _ => {}
            },
            XmlPiece::Close(name) => match name.as_str() {
                "t" => shape.is_text = false,
                "tc" => {
                    let text = std::mem::take(&mut shape.paragraphs).join(" ");
                    if let Some(cells) = &mut shape.cells {
                        cells.push(text);
                    }
                }
                "tr" => {
                    let cells = shape.cells.take().unwrap_or_default();
                    write_row(writing, &cells, &mut shape.has_rows)?;
                }
                "sp" => end_shape(&mut shape, writing, is_slide)?,
                _ => {}
            },
            XmlPiece::Text(text) if shape.is_text => push(&mut shape.paragraphs, &text),
            XmlPiece::Text(_) => {}
        }
    }
    Ok(())
}

fn end_shape(shape: &mut SlideShape, writing: &mut Writing, is_slide: bool) -> Result<(), Refusal> {
    let shape = std::mem::take(shape);
    if FURNITURE.contains(&shape.place.as_str()) {
        return Ok(());
    }
    if is_slide && matches!(shape.place.as_str(), "title" | "ctrTitle") {
        writing.name_last_mark(&shape.paragraphs.join(" "));
    }
    for text in &shape.paragraphs {
        writing.paragraph(text)?;
    }
    Ok(())
}
