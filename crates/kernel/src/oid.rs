//! Names of things outside: the 12-byte `ObjectId` and its printed form with a prefix, the `Oid`.
//!
//! Inside, an object has one id, 12 bytes. Outside it is called `<prefix>_<24 hex digits>`, computed at the API
//! boundary, so that a reader sees what an id names and a wrong kind of id is refused before any lookup. Guarantees:
//! an oid has exactly one text form (lower case), parsing accepts nothing else, and a prefix exists only in the
//! registry below. An id is a name, never a permission: its creation time and its neighbours can be guessed.

use std::{
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU32, Ordering},
};

use jiff::{SignedDuration, Timestamp};
use rand::Rng;
use serde::{Deserialize, Serialize};

const HEX_DIGITS: usize = 24;
const COUNTER_MASK: u32 = 0x00FF_FFFF;

/// Declares the closed registry: one line for each prefix is all there is to add.
macro_rules! prefixes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $noun:literal;)+) => {
        /// What an oid names. The registry is closed: a prefix that is not listed here does not exist.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Prefix { $($(#[doc = $doc])+ $name,)+ }

        impl Prefix {
            /// Every registered prefix.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The text before the underscore.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// The thing it names, in words for a person.
            pub const fn noun(self) -> &'static str {
                match self { $(Self::$name => $noun,)+ }
            }
        }
    };
}

prefixes! {
    /// A voice session: the unit that people open, rename and close.
    Session = "se", "session";
    /// One message of a session: audio, text, a file or a screenshot.
    Message = "msg", "message";
    /// A piece of a transcript, embedded in its message. The only oid that is stored, since it has no row of its own.
    Segment = "ch", "transcript segment";
    /// An entry of the session's event log.
    Event = "evt", "event log entry";
    /// A person who acts.
    User = "usr", "user";
    /// A project that sessions belong to.
    Project = "prj", "project";
    /// One delivery of a notification.
    Notification = "ntf", "notify delivery";
    /// One delivery of a webhook.
    Webhook = "wh", "webhook delivery";
    /// One run of the processing pipeline.
    Run = "run", "pipeline run";
}

/// Twelve bytes: four of seconds (unsigned, so until 2106), five random per process, three of a counter.
///
/// Orders by creation second only; inside a second neither two processes nor a wrapped counter keep their order. What
/// needs an order has a sequence of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 12]);

/// An `ObjectId` together with what it names; printed as `<prefix>_<24 hex digits>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Oid {
    pub prefix: Prefix,
    pub id: ObjectId,
}

/// Makes ids that do not repeat within the process; one per process, shared by its threads.
#[derive(Debug)]
pub struct ObjectIdGenerator {
    process: [u8; 5],
    counter: AtomicU32,
}

/// Why a text is not an id. Indexes count characters of the whole text, from zero. All of them are the caller's
/// mistake: the message says what was expected, and is safe to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OidError {
    #[error("expected exactly 24 hex digits, found {found} characters")]
    Length { found: usize },
    #[error("expected a hex digit at index {index}, found {found:?}")]
    NotHex { index: usize, found: char },
    #[error("an oid is written in lower case: found {found:?} at index {index}")]
    UpperCase { index: usize, found: char },
    #[error("expected `<prefix>_<24 hex digits>`, found no `_`")]
    MissingSeparator,
    #[error("unknown prefix {found:?}; the nearest known one is {}", NamedPrefix(*.nearest))]
    UnknownPrefix { found: String, nearest: Prefix },
    #[error("expected an oid of the kind {}, found {}", NamedPrefix(*.expected), NamedPrefix(*.found))]
    WrongPrefix { expected: Prefix, found: Prefix },
}

impl ObjectId {
    pub const fn from_bytes(bytes: [u8; 12]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 12] {
        &self.0
    }

    /// Reads exactly 24 hex digits, in either case: bare ids come from other systems, and both cases occur.
    pub fn parse_hex(text: &str) -> Result<Self, OidError> {
        let found = text.chars().count();
        if found != HEX_DIGITS {
            return Err(OidError::Length { found });
        }
        let mut bytes = [0; 12];
        for (index, found) in text.chars().enumerate() {
            let digit = found.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let digit = digit.ok_or(OidError::NotHex { index, found })?;
            bytes[index / 2] = bytes[index / 2] << 4 | digit;
        }
        Ok(Self(bytes))
    }

    /// The second in which the id was made, as its maker's clock told it.
    pub fn created_at(&self) -> Timestamp {
        let [a, b, c, d, ..] = self.0;
        let seconds = u32::from_be_bytes([a, b, c, d]);
        // Never overflows: 2106 is far inside the range of a Timestamp.
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::from(seconds))
    }
}

impl ObjectIdGenerator {
    /// `process` should be random per process; `counter_start` counts modulo 2^24.
    pub const fn new(process: [u8; 5], counter_start: u32) -> Self {
        Self { process, counter: AtomicU32::new(counter_start) }
    }

    pub fn from_rng(rng: &mut impl Rng) -> Self {
        Self::new(rng.random(), rng.random())
    }

    /// The next id. A time before 1970 or after 2106 is written as the nearest second the format can hold.
    pub fn generate(&self, now: Timestamp) -> ObjectId {
        let seconds = u32::try_from(now.as_second().max(0)).unwrap_or(u32::MAX);
        // Relaxed is enough: only the uniqueness of the number matters, not its order against other memory.
        let counter = self.counter.fetch_add(1, Ordering::Relaxed) & COUNTER_MASK;
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&seconds.to_be_bytes());
        bytes[4..9].copy_from_slice(&self.process);
        bytes[9..].copy_from_slice(&counter.to_be_bytes()[1..]);
        ObjectId(bytes)
    }
}

impl Oid {
    pub const fn new(prefix: Prefix, id: ObjectId) -> Self {
        Self { prefix, id }
    }

    /// Reads any registered kind of oid. Strict: lower case, nothing around it.
    pub fn parse(text: &str) -> Result<Self, OidError> {
        let (prefix, hex) = text.split_once('_').ok_or(OidError::MissingSeparator)?;
        let prefix = Prefix::parse(prefix)?;
        let id_at = prefix.as_str().len() + 1;
        let id = ObjectId::parse_hex(hex).map_err(|err| match err {
            OidError::NotHex { index, found } => OidError::NotHex { index: id_at + index, found },
            other => other,
        })?;
        refuse_upper_case(text)?;
        Ok(Self { prefix, id })
    }

    /// Reads the oid of one kind and refuses every other.
    pub fn parse_as(text: &str, expected: Prefix) -> Result<Self, OidError> {
        let oid = Self::parse(text)?;
        if oid.prefix == expected { Ok(oid) } else { Err(OidError::WrongPrefix { expected, found: oid.prefix }) }
    }
}

impl Prefix {
    /// Longer texts are cut in the error: it must not carry a megabyte back to the caller.
    const SHOWN_CHARS_MAX: usize = 16;

    fn parse(text: &str) -> Result<Self, OidError> {
        if let Some(prefix) = Self::ALL.iter().find(|prefix| prefix.as_str() == text) {
            return Ok(*prefix);
        }
        if Self::ALL.iter().any(|prefix| prefix.as_str().eq_ignore_ascii_case(text)) {
            refuse_upper_case(text)?;
        }
        let found: String = text.chars().take(Self::SHOWN_CHARS_MAX).collect();
        let nearest = Self::nearest(&found);
        Err(OidError::UnknownPrefix { found, nearest })
    }

    fn nearest(text: &str) -> Self {
        let distance = |prefix: &&Self| edit_distance(prefix.as_str(), &text.to_lowercase());
        Self::ALL.iter().min_by_key(distance).copied().unwrap_or(Self::Session)
    }
}

fn refuse_upper_case(text: &str) -> Result<(), OidError> {
    match text.chars().enumerate().find(|(_, found)| found.is_ascii_uppercase()) {
        Some((index, found)) => Err(OidError::UpperCase { index, found }),
        None => Ok(()),
    }
}

/// Levenshtein's: the least number of characters to insert, delete or replace.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, from) in left.chars().enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// A prefix in an error message: `` `se_` (session) ``.
struct NamedPrefix(Prefix);

impl fmt::Display for NamedPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}_` ({})", self.0.as_str(), self.0.noun())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.0))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.prefix, self.id)
    }
}

impl FromStr for ObjectId {
    type Err = OidError;

    fn from_str(text: &str) -> Result<Self, OidError> {
        Self::parse_hex(text)
    }
}

impl FromStr for Oid {
    type Err = OidError;

    fn from_str(text: &str) -> Result<Self, OidError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Oid {
    type Error = OidError;

    fn try_from(text: String) -> Result<Self, OidError> {
        Self::parse(&text)
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> Self {
        oid.to_string()
    }
}

#[cfg(test)]
mod tests;
