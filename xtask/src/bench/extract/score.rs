//! How much of a known text was found: words as a multiset, and triples of words in their order.

use std::collections::HashMap;

/// Beyond this the comparison of orders would take minutes.
const ORDERED_WORDS_MAX: usize = 4000;

/// The mean of how much of the known text was found and how much of what was found is known.
pub(super) fn f1(known: &str, found: &str) -> f64 {
    let (known, found) = (words(known), words(found));
    let mut left: HashMap<&str, u32> = HashMap::new();
    for word in &known {
        *left.entry(word).or_default() += 1;
    }
    let mut common = 0_usize;
    for word in &found {
        if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    share(2 * common, known.len() + found.len())
}

/// The share of the known text's triples of words that were found in their order: the longest common subsequence.
pub(super) fn order(known: &str, found: &str) -> Option<f64> {
    let (known, found) = (words(known), words(found));
    if known.len().max(found.len()) > ORDERED_WORDS_MAX {
        return None;
    }
    let found: Vec<&[String]> = found.windows(3).collect();
    let mut before = vec![0_usize; found.len() + 1];
    for triple in known.windows(3) {
        let mut now = vec![0; before.len()];
        for (index, other) in found.iter().enumerate() {
            now[index + 1] = if triple == *other { before[index] + 1 } else { before[index + 1].max(now[index]) };
        }
        before = now;
    }
    Some(share(before[found.len()], known.len().saturating_sub(2)))
}

#[expect(clippy::cast_precision_loss, reason = "counts of words")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// In lower case; where a script has no spaces, each character is a word.
fn words(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for c in text.chars().flat_map(char::to_lowercase) {
        let is_word = c.is_alphanumeric() || c == '_';
        let is_alone = matches!(c as u32, 0x2e80..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff);
        if !is_word || is_alone {
            found.push(if is_word { c.to_string() } else { String::new() });
        }
        if is_alone {
            found.push(String::new());
        } else if is_word && let Some(word) = found.last_mut() {
            word.push(c);
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_once_and_triples_in_order() {
        assert_eq!(words("Чай, 中文 tea-2"), ["чай", "中", "文", "tea", "2"]);
        assert!((f1("a b c d", "d c b a") - 1.0).abs() < 1e-9);
        assert!((f1("a b", "a a") - 0.5).abs() < 1e-9);
        assert_eq!(order("a b c d", "a b c d"), Some(1.0));
        assert_eq!(order("a b c d e f", "d e f a b c"), Some(0.25));
    }
}
