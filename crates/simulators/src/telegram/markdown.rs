//! The legacy Markdown parser: four special characters, no nesting, one error.

use super::entity::{Entity, Formatted, Kind, utf16_len};
use super::links;

pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let bytes = source.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let mut formatted = Formatted::default();
    let mut offset = 0;
    let mut at = 0;
    while at < bytes.len() {
        // `\` escapes only these four, and only outside entities.
        if byte(at) == b'\\' && matches!(byte(at + 1), b'_' | b'*' | b'`' | b'[') {
            formatted.text.push(char::from(byte(at + 1)));
            offset += 1;
            at += 2;
            continue;
        }
        let opener = byte(at);
        if !matches!(opener, b'_' | b'*' | b'`' | b'[') {
            let rest = &source[at..];
            let special = rest.char_indices().skip(1).find(|(_, letter)| "\\_*`[".contains(*letter));
            let run = special.map_or(rest, |(end, _)| &rest[..end]);
            formatted.text.push_str(run);
            offset += utf16_len(run);
            at += run.len();
            continue;
        }
        let begin = at;
        let is_pre = opener == b'`' && byte(at + 1) == b'`' && byte(at + 2) == b'`';
        let closer = match opener {
            b'[' => "]",
            b'`' if is_pre => "```",
            b'`' => "`",
            b'_' => "_",
            _ => "*",
        };
        at += if is_pre { 3 } else { 1 };
        let language = if is_pre { read_language(bytes, &mut at) } else { None };
        let Some(length) = source[at..].find(closer) else {
            return Err(format!("Can't find end of the entity starting at byte offset {begin}"));
        };
        let content = &source[at..at + length];
        at += length + closer.len();
        let start = offset;
        formatted.text.push_str(content);
        offset += utf16_len(content);
        let units = offset - start;
        let mut url = None;
        if opener == b'[' && byte(at) == b'(' && units > 0 {
            // A missing `)` runs to the end of the text without an error.
            let rest = &source[at + 1..];
            let end = rest.find(')').unwrap_or(rest.len());
            url = Some(&rest[..end]);
            at = (at + 1 + end + 1).min(bytes.len());
        }
        if units == 0 {
            continue;
        }
        formatted.entities.extend(match opener {
            b'_' => Some(Entity::new(Kind::Italic, start, units)),
            b'*' => Some(Entity::new(Kind::Bold, start, units)),
            b'[' => links::entity(url.unwrap_or(content), start, units),
            _ if is_pre => Some(Entity { language, ..Entity::new(Kind::Pre, start, units) }),
            _ => Some(Entity::new(Kind::Code, start, units)),
        });
    }
    Ok(formatted)
}

/// Reads the language of a pre block, up to the first white space, and skips one line break after it.
pub(super) fn read_language(bytes: &[u8], at: &mut usize) -> Option<String> {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
    let mut end = *at;
    while !matches!(byte(end), b' ' | b'\t' | b'\r' | b'\n' | 0 | 0x0B | b'`') {
        end += 1;
    }
    let mut language = None;
    if end != *at && end < bytes.len() && byte(end) != b'`' {
        language = Some(String::from_utf8_lossy(&bytes[*at..end]).into_owned());
        *at = end;
    }
    if is_break(byte(*at)) {
        *at += if is_break(byte(*at + 1)) && byte(*at) != byte(*at + 1) { 2 } else { 1 };
    }
    language
}

#[cfg(test)]
mod tests {
    use super::super::entity::Kind;
    use super::parse;

    #[test]
    fn an_entity_without_an_end_is_the_only_legacy_markdown_error() {
        for (source, offset) in [("🏟 *a", 5), ("a_b", 1), ("`x", 0), ("[x", 0), ("```x", 0), ("*a* _", 4)] {
            let message = format!("Can't find end of the entity starting at byte offset {offset}");
            assert_eq!(parse(source).unwrap_err(), message, "{source}");
        }
    }

    #[test]
    fn legacy_markdown_turns_into_plain_text_with_entities() {
        for (source, text, entities) in [
            ("a.b-c!", "a.b-c!", vec![]),
            ("🏟*b* _i_ `c`", "🏟b i c", vec![(Kind::Bold, 2, 1), (Kind::Italic, 4, 1), (Kind::Code, 6, 1)]),
            ("\\*a\\_ \\x", "*a_ \\x", vec![]),
            ("**x", "x", vec![]),
            ("*a _b_ c*", "a _b_ c", vec![(Kind::Bold, 0, 7)]),
            ("```rust\nlet```", "let", vec![(Kind::Pre, 0, 3)]),
            ("[t](telegram.org) x", "t x", vec![(Kind::TextLink, 0, 1)]),
            ("[t](telegram.org", "t", vec![(Kind::TextLink, 0, 1)]),
            ("[telegram.org]", "telegram.org", vec![(Kind::TextLink, 0, 12)]),
            ("[t](nodots)", "t", vec![]),
        ] {
            let parsed = parse(source).unwrap();
            let found: Vec<_> = parsed.entities.iter().map(|entity| (entity.kind, entity.offset, entity.length)).collect();
            assert_eq!((parsed.text.as_str(), found), (text, entities), "{source}");
        }
    }
}
