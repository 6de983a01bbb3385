//! Parts that several pages have.

use askama::Template;
use jiff::Timestamp;
pub use platform::console::Tone;

use super::write::{age, grouped, query_value};

/// Says that a part escapes what it prints, so that another template prints it as it is.
macro_rules! html_safe {
    ($($part:ty),*) => { $(impl askama::filters::HtmlSafe for $part {})* };
}
pub(crate) use html_safe;

html_safe!(Badge, Counter, EmptyNote, Fact, FilterForm, PageLink, Moment, Pager, Trace, Waits);

/// A word with a tone.
#[derive(Debug, Clone, Template)]
#[template(source = r#"<span class="badge {{ tone }}">{{ label }}</span>"#, ext = "html")]
pub struct Badge {
    pub label: String,
    pub tone: Tone,
}

impl Badge {
    pub fn new(label: impl Into<String>, tone: Tone) -> Self {
        Self { label: label.into(), tone }
    }
}

/// A number of things, which the query may have stopped counting.
#[derive(Debug, Clone)]
pub struct Count {
    pub value: i64,
    /// `7 412`, or `10 000+` where counting stopped.
    pub text: String,
}

impl Count {
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

    pub fn is_zero(&self) -> bool {
        self.value == 0
    }
}

/// A number that leads to what it counts.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/counter.html")]
pub struct Counter {
    pub label: String,
    pub count: Count,
    pub href: String,
    /// Whether any at all is bad news.
    pub is_bad: bool,
}

/// A moment relative to the time of rendering. The script keeps the text current in the same words, and fetches the region anew
/// when a moment in the future has passed.
#[derive(Debug, Clone, Template)]
#[template(source = r#"<time datetime="{{ iso }}" title="{{ exact }}" data-ago>{{ ago }}</time>"#, ext = "html")]
pub struct Moment {
    /// RFC 3339, for the `datetime` attribute.
    pub iso: String,
    /// Date and time in UTC, for the tooltip.
    pub exact: String,
    /// The distance alone: `42 s`. For `<time data-age>`.
    pub age: String,
    /// The distance and its direction: `42 s ago`, `in 42 s`, `now`.
    pub ago: String,
}

impl Moment {
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
#[derive(Debug, Clone, Template)]
#[template(
    source = r#"<a class="trace" href="{{ href }}" title="{{ id }}"><span class="sr">trace </span>{{ short }}</a>"#,
    ext = "html"
)]
pub struct Trace {
    pub id: String,
    /// Its last eight characters: the first ones of a time-ordered id are alike.
    pub short: String,
    /// The journal, filtered by it.
    pub href: String,
}

impl Trace {
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        let skipped = id.chars().count().saturating_sub(8);
        Self { short: id.chars().skip(skipped).collect(), href: format!("/console/journal?trace_id={}", query_value(&id)), id }
    }
}

/// A name and a value, in a list of such.
#[derive(Debug, Clone, Template)]
#[template(source = "<dt>{{ label }}</dt><dd>{{ value }}</dd>\n", ext = "html")]
pub struct Fact {
    pub label: String,
    pub value: String,
}

impl Fact {
    pub fn new(label: &str, value: impl Into<String>) -> Self {
        Self { label: label.to_owned(), value: value.into() }
    }
}

#[derive(Debug, Clone, Template)]
#[template(source = r#"<a href="{{ href }}">{{ label }}</a>"#, ext = "html")]
pub struct PageLink {
    pub href: String,
    pub label: String,
}

impl PageLink {
    pub fn new(href: impl Into<String>, label: impl Into<String>) -> Self {
        Self { href: href.into(), label: label.into() }
    }
}

/// Why something waits, and until when if that is known.
#[derive(Debug, Clone, Template)]
#[template(source = "{{ why }}{% if let Some(until) = until %} {{ until }}{% endif %}", ext = "html")]
pub struct Waits {
    pub why: String,
    pub until: Option<Moment>,
}

/// What to say where there is nothing to show: why, and the command that changes it (empty for none).
#[derive(Debug, Clone, Template)]
#[template(
    source = r#"<p class="empty">{{ words }}</p>{% if !command.is_empty() %}<pre class="command"><code>{{ command }}</code></pre>{% endif %}"#,
    ext = "html"
)]
pub struct EmptyNote {
    pub words: String,
    pub command: String,
}

impl EmptyNote {
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), command: String::new() }
    }
}

/// The filters above a list. They are sent as the query of its address.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/filter_form.html")]
pub struct FilterForm {
    pub action: String,
    pub fields: Vec<FilterField>,
}

/// One filter: a choice, or a text with suggestions.
#[derive(Debug, Clone)]
pub struct FilterField {
    pub name: &'static str,
    pub label: &'static str,
    pub value: String,
    pub is_wide: bool,
    pub is_choice: bool,
    pub options: Vec<FilterOption>,
}

#[derive(Debug, Clone)]
pub struct FilterOption {
    /// What the form sends; empty means any.
    pub value: String,
    pub label: String,
}

/// The links to other pages of a list that is read by key.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/pager.html")]
pub struct Pager {
    /// The first page, where this is another one.
    pub first_href: Option<String>,
    /// The page of further rows, where there are any.
    pub next_href: Option<String>,
    /// How much is on this page: `50 jobs`.
    pub shown: String,
    /// What the links say: `Newest` and `Older`, or what fits a list in another order.
    pub labels: (&'static str, &'static str),
}
