//! What is written in the groups of a run, and the updates by which Telegram tells it.

use serde_json::{Value, json};

pub(super) const GROUPS: [i64; 4] = [-1_009_000_000_001, -1_009_000_000_002, -1_009_000_000_003, -1_009_000_000_004];
pub(super) const PEOPLE: [i64; 5] = [7_000_000_001, 7_000_000_002, 7_000_000_003, 7_000_000_004, 7_000_000_005];
pub(super) const ADMIN: i64 = 7_000_000_099;

const SENTENCE: &str = " Birch bark boxes are made in winter, baskets in spring, and the workshop answers letters on Fridays.";
/// Long enough for several chunks, and shorter than what Telegram takes.
const LONG: usize = 32;

/// A message, with everything that will ever be said of it: it is drawn whole before its first word is sent.
#[derive(Clone, Debug)]
pub(super) struct GroupMessage {
    pub(super) n: u64,
    pub(super) chat: i64,
    pub(super) author: i64,
    /// The first one, and then each edit.
    pub(super) versions: Vec<GroupVersion>,
    pub(super) is_forgotten: bool,
    /// The message that it answers, as it was when it was quoted.
    pub(super) quoted: Option<Box<GroupMessage>>,
}

#[derive(Clone, Debug)]
pub(super) struct GroupVersion {
    pub(super) text: String,
    /// The pages that it links.
    pub(super) pages: Vec<u64>,
}

/// A word that stands in nothing else: `zk7m1q` is no part of `zk7m12q`.
pub(super) fn message_marker(seed: u64, n: u64) -> String {
    format!("zk{seed}m{n}q")
}

pub(super) fn page_marker(seed: u64, page: u64) -> String {
    format!("zk{seed}p{page}q")
}

/// Every marker of a run, as PostgreSQL reads it.
pub(super) fn marker_pattern(seed: u64) -> String {
    format!("zk{seed}[mp][0-9]+q")
}

pub(super) fn page_path(seed: u64, page: u64) -> String {
    format!("pages/{}", page_marker(seed, page))
}

/// One in eight is not there.
pub(super) const fn is_missing(page: u64) -> bool {
    page % 8 == 7
}

pub(super) fn page(seed: u64, page: u64) -> Value {
    if is_missing(page) {
        return json!({"status": 404, "body": "not here"});
    }
    let marker = page_marker(seed, page);
    let words = SENTENCE.repeat(if page.is_multiple_of(5) { LONG } else { 3 });
    let body = format!(
        "<html><head><title>About {marker}</title></head><body><article><h1>About {marker}</h1><p>This page tells of {marker}.{words}</p>\
         </article></body></html>"
    );
    json!({"body": body, "headers": {"content-type": "text/html; charset=utf-8", "etag": format!("\"{marker}\"")}})
}

/// What version `k` of message `n` says, with links to these pages.
pub(super) fn text(seed: u64, n: u64, k: usize, urls: &[String]) -> String {
    let marker = message_marker(seed, n);
    let words = SENTENCE.repeat(if n.is_multiple_of(6) { LONG } else { k % 3 });
    let said = format!("{marker} as it is said for the {k} time.{words}");
    std::iter::once(said).chain(urls.iter().cloned()).collect::<Vec<_>>().join(" ")
}

impl GroupMessage {
    pub(super) fn last(&self) -> &GroupVersion {
        // There is always a first one.
        self.versions.last().unwrap_or(&EMPTY)
    }

    const fn date(&self) -> u64 {
        1_790_000_000 + self.n * 60
    }

    /// The message as an update tells it.
    fn body(&self, k: usize) -> Value {
        let mut body = json!({
            "message_id": self.n, "date": self.date(), "text": self.versions.get(k).unwrap_or(&EMPTY).text,
            "chat": {"id": self.chat, "type": "supergroup", "title": "Workshop"},
            "from": {"id": self.author, "is_bot": false, "first_name": "Anna"},
        });
        if k > 0 {
            body["edit_date"] = json!(self.date() + k as u64);
        }
        body
    }

    /// The update that brings version `k`.
    pub(super) fn update(&self, update_id: u64, k: usize) -> Value {
        let mut body = self.body(k);
        if let Some(quoted) = &self.quoted {
            body["reply_to_message"] = quoted.body(quoted.versions.len() - 1);
            body["quote"] = json!({"text": quoted.last().text, "position": 0});
        }
        let kind = if k == 0 { "message" } else { "edited_message" };
        json!({"update_id": update_id, kind: body})
    }

    /// Somebody's `/forget`, as the answer to this message.
    pub(super) fn forget(&self, update_id: u64, n: u64, by: i64) -> Value {
        json!({"update_id": update_id, "message": {
            "message_id": n, "date": self.date() + 59, "text": "/forget",
            "chat": {"id": self.chat, "type": "supergroup", "title": "Workshop"},
            "from": {"id": by, "is_bot": false, "first_name": "Boris"},
            "entities": [{"type": "bot_command", "offset": 0, "length": 7}],
            "reply_to_message": self.body(self.versions.len() - 1),
        }})
    }
}

static EMPTY: GroupVersion = GroupVersion { text: String::new(), pages: Vec::new() };
