//! One item of a source, whatever kind of source it came from, and the post it becomes.

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{config::SourceConfig, plain, template::post_text};

pub(super) const TITLE_CHARS_MAX: usize = 300;
pub(super) const SUMMARY_CHARS_MAX: usize = 700;
/// More than any provider takes in one message; a text beyond it is cut rather than carried around.
pub(super) const TEXT_CHARS_MAX: usize = 20_000;
const KEY_BYTES_MAX: usize = 512;
/// Telegram's album holds ten.
const MEDIA_MAX: usize = 10;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// What tells this item from every other of its source, whatever is edited in it.
    pub(super) key: String,
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) link: Option<String>,
    /// The whole post, where the source has one.
    pub(super) text: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) media: Vec<ItemMedia>,
    pub(super) published: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ItemMedia {
    pub(super) kind: &'static str,
    pub(super) url: String,
}

impl Item {
    pub(super) fn new(key: &str) -> Self {
        Self {
            key: bounded_key(key),
            title: None,
            summary: None,
            link: None,
            text: None,
            tags: Vec::new(),
            media: Vec::new(),
            published: None,
        }
    }

    /// What the enqueueing function is given.
    pub(super) fn payload(&self, config: &SourceConfig, source_id: &str, trace_id: &str) -> Value {
        let mut tags = config.tags.clone();
        tags.extend(self.tags.iter().take(20).cloned());
        let media = self.media.iter().take(if config.with_media { MEDIA_MAX } else { 0 });
        let media: Vec<Value> = media.map(|media| json!({"type": media.kind, "url": media.url})).collect();
        json!({
            "source_ref": self.key,
            "text": post_text(config.template.as_ref(), self),
            // Said outright: a channel whose own texts are HTML must not read this one as HTML.
            "parse_mode": "None",
            "media": media,
            "tags": tags,
            "source": {
                "kind": "pull",
                "source_id": source_id,
                "link": self.link,
                "published": self.published.map(|time| time.to_string()),
            },
            "trace_id": trace_id,
        })
    }
}

/// A key that fits the ledger. A longer one is known by its hash.
pub(super) fn bounded_key(text: &str) -> String {
    let key: String = text.trim().chars().filter(|c| *c != '\0').collect();
    if key.len() <= KEY_BYTES_MAX && !key.is_empty() { key } else { hashed_key(&[&key]) }
}

/// A key for what has no name of its own.
pub(super) fn hashed_key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length first, so that ("ab", "c") and ("a", "bc") differ.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    format!("sha256:{}", hex::encode(hash.finalize()))
}

/// A text that is worth showing, within a limit.
pub(super) fn shown(text: &str, chars_max: usize) -> Option<String> {
    let text = plain::cut(&plain::tidy(text), chars_max);
    (!text.is_empty()).then_some(text)
}

/// An address that can be posted: absolute, http or https, of sane length.
pub(super) fn shown_link(text: &str) -> Option<String> {
    let url = url::Url::parse(text.trim()).ok()?;
    let is_fit = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    (is_fit && url.as_str().len() <= 2000).then(|| url.to_string())
}

/// Oldest first. By time where every item has one; otherwise the order of the source stands.
pub(super) fn oldest_first(mut items: Vec<Item>, is_newest_first: bool) -> Vec<Item> {
    if is_newest_first {
        items.reverse();
    }
    if items.iter().all(|item| item.published.is_some()) {
        items.sort_by_key(|item| item.published);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(key: &str, time: Option<&str>) -> Item {
        Item { published: time.map(|time| time.parse().unwrap()), ..Item::new(key) }
    }

    fn keys(items: &[Item]) -> Vec<&str> {
        items.iter().map(|item| item.key.as_str()).collect()
    }

    #[test]
    fn items_are_posted_by_their_time_or_else_against_the_order_of_the_feed() {
        let dated = vec![
            at("b", Some("2026-03-02T08:00:00Z")),
            at("c", Some("2026-03-02T09:00:00Z")),
            at("a", Some("2026-03-01T00:00:00Z")),
        ];
        assert_eq!(keys(&oldest_first(dated, true)), ["a", "b", "c"]);
        let equal = vec![at("b", Some("2026-03-02T08:00:00Z")), at("a", Some("2026-03-02T08:00:00Z"))];
        assert_eq!(keys(&oldest_first(equal, true)), ["a", "b"]);
        let undated = vec![at("c", None), at("b", Some("2026-03-02T08:00:00Z")), at("a", None)];
        assert_eq!(keys(&oldest_first(undated.clone(), true)), ["a", "b", "c"]);
        assert_eq!(keys(&oldest_first(undated, false)), ["c", "b", "a"]);
    }

    #[test]
    fn a_key_fits_the_ledger_whatever_its_length() {
        assert_eq!(Item::new(" guid\0-1 ").key, "guid-1");
        let long = Item::new(&"ж".repeat(300)).key;
        assert!(long.starts_with("sha256:") && long.len() < 100);
        assert_ne!(hashed_key(&["ab", "c"]), hashed_key(&["a", "bc"]));
    }

    #[test]
    fn only_addresses_that_can_be_opened_are_posted() {
        assert_eq!(shown_link(" https://example.org/a b ").as_deref(), Some("https://example.org/a%20b"));
        for link in ["/relative", "javascript:alert(1)", "ftp://example.org/", "https://u:p@example.org/", ""] {
            assert_eq!(shown_link(link), None, "{link}");
        }
    }
}
