//! Markdown of MAX: a mark counts when its closing twin follows with something in between.

use super::markup::Plain;

/// Longer marks first: `**` is not two `*`.
const MARKS: [(&str, &str); 9] = [
    ("```", "monospaced"),
    ("**", "strong"),
    ("__", "strong"),
    ("~~", "strikethrough"),
    ("++", "underline"),
    ("^^", "highlighted"),
    ("`", "monospaced"),
    ("*", "emphasized"),
    ("_", "emphasized"),
];

pub(super) fn render(source: &str) -> Plain {
    let mut plain = Plain::default();
    for (index, line) in source.split('\n').enumerate() {
        if index > 0 {
            plain.push('\n');
        }
        let from = plain.units();
        if let Some(head) = line.strip_prefix("# ") {
            inline(head, &mut plain);
            plain.mark("heading", from, None);
        } else if let Some(quote) = line.strip_prefix("> ") {
            inline(quote, &mut plain);
            plain.mark("quote", from, None);
        } else {
            inline(line, &mut plain);
        }
    }
    plain
}

fn inline(source: &str, plain: &mut Plain) {
    let mut rest = source;
    let mut previous = ' ';
    while let Some(letter) = rest.chars().next() {
        if let Some((label, url, after)) = read_link(rest) {
            let from = plain.units();
            inline(label, plain);
            plain.mark("link", from, Some(url));
            rest = after;
        } else if let Some((mark, kind, inner, after)) = read_mark(rest, previous) {
            let from = plain.units();
            if kind == "monospaced" {
                inner.chars().for_each(|letter| plain.push(letter));
            } else {
                inline(inner, plain);
            }
            plain.mark(kind, from, None);
            previous = mark.chars().next().unwrap_or(' ');
            rest = after;
        } else {
            plain.push(letter);
            previous = letter;
            rest = &rest[letter.len_utf8()..];
        }
    }
}

fn read_mark(text: &str, previous: char) -> Option<(&'static str, &'static str, &str, &str)> {
    let (mark, kind) = MARKS.into_iter().find(|(mark, _)| text.starts_with(mark))?;
    // An underscore inside a word is part of the word.
    if mark.starts_with('_') && previous.is_alphanumeric() {
        return None;
    }
    let (inner, after) = text[mark.len()..].split_once(mark)?;
    let spaced = inner.starts_with(' ') || inner.ends_with(' ');
    (!inner.is_empty() && !spaced).then_some((mark, kind, inner, after))
}

fn read_link(text: &str) -> Option<(&str, &str, &str)> {
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (url, after) = rest.split_once(')')?;
    (!label.contains(['[', ']'])).then_some((label, url, after))
}
