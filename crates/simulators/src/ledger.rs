//! What the providers saw: every call with its outcome, and every accepted one with everything it was sent.
//! Append-only rings with a sequence number, so that reading a page of 100,000 messages is cheap.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::clock::unix_ms;
use crate::faults::Provider;
use crate::params::Params;
use crate::sync::lock;

/// The oldest entries give way to the new.
const ENTRIES_MAX: usize = 1_000_000;
/// Of the accepted calls that carry long texts. Messages are short: their number alone limits them.
const WEIGHT_MAX: usize = 256 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct Ledger(Mutex<Rings>);

#[derive(Default)]
struct Rings {
    sent: VecDeque<Arc<Sent>>,
    sent_total: u64,
    sent_weight: usize,
    calls: VecDeque<Arc<Call>>,
    calls_total: u64,
    counts: BTreeMap<(Provider, &'static str, u16), u64>,
}

/// A call the provider accepted.
#[derive(Serialize)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    #[serde(flatten)]
    pub(crate) what: Accepted,
    #[serde(serialize_with = "serialize_flag")]
    answered: AtomicBool,
    #[serde(skip)]
    weight: usize,
}

#[derive(Serialize)]
pub(crate) struct Accepted {
    pub(crate) provider: Provider,
    /// Of the bot whose token it was: the token itself is never shown.
    pub(crate) bot_id: i64,
    pub(crate) method: &'static str,
    /// As the caller wrote it: an id or an @name.
    pub(crate) target: Arc<str>,
    pub(crate) chat_id: i64,
    /// As people see it, markup parsed away; the raw text is in `params`.
    pub(crate) text: Option<Arc<str>>,
    pub(crate) parse_mode: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entities: Option<Box<Value>>,
    pub(crate) params: Params,
    pub(crate) files: Vec<FileNote>,
    pub(crate) message_ids: Vec<MessageId>,
}

#[derive(Serialize, Clone)]
pub(crate) struct FileNote {
    pub(crate) name: String,
    pub(crate) size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum MessageId {
    Int(i64),
    Text(Arc<str>),
}

/// Any call, refused ones included.
#[derive(Serialize)]
pub(crate) struct Call {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    #[serde(flatten)]
    pub(crate) what: CallNote,
}

#[derive(Serialize)]
pub(crate) struct CallNote {
    pub(crate) provider: Provider,
    pub(crate) bot_id: i64,
    pub(crate) method: &'static str,
    pub(crate) target: Option<Arc<str>>,
    /// What was answered, or would have been had the connection not been dropped; 0 when nothing was.
    pub(crate) status: u16,
    pub(crate) error: Option<Box<str>>,
    /// When the request had been read; `at` is when its outcome was decided. Between the two it was under way.
    pub(crate) started_at: i64,
    /// Made by a fault rather than by the provider's own rules.
    pub(crate) fault: bool,
    pub(crate) dropped: bool,
}

/// Which entries to read, and from where.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) provider: Option<Provider>,
    pub(crate) target: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) after: u64,
    pub(crate) limit: usize,
}

/// A page of entries. `next` is the `after` of the following page.
#[derive(Serialize)]
pub(crate) struct Turned<T> {
    #[serde(skip)]
    pub(crate) entries: Vec<Arc<T>>,
    pub(crate) next: u64,
    pub(crate) more: bool,
    pub(crate) total: u64,
}

impl Ledger {
    /// Records an accepted call. `answered` is corrected later when the answer is delayed.
    pub(crate) fn accept(&self, what: Accepted, answered: bool) -> Arc<Sent> {
        self.accept_weighed(what, answered, 0)
    }

    /// The same for a call of so many bytes.
    pub(crate) fn accept_weighed(&self, what: Accepted, answered: bool, weight: usize) -> Arc<Sent> {
        let mut rings = lock(&self.0);
        rings.sent_total += 1;
        rings.sent_weight += weight;
        let answered = AtomicBool::new(answered);
        let sent = Arc::new(Sent { seq: rings.sent_total, at: unix_ms(), what, answered, weight });
        while rings.sent.len() >= ENTRIES_MAX || rings.sent_weight > WEIGHT_MAX {
            let Some(oldest) = rings.sent.pop_front() else { break };
            rings.sent_weight -= oldest.weight;
        }
        rings.sent.push_back(Arc::clone(&sent));
        sent
    }

    pub(crate) fn call(&self, what: CallNote) {
        let mut rings = lock(&self.0);
        rings.calls_total += 1;
        *rings.counts.entry((what.provider, what.method, what.status)).or_default() += 1;
        let call = Arc::new(Call { seq: rings.calls_total, at: unix_ms(), what });
        if rings.calls.len() == ENTRIES_MAX {
            rings.calls.pop_front();
        }
        rings.calls.push_back(call);
    }

    pub(crate) fn sent(&self, page: &Page) -> Turned<Sent> {
        let rings = lock(&self.0);
        turn(&rings.sent, rings.sent_total, page, |sent| {
            let target_ok = page
                .target
                .as_deref()
                .is_none_or(|target| *sent.what.target == *target || target.parse() == Ok(sent.what.chat_id));
            page.provider.is_none_or(|provider| provider == sent.what.provider)
                && page.method.as_deref().is_none_or(|method| method.eq_ignore_ascii_case(sent.what.method))
                && target_ok
        })
    }

    pub(crate) fn calls(&self, page: &Page) -> Turned<Call> {
        let rings = lock(&self.0);
        turn(&rings.calls, rings.calls_total, page, |call| {
            page.provider.is_none_or(|provider| provider == call.what.provider)
                && page.method.as_deref().is_none_or(|method| method.eq_ignore_ascii_case(call.what.method))
                && page.target.as_deref().is_none_or(|target| call.what.target.as_deref() == Some(target))
        })
    }

    /// How many calls of each method ended with each status.
    pub(crate) fn counts(&self) -> Vec<Value> {
        lock(&self.0)
            .counts
            .iter()
            .map(|((provider, method, status), count)| {
                serde_json::json!({"provider": provider, "method": method, "status": status, "count": count})
            })
            .collect()
    }

    pub(crate) fn reset(&self) {
        *lock(&self.0) = Rings::default();
    }
}

impl Sent {
    pub(crate) fn mark_answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

fn turn<T>(ring: &VecDeque<Arc<T>>, total: u64, page: &Page, fits: impl Fn(&T) -> bool) -> Turned<T> {
    // Sequence numbers have no gaps, so the first entry of the page is found by subtraction.
    let first = total + 1 - ring.len() as u64;
    let skip = usize::try_from((page.after + 1).saturating_sub(first)).unwrap_or(usize::MAX);
    let mut entries = Vec::new();
    let mut next = page.after.max(first.saturating_sub(1));
    for entry in ring.iter().skip(skip.min(ring.len())) {
        if entries.len() == page.limit {
            return Turned { entries, next, more: true, total };
        }
        next += 1;
        if fits(entry) {
            entries.push(Arc::clone(entry));
        }
    }
    Turned { entries, next, more: false, total }
}

fn serialize_flag<S: Serializer>(flag: &AtomicBool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(flag.load(Ordering::Relaxed))
}
