//! A displayed text, made safe to show: one line of plain words. The order matters: what hides characters goes before what looks for tags.

use kernel::text::is_turning;
use unicode_segmentation::UnicodeSegmentation;

use crate::contract::{DISPLAY_TEXT_CHARS_MAX, DISPLAY_TEXT_GRAPHEMES_MAX};

/// What is looked at of a text from outside; nobody shows more.
const READ_CHARS_MAX: usize = 20_000;

/// The text as it is shown; nothing when nothing is left of it.
pub fn display_text(given: &str) -> Option<String> {
    let visible: String = given.chars().take(READ_CHARS_MAX).filter_map(visible).collect();
    let plain = break_tags(&remove_tags(&visible));
    let words: Vec<&str> = plain.split_whitespace().collect();
    let text = shorten(&words.join(" "));
    let is_blank = text.chars().all(|c| c.is_whitespace() || is_invisible(c));
    (!is_blank).then_some(text)
}

/// Line breaks become spaces; other control characters and those that turn the direction of the text go.
fn visible(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        c if c.is_control() => None,
        '\u{feff}' => None,
        c if is_turning(c) => None,
        // Letters that nobody sees, but a model reads.
        c if ('\u{e0000}'..='\u{e007f}').contains(&c) => None,
        c => Some(c),
    }
}

/// Shown as nothing, but needed inside of words and emoji.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}'
    )
}

fn begins_tag(rest: &str) -> bool {
    rest.strip_prefix('<').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')))
}

/// Takes out tags, comments, and scripts and styles with what is in them. A `<` that begins no tag stays.
fn remove_tags(text: &str) -> String {
    let ends = Ends::of(text);
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find('<') {
        plain.push_str(&text[at..at + found]);
        at += found;
        let rest = &text[at..];
        let end = if begins_tag(rest) { ends.tag_end(text, at) } else { None };
        let Some(end) = end else {
            plain.push('<');
            at += 1;
            continue;
        };
        if is_block(tag_name(rest)) {
            plain.push(' ');
        }
        at = end;
    }
    plain.push_str(&text[at..]);
    plain
}

/// Where the last ends of tags and comments are: looking for one behind them would walk to the end of the text each time.
struct Ends {
    tag: usize,
    comment: usize,
    /// The text in lower case, which for ASCII keeps every byte in its place.
    lower: String,
}

impl Ends {
    fn of(text: &str) -> Self {
        let last = |end| text.rfind(end).unwrap_or(0);
        Self { tag: last(">"), comment: last("-->"), lower: text.to_ascii_lowercase() }
    }

    /// Where a tag that begins here ends, with its content where that is not for people.
    fn tag_end(&self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        if rest.starts_with("<!--") {
            return if self.comment > at { rest.find("-->").map(|end| at + end + 3) } else { None };
        }
        if self.tag < at {
            return None;
        }
        let end = at + closing(rest).or_else(|| rest.find('>'))? + 1;
        for name in ["script", "style"] {
            if tag_name(rest).eq_ignore_ascii_case(name) && !rest.starts_with("</") {
                return Some(self.lower[end..].find(&format!("</{name}")).map_or(text.len(), |closing| end + closing));
            }
        }
        Some(end)
    }
}

/// No tag that anybody wrote is longer; looking further would cost more than it is worth.
const TAG_BYTES_MAX: usize = 4096;

/// Where the `>` of a tag is that stands in none of its quotes; nothing if a quote never ends. A quote begins a value, so that an apostrophe elsewhere
/// is none.
fn closing(rest: &str) -> Option<usize> {
    let mut quote = None;
    let mut last = b' ';
    for (at, byte) in rest.bytes().take(TAG_BYTES_MAX).enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            None if byte == b'>' => return Some(at),
            None if last == b'=' && matches!(byte, b'"' | b'\'') => quote = Some(byte),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    None
}

fn tag_name(rest: &str) -> &str {
    let name = rest.trim_start_matches(['<', '/']);
    &name[..name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len())]
}

/// Tags that stand between words.
fn is_block(name: &str) -> bool {
    ["br", "p", "div", "li", "ul", "ol", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "table"]
        .iter()
        .any(|block| block.eq_ignore_ascii_case(name))
}

/// What still looks like a tag was made of others, or never ended: without its `<` it is none. A row of them goes as a whole, because
/// the one before would begin the tag next.
fn break_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let after = rest[at..].trim_start_matches('<');
        let row = &rest[at..rest.len() - after.len()];
        if !begins_tag(&rest[at + row.len() - 1..]) {
            plain.push_str(row);
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

fn shorten(text: &str) -> String {
    let mut short = String::new();
    let mut chars = 0;
    for grapheme in text.graphemes(true).take(DISPLAY_TEXT_GRAPHEMES_MAX) {
        chars += grapheme.chars().count();
        if chars > DISPLAY_TEXT_CHARS_MAX {
            break;
        }
        short.push_str(grapheme);
    }
    short.truncate(short.trim_end().len());
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_text_is_trimmed_and_empty_means_absent() {
        assert_eq!(display_text("  Готовим стенограмму…\n").as_deref(), Some("Готовим стенограмму…"));
        for empty in [
            "",
            "   ",
            "\n\t",
            "<b></b>",
            "\u{200b}\u{200d}",
            "\u{202e}",
            "<script>alert(1)</script>",
            "\u{feff}",
            "\u{2800}",
            "\u{2062}",
            "\u{180e}",
            "\u{34f}",
            "\u{206a}",
            "\u{e0041}\u{e0042}",
            "\u{ffa0}",
        ] {
            assert_eq!(display_text(empty), None, "{empty:?}");
        }
    }

    #[test]
    fn html_is_removed_and_what_is_none_stays() {
        for (given, shown) in [
            ("<b>Жирный</b> текст", "Жирный текст"),
            ("1 < 2 и 3 > 2", "1 < 2 и 3 > 2"),
            ("a<br>b<p>c</p>d", "a b c d"),
            ("x<!-- secret > -->y", "xy"),
            ("x<ScRiPt src=a>alert('<b>')</sCrIpT>y", "xy"),
            ("x<style>p { color: red }</style>y", "xy"),
            ("x<script>never closed", "x"),
            ("<<b>script>alert(1)", "script>alert(1)"),
            ("<<<b>img src=x onerror=alert(1)>", "img src=x onerror=alert(1)>"),
            ("<<<i>script>alert(1)<<</i>/script>", "script>alert(1)/script>"),
            ("1 << 2 <<", "1 << 2 <<"),
            ("<img src=x onerror=alert(1)", "img src=x onerror=alert(1)"),
            ("<a href=\"javascript:x\">link</a>", "link"),
            ("<a title=\"a>b\" href=x>text</a>", "text"),
            ("<a title='a>b' >text</a>", "text"),
            ("<p title=\"never ends>text", "text"),
            ("<b data='>' '>it's", "it's"),
            ("<3 <- ->", "<3 <- ->"),
            ("&lt;b&gt;", "&lt;b&gt;"),
        ] {
            assert_eq!(display_text(given).as_deref(), Some(shown), "{given}");
            assert_eq!(display_text(shown).as_deref(), Some(shown), "what is clean stays as it is: {shown}");
        }
    }

    #[test]
    fn control_characters_and_those_that_turn_the_direction_are_removed() {
        assert_eq!(display_text("a\u{0}b\u{1b}[31mc\u{7f}").as_deref(), Some("ab[31mc"));
        assert_eq!(display_text("photo\u{202e}gpj.exe\u{2066}\u{200f}").as_deref(), Some("photogpj.exe"));
        assert_eq!(display_text("one\r\ntwo\u{2028}three").as_deref(), Some("one two three"));
        // A tag is not hidden by a character that nobody sees.
        assert_eq!(display_text("<\u{202e}b>x</b>").as_deref(), Some("x"));
    }

    #[test]
    fn at_most_300_characters_as_people_see_them_are_kept() {
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(display_text(&"щ".repeat(301)).unwrap(), "щ".repeat(300));
        assert_eq!(display_text(&family.repeat(250)).unwrap(), family.repeat(250));
        let marked = "e\u{301}".repeat(400);
        assert_eq!(display_text(&marked).unwrap(), "e\u{301}".repeat(300));
        let tall = format!("a{}", "\u{301}".repeat(5000));
        assert_eq!(display_text(&tall), None, "one character of five thousand marks");
        assert!(display_text(&family.repeat(300)).unwrap().chars().count() <= DISPLAY_TEXT_CHARS_MAX);
        assert_eq!(display_text(&format!("{} x", "y".repeat(299))).unwrap(), "y".repeat(299), "no space at the end");
    }

    #[test]
    fn a_hostile_text_costs_little() {
        for part in ["<", "<b", "<script>", "<script></script>", "<!--", "<b><", "</", "<<", "<<b>", "<b a=\"x"] {
            for end in ["", ">", "-->", "</script>"] {
                let given = part.repeat(READ_CHARS_MAX / part.len()) + end;
                // The best of three: the machine may be busy with something else once.
                let took = (0..3).map(|_| {
                    let began = std::time::Instant::now();
                    assert!(display_text(&given).is_none_or(|text| text.chars().count() <= 300));
                    began.elapsed()
                });
                let best = took.min().unwrap();
                assert!(best.as_secs() < 2, "{part} {end}: {best:?}");
            }
        }
    }
}
