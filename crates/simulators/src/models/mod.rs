//! What the two providers of models share: keys, scripted answers, and a "model" made of rules. It knows words by
//! their stems: texts with common words have near vectors, and an answer is a quotation of the best matching source.

mod embedding;
mod extract;
mod keys;
mod scripts;
mod shape;
mod stems;

pub(crate) use self::embedding::{embed, shorten};
pub(crate) use self::extract::{Found, answer};
pub(crate) use self::keys::Keys;
pub(crate) use self::scripts::{AnswerScript, Scripts, Segment, TranscriptScript};
pub(crate) use self::shape::shaped;

/// Real tokenizers are not needed: four characters are about a token.
const TOKEN_CHARS: usize = 4;
/// A stream sends about so much at a time.
const PIECE_CHARS: usize = 24;

pub(crate) fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(TOKEN_CHARS)
}

/// The first so many tokens of a text.
pub(crate) fn first_tokens(text: &str, tokens_max: usize) -> &str {
    text.char_indices().nth(tokens_max.saturating_mul(TOKEN_CHARS)).map_or(text, |(end, _)| &text[..end])
}

/// A text cut between words; joined, the pieces are the text again.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut chars) = (0, 0);
    for (at, letter) in text.char_indices() {
        if chars >= PIECE_CHARS && letter.is_whitespace() {
            pieces.push(&text[start..at]);
            (start, chars) = (at, 0);
        }
        chars += 1;
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::{first_tokens, pieces};

    #[test]
    fn the_pieces_of_a_text_join_to_the_text() {
        for text in ["", "short", "Доставка по городу занимает два дня, а по области — неделю.  \n And more of it."]
        {
            assert_eq!(pieces(text).concat(), text);
        }
        assert!(pieces(&"word ".repeat(20)).len() > 2);
    }

    #[test]
    fn tokens_are_counted_in_characters_not_bytes() {
        assert_eq!(first_tokens("длинный текст", 2), "длинный ");
        assert_eq!(first_tokens("short", 99), "short");
    }
}
