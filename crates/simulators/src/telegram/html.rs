//! The server's HTML parser: same texts, same byte offsets, same leniency. Bytes are read past the end as 0,
//! which counts as white space, exactly because the original reads a zero-terminated string.

use super::entity::{Entity, Formatted, Kind, sort, utf16_len};
use super::html_entities::decode_entity;
use super::links;

const TAGS: [&str; 17] = [
    "a",
    "b",
    "strong",
    "i",
    "em",
    "s",
    "strike",
    "del",
    "u",
    "ins",
    "tg-spoiler",
    "tg-emoji",
    "tg-time",
    "span",
    "pre",
    "code",
    "blockquote",
];

struct OpenTag {
    name: String,
    argument: String,
    offset: usize,
    text_start: usize,
}

struct Parser<'a> {
    source: &'a [u8],
    at: usize,
    text: String,
    offset: usize,
    open: Vec<OpenTag>,
    entities: Vec<Entity>,
}

pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut parser = Parser {
        source: source.as_bytes(),
        at: 0,
        text: String::with_capacity(source.len()),
        offset: 0,
        open: Vec::new(),
        entities: Vec::new(),
    };
    while parser.at < source.len() {
        match parser.source[parser.at] {
            b'<' if parser.byte(parser.at + 1) == b'/' => parser.end_tag()?,
            b'<' => parser.start_tag()?,
            b'&' => parser.ampersand()?,
            _ => {
                let run = &source[parser.at..];
                let run = &run[..run.find(['<', '&']).unwrap_or(run.len())];
                parser.offset += utf16_len(run);
                parser.text.push_str(run);
                parser.at += run.len();
            }
        }
    }
    if let Some(tag) = parser.open.last() {
        return Err(format!("Can't find end tag corresponding to start tag \"{}\"", tag.name));
    }
    for entity in parser.entities.iter_mut().filter(|entity| entity.kind == Kind::Code) {
        entity.language = None;
    }
    sort(&mut parser.entities);
    Ok(Formatted { text: parser.text, entities: parser.entities })
}

impl Parser<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(0)
    }

    fn slice(&self, from: usize, to: usize) -> String {
        String::from_utf8_lossy(self.source.get(from..to).unwrap_or_default()).into_owned()
    }

    fn skip_spaces(&mut self) {
        while self.byte(self.at) != 0 && is_space(self.byte(self.at)) {
            self.at += 1;
        }
    }

    fn skip_until(&mut self, stops: &[u8]) {
        while !is_space(self.byte(self.at)) && !stops.contains(&self.byte(self.at)) {
            self.at += 1;
        }
    }

    fn ampersand(&mut self) -> Result<(), String> {
        let Some((code, next)) = decode_entity(self.source, self.at) else {
            self.text.push('&');
            self.offset += 1;
            self.at += 1;
            return Ok(());
        };
        let letter = char::from_u32(code).ok_or(
            "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate \
             code units",
        )?;
        self.text.push(letter);
        self.offset += letter.len_utf16();
        self.at = next;
        Ok(())
    }

    fn start_tag(&mut self) -> Result<(), String> {
        let begin = self.at;
        self.at += 1;
        self.skip_until(b">");
        if self.byte(self.at) == 0 {
            return Err(format!("Unclosed start tag at byte offset {begin}"));
        }
        let name = self.slice(begin + 1, self.at).to_lowercase();
        if !TAGS.contains(&name.as_str()) {
            return Err(format!("Unsupported start tag \"{name}\" at byte offset {begin}"));
        }
        let mut argument = String::new();
        loop {
            self.skip_spaces();
            match self.byte(self.at) {
                b'>' => break,
                0 => {
                    return Err(format!("Unclosed start tag \"{name}\" at byte offset {begin}"));
                }
                _ => self.attribute(&name, begin, &mut argument)?,
            }
        }
        self.at += 1;
        if name == "span" && argument != "spoiler" {
            return Err(format!("Tag \"span\" must have class \"tg-spoiler\" at byte offset {begin}"));
        }
        self.open.push(OpenTag { name, argument, offset: self.offset, text_start: self.text.len() });
        Ok(())
    }

    fn attribute(&mut self, tag: &str, begin: usize, argument: &mut String) -> Result<(), String> {
        let name_start = self.at;
        self.skip_until(b"=>/\"'");
        let attribute = self.slice(name_start, self.at);
        if attribute.is_empty() {
            return Err(format!("Empty attribute name in the tag \"{tag}\" at byte offset {begin}"));
        }
        self.skip_spaces();
        if self.byte(self.at) != b'=' {
            if self.byte(self.at) == 0 {
                return Err(format!("Unclosed start tag \"{tag}\" at byte offset {begin}"));
            }
            if tag == "blockquote" && attribute == "expandable" {
                "1".clone_into(argument);
            }
            return Ok(());
        }
        self.at += 1;
        self.skip_spaces();
        let value = match self.byte(self.at) {
            0 => {
                return Err(format!("Unclosed start tag \"{tag}\" at byte offset {begin}"));
            }
            quote @ (b'"' | b'\'') => self.quoted_value(quote),
            _ => self.token_value()?,
        };
        if self.byte(self.at) == 0 {
            return Err(format!("Unclosed start tag at byte offset {begin}"));
        }
        match (tag, attribute.as_str()) {
            ("a", "href") | ("tg-emoji", "emoji-id") => *argument = value,
            ("tg-time", "unix" | "format") => {
                let separator = if argument.is_empty() { "" } else { "&" };
                *argument = format!("{argument}{separator}{attribute}={value}");
            }
            ("code", "class") => {
                if let Some(language) = value.strip_prefix("language-") {
                    language.clone_into(argument);
                }
            }
            ("span", "class") => {
                if let Some(class) = value.strip_prefix("tg-") {
                    class.clone_into(argument);
                }
            }
            ("blockquote", "expandable") => "1".clone_into(argument),
            _ => {}
        }
        Ok(())
    }

    fn token_value(&mut self) -> Result<String, String> {
        let start = self.at;
        while self.byte(self.at).is_ascii_alphanumeric() || matches!(self.byte(self.at), b'.' | b'-') {
            self.at += 1;
        }
        if !is_space(self.byte(self.at)) && self.byte(self.at) != b'>' {
            return Err(format!("Unexpected end of name token at byte offset {start}"));
        }
        Ok(self.slice(start, self.at).to_lowercase())
    }

    fn quoted_value(&mut self, quote: u8) -> String {
        self.at += 1;
        let mut value = Vec::new();
        while self.byte(self.at) != quote && self.byte(self.at) != 0 {
            if let Some((code, next)) = decode_entity(self.source, self.at) {
                let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                value.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                self.at = next;
            } else {
                value.push(self.byte(self.at));
                self.at += 1;
            }
        }
        if self.byte(self.at) == quote {
            self.at += 1;
        }
        String::from_utf8_lossy(&value).into_owned()
    }

    fn end_tag(&mut self) -> Result<(), String> {
        let begin = self.at;
        let Some(tag) = self.open.pop() else {
            return Err(format!("Unexpected end tag at byte offset {begin}"));
        };
        self.at += 2;
        self.skip_until(b">");
        let name = self.slice(begin + 2, self.at).to_lowercase();
        self.skip_spaces();
        if self.byte(self.at) != b'>' {
            return Err(format!("Unclosed end tag at byte offset {begin}"));
        }
        self.at += 1;
        if !name.is_empty() && name != tag.name {
            let expected = &tag.name;
            return Err(format!("Unmatched end tag at byte offset {begin}, expected \"</{expected}>\", found \"</{name}>\""));
        }
        // Empty entities vanish.
        if self.offset > tag.offset { self.close(&tag) } else { Ok(()) }
    }

    fn close(&mut self, tag: &OpenTag) -> Result<(), String> {
        let (offset, length) = (tag.offset, self.offset - tag.offset);
        let kind = match tag.name.as_str() {
            "i" | "em" => Kind::Italic,
            "b" | "strong" => Kind::Bold,
            "s" | "strike" | "del" => Kind::Strikethrough,
            "u" | "ins" => Kind::Underline,
            "tg-spoiler" | "span" => Kind::Spoiler,
            "blockquote" if tag.argument.is_empty() => Kind::Blockquote,
            "blockquote" => Kind::ExpandableBlockquote,
            "a" => {
                let inner = &self.text[tag.text_start..];
                let url = if tag.argument.is_empty() { inner } else { &tag.argument };
                self.entities.extend(links::entity(url, offset, length));
                return Ok(());
            }
            "tg-emoji" => {
                if !links::is_emoji_id(&tag.argument) {
                    return Err("Invalid custom emoji identifier specified".to_owned());
                }
                let custom_emoji_id = Some(tag.argument.clone());
                self.entities.push(Entity { custom_emoji_id, ..Entity::new(Kind::CustomEmoji, offset, length) });
                return Ok(());
            }
            "tg-time" => {
                let url = format!("tg://time?{}", tag.argument);
                self.entities.extend(links::emoji_or_time(&url, offset, length));
                return Ok(());
            }
            "pre" | "code" => {
                self.close_verbatim(tag, offset, length);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.entities.push(Entity::new(kind, offset, length));
        Ok(())
    }

    /// `<pre>` and `<code class="language-x">` over the same range, whichever is inside, are one pre with a language.
    fn close_verbatim(&mut self, tag: &OpenTag, offset: usize, length: usize) {
        let same_range = self.entities.last_mut().filter(|entity| entity.offset == offset && entity.length == length);
        let language = (!tag.argument.is_empty()).then(|| tag.argument.clone());
        match same_range {
            Some(inner) if tag.name == "pre" && inner.kind == Kind::Code && inner.language.is_some() => {
                inner.kind = Kind::Pre;
            }
            Some(inner) if tag.name == "code" && inner.kind == Kind::Pre && language.is_some() => {
                inner.language = language;
            }
            _ => {
                let kind = if tag.name == "pre" { Kind::Pre } else { Kind::Code };
                self.entities.push(Entity { language, ..Entity::new(kind, offset, length) });
            }
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0 | 0x0B)
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
