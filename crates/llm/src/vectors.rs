//! What goes in and what comes out of every provider of vectors: texts that fit, batches that fit, vectors that hold.

use kernel::{AdapterError, Category, ErrorKind, ErrorScope};

use crate::{embed::DIMENSIONS, reply};

/// Below this a vector has no direction.
const LENGTH_MIN: f64 = 1e-12;

/// The beginning of a text that has at most `tokens_max` tokens, by estimate.
pub(crate) fn cut(text: &str, tokens_max: usize) -> &str {
    let quarters_max = tokens_max.saturating_mul(4);
    let mut quarters = 0;
    let fits = |(_, letter): &(usize, char)| {
        quarters += quarters_of(*letter);
        quarters <= quarters_max
    };
    let end = text.char_indices().take_while(fits).last().map_or(0, |(at, letter)| at + letter.len_utf8());
    &text[..end]
}

/// How many tokens a text has, rather too many than too few: a provider refuses what is too long, or cuts it in silence.
pub(crate) fn tokens(text: &str) -> usize {
    text.chars().map(quarters_of).sum::<usize>().div_ceil(4)
}

/// Quarters of a token: prose of Latin letters has about four letters in a token and code two; Cyrillic has two to three,
/// in old vocabularies fewer; what takes three bytes and more may be a token by itself.
fn quarters_of(letter: char) -> usize {
    match letter.len_utf8() {
        1 => 2,
        2 => 3,
        _ => 4,
    }
}

/// Cuts a list into batches of at most `count_max` texts and about `tokens_max` tokens. A text stands in one batch whole.
pub(crate) fn batches<'a>(texts: &[&'a str], count_max: usize, tokens_max: usize) -> Vec<Vec<&'a str>> {
    let mut batches: Vec<Vec<&str>> = Vec::new();
    let mut tokens_in_batch = 0;
    for text in texts {
        let tokens = tokens(text);
        match batches.last_mut() {
            Some(batch) if batch.len() < count_max && tokens_in_batch + tokens <= tokens_max => {
                batch.push(text);
                tokens_in_batch += tokens;
            }
            _ => {
                batches.push(vec![text]);
                tokens_in_batch = tokens;
            }
        }
    }
    batches
}

/// The vectors of a batch, each of the right size and of length 1. `size_help` says what to set when a size is wrong.
pub(crate) fn checked(vectors: Vec<Vec<f32>>, wanted: usize, size_help: &str) -> Result<Vec<Vec<f32>>, AdapterError> {
    if vectors.len() != wanted {
        let found = vectors.len();
        return Err(reply::unreadable(&format!("{wanted} texts were sent, and {found} vectors came back")));
    }
    vectors.into_iter().enumerate().map(|(at, vector)| normalised(at, vector, size_help)).collect()
}

fn normalised(at: usize, mut vector: Vec<f32>, size_help: &str) -> Result<Vec<f32>, AdapterError> {
    if vector.len() != DIMENSIONS {
        let message = format!("the model gives vectors of {} numbers, not of {DIMENSIONS}: {size_help}", vector.len());
        let error = AdapterError::new(Category::Permanent, ErrorScope::Platform, ErrorKind::Invalid, "vector_size", message);
        return Err(error);
    }
    // In f64: squares of large f32 overflow.
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return Err(bad_vector(&format!("the vector of text {at} of the batch has numbers that are none")));
    }
    if length < LENGTH_MIN {
        return Err(bad_vector(&format!("the vector of text {at} of the batch is zero, and has no direction")));
    }
    for value in &mut vector {
        *value = scaled(*value, length);
    }
    Ok(vector)
}

#[expect(clippy::cast_possible_truncation, reason = "a vector is stored as f32")]
fn scaled(value: f32, length: f64) -> f32 {
    (f64::from(value) / length) as f32
}

/// The text is at fault, as far as anybody can tell: the same text would get the same vector.
fn bad_vector(message: &str) -> AdapterError {
    AdapterError::new(Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid, "vector_unusable", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f32) -> Vec<f32> {
        vec![value; DIMENSIONS]
    }

    #[test]
    fn a_text_is_cut_on_a_character_and_a_short_one_is_not() {
        assert_eq!(cut("короткий", 100), "короткий");
        assert_eq!(cut("abcdefgh", 2), "abcd");
        assert_eq!(cut("ёёёёёё", 2), "ёё");
        assert_eq!(cut("🎉🎉🎉", 2), "🎉🎉");
        assert_eq!((cut("🎉", 0), cut("", 5)), ("", ""));
        let long = "слово word 🎉 ".repeat(1000);
        assert!(tokens(cut(&long, 777)) <= 777 && tokens(cut(&long, 777)) > 770);
    }

    #[test]
    fn a_batch_has_neither_too_many_texts_nor_too_many_tokens() {
        let texts = ["abcd"; 7];
        let sizes =
            |count_max, tokens_max| -> Vec<usize> { batches(&texts, count_max, tokens_max).iter().map(Vec::len).collect() };
        assert_eq!(sizes(3, 1000), [3, 3, 1]);
        assert_eq!(sizes(100, 4), [2, 2, 2, 1]);
        assert_eq!(sizes(100, 1), [1; 7], "a text that is too long alone is still sent");
        assert_eq!(sizes(7, 1000), [7]);
        assert!(batches(&[], 3, 3).is_empty());
    }

    #[test]
    fn a_vector_has_length_one_whatever_it_had() {
        for value in [1.0, -3e-9, 3e38] {
            let vector = checked(vec![of(value)], 1, "").unwrap().remove(0);
            let length: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
            assert!((length - 1.0).abs() < 1e-6 && vector[0].signum() == value.signum(), "{value} {length}");
        }
    }

    #[test]
    fn a_vector_that_cannot_be_compared_is_refused() {
        use ErrorKind::{Invalid, Unavailable};
        let mut holed = of(1.0);
        holed[7] = f32::NAN;
        for (vectors, code, kind, words) in [
            (vec![of(1.0)], "unreadable_answer", Unavailable, "2 texts were sent, and 1 vectors came back"),
            (vec![of(1.0); 3], "unreadable_answer", Unavailable, "2 texts were sent, and 3 vectors came back"),
            (vec![of(1.0), vec![1.0; 768]], "vector_size", Invalid, "of 768 numbers, not of 1536: set this"),
            (vec![of(1.0), Vec::new()], "vector_size", Invalid, "of 0 numbers"),
            (vec![of(1.0), of(0.0)], "vector_unusable", Invalid, "text 1 of the batch is zero"),
            (vec![of(1.0), holed], "vector_unusable", Invalid, "text 1 of the batch has numbers that are none"),
            (vec![of(f32::INFINITY), of(1.0)], "vector_unusable", Invalid, "text 0"),
        ] {
            let error = checked(vectors, 2, "set this").unwrap_err();
            assert_eq!((error.code.as_str(), error.kind), (code, kind));
            assert!(error.message.contains(words), "{}", error.message);
        }
    }
}
