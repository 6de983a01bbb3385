//! Office documents: archives of XML, of Microsoft's kind and of the OpenDocument kind.

mod archive;
mod docx;
mod odf;
mod pptx;
mod xlsx;
mod xml;

use archive::Archive;
use xml::{Xml, XmlPiece};

use crate::{
    model::{Refusal, RefusalReason},
    read::Found,
    sniff::refuse_foreign,
};

pub(crate) fn read(bytes: &[u8]) -> Result<Found, Refusal> {
    let mut archive = Archive::open(bytes)?;
    if let Some(mime) = archive.text("mimetype")? {
        return odf::read(&mut archive, mime.trim());
    }
    let Some(main) = relations(&mut archive, "")?.into_iter().find(|relation| relation.kind == "officeDocument") else {
        return Err(refuse_foreign("This is an archive: send the documents in it."));
    };
    let mut found = match main.target.split('/').next() {
        Some("word") => docx::read(&mut archive, &main.target)?,
        Some("ppt") => pptx::read(&mut archive, &main.target)?,
        Some("xl") => xlsx::read(&mut archive, &main.target)?,
        _ => {
            return Err(refuse_foreign(
                "This is an Office file of a kind that cannot be read here: save it as DOCX, XLSX, PPTX or PDF.",
            ));
        }
    };
    describe(&mut archive, "docProps/core.xml", &mut found)?;
    Ok(found)
}

/// One part of a package that another one names.
struct Relation {
    id: String,
    /// The last word of its type: `slide`, `notesSlide`.
    kind: String,
    /// Its path in the archive.
    target: String,
}

/// What a part refers to, in the order of the file; `""` is the package itself.
fn relations(archive: &mut Archive<'_>, part: &str) -> Result<Vec<Relation>, Refusal> {
    let (dir, name) = part.rsplit_once('/').unwrap_or(("", part));
    let path = if dir.is_empty() { format!("_rels/{name}.rels") } else { format!("{dir}/_rels/{name}.rels") };
    let mut found = Vec::new();
    let Some(mut xml) = archive.xml(&path)? else { return Ok(found) };
    while let Some(piece) = xml.next()? {
        let XmlPiece::Open(element) = piece else { continue };
        if element.name != "Relationship" || element.attribute("TargetMode") == Some("External") {
            continue;
        }
        let get = |name: &str| element.attribute(name).unwrap_or_default().to_owned();
        let kind = get("Type").rsplit('/').next().unwrap_or_default().to_owned();
        found.push(Relation { id: get("Id"), kind, target: resolve(dir, &get("Target")) });
    }
    Ok(found)
}

/// A path from a folder of the archive.
fn resolve(dir: &str, target: &str) -> String {
    let (base, target) = target.strip_prefix('/').map_or((dir, target), |absolute| ("", absolute));
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Title, author and date, of either kind.
fn describe(archive: &mut Archive<'_>, path: &str, found: &mut Found) -> Result<(), Refusal> {
    let Some(mut xml) = archive.xml(path)? else { return Ok(()) };
    let (mut name, mut modified, mut last_author) = (String::new(), None, None);
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) => name = element.name,
            XmlPiece::Close(_) => name.clear(),
            XmlPiece::Text(text) => {
                let field = match name.as_str() {
                    "title" => &mut found.title,
                    "creator" if path == "meta.xml" => &mut last_author,
                    "creator" | "initial-creator" => &mut found.author,
                    "created" | "creation-date" => &mut found.date,
                    "modified" | "date" => &mut modified,
                    "language" => &mut found.language,
                    _ => continue,
                };
                field.get_or_insert_default().push_str(&text);
            }
        }
    }
    found.date = found.date.take().or(modified);
    found.author = found.author.take().or(last_author);
    Ok(())
}

fn encrypted() -> Refusal {
    Refusal::new(RefusalReason::Encrypted, "The document is protected by a password.")
}

/// Collects the text of paragraphs, for parts that are nothing else.
fn paragraphs(xml: &mut Xml<'_>, paragraph: &str, text: &str) -> Result<Vec<String>, Refusal> {
    let (mut found, mut is_text) = (vec![String::new()], 0_usize);
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) if element.name == text => is_text += 1,
            XmlPiece::Close(name) if name == text => is_text = is_text.saturating_sub(1),
            XmlPiece::Open(element) if element.name == "br" => push(&mut found, "\n"),
            XmlPiece::Close(name) if name == paragraph => found.push(String::new()),
            XmlPiece::Text(text) if is_text > 0 => push(&mut found, &text),
            _ => {}
        }
    }
    Ok(found)
}

fn push(parts: &mut [String], text: &str) {
    if let Some(last) = parts.last_mut() {
        last.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_archive() {
        assert_eq!(resolve("ppt/slides", "../notes/n1.xml"), "ppt/notes/n1.xml");
        assert_eq!(resolve("ppt/slides", "/word/a.xml"), "word/a.xml");
        assert_eq!(resolve("", "../../etc/passwd"), "etc/passwd");
    }
}
