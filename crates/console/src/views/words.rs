//! Words that every page uses.

use std::fmt;

use jiff::Timestamp;

use super::write::{age, grouped, query_value};

/// The frame around a page: who looks, and where they can go.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The name of the workspace that the token belongs to.
    pub workspace: String,
    /// The navigation, in order; each module adds its own.
    pub nav: Vec<NavItem>,
    /// The server's time, RFC 3339; the script corrects the browser's clock by it.
    pub now: String,
    /// The token that every form of the console sends back as `csrf`.
    pub csrf: String,
}

/// One entry of the navigation.
#[derive(Debug, Clone)]
pub struct NavItem {
    /// Where it leads.
    pub href: String,
    /// What it says.
    pub label: String,
    /// Whether the current page belongs to it.
    pub active: bool,
}

/// How a state feels. It becomes a class name, which gives the colour and the shape of the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Finished well, or healthy.
    Good,
    /// At work right now.
    Busy,
    /// Will mend itself, or wants a look.
    Warn,
    /// Needs a person.
    Bad,
    /// Waiting; nothing to say.
    Quiet,
}

impl fmt::Display for Tone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::Busy => "busy",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Quiet => "quiet",
        })
    }
}

/// A word with a tone.
#[derive(Debug, Clone)]
pub struct Badge {
    /// The word.
    pub label: String,
    /// How it feels.
    pub tone: Tone,
}

impl Badge {
    /// A badge of `label` in `tone`.
    pub fn new(label: impl Into<String>, tone: Tone) -> Self {
        Self { label: label.into(), tone }
    }
}

/// A number of things, which the query may have stopped counting.
#[derive(Debug, Clone)]
pub struct Count {
    /// The number as counted.
    pub value: i64,
    /// The number as printed: `7 412`, or `10 000+` where counting stopped.
    pub text: String,
}

impl Count {
    /// A number that was counted to the end.
    pub fn exact(value: i64) -> Self {
        Self { value, text: grouped(value) }
    }

    /// A number whose query stops at `cap + 1`.
    pub fn capped(value: i64, cap: i64) -> Self {
        if value > cap {
            let text = format!("{}+", grouped(cap));
            Self { value, text }
        } else {
            Self::exact(value)
        }
    }

    /// Whether there is nothing, which is printed softly.
    pub fn is_zero(&self) -> bool {
        self.value == 0
    }
}

/// A moment, told from the time of rendering. The script keeps telling it in the same words.
#[derive(Debug, Clone)]
pub struct Moment {
    /// RFC 3339, for the `datetime` attribute.
    pub iso: String,
    /// Date and time in UTC, for the tooltip.
    pub exact: String,
    /// The distance alone: `42 s`. For `<time data-age>`.
    pub age: String,
    /// The distance and its direction: `42 s ago`, `in 42 s`, `now`. For `<time data-ago>`.
    pub ago: String,
}

impl Moment {
    /// Tells `at` from `now`.
    pub fn new(at: Timestamp, now: Timestamp) -> Self {
        let seconds = now.duration_since(at).as_secs();
        let age = age(seconds.unsigned_abs());
        let ago = match seconds {
            0 => "now".to_owned(),
            1.. => format!("{age} ago"),
            _ => format!("in {age}"),
        };
        Self { iso: at.to_string(), exact: at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(), age, ago }
    }
}

/// A trace id, short enough for a table, that leads to everything it caused.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The whole id.
    pub id: String,
    /// Its last eight characters: the first ones of a time-ordered id are alike.
    pub short: String,
    /// The journal, filtered by it.
    pub href: String,
}

impl Trace {
    /// The trace of `id`.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        let skipped = id.chars().count().saturating_sub(8);
        Self { short: id.chars().skip(skipped).collect(), href: format!("/console/journal?trace_id={}", query_value(&id)), id }
    }
}

/// One choice of a filter.
#[derive(Debug, Clone)]
pub struct FilterOption {
    /// What the form sends; empty means any.
    pub value: String,
    /// What it says.
    pub label: String,
    /// Whether it is chosen.
    pub selected: bool,
}

/// The way through a list that is read by key, newest first.
#[derive(Debug, Clone)]
pub struct Pager {
    /// The first page, where this is another one.
    pub first_href: Option<String>,
    /// The page of older rows, where there are any.
    pub next_href: Option<String>,
    /// How much is on this page: `50 jobs`.
    pub shown: String,
    /// What the links say: `Newest` and `Older`, or what fits a list in another order.
    pub labels: (&'static str, &'static str),
}
