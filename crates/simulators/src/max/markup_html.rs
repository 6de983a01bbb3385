//! HTML of MAX: known tags become markup, unknown ones are dropped, unclosed ones run to the end.

use super::markup::Plain;

pub(super) fn render(source: &str) -> Plain {
    let mut plain = Plain::default();
    let mut open: Vec<(&'static str, usize, Option<String>)> = Vec::new();
    let mut rest = source;
    while let Some(letter) = rest.chars().next() {
        if let Some((tag, after)) = read_tag(rest) {
            rest = after;
            if let Some(name) = tag.strip_prefix('/') {
                let kind = kind(name.trim());
                if let Some(position) = open.iter().rposition(|(opened, ..)| Some(*opened) == kind) {
                    let (kind, from, url) = open.remove(position);
                    plain.mark(kind, from, url.as_deref());
                }
            } else if let Some(kind) = kind(tag.split_whitespace().next().unwrap_or_default()) {
                open.push((kind, plain.units(), href(tag)));
            }
        } else if let Some((decoded, after)) = read_entity(rest) {
            plain.push(decoded);
            rest = after;
        } else {
            plain.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    while let Some((kind, from, url)) = open.pop() {
        plain.mark(kind, from, url.as_deref());
    }
    plain
}

fn kind(tag: &str) -> Option<&'static str> {
    Some(match tag.to_ascii_lowercase().as_str() {
        "b" | "strong" => "strong",
        "i" | "em" => "emphasized",
        "s" | "del" => "strikethrough",
        "u" | "ins" => "underline",
        "a" => "link",
        "pre" | "code" => "monospaced",
        "mark" => "highlighted",
        "blockquote" => "quote",
        "h1" | "h2" | "h3" | "h4" => "heading",
        _ => return None,
    })
}

/// The inside of a tag and what follows it. A `<` that starts no name is text.
fn read_tag(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('<')?;
    if !inside.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/') {
        return None;
    }
    inside.split_once('>')
}

fn href(tag: &str) -> Option<String> {
    let value = tag.split_once("href=")?.1;
    let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    value[1..].split(quote).next().map(|url| url.replace("&amp;", "&"))
}

fn read_entity(text: &str) -> Option<(char, &str)> {
    for (name, letter) in [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"'), ("&nbsp;", '\u{a0}')] {
        if let Some(rest) = text.strip_prefix(name) {
            return Some((letter, rest));
        }
    }
    None
}
