//! A text as the index of words has it: the stems of its words and, beside them, pieces of four letters, each with what it adds to
//! the score of a question that has it too.
//!
//! The weight of a term is the part of BM25 that depends on the text alone; what depends on the workspace, how rare a term is,
//! stands with the question ([`super::question`]). So a stored weight stays right while other texts come and go. The length is
//! compared with a fixed one for the same reason.

use std::{collections::BTreeMap, fmt::Write};

use llm::{TextWord, WordReader, feature_hash, normal_form};

/// How soon the repetition of a term stops to count, and how much the length of a text counts: the `k1` and `b` of BM25.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.4;
/// The words of a text that is neither long nor short.
const USUAL_WORDS: f64 = 150.0;
/// What a term weighs at the most, however often it is repeated.
pub(crate) const WEIGHT_MAX: f64 = SATURATION + 1.0;
/// What it weighs in a short text that has it once.
pub(crate) const WEIGHT_ONCE: f64 = WEIGHT_MAX / (1.0 + SATURATION * (1.0 - LENGTH_SHARE));

/// As large as pgvector's sparse vectors can be.
const TERM_MAX: u64 = 1_000_000_000;
/// As many as pgvector keeps of one vector. A chunk of 8000 characters has fewer.
const TERMS_MAX: usize = 16_000;

const STEM: u8 = b'w';
const PIECE: u8 = b'g';
const PIECE_CHARS: usize = 4;
/// Shorter words have no pieces that say more than their stem.
const PIECED_WORD_CHARS_MIN: usize = 3;
const BEGIN: char = '^';
const END: char = '$';

/// The number of a term: 1 to a billion.
fn number(kind: u8, text: &str) -> i32 {
    let scaled = u128::from(feature_hash(kind, &[text])) * u128::from(TERM_MAX);
    i32::try_from(scaled >> 64).unwrap_or_default() + 1
}

pub(crate) fn stem(word: &TextWord) -> i32 {
    number(STEM, &word.stem)
}

/// The pieces of a word, with its beginning and end marked. 2024 and 2023 are not nearly the same, and the words that hold a
/// sentence together are like each other by chance.
pub(crate) fn pieces(word: &TextWord) -> Vec<i32> {
    if word.is_function || word.form.contains(char::is_numeric) || word.form.chars().count() < PIECED_WORD_CHARS_MIN {
        return Vec::new();
    }
    let letters: Vec<char> = std::iter::once(BEGIN).chain(word.form.chars()).chain([END]).collect();
    letters.windows(PIECE_CHARS).map(|piece| number(PIECE, &piece.iter().collect::<String>())).collect()
}

pub(crate) fn words(text: &str) -> Vec<TextWord> {
    WordReader::new().words(&normal_form(text))
}

/// The weights of a text, as pgvector reads a sparse vector.
#[expect(clippy::cast_precision_loss, reason = "a text has far fewer words than an f64 has digits")]
pub(crate) fn weights(text: &str) -> String {
    let words = words(text);
    let mut counts = BTreeMap::<i32, u32>::new();
    for word in &words {
        for term in std::iter::once(stem(word)).chain(pieces(word)) {
            *counts.entry(term).or_default() += 1;
        }
    }
    let length = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * words.len() as f64 / USUAL_WORDS);
    sparse(counts.into_iter().take(TERMS_MAX).map(|(term, count)| {
        let count = f64::from(count);
        (term, count * WEIGHT_MAX / (count + length))
    }))
}

/// Numbers in their order, with their weights.
pub(crate) fn sparse(weights: impl Iterator<Item = (i32, f64)>) -> String {
    let mut text = String::from("{");
    for (at, (term, weight)) in weights.enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{term}:{weight:.4}", if at == 0 { "" } else { "," });
    }
    let _ = write!(text, "}}/{TERM_MAX}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_term_is_the_one_of_every_release_before() {
        assert_eq!(number(STEM, "книг"), number(STEM, "книг"));
        assert_ne!(number(STEM, "книг"), number(PIECE, "книг"), "kinds are kept apart");
        for word in 0..10_000 {
            let number = number(STEM, &word.to_string());
            assert!((1..=1_000_000_000).contains(&number), "{number}");
        }
    }

    #[test]
    fn a_word_has_its_stem_and_pieces_with_their_ends_marked() {
        let words = words("Книгами и 2024");
        assert_eq!(pieces(&words[0]).len(), 6);
        assert!(pieces(&words[1]).is_empty() && pieces(&words[2]).is_empty());
        assert_eq!(stem(&words[0]), stem(&super::words("книга")[0]));
    }

    #[test]
    fn repetition_counts_less_and_less_and_a_blank_text_has_no_terms() {
        let weight = |text: &str| -> f64 {
            let all = weights(text);
            let own = stem(&words("дом")[0]);
            let entry = all.split([',', '{', '}']).find(|entry| entry.starts_with(&format!("{own}:"))).unwrap();
            entry.split_once(':').unwrap().1.parse().unwrap()
        };
        let (once, twice, often) = (weight("дом"), weight("дом дом"), weight(&"дом ".repeat(500)));
        assert!(once < twice && twice < often && often < WEIGHT_MAX, "{once} {twice} {often}");
        assert_eq!(weights(" … "), "{}/1000000000");
    }
}
