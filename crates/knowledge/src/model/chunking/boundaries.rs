//! Where a text may be cut: one pass over the text, one byte for each position.

use unicode_segmentation::UnicodeSegmentation;

/// How good a cut before a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Inside a grapheme: never.
    Inside,
    Grapheme,
    /// Inside a long word, after punctuation, or beside an ideograph.
    Part,
    Word,
    Sentence,
    Line,
    Paragraph,
}

/// The boundaries of a text. Positions count characters; a position is before the character of that number.
pub(super) struct Map {
    bytes: Vec<usize>,
    levels: Vec<Level>,
    white: Vec<bool>,
    /// After the last character that is not white.
    end: usize,
}

impl Map {
    pub(super) fn of(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let mut bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        bytes.push(text.len());
        let mut levels = vec![Level::Inside; characters.len() + 1];
        let mut white = vec![false; characters.len()];
        let mut at = 0;
        for grapheme in text.graphemes(true) {
            levels[at] = Level::Grapheme;
            // White space that carries a combining mark is not white: it cannot be cut off without its mark.
            let is_white = grapheme.chars().all(char::is_whitespace);
            for _ in grapheme.chars() {
                white[at] = is_white;
                at += 1;
            }
        }
        levels[at] = Level::Paragraph;
        let end = white.iter().rposition(|is_white| !is_white).map_or(0, |last| last + 1);
        let mut map = Self { bytes, levels, white, end };
        map.mark_runs(&characters);
        map.mark_parts(&characters);
        map
    }

    pub(super) fn len(&self) -> usize {
        self.white.len()
    }

    pub(super) fn end(&self) -> usize {
        self.end
    }

    pub(super) fn byte(&self, position: usize) -> usize {
        self.bytes[position]
    }

    pub(super) fn level(&self, position: usize) -> Level {
        self.levels[position]
    }

    pub(super) fn is_white(&self, position: usize) -> bool {
        self.white[position]
    }

    pub(super) fn skip_white(&self, mut position: usize) -> usize {
        while position < self.len() && self.white[position] {
            position += 1;
        }
        position
    }

    pub(super) fn trim_white(&self, start: usize, mut end: usize) -> usize {
        while end > start && self.white[end - 1] {
            end -= 1;
        }
        end
    }

    /// Every position of a run of white space, both ends included, has the level of the run: wherever the window ends in the
    /// run, what is before it is cut there.
    fn mark_runs(&mut self, characters: &[char]) {
        let mut start = 0;
        while start < characters.len() {
            if !self.white[start] {
                start += 1;
                continue;
            }
            let end = self.skip_white(start);
            let level = match newlines(&characters[start..end]) {
                0 if sentence_ends(&characters[..start], &characters[end..]) => Level::Sentence,
                0 => Level::Word,
                1 => Level::Line,
                _ => Level::Paragraph,
            };
            for at in start..=end {
                if self.levels[at] != Level::Inside {
                    self.levels[at] = self.levels[at].max(level);
                }
            }
            start = end;
        }
    }

    /// What is inside words: Chinese and Japanese have no spaces, addresses and tables have long words with punctuation.
    fn mark_parts(&mut self, characters: &[char]) {
        for (at, pair) in characters.windows(2).enumerate() {
            let (before, after) = (pair[0], pair[1]);
            let level = if matches!(before, '。' | '！' | '？') && !is_closing(after) {
                Level::Sentence
            } else if is_ideograph(before) || is_ideograph(after) || (before.is_ascii_punctuation() && after.is_alphanumeric()) {
                Level::Part
            } else {
                continue;
            };
            if self.levels[at + 1] == Level::Grapheme {
                self.levels[at + 1] = level;
            }
        }
    }
}

/// How many lines a run of white space ends. A form feed ends a page, thus a paragraph.
fn newlines(run: &[char]) -> usize {
    let mut count = 0;
    for (at, character) in run.iter().enumerate() {
        count += match character {
            '\r' if run.get(at + 1) == Some(&'\n') => 0,
            '\n' | '\r' | '\u{85}' | '\u{2028}' => 1,
            '\u{c}' | '\u{2029}' => 2,
            _ => 0,
        };
    }
    count
}

/// Tokens after whose dot a sentence goes on, without that dot. A few ("г", "etc") may end one too: a sentence too long is the
/// smaller harm.
const ABBREVIATIONS: [&str; 82] = [
    "т.е",
    "т.к",
    "т.д",
    "т.п",
    "т.н",
    "т.о",
    "и.о",
    "н.э",
    "г",
    "гг",
    "в",
    "вв",
    "р",
    "руб",
    "коп",
    "тыс",
    "млн",
    "млрд",
    "трлн",
    "ул",
    "д",
    "кв",
    "корп",
    "стр",
    "пр",
    "просп",
    "пер",
    "пл",
    "наб",
    "обл",
    "респ",
    "пос",
    "им",
    "см",
    "ср",
    "рис",
    "табл",
    "гл",
    "п",
    "пп",
    "ст",
    "ч",
    "шт",
    "экз",
    "др",
    "проф",
    "акад",
    "доц",
    "тел",
    "доб",
    "моб",
    "напр",
    "сокр",
    "мин",
    "макс",
    "прим",
    "ред",
    "изд",
    "гр",
    "e.g",
    "i.e",
    "etc",
    "vs",
    "cf",
    "al",
    "mr",
    "mrs",
    "ms",
    "dr",
    "prof",
    "st",
    "jr",
    "sr",
    "no",
    "nos",
    "fig",
    "vol",
    "pp",
    "inc",
    "ltd",
    "approx",
    "dept",
];
/// The longest token that is looked for; also bounds the work at a dot.
const TOKEN_CHARS_MAX: usize = 8;
/// The most quotes and brackets between the end mark of a sentence and the space.
const CLOSING_CHARS_MAX: usize = 4;

/// Whether a sentence ends before the white space between `before` and `after`.
fn sentence_ends(before: &[char], after: &[char]) -> bool {
    let closing = before.iter().rev().take(CLOSING_CHARS_MAX).take_while(|c| is_closing(**c)).count();
    let Some((mark, word)) = before[..before.len() - closing].split_last() else { return false };
    if !matches!(mark, '.' | '!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' | '؟' | '।') {
        return false;
    }
    // A quotation mark says nothing about the case of what follows.
    let next = after.iter().take(CLOSING_CHARS_MAX).find(|c| !is_opening(**c));
    if next.is_none_or(|c| c.is_lowercase()) {
        return false;
    }
    *mark != '.' || !is_abbreviation(word)
}

/// Whether the dot after `word` belongs to it: an abbreviation, an initial, the number of a list item.
fn is_abbreviation(word: &[char]) -> bool {
    let length = word.iter().rev().take(TOKEN_CHARS_MAX + 1).take_while(|c| c.is_alphanumeric() || **c == '.').count();
    let token = &word[word.len() - length..];
    match token {
        [] => return false,
        [initial] if initial.is_uppercase() => return true,
        [.., '.', initial] if initial.is_uppercase() => return true,
        [digit] if digit.is_ascii_digit() => return true,
        [tens, digit] if tens.is_ascii_digit() && digit.is_ascii_digit() => return true,
        _ => {}
    }
    let token: String = token.iter().flat_map(|c| c.to_lowercase()).collect();
    ABBREVIATIONS.contains(&token.as_str())
}

fn is_closing(character: char) -> bool {
    matches!(character, '"' | '\'' | '»' | '”' | '’' | '“' | '›' | ')' | ']' | '}' | '」' | '』' | '）')
}

fn is_opening(character: char) -> bool {
    matches!(character, '"' | '\'' | '«' | '“' | '„' | '‘' | '‹' | '(' | '[' | '{' | '—' | '–' | '-' | '•' | ' ')
}

/// Characters of scripts that are written without spaces, and that vocabularies count one by one.
pub(super) fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
