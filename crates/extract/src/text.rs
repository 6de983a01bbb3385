//! How text looks, whatever it came from: NFC, no control characters, paragraphs separated by a blank line; and where its pages begin.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::model::{Mark, MarkKind, Refusal};

/// More than any book; a file that makes more of itself is refused.
pub(crate) const TEXT_BYTES_MAX: usize = 16 << 20;
/// A page begins here. No text keeps this character otherwise.
pub(crate) const PAGE_BREAK: char = '\u{c}';
const NAME_CHARS_MAX: usize = 300;

/// A text that grows, and the marks in it.
#[derive(Debug, Default)]
pub(crate) struct Writing {
    text: String,
    chars: usize,
    marks: Vec<Mark>,
    pages: u32,
}

impl Writing {
    /// Adds a paragraph. A page break in it begins a page; line breaks stay.
    pub(crate) fn paragraph(&mut self, raw: &str) -> Result<(), Refusal> {
        self.block(raw, "\n\n", Spaces::Collapse)
    }

    /// Adds a line to the paragraph before, as rows of a table have it.
    pub(crate) fn line(&mut self, raw: &str) -> Result<(), Refusal> {
        self.block(raw, "\n", Spaces::Collapse)
    }

    /// Adds text whose spaces mean something: code, Markdown, a plain text.
    pub(crate) fn verbatim(&mut self, raw: &str) -> Result<(), Refusal> {
        self.block(raw, "\n\n", Spaces::Keep)
    }

    /// What comes next begins a page, slide or sheet.
    pub(crate) fn mark(&mut self, kind: MarkKind, number: u32, name: Option<&str>) {
        let name = name.map(one_line).filter(|name| !name.is_empty());
        // Where the separator will end, so that the mark stands at the first character.
        let at = if self.text.is_empty() { 0 } else { self.chars + 2 };
        if kind == MarkKind::Page {
            self.pages = number;
        }
        self.marks.push(Mark { at, kind, number, name });
    }

    /// Names the slide or sheet that began last.
    pub(crate) fn name_last_mark(&mut self, name: &str) {
        let name = one_line(name);
        if let Some(mark) = self.marks.last_mut().filter(|mark| mark.name.is_none() && !name.is_empty()) {
            mark.name = Some(name);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text and its marks. A mark behind the end, of an empty last page, stands at the end.
    pub(crate) fn end(mut self) -> (String, Vec<Mark>) {
        for mark in &mut self.marks {
            mark.at = mark.at.min(self.chars);
        }
        (self.text, self.marks)
    }

    fn block(&mut self, raw: &str, separator: &str, spaces: Spaces) -> Result<(), Refusal> {
        for (index, part) in raw.split(PAGE_BREAK).enumerate() {
            if index > 0 {
                if self.pages == 0 {
                    self.marks.insert(0, Mark { at: 0, kind: MarkKind::Page, number: 1, name: None });
                    self.pages = 1;
                }
                self.mark(MarkKind::Page, self.pages + 1, None);
            }
            let part = clean(part, spaces);
            if part.is_empty() {
                continue;
            }
            if !self.text.is_empty() {
                // A line that begins a page begins a paragraph too, or the mark would stand beside it.
                let begins = self.marks.last().is_some_and(|mark| mark.at == self.chars + 2);
                let separator = if begins { "\n\n" } else { separator };
                self.text.push_str(separator);
                self.chars += separator.len();
            }
            self.chars += part.chars().count();
            self.text.push_str(&part);
            if self.text.len() > TEXT_BYTES_MAX {
                return Err(Refusal::too_large(format!(
                    "The document holds more than {} MB of text; send it in parts.",
                    TEXT_BYTES_MAX >> 20
                )));
            }
        }
        Ok(())
    }
}

/// What becomes of several spaces in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spaces {
    Collapse,
    Keep,
}

/// Characters first, then lines: no space ends one, and at most one blank line follows another.
pub(crate) fn clean(raw: &str, spaces: Spaces) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut blank = 0;
    for line in normal(raw).split('\n') {
        let line = if spaces == Spaces::Keep { line.trim_end().to_owned() } else { collapsed(line) };
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        out.push_str(&line);
    }
    out
}

/// A title, a name: one line, not too long.
pub(crate) fn one_line(raw: &str) -> String {
    let line = clean(raw, Spaces::Collapse).split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(NAME_CHARS_MAX).collect::<String>().trim_end().to_owned()
}

/// Spaces in a row become one; tabs, which separate the cells of a row, stay.
fn collapsed(line: &str) -> String {
    let cells =
        line.trim_end().split('\t').map(|cell| cell.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    cells.collect::<Vec<_>>().join("\t").trim_end().to_owned()
}

fn normal(raw: &str) -> String {
    // Most text is fine as it is, and NFC costs more than looking.
    let mut text = String::with_capacity(raw.len());
    let mut needs_composing = false;
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    text.push('\n');
                }
            }
            '\n' | '\t' => text.push(c),
            '\u{b}' | '\u{85}' | '\u{2028}' => text.push('\n'),
            '\u{2029}' => text.push_str("\n\n"),
            // Of these only search suffers: ﬁ, ﬄ.
            '\u{fb00}'..='\u{fb06}' => text.extend(std::iter::once(c).nfkc()),
            _ if is_dropped(c) => {}
            _ if c.is_whitespace() => text.push(' '),
            _ => {
                needs_composing |= c as u32 >= 0x300
                    && (is_combining_mark(c) || matches!(c as u32, 0x1100..=0x11ff | 0x2126..=0x212b | 0xf900..=0xfaff));
                needs_composing |=
                    matches!(c as u32, 0x340..=0x387 | 0x958..=0xfff | 0x1f71..=0x1fff | 0x1d15e..=0x1d1c0 | 0x2f800..=0x2fa1d);
                text.push(c);
            }
        }
    }
    if needs_composing { text.nfc().collect() } else { text }
}

/// Soft hyphens, byte order marks, directions, controls, and what is no character at all. Joiners stay: words and emoji need them.
fn is_dropped(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || c.is_control()
        || c as u32 & 0xfffe == 0xfffe
        || matches!(c as u32, 0xfdd0..=0xfdef)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_composed_without_ligatures_soft_hyphens_and_controls() {
        assert_eq!(clean("и\u{306} o\u{fb03}ce со\u{ad}вет\u{0}\u{7}\u{feff}", Spaces::Collapse), "й office совет");
        assert_eq!(clean("a\u{a0} b  \r\nc\rd\u{2029}e\n\n\n\nf", Spaces::Collapse), "a b\nc\nd\n\ne\n\nf");
        assert_eq!(clean("\n\n  code   here  \n", Spaces::Keep), "  code   here");
        assert_eq!(clean("one \t two\t\tfour", Spaces::Collapse), "one\ttwo\t\tfour");
    }

    #[test]
    fn a_page_break_begins_a_page_at_its_first_character() {
        let mut writing = Writing::default();
        writing.paragraph("первая\u{c}вторая").unwrap();
        writing.line("строка").unwrap();
        writing.paragraph("\u{c}").unwrap();
        writing.line("третья").unwrap();
        let (text, marks) = writing.end();
        assert_eq!(text, "первая\n\nвторая\nстрока\n\nтретья");
        let at: Vec<_> = marks.iter().map(|mark| (mark.number, text.chars().skip(mark.at).take(6).collect::<String>())).collect();
        assert_eq!(at, [(1, "первая".to_owned()), (2, "вторая".to_owned()), (3, "третья".to_owned())]);
    }

    #[test]
    fn text_without_end_is_refused() {
        let mut writing = Writing::default();
        let part = "слово ".repeat(1 << 20);
        let refusal = (0..10).find_map(|_| writing.paragraph(&part).err()).unwrap();
        assert_eq!(refusal.reason, crate::RefusalReason::TooLarge);
    }
}
