//! How a document's text is cut into pieces that are indexed (WF40).
//!
//! Guarantees, for every text:
//! - the same text and the same [`Chunking`] give the same pieces;
//! - every character that is not white space is in some piece;
//! - a piece has at most `max_chars` characters, and no cut is inside a grapheme. Where both cannot hold, because one
//!   grapheme is longer than `max_chars`, that grapheme is a piece of its own;
//! - time and memory grow linearly with the text.
//!
//! A cut is made at the last paragraph end of the window; without one at the last line end, then at a sentence end, then between
//! words, then inside a word. The upper half of the window is searched for all of these first: a piece of ten characters that
//! ends with a paragraph finds nothing. Offsets are counted in characters, as PostgreSQL's `substr` does.

use sha2::{Digest, Sha256};

mod boundaries;
#[cfg(test)]
mod tests;

use boundaries::{Level, Map};

/// Smallest and largest `max_chars`: below it a piece says nothing, above it embedding models cut the text themselves.
const MAX_CHARS: std::ops::RangeInclusive<usize> = 100..=8000;

/// How to cut. [`Chunking::new`] checks the numbers of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunking {
    /// The most characters of a piece.
    pub max_chars: usize,
    /// How many characters before the end of a piece the next may begin.
    pub overlap: usize,
}

impl Default for Chunking {
    fn default() -> Self {
        Self { max_chars: 1200, overlap: 120 }
    }
}

/// Numbers that [`Chunking::new`] refuses; the text names the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadChunking {
    #[error("max_chars must be between 100 and 8000")]
    MaxChars,
    #[error("overlap must be less than half of max_chars")]
    Overlap,
}

impl Chunking {
    pub fn new(max_chars: usize, overlap: usize) -> Result<Self, BadChunking> {
        if !MAX_CHARS.contains(&max_chars) {
            return Err(BadChunking::MaxChars);
        }
        // The same as overlap < max_chars / 2, without rounding.
        if overlap >= max_chars.div_ceil(2) {
            return Err(BadChunking::Overlap);
        }
        Ok(Self { max_chars, overlap })
    }
}

/// One piece of a text. `text` is exactly what stands between `start` and `end` (characters, `end` excluded).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPiece {
    pub text: String,
    pub start: usize,
    pub end: usize,
}

/// Cuts a text into pieces, in their order; a blank text has none.
pub fn cut(text: &str, chunking: Chunking) -> Vec<TextPiece> {
    let map = Map::of(text);
    let max_chars = chunking.max_chars.max(1);
    let mut pieces = Vec::new();
    let mut start = map.skip_white(0);
    let mut covered = start; // Everything before it is in a piece.
    while covered < map.len() {
        let fresh = map.skip_white(covered);
        if fresh == map.len() {
            break;
        }
        if start + max_chars <= fresh {
            // Nothing but overlap and white space would fit.
            start = fresh;
        }
        let mut found = end_of_piece(&map, start, fresh, max_chars);
        if found.1 < Level::Word && start < fresh {
            // The overlap takes the room of a long word: without it the word may stay whole.
            let alone = end_of_piece(&map, fresh, fresh, max_chars);
            if alone.1 > found.1 || found.1 == Level::Inside {
                start = fresh;
                found = alone;
            }
        }
        let end = map.trim_white(start, found.0);
        pieces.push(TextPiece { text: text[map.byte(start)..map.byte(end)].to_owned(), start, end });
        covered = end;
        start = next_start(&map, start, end, chunking.overlap);
    }
    pieces
}

/// Where the piece that begins at `start` ends, and what kind of boundary that is. The end is after `fresh`, the first
/// character that no piece has yet.
fn end_of_piece(map: &Map, start: usize, fresh: usize, max_chars: usize) -> (usize, Level) {
    let limit = start.saturating_add(max_chars);
    if limit >= map.end() {
        return (map.end(), Level::Paragraph);
    }
    // At least a quarter of a piece is new; otherwise a large overlap would make many pieces that hardly differ.
    let low = (start + max_chars / 2).max(fresh + max_chars / 4).max(fresh + 1).min(limit);
    let mut best = (limit, Level::Inside);
    for position in (low..=limit).rev() {
        if map.level(position) > best.1 {
            best = (position, map.level(position));
        }
        if best.1 == Level::Paragraph {
            break;
        }
    }
    if best.1 < Level::Word {
        // A word longer than half a piece stays whole if it can: the piece before it is short.
        for position in (fresh + 1..low).rev() {
            if map.level(position) >= Level::Word && map.skip_white(fresh) < position {
                return (position, map.level(position));
            }
            if map.level(position) > best.1 {
                best = (position, map.level(position));
            }
        }
    }
    if best.1 == Level::Inside {
        // Nothing but one grapheme longer than a piece.
        let mut end = limit + 1;
        while map.level(end) == Level::Inside {
            end += 1;
        }
        return (end, Level::Inside);
    }
    best
}

/// Where the next piece begins: up to `overlap` characters before `end`, at a sentence if there is one, else at a word. Not in
/// the first half of the piece that ended, so that pieces advance whatever the overlap is.
fn next_start(map: &Map, start: usize, end: usize, overlap: usize) -> usize {
    let earliest = end.saturating_sub(overlap).max(start + (end - start).div_ceil(2)).max(start + 1);
    let mut best = (map.skip_white(end), Level::Grapheme);
    for position in earliest..end {
        if map.is_white(position) {
            continue;
        }
        // Whether a paragraph or a sentence begins there makes no difference for an overlap: the longer one is taken.
        let level = map.level(position).min(Level::Sentence);
        if level > best.1 {
            best = (position, level);
        }
    }
    best.0
}

/// An estimate of what a language model counts, without the vocabulary of any: a run of Latin letters is a token for every
/// five of them, of letters of other alphabets for every three (vocabularies know fewer of their words), of digits for
/// every three; an ideograph and any other visible character is a token. Mostly within a third of the true count.
pub fn token_count(text: &str) -> i32 {
    #[derive(Clone, Copy, PartialEq)]
    enum Run {
        Latin,
        Digits,
        Alphabet,
        None,
    }
    let mut count: i32 = 0;
    let mut run = Run::None;
    let mut length = 0_u32;
    for character in text.chars() {
        let kind = match character {
            c if c.is_ascii_alphabetic() => Run::Latin,
            c if c.is_numeric() => Run::Digits,
            c if c.is_alphabetic() && !boundaries::is_ideograph(c) => Run::Alphabet,
            _ => Run::None,
        };
        length = if kind == run { length.wrapping_add(1) } else { 0 };
        run = kind;
        let begins = match kind {
            Run::Latin => length.is_multiple_of(5),
            Run::Digits | Run::Alphabet => length.is_multiple_of(3),
            Run::None => !character.is_whitespace() && !character.is_control(),
        };
        if begins {
            count = count.saturating_add(1);
        }
    }
    count
}

/// SHA-256 of a text, as PostgreSQL writes it with `encode(sha256(...), 'hex')`.
pub fn text_sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
