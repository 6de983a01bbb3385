//! A text as words: what the local embedder takes for the same word, and what it takes for a word at all.
//!
//! Guarantees: canonically equivalent texts (NFC, NFD) have the same words, and so do texts that differ only in case, in
//! `ё` for `е`, in stress marks, soft hyphens and zero-width marks. A word has at most [`WORD_CHARS_MAX`] characters.

use std::{collections::HashSet, sync::LazyLock};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Longer runs of letters are encoded bytes and not words; their beginning stands for them.
pub(super) const WORD_CHARS_MAX: usize = 64;

/// Words that hold a sentence together and say nothing of its subject, with `е` for `ё`.
const FUNCTION_WORDS: &str = "
    a about after all also am an and any are as at be because been but by can could did do does for from had has have
    he her him his how i if in into is it its just me my no not of on or our she should so some than that the their
    them then there these they this to us was we were what when where which who why will with would you your
    а без более бы был была были было быть в вам вас во вот все всех вы где да для до его ее если есть еще же за и из
    или им их к как какая какие какой когда которая которые который кто ли меня мне может мой мы на над нам нас не него
    нее нет ни них но ну о об один он она они оно от очень по под при про с со так также там то только том у уже чего
    чем что чтобы эта эти это этой этот я
    сколько почему зачем откуда куда почем какого какому каком каким какими каких какую какое чей чья чье чьи кого кому кем
";

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextWord {
    /// As it was written, in the normal form.
    pub form: String,
    /// What its inflections share.
    pub stem: String,
    pub is_function: bool,
}

/// Reads the words of a text, for vectors and for the index of words alike.
pub struct WordReader {
    function_words: &'static HashSet<&'static str>,
    russian: Stemmer,
    english: Stemmer,
}

impl Default for WordReader {
    fn default() -> Self {
        Self::new()
    }
}

impl WordReader {
    pub fn new() -> Self {
        static FUNCTION_WORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| FUNCTION_WORDS.split_whitespace().collect());
        Self {
            function_words: &FUNCTION_WORD_SET,
            russian: Stemmer::create(Algorithm::Russian),
            english: Stemmer::create(Algorithm::English),
        }
    }

    /// The words of a text that is in the normal form.
    pub fn words(&self, normal: &str) -> Vec<TextWord> {
        let runs = normal.split(|letter: char| !letter.is_alphanumeric() && !is_combining_mark(letter));
        runs.filter(|run| run.contains(char::is_alphanumeric)).map(|run| self.word(run)).collect()
    }

    fn word(&self, run: &str) -> TextWord {
        let form: String = run.chars().take(WORD_CHARS_MAX).collect();
        // Only words of one alphabet have a stem: "covid19" and "айtи" stay as they are.
        let stem = if form.chars().all(|letter| matches!(letter, 'а'..='я')) {
            self.russian.stem(&form).into_owned()
        } else if form.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.english.stem(&form).into_owned()
        } else {
            form.clone()
        };
        TextWord { is_function: self.function_words.contains(form.as_str()), stem, form }
    }
}

/// The form in which texts are compared.
pub fn normal_form(text: &str) -> String {
    let mut base = ' ';
    // Decomposed first: a stress mark is then always a mark of its own, wherever the keyboard had put it.
    let plain = text.nfd().filter(|&letter| {
        if !is_combining_mark(letter) {
            let is_kept = !is_invisible(letter);
            base = if is_kept { letter } else { base };
            return is_kept;
        }
        !matches!((letter, base), ('\u{300}' | '\u{301}', _) | ('\u{308}', 'е' | 'Е'))
    });
    plain.nfc().flat_map(char::to_lowercase).collect()
}

/// Soft hyphens, zero-width spaces and joiners, the mark of a byte order: they stand inside words and are not seen.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        WordReader::new().words(&normal_form(text)).into_iter().map(|word| word.stem).collect()
    }

    #[test]
    fn the_function_words_are_in_the_form_in_which_words_are_compared() {
        assert_eq!(normal_form(FUNCTION_WORDS), FUNCTION_WORDS);
        assert!(WordReader::new().words("и про это").iter().all(|word| word.is_function));
    }

    #[test]
    fn inflections_share_their_stem_in_both_languages() {
        assert_eq!(stems("книга"), stems("книги"));
        assert_eq!(stems("Заказами"), stems("заказов"));
        assert_eq!(stems("connected"), stems("connections"));
        assert_eq!(stems("covid19 айtи"), ["covid19", "айtи"], "a word of two alphabets has no stem");
    }

    #[test]
    fn a_word_is_the_same_however_it_was_typed() {
        for typed in ["ЕЛКА", "ёлка", "е\u{308}лка", "ёл\u{ad}ка", "е\u{301}лка", "Ёл\u{200b}ка", "\u{feff}ёлка"]
        {
            assert_eq!(normal_form(typed), "елка", "{typed:?}");
        }
        assert_eq!(normal_form("и\u{306}од"), "йод", "what makes another letter stays");
        assert_eq!(normal_form("Café"), "cafe");
    }

    #[test]
    fn a_text_is_cut_at_what_is_no_letter() {
        assert_eq!(stems("e-mail: a.b@c.ru, 100%"), ["e", "mail", "a", "b", "c", "ru", "100"]);
        assert!(stems(" … !?\n\u{301}").is_empty());
    }

    #[test]
    fn a_run_without_end_is_cut() {
        let reader = WordReader::new();
        assert_eq!(reader.words(&"я".repeat(5000))[0].form.chars().count(), WORD_CHARS_MAX);
    }
}
