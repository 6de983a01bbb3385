//! XML as a stream of pieces, without a tree, a document type or entities of its own: nothing in it grows beyond what was sent.

use std::io::BufRead;

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::archive::Unpacked;
use crate::model::Refusal;

/// Office writes a few dozen.
const DEPTH_MAX: usize = 2000;
const ATTRIBUTES_MAX: usize = 500;

pub(crate) enum XmlPiece {
    Open(XmlElement),
    Text(String),
    /// The local name.
    Close(String),
}

/// The opening of an element. Names are without prefixes, which documents choose as they like.
pub(crate) struct XmlElement {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
}

impl XmlElement {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The same with its prefix, where a name without one means something else: `id` and `r:id`.
    pub(crate) fn prefixed(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found.ends_with(name) && found.contains(':')).map(|(_, value)| value.as_str())
    }
}

pub(crate) struct Xml<'a> {
    reader: Reader<Box<dyn BufRead + 'a>>,
    buffer: Vec<u8>,
    depth: usize,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(input: Box<dyn BufRead + 'a>) -> Self {
        let mut reader = Reader::from_reader(input);
        // An element without content is an element that opens and closes.
        reader.config_mut().expand_empty_elements = true;
        Self { reader, buffer: Vec::new(), depth: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<XmlPiece>, Refusal> {
        loop {
            self.buffer.clear();
            let event = self.reader.read_event_into(&mut self.buffer).map_err(|err| refusal(&err))?;
            return Ok(Some(match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        return Err(Refusal::broken("The document is nested deeper than any program writes it."));
                    }
                    XmlPiece::Open(element(&start)?)
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    XmlPiece::Close(text(end.local_name().as_ref()))
                }
                Event::Text(found) => XmlPiece::Text(text(&found)),
                Event::CData(found) => XmlPiece::Text(text(&found)),
                Event::GeneralRef(reference) => {
                    let resolved = match reference.resolve_char_ref() {
                        Ok(Some(c)) => Some(c),
                        _ => named(&reference),
                    };
                    let Some(c) = resolved else { continue };
                    XmlPiece::Text(c.to_string())
                }
                Event::DocType(_) => {
                    return Err(Refusal::broken("The document declares entities of its own, which no Office program does."));
                }
                Event::Eof => return Ok(None),
                _ => continue,
            }));
        }
    }
}

/// The five that XML has by itself.
fn named(name: &[u8]) -> Option<char> {
    Some(match name {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        _ => return None,
    })
}

fn element(start: &BytesStart<'_>) -> Result<XmlElement, Refusal> {
    let mut attributes = Vec::new();
    // A check for names that stand twice compares each with each.
    for attribute in start.attributes().with_checks(false) {
        let Ok(attribute) = attribute else { continue };
        if attributes.len() == ATTRIBUTES_MAX {
            return Err(Refusal::broken("An element of the document has more attributes than any program writes."));
        }
        let key = text(attribute.key.as_ref());
        let value = text(&attribute.value);
        let value = quick_xml::escape::unescape(&value).map_or_else(|_| value.clone(), std::borrow::Cow::into_owned);
        // Relations keep their prefix: `r:id`.
        let name = match key.split_once(':') {
            Some(("r", _)) | None => key.clone(),
            Some((_, local)) => local.to_owned(),
        };
        attributes.push((name, value));
    }
    Ok(XmlElement { name: text(start.local_name().as_ref()), attributes })
}

fn text(bytes: &[u8]) -> String {
    // What Word writes is UTF-8; a control character in it would be taken for a page break.
    String::from_utf8_lossy(bytes).replace('\u{c}', " ")
}

fn refusal(err: &quick_xml::Error) -> Refusal {
    if let quick_xml::Error::Io(io) = err
        && io.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Unpacked>)
    {
        return Unpacked.into();
    }
    Refusal::broken("The document is damaged: its XML ends in the middle or does not fit together.")
}
