//! RSS, Atom and JSON Feed, read into items.
//!
//! Guarantee: time and memory are linear in the bytes, which the fetcher has bounded. Nothing recurses, entities that a
//! document declares are never expanded, and items, depth and the length of a text each have a limit.

mod json;
mod xml;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use jiff::{Timestamp, civil, fmt::rfc2822, tz::TimeZone};

use super::{
    item::{Item, ItemMedia, SUMMARY_CHARS_MAX, TITLE_CHARS_MAX, hashed_key, oldest_first, shown},
    plain,
};

/// The newest items stand on top, so it is old ones that a longer feed loses.
const ITEMS_MAX: usize = 10_000;

/// The items of a feed, oldest first, each key once.
pub(super) fn read(body: &[u8], base: &str) -> Result<Vec<Item>, String> {
    let text = decode(body);
    let base = url::Url::parse(base).ok();
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let entries = if start.starts_with('{') { json::read(start)? } else { xml::read(start)? };
    let mut seen = HashSet::new();
    let items = entries.into_iter().map(|entry| entry.item(base.as_ref())).filter(|item| seen.insert(item.key.clone())).collect();
    Ok(oldest_first(items, true))
}

/// What both readers find, as it stands in the feed.
#[derive(Debug, Default)]
struct FeedEntry {
    id: String,
    title: Words,
    summary: Words,
    /// The whole text, shown in part where there is no summary.
    content: Words,
    link: Option<String>,
    published: Option<Timestamp>,
    updated: Option<Timestamp>,
    enclosures: Vec<Enclosure>,
    thumbnail: Option<String>,
}

#[derive(Debug, Default)]
struct Words {
    text: String,
    is_plain: bool,
}

#[derive(Debug)]
struct Enclosure {
    url: String,
    /// `image/png`, or only `image`.
    mime: Option<String>,
}

impl Words {
    fn plain(&self) -> String {
        if self.is_plain { plain::tidy(&self.text) } else { plain::from_html(&self.text) }
    }
}

impl FeedEntry {
    fn item(self, base: Option<&url::Url>) -> Item {
        let title = shown(&self.title.plain(), TITLE_CHARS_MAX);
        let summary = shown(&self.summary.plain(), SUMMARY_CHARS_MAX).or_else(|| shown(&self.content.plain(), SUMMARY_CHARS_MAX));
        let link = self.link.as_deref().and_then(|link| absolute(link, base));
        let named = Some(self.id.trim()).filter(|id| !id.is_empty()).or(link.as_deref());
        let words = || hashed_key(&[title.as_deref().unwrap_or_default(), summary.as_deref().unwrap_or_default()]);
        let key = named.map_or_else(words, ToOwned::to_owned);
        let mut media: Vec<ItemMedia> = Vec::new();
        for found in self.enclosures.iter().filter_map(|enclosure| attachment(enclosure, base)) {
            if media.iter().all(|known| known.url != found.url) {
                media.push(found);
            }
        }
        // A thumbnail only where there is nothing better.
        if media.is_empty() {
            let url = self.thumbnail.as_deref().and_then(|url| absolute(url, base));
            media.extend(url.map(|url| ItemMedia { kind: "image", url }));
        }
        Item {
            // A summary that only repeats the title says nothing.
            summary: summary.filter(|summary| Some(summary) != title.as_ref()),
            title,
            link,
            media,
            published: self.published.or(self.updated),
            ..Item::new(&key)
        }
    }
}

fn absolute(link: &str, base: Option<&url::Url>) -> Option<String> {
    let options = url::Url::options().base_url(base);
    super::item::shown_link(options.parse(link.trim()).ok()?.as_str())
}

/// What a type or, without one, the end of the address says. Unknown things are not attached.
fn attachment(enclosure: &Enclosure, base: Option<&url::Url>) -> Option<ItemMedia> {
    let url = absolute(&enclosure.url, base)?;
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    let mime = enclosure.mime.as_deref().and_then(|mime| mime.split('/').next()).map(str::trim).filter(|mime| !mime.is_empty());
    let kind = match (mime, extension.as_str()) {
        (Some("image"), _) | (None, "jpg" | "jpeg" | "png" | "gif" | "webp") => "image",
        (Some("video"), _) | (None, "mp4" | "mov" | "webm") => "video",
        (Some("audio"), _) | (None, "mp3" | "m4a" | "ogg" | "opus") => "audio",
        (Some("application" | "document"), _) | (None, "pdf") => "file",
        _ => return None,
    };
    Some(ItemMedia { kind, url })
}

/// A time as feeds write it: by the RFC of mail, by ISO, or without a zone, which then counts as UTC.
fn time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let mail = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    let mail_text = text.strip_suffix("UTC").map_or_else(|| text.to_owned(), |time| format!("{time}GMT"));
    let civil = || text.parse::<civil::DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    text.parse().ok().or_else(|| mail.parse_timestamp(&mail_text).ok()).or_else(civil)
}

/// As text, by the mark at its beginning or by what its declaration says. What cannot be decoded is replaced.
fn decode(body: &[u8]) -> std::borrow::Cow<'_, str> {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(body) {
        return encoding.decode(body).0;
    }
    let declared = body.starts_with(b"<?xml").then(|| &body[..body.len().min(200)]).and_then(|start| {
        let start = std::str::from_utf8(&start[..start.iter().position(|byte| *byte == b'>')?]).ok()?;
        let label = start.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
        let label = label.strip_prefix(['"', '\''])?.split(['"', '\'']).next()?;
        encoding_rs::Encoding::for_label(label.as_bytes())
    });
    declared.unwrap_or(encoding_rs::UTF_8).decode(body).0
}
