//! Words without their endings, in Russian and English, roughly: enough for "доставка" to meet "доставки" and
//! "deliveries" to meet "delivered".

const STEM_CHARS_MIN: usize = 3;
const STEM_CHARS_MAX: usize = 5;
/// Longer endings first, so that the longest one that fits is taken.
const ENDINGS: [&str; 60] = [
    "иями", "ями", "ами", "ого", "его", "ому", "ему", "ыми", "ими", "иях", "ать", "ять", "ить", "еть", "ает", "яет", "ит", "ет",
    "ут", "ют", "ах", "ях", "ов", "ев", "ей", "ой", "ый", "ий", "ая", "яя", "ое", "ее", "ые", "ие", "ую", "юю", "ом", "ем", "ам",
    "ям", "ия", "ию", "ии", "ies", "ing", "ed", "es", "s", "y", "e", "а", "я", "о", "е", "ы", "и", "у", "ю", "ь", "й",
];

/// The stems of a text with what each weighs: short words are mostly prepositions and articles.
pub(super) fn stems(text: &str) -> impl Iterator<Item = (String, f32)> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(|word| {
        let stem = stem(&word.to_lowercase().replace('ё', "е"));
        let weight = if word.chars().count() <= STEM_CHARS_MIN && !has_digit(word) { 0.25 } else { 1.0 };
        (stem, weight)
    })
}

fn stem(word: &str) -> String {
    // A number is itself: 79001234567 and 79007654321 are not one word.
    if has_digit(word) {
        return word.to_owned();
    }
    let ending = ENDINGS.into_iter().find_map(|ending| {
        let rest = word.strip_suffix(ending)?;
        (rest.chars().count() >= STEM_CHARS_MIN).then_some(rest)
    });
    ending.unwrap_or(word).chars().take(STEM_CHARS_MAX).collect()
}

fn has_digit(word: &str) -> bool {
    word.chars().any(|letter| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["доставка", "доставки", "доставку", "доставить"][..],
            &["цена", "цены", "ценах", "ценой"],
            &["товар", "товары", "товаров"],
            &["delivery", "deliveries", "delivered"],
            &["order", "orders", "ordering"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
        assert_ne!(stem("79001234567"), stem("79007654321"));
    }
}
