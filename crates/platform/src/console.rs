//! What a module brings to the console: a page of its own, which the console shows without knowing the module.

use std::fmt::{self, Write};

use axum::{extract::Query, http::Uri};
use futures::future::BoxFuture;
use jiff::Timestamp;
use kernel::{Kind, Problem};
use serde::de::DeserializeOwned;

use crate::http::{Ctx, Failure};

/// A text of more characters may be broken anywhere: it could hold an address or a word that is wider than the window.
const SHORT_MAX: usize = 30;

/// An entry of the menu, and of which messages its pages are told.
#[derive(Clone, Copy, Debug)]
pub struct MenuEntry {
    /// The first part of the addresses of its pages, after `/console/`.
    pub path: &'static str,
    pub title: &'static str,
    /// Topics of the bus; each stands for itself and everything under it (`chat` is also `chat:1`).
    pub topics: &'static [&'static str],
}

/// A page with an entry in the menu. The console mounts it for people who are signed in, puts it into its layout, and fetches it
/// anew after a message on one of its topics.
#[derive(Clone, Copy, Debug)]
pub struct ConsolePage {
    /// Its address after `/console/`.
    pub path: &'static str,
    pub title: &'static str,
    /// A sentence under the title.
    pub lead: &'static str,
    /// Topics of the bus; each stands for itself and everything under it (`chat` is also `chat:1`).
    pub topics: &'static [&'static str],
    pub render: RenderPage,
}

impl ConsolePage {
    pub const fn entry(&self) -> MenuEntry {
        MenuEntry { path: self.path, title: self.title, topics: self.topics }
    }
}

/// Makes the HTML of a page from the signed-in context and the query of its address. It escapes what it did not write itself, with
/// [`escape`] or by using [`table`].
pub type RenderPage = for<'a> fn(&'a Ctx, &'a str) -> BoxFuture<'a, Result<String, Failure>>;

/// A text as HTML prints it, inside an element or an attribute in quotes.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// The query of an address in the shape of `T`.
pub fn parse_query<T: DeserializeOwned>(query: &str) -> Result<T, Problem> {
    let wrong = |message: String| Problem::new(422, Kind::Validation, "request.query", message);
    let uri = Uri::try_from(format!("/?{query}")).map_err(|error| wrong(error.to_string()))?;
    Query::try_from_uri(&uri).map(|Query(asked)| asked).map_err(|rejection| wrong(rejection.body_text()))
}

/// A word of a shell command, in quotes where the shell would split or interpret it.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// How serious a state is. It becomes a class name, which gives the colour and the shape of the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Finished well, or healthy.
    Good,
    /// At work right now.
    Busy,
    /// Recovers by itself, or wants a look.
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

/// What a cell of a table shows. Every text that is put into one is escaped.
#[derive(Clone, Debug)]
pub struct Cell {
    html: String,
    is_long: bool,
}

impl Cell {
    fn short(html: String) -> Self {
        Self { html, is_long: false }
    }

    /// A cell without a value; a narrow window leaves it out.
    pub fn none() -> Self {
        Self::short(r#"<span class="zero">–</span>"#.to_owned())
    }

    pub fn maybe(text: Option<impl ToString>) -> Self {
        text.map_or_else(Self::none, |text| text.to_string().into())
    }

    /// A link to an address of the console.
    pub fn link(href: &str, text: &str) -> Self {
        let Self { html, is_long } = text.to_owned().into();
        Self { html: format!(r#"<a href="{}">{html}</a>"#, escape(href)), is_long }
    }

    /// A word with a tone.
    pub fn badge(label: &str, tone: Tone) -> Self {
        Self::short(format!(r#"<span class="badge {tone}">{}</span>"#, escape(label)))
    }

    /// A moment. The script of the console replaces it by the distance to now, and keeps that current.
    pub fn time(at: Timestamp) -> Self {
        let exact = at.strftime("%Y-%m-%d %H:%M:%S UTC");
        Self::short(format!(r#"<time datetime="{at}" title="{exact}" data-ago>{exact}</time>"#))
    }

    pub fn html(&self) -> &str {
        &self.html
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { html: escape(&text), is_long: text.chars().count() > SHORT_MAX }
    }
}

/// A panel with a table of texts, which are escaped, or of other [`Cell`]s. `caption` says what it lists, for those who cannot see
/// it. In a narrow window a row becomes a list, in which each cell has the label of its column.
pub fn table<const N: usize, C: Into<Cell>>(caption: &str, columns: [&str; N], rows: impl IntoIterator<Item = [C; N]>) -> String {
    let (caption, columns) = (escape(caption), columns.map(escape));
    let mut html =
        format!(r#"<section class="panel"><table class="table stack"><caption class="sr">{caption}</caption><thead><tr>"#);
    for column in &columns {
        let _ = write!(html, r#"<th scope="col">{column}</th>"#);
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        for (cell, column) in row.into_iter().zip(&columns) {
            let cell: Cell = cell.into();
            let class = if cell.is_long { "fact place" } else { "fact" };
            let _ = write!(html, r#"<td class="{class}" data-label="{column}">{}</td>"#, cell.html);
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></section>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_table_shows_is_printed_as_text() {
        let html = table("<i>", ["a & b"], [["<script>alert('1')</script>".to_owned()], ["\"".to_owned()]]);
        assert!(html.contains(">&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;</td>"), "{html}");
        assert!(!html.contains("<script>") && !html.contains("<i>") && html.contains("a &amp; b") && html.contains("&quot;"));
    }

    #[test]
    fn no_part_of_a_cell_leaves_its_attribute_or_element() {
        let cells =
            [Cell::link("/a?b=\"><script>", "<script>"), Cell::badge("<script>", Tone::Bad), Cell::maybe(Some("<script>"))];
        let html = table("c", ["\"><script>"; 3], [cells]);
        assert!(!html.contains("<script>") && !html.contains("\"\">"), "{html}");
        assert!(html.contains(r#"<a href="/a?b=&quot;&gt;&lt;script&gt;">&lt;script&gt;</a>"#), "{html}");
        assert!(html.contains(r#"<span class="badge bad">"#), "{html}");
    }

    #[test]
    fn the_query_of_an_address_is_decoded() {
        let asked: std::collections::BTreeMap<String, String> = parse_query("a=1+2&b=%D1%8F").unwrap();
        assert_eq!((asked["a"].as_str(), asked["b"].as_str()), ("1 2", "я"));
        assert_eq!(parse_query::<std::collections::BTreeMap<String, u8>>("a=x").unwrap_err().status, 422);
    }
}
