//! Formatting: `html` and `markdown` texts become plain text with `markup[]` in UTF-16 units. Both are lenient: no
//! "can't parse" answer of MAX has ever been reported, so unknown tags are stripped and loose marks stay text.

use serde::Serialize;

use super::markup_html;
use super::markup_markdown;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Markup {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) from: usize,
    pub(super) length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user_id: Option<i64>,
}

/// A plain text under construction.
#[derive(Default)]
pub(super) struct Plain {
    pub(super) text: String,
    pub(super) markup: Vec<Markup>,
    units: usize,
}

impl Plain {
    pub(super) fn push(&mut self, letter: char) {
        self.text.push(letter);
        self.units += letter.len_utf16();
    }

    pub(super) const fn units(&self) -> usize {
        self.units
    }

    /// Marks everything since `from`; empty marks vanish.
    pub(super) fn mark(&mut self, kind: &'static str, from: usize, url: Option<&str>) {
        let length = self.units - from;
        if length == 0 {
            return;
        }
        let user_id = url.and_then(|url| url.strip_prefix("max://user/")).and_then(|id| id.parse().ok());
        let kind = if user_id.is_some() { "user_mention" } else { kind };
        let url = url.filter(|_| user_id.is_none()).map(ToOwned::to_owned);
        self.markup.push(Markup { kind, from, length, url, user_id });
    }
}

/// The text people see and its markup. `None` for a format MAX does not know.
pub(super) fn render(text: &str, format: Option<&str>) -> Option<(String, Vec<Markup>)> {
    let mut plain = match format {
        None => return Some((text.to_owned(), Vec::new())),
        Some("html") => markup_html::render(text),
        Some("markdown") => markup_markdown::render(text),
        Some(_) => return None,
    };
    plain.markup.sort_by_key(|markup| (markup.from, std::cmp::Reverse(markup.length)));
    Some((plain.text, plain.markup))
}

#[cfg(test)]
mod tests {
    use super::render;

    fn shown(text: &str, format: &str) -> (String, Vec<(&'static str, usize, usize)>) {
        let (text, markup) = render(text, Some(format)).unwrap();
        (text, markup.iter().map(|markup| (markup.kind, markup.from, markup.length)).collect())
    }

    #[test]
    fn html_is_stripped_of_tags_and_unknown_ones_are_not_an_error() {
        for (source, text, markup) in [
            ("🏟<b>b</b> &lt;", "🏟b <", vec![("strong", 2, 1)]),
            ("<i>a<u>b</u></i>", "ab", vec![("emphasized", 0, 2), ("underline", 1, 1)]),
            ("<video>a</video><br>b", "ab", vec![]),
            ("<b>open", "open", vec![("strong", 0, 4)]),
            ("a < b", "a < b", vec![]),
            ("<a href=\"https://e.ru\">l</a>", "l", vec![("link", 0, 1)]),
            ("<h1>t</h1><mark>m</mark>", "tm", vec![("heading", 0, 1), ("highlighted", 1, 1)]),
        ] {
            assert_eq!(shown(source, "html"), (text.to_owned(), markup), "{source}");
        }
    }

    #[test]
    fn markdown_marks_become_markup_and_loose_ones_stay_text() {
        for (source, text, markup) in [
            ("**b** *i* ~~s~~", "b i s", vec![("strong", 0, 1), ("emphasized", 2, 1), ("strikethrough", 4, 1)]),
            ("++u++ ^^m^^ `c`", "u m c", vec![("underline", 0, 1), ("highlighted", 2, 1), ("monospaced", 4, 1)]),
            ("[t](https://e.ru)", "t", vec![("link", 0, 1)]),
            ("[N](max://user/7)", "N", vec![("user_mention", 0, 1)]),
            ("# head\n> quote", "head\nquote", vec![("heading", 0, 4), ("quote", 5, 5)]),
            ("2 * 3 * 4", "2 * 3 * 4", vec![]),
            ("snake_case_name", "snake_case_name", vec![]),
            ("**loose", "**loose", vec![]),
        ] {
            assert_eq!(shown(source, "markdown"), (text.to_owned(), markup), "{source}");
        }
    }
}
