//! Words that were divided at the end of a line of a PDF, where the line's end is a space now: `divi- ded`, and `north- western` beside it.
//!
//! Whether the hyphen belongs to the word is not written anywhere. The rest of the document tells: by the same word elsewhere, and by how many
//! lines end in hyphens at all, because a program that does not divide words breaks lines at the hyphens of compounds only.

use std::collections::HashSet;

/// What comes after half a word that lacks its second half on purpose: `two- and three-part`.
const JOINING: [&str; 12] = ["and", "or", "to", "und", "oder", "bis", "et", "и", "или", "либо", "до", "а"];
/// About what a line holds.
const LINE_CHARS: usize = 60;
/// Programs that divide words do it more often than once in so many lines.
const LINES_PER_DIVISION: usize = 12;
const MARKS: [char; 4] = ['-', '\u{2010}', '\u{ad}', '¬'];

pub(crate) struct Hyphens {
    words: HashSet<String>,
    divides_words: bool,
}

impl Hyphens {
    /// What a document says of its hyphens.
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let (mut words, mut chars, mut divisions) = (HashSet::new(), 0, 0);
        for text in texts {
            chars += text.chars().count();
            let mut before = "";
            for word in text.split(' ') {
                divisions += usize::from(is_divided(before, word));
                words.insert(bare(word).to_lowercase());
                before = word;
            }
        }
        Self { words, divides_words: divisions * LINES_PER_DIVISION * LINE_CHARS >= chars }
    }

    /// The text with its words whole.
    pub(crate) fn whole(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut before = "";
        for (index, word) in text.split(' ').enumerate() {
            if is_divided(before, word) {
                if !self.belongs(before, word) {
                    out.pop();
                }
            } else if index > 0 {
                out.push(' ');
            }
            out.push_str(word);
            before = word;
        }
        out
    }

    /// Whether the hyphen between two halves is a part of the word.
    fn belongs(&self, head: &str, tail: &str) -> bool {
        let (head, tail) = (head.trim_end_matches(MARKS).to_lowercase(), tail.to_lowercase());
        let has = |word: String| self.words.contains(bare(&word));
        match (has(format!("{head}{tail}")), has(format!("{head}-{tail}"))) {
            (true, false) => false,
            (false, true) => true,
            _ => !self.divides_words,
        }
    }
}

fn is_divided(head: &str, tail: &str) -> bool {
    head.strip_suffix(MARKS).is_some_and(|head| head.ends_with(char::is_lowercase))
        && tail.starts_with(char::is_lowercase)
        && !JOINING.contains(&bare(tail))
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> String {
        Hyphens::of(std::iter::once(text)).whole(text)
    }

    #[test]
    fn a_divided_word_becomes_whole_and_half_a_word_stays() {
        assert_eq!(
            whole("слово разде- лено, two- and three-part, А- б, 10 - 20"),
            "слово разделено, two- and three-part, А- б, 10 - 20"
        );
    }

    #[test]
    fn a_compound_keeps_its_hyphen() {
        let filler = "обычные слова текста без переносов ".repeat(100);
        assert_eq!(whole(&format!("{filler}северо- западный")), format!("{filler}северо-западный"), "where no words are divided");
        assert_eq!(whole("кто- то при- шёл, и кто-то пришёл"), "кто-то пришёл, и кто-то пришёл", "where it stands elsewhere");
    }
}
