//! RSS 0.9x, 1.0 and 2.0, and Atom, in one pass over the tokens.
//!
//! Names are told by the prefixes that everybody uses, not by namespaces: feeds in the wild forget to declare them, and
//! looking them up is where a hostile document makes a reader slow.

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::{Enclosure, FeedEntry, ITEMS_MAX, Words, time};
use crate::pull::plain;

/// Deeper than any page that somebody pasted into a feed.
const DEPTH_MAX: usize = 250;
/// What is kept of one text; a post shows a small part of it.
const TEXT_BYTES_MAX: usize = 64 << 10;
const ENCLOSURES_MAX: usize = 20;
const ATTRIBUTES_MAX: usize = 30;
const NOT_A_FEED: &str =
    "the address answers, but not with RSS, Atom or JSON Feed: give the address of the feed, not of the page";

pub(super) fn read(text: &str) -> Result<Vec<FeedEntry>, String> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    let mut reading = Reading::default();
    loop {
        let event = reader.read_event().map_err(|error| match reading.root {
            None => NOT_A_FEED.to_owned(),
            Some(_) => format!("the feed cannot be read: {error}"),
        })?;
        match event {
            Event::Start(tag) => reading.open(&tag)?,
            Event::End(tag) => reading.close(&String::from_utf8_lossy(tag.name().as_ref())),
            Event::Text(text) => reading.push(&String::from_utf8_lossy(&text)),
            Event::CData(text) => reading.push(&String::from_utf8_lossy(&text)),
            Event::GeneralRef(name) => reading.push_reference(&String::from_utf8_lossy(&name)),
            Event::Eof => break,
            // Declarations of entities are among these, and are not even read.
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if reading.entries.len() >= ITEMS_MAX {
            return Ok(reading.entries);
        }
    }
    match (reading.root, reading.depth) {
        (None, _) => Err(NOT_A_FEED.into()),
        (Some(_), 0) => Ok(reading.entries),
        (Some(_), _) => Err("the feed cannot be read: it ends in the middle".into()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Rss,
    Atom,
}

/// A part of an entry whose text is being gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FeedPart {
    Id,
    /// The same, when it may stand for the link.
    IdAndLink,
    Title,
    Summary,
    Content,
    Link,
    Published,
    Updated,
}

#[derive(Debug, Default)]
struct Reading {
    root: Option<Root>,
    depth: usize,
    entries: Vec<FeedEntry>,
    /// The entry that is open, and where.
    entry: Option<(FeedEntry, usize)>,
    /// The part that is open, and where.
    part: Option<(FeedPart, usize)>,
    words: Words,
    /// Whether the tags inside are the text's own, as in XHTML.
    is_markup: bool,
}

impl Reading {
    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the feed cannot be read: it is nested more than {DEPTH_MAX} deep"));
        }
        let name = tag.name();
        let name = String::from_utf8_lossy(name.as_ref());
        let Some(root) = self.root else {
            self.root = Some(match local(&name) {
                "rss" | "RDF" => Root::Rss,
                "feed" => Root::Atom,
                _ => return Err(NOT_A_FEED.into()),
            });
            return Ok(());
        };
        let Some((entry, opened_at)) = &mut self.entry else {
            if matches!(&*name, "item" | "entry" | "rss:item" | "atom:entry") {
                self.entry = Some((FeedEntry::default(), self.depth));
            }
            return Ok(());
        };
        if self.part.is_some() {
            if self.is_markup {
                // Only the name: it is what makes a paragraph a paragraph.
                append(&mut self.words.text, &format!("<{}>", local(&name)));
            }
            return Ok(());
        }
        if matches!(&*name, "enclosure" | "media:content" | "media:thumbnail") {
            attach(entry, &name, tag);
        }
        // Parts are the children of an entry; what lies deeper belongs to something else.
        if self.depth == *opened_at + 1
            && let Some(part) = part(&name, tag, entry)
        {
            let kind = attribute(tag, "type").unwrap_or_default();
            let is_plain = root == Root::Atom && matches!(kind.as_str(), "" | "text" | "text/plain");
            self.is_markup = kind.contains("xhtml");
            self.words = Words { text: String::new(), is_plain };
            self.part = Some((part, self.depth));
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        if let Some((part, _)) = self.part.take_if(|(_, depth)| *depth == self.depth) {
            self.finish(part);
        } else if self.part.is_some() && self.is_markup {
            append(&mut self.words.text, &format!("</{}>", local(name)));
        }
        if let Some((entry, _)) = self.entry.take_if(|(_, depth)| *depth == self.depth) {
            self.entries.push(entry);
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn push(&mut self, text: &str) {
        if self.part.is_none() {
            return;
        }
        if self.is_markup && text.contains(['<', '&']) {
            // These characters came as characters, not as tags.
            append(&mut self.words.text, &text.replace('&', "&amp;").replace('<', "&lt;"));
        } else {
            append(&mut self.words.text, text);
        }
    }

    /// `&amp;` and the like. A name that XML does not know is most often one of HTML; one that the document declared
    /// stays a name, so that nothing grows.
    fn push_reference(&mut self, name: &str) {
        let reference = format!("&{name};");
        let decoded = plain::decode_entities(&reference);
        self.push(&decoded);
    }

    fn finish(&mut self, part: FeedPart) {
        let words = std::mem::take(&mut self.words);
        let Some((entry, _)) = &mut self.entry else { return };
        let text = words.text.trim();
        match part {
            FeedPart::Id => text.clone_into(&mut entry.id),
            FeedPart::IdAndLink => {
                text.clone_into(&mut entry.id);
                // By the letter every guid is an address; in fact it is one when it looks like one.
                if text.starts_with("http") {
                    entry.link.get_or_insert_with(|| text.to_owned());
                }
            }
            FeedPart::Title if !text.is_empty() => entry.title = words,
            FeedPart::Summary if !text.is_empty() => entry.summary = words,
            FeedPart::Content if !text.is_empty() => entry.content = words,
            FeedPart::Link if !text.is_empty() => entry.link = Some(text.to_owned()),
            FeedPart::Published => entry.published = time(text).or(entry.published),
            FeedPart::Updated => entry.updated = time(text).or(entry.updated),
            FeedPart::Title | FeedPart::Summary | FeedPart::Content | FeedPart::Link => {}
        }
    }
}

/// Which part of an entry this element is. Links and enclosures of Atom are complete with their attributes.
fn part(name: &str, tag: &BytesStart<'_>, entry: &mut FeedEntry) -> Option<FeedPart> {
    Some(match name.strip_prefix("atom:").or(name.strip_prefix("a10:")).unwrap_or(name) {
        "guid" => {
            let is_link = attribute(tag, "isPermaLink").is_none_or(|value| value != "false");
            if is_link { FeedPart::IdAndLink } else { FeedPart::Id }
        }
        "id" => FeedPart::Id,
        "title" => FeedPart::Title,
        "description" | "summary" => FeedPart::Summary,
        "content" | "content:encoded" => FeedPart::Content,
        "pubDate" | "published" | "issued" | "dc:date" => FeedPart::Published,
        "updated" | "modified" => FeedPart::Updated,
        "link" => match attribute(tag, "href") {
            None => FeedPart::Link,
            Some(url) => {
                match attribute(tag, "rel").as_deref() {
                    None | Some("alternate") => entry.link = Some(url),
                    Some("enclosure") => enclose(entry, url, attribute(tag, "type")),
                    Some(_) => {}
                }
                return None;
            }
        },
        _ => return None,
    })
}

fn attach(entry: &mut FeedEntry, name: &str, tag: &BytesStart<'_>) {
    let Some(url) = attribute(tag, "url") else { return };
    if name == "media:thumbnail" {
        entry.thumbnail.get_or_insert(url);
    } else {
        enclose(entry, url, attribute(tag, "type").or_else(|| attribute(tag, "medium")));
    }
}

fn enclose(entry: &mut FeedEntry, url: String, mime: Option<String>) {
    if entry.enclosures.len() < ENCLOSURES_MAX {
        entry.enclosures.push(Enclosure { url, mime });
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    // The check for duplicates looks at every pair.
    let found =
        attributes.with_checks(false).take(ATTRIBUTES_MAX).flatten().find(|found| found.key.as_ref() == name.as_bytes())?;
    let value = String::from_utf8_lossy(&found.value);
    (value.len() <= 4096).then(|| plain::decode_entities(&value).trim().to_owned())
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

fn append(out: &mut String, text: &str) {
    let room = TEXT_BYTES_MAX.saturating_sub(out.len());
    out.push_str(&text[..text.floor_char_boundary(room)]);
}
