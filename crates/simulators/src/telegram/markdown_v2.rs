//! The MarkdownV2 parser. A reserved character either opens an entity, closes the innermost one, or is an error.

use super::entity::{Entity, Formatted, Kind, sort};
use super::links;
use super::markdown::read_language;

const RESERVED: &[u8] = b"_*[]()~`>#+-=|{}.!\n";

/// What is open. Named apart from [`Kind`] because the texts name `PreCode` and `TextUrl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
    Code,
    Pre,
    PreCode,
    TextUrl,
    CustomEmoji,
    BlockQuote,
}

struct Open {
    mark: Mark,
    language: Option<String>,
    offset: usize,
    source_at: usize,
    text_start: usize,
}

struct Parser<'a> {
    source: &'a [u8],
    at: usize,
    text: Vec<u8>,
    offset: usize,
    open: Vec<Open>,
    entities: Vec<Entity>,
    in_blockquote: bool,
    can_start_blockquote: bool,
}

pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut parser = Parser {
        source: source.as_bytes(),
        at: 0,
        text: Vec::with_capacity(source.len()),
        offset: 0,
        open: Vec::new(),
        entities: Vec::new(),
        in_blockquote: false,
        can_start_blockquote: true,
    };
    while parser.at < source.len() {
        parser.step()?;
    }
    parser.end_of_text()?;
    sort(&mut parser.entities);
    Ok(Formatted { text: String::from_utf8_lossy(&parser.text).into_owned(), entities: parser.entities })
}

impl Parser<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(0)
    }

    fn looks_at(&self, token: &[u8]) -> bool {
        self.source[self.at..].starts_with(token)
    }

    fn step(&mut self) -> Result<(), String> {
        let byte = self.byte(self.at);
        let next = self.byte(self.at + 1);
        if byte == b'\\' && (1..=126).contains(&next) {
            self.text.push(next);
            self.offset += 1;
            if next != b'\r' {
                self.can_start_blockquote = next == b'\n';
            }
            self.at += 2;
            return Ok(());
        }
        let verbatim = matches!(self.innermost(), Some(Mark::Code | Mark::Pre | Mark::PreCode));
        let is_reserved = if verbatim { byte == b'`' } else { RESERVED.contains(&byte) };
        if !is_reserved {
            // Only the first byte of a character counts, and twice for those beyond the basic plane.
            if byte & 0xC0 != 0x80 {
                self.offset += if byte >= 0xF0 { 2 } else { 1 };
                if byte != b'\r' {
                    self.can_start_blockquote = false;
                }
            }
            self.text.push(byte);
            self.at += 1;
            return Ok(());
        }
        if self.closes_innermost(byte) { self.close(byte) } else { self.open(byte) }
    }

    fn innermost(&self) -> Option<Mark> {
        self.open.last().map(|open| open.mark)
    }

    fn closes_innermost(&self, byte: u8) -> bool {
        let Some(mark) = self.innermost() else {
            return false;
        };
        if self.in_blockquote && byte == b'\n' && self.byte(self.at + 1) != b'>' {
            return true;
        }
        match mark {
            Mark::Bold => byte == b'*',
            Mark::Italic => byte == b'_' && self.byte(self.at + 1) != b'_',
            Mark::Underline => self.looks_at(b"__"),
            Mark::Strikethrough => byte == b'~',
            Mark::Spoiler => self.looks_at(b"||"),
            Mark::Code => byte == b'`',
            Mark::Pre | Mark::PreCode => self.looks_at(b"```"),
            Mark::TextUrl | Mark::CustomEmoji => byte == b']',
            Mark::BlockQuote => false,
        }
    }

    fn open(&mut self, byte: u8) -> Result<(), String> {
        let source_at = self.at;
        let mut language = None;
        let (mark, token_length) = match byte {
            b'_' if self.looks_at(b"__") => (Mark::Underline, 2),
            b'_' => (Mark::Italic, 1),
            b'*' => (Mark::Bold, 1),
            b'~' => (Mark::Strikethrough, 1),
            b'|' if self.looks_at(b"||") => (Mark::Spoiler, 2),
            b'[' => (Mark::TextUrl, 1),
            b'!' if self.looks_at(b"![") => (Mark::CustomEmoji, 2),
            b'`' if self.looks_at(b"```") => {
                let mut after = self.at + 3;
                language = read_language(self.source, &mut after);
                (if language.is_some() { Mark::PreCode } else { Mark::Pre }, after - self.at)
            }
            b'`' => (Mark::Code, 1),
            b'\n' => {
                self.text.push(b'\n');
                self.offset += 1;
                self.can_start_blockquote = true;
                self.at += 1;
                return Ok(());
            }
            b'>' if self.can_start_blockquote && self.in_blockquote => {
                self.at += 1;
                return Ok(());
            }
            b'>' if self.can_start_blockquote => {
                self.in_blockquote = true;
                (Mark::BlockQuote, 1)
            }
            reserved => {
                let reserved = char::from(reserved);
                return Err(format!("Character '{reserved}' is reserved and must be escaped with the preceding '\\'"));
            }
        };
        self.at += token_length;
        self.open.push(Open { mark, language, offset: self.offset, source_at, text_start: self.text.len() });
        Ok(())
    }

    fn close(&mut self, byte: u8) -> Result<(), String> {
        let Some(mut open) = self.open.pop() else {
            return Ok(());
        };
        let mut expandable = false;
        if byte == b'\n' && open.mark != Mark::BlockQuote {
            // A line that ends a blockquote right after `||` makes it expandable; anything else is left unclosed.
            let after_bars = open.source_at + 2;
            let at_line_end = after_bars == self.at || (after_bars + 1 == self.at && self.text.last() == Some(&b'\r'));
            if open.mark != Mark::Spoiler || !at_line_end {
                return Err(unclosed(&open));
            }
            open = match self.open.pop() {
                Some(outer) if outer.mark == Mark::BlockQuote => outer,
                Some(outer) => return Err(unclosed(&outer)),
                None => return Err(unclosed(&open)),
            };
            expandable = true;
        }
        if open.mark == Mark::BlockQuote {
            // The line break belongs to the quote.
            self.in_blockquote = false;
            self.can_start_blockquote = true;
            self.text.push(b'\n');
            self.offset += 1;
            self.at += 1;
            self.entities.push(Entity::new(quote(expandable), open.offset, self.offset - open.offset));
            return Ok(());
        }
        let length = self.offset - open.offset;
        let entity = match open.mark {
            Mark::TextUrl => {
                self.at += 1;
                let url = if self.byte(self.at) == b'(' {
                    self.address()?
                } else {
                    String::from_utf8_lossy(&self.text[open.text_start..]).into_owned()
                };
                links::entity(&url, open.offset, length)
            }
            Mark::CustomEmoji => {
                self.at += 1;
                if self.byte(self.at) != b'(' {
                    return Err("The entity must contain a tg://emoji or tg://time URL".to_owned());
                }
                let url = self.address()?;
                let entity = links::emoji_or_time(&url, open.offset, length);
                Some(entity.ok_or("Invalid tg://emoji or tg://time URL specified")?)
            }
            mark => {
                self.at += match mark {
                    Mark::Underline | Mark::Spoiler => 2,
                    Mark::Pre | Mark::PreCode => 3,
                    _ => 1,
                };
                Some(Entity { language: open.language, ..Entity::new(mark.kind(), open.offset, length) })
            }
        };
        self.entities.extend(entity.filter(|_| length > 0));
        Ok(())
    }

    /// Reads `(…)`: only `)` and `\` need escaping inside.
    fn address(&mut self) -> Result<String, String> {
        self.at += 1;
        let start = self.at;
        let mut url = Vec::new();
        loop {
            match self.byte(self.at) {
                _ if self.at >= self.source.len() => {
                    return Err(format!("Can't find end of a URL at byte offset {start}"));
                }
                b')' => break,
                b'\\' if (1..=126).contains(&self.byte(self.at + 1)) => {
                    url.push(self.byte(self.at + 1));
                    self.at += 2;
                }
                byte => {
                    url.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Ok(String::from_utf8_lossy(&url).into_owned())
    }

    fn end_of_text(&mut self) -> Result<(), String> {
        if self.in_blockquote {
            let bars_last =
                self.open.last().is_some_and(|open| open.mark == Mark::Spoiler && open.source_at + 2 == self.source.len());
            if bars_last {
                self.open.pop();
            }
            if let Some(quoted) = self.open.pop_if(|open| open.mark == Mark::BlockQuote) {
                let length = self.offset - quoted.offset;
                if length > 0 {
                    self.entities.push(Entity::new(quote(bars_last), quoted.offset, length));
                }
            }
        }
        self.open.last().map_or(Ok(()), |open| Err(unclosed(open)))
    }
}

impl Mark {
    const fn kind(self) -> Kind {
        match self {
            Self::Bold => Kind::Bold,
            Self::Italic => Kind::Italic,
            Self::Underline => Kind::Underline,
            Self::Strikethrough => Kind::Strikethrough,
            Self::Spoiler => Kind::Spoiler,
            Self::Code => Kind::Code,
            Self::Pre | Self::PreCode => Kind::Pre,
            Self::TextUrl => Kind::TextLink,
            Self::CustomEmoji => Kind::CustomEmoji,
            Self::BlockQuote => Kind::Blockquote,
        }
    }
}

const fn quote(expandable: bool) -> Kind {
    if expandable { Kind::ExpandableBlockquote } else { Kind::Blockquote }
}

fn unclosed(open: &Open) -> String {
    format!("Can't find end of {:?} entity at byte offset {}", open.mark, open.source_at)
}

#[cfg(test)]
#[path = "markdown_v2_tests.rs"]
mod tests;
