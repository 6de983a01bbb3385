//! What the local embedder promises of any text, and that it finds what it should.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::*;

fn document(text: &str) -> Vec<f32> {
    LocalEmbedder::new().vector(text, EmbedTask::Document)
}

fn query(text: &str) -> Vec<f32> {
    LocalEmbedder::new().vector(text, EmbedTask::Query)
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn is_unit(vector: &[f32]) -> bool {
    let length: f64 = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    vector.len() == DIMENSIONS && vector.iter().all(|value| value.is_finite()) && (length - 1.0).abs() < 1e-5
}

/// Letters of both languages with marks of every kind among them, so that words, and not only noise, are tried.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[а-яёА-ЯЁй \u{301}\u{308}\u{ad}\u{306}]{0,60}",
        "[a-zA-Zéïö'. -]{0,60}",
        "[а-яё]{1,12}",
        "[a-z]{1,12}"
    ]
}

proptest! {
    #[test]
    fn the_vector_of_any_text_has_length_one(text in any_text()) {
        prop_assert!(is_unit(&document(&text)));
        prop_assert!(is_unit(&query(&text)));
    }

    #[test]
    fn the_same_text_has_the_same_vector(text in any_text()) {
        prop_assert_eq!(document(&text), document(&text));
        prop_assert_eq!(document(&text), query(&text), "without a table, a question is like a document");
    }

    #[test]
    fn composed_and_decomposed_texts_have_the_same_vector(text in any_text()) {
        prop_assert_eq!(document(&text.nfc().collect::<String>()), document(&text.nfd().collect::<String>()));
    }

    #[test]
    fn both_letters_e_are_one(text in any_text()) {
        prop_assert_eq!(document(&text), document(&text.replace('ё', "е").replace('Ё', "Е")));
    }

    #[test]
    fn stress_and_soft_hyphens_are_not_read(text in "[а-яё]{1,20}", at in 0_usize..20) {
        let letters: Vec<char> = text.chars().collect();
        let (head, tail) = letters.split_at(at.min(letters.len()));
        for mark in ["\u{301}", "\u{ad}"] {
            let marked = head.iter().chain(&mark.chars().collect::<Vec<_>>()).chain(tail).collect::<String>();
            prop_assert_eq!(document(&text), document(&marked));
        }
    }

    #[test]
    fn a_weighed_question_has_length_one_too(text in any_text(), documents in 0_u64..1000, frequency in any::<u64>()) {
        let weights = BucketWeights::new(documents, &vec![frequency; DIMENSIONS]).unwrap();
        let weighed = LocalEmbedder::new().with_weights(Arc::new(weights));
        prop_assert!(is_unit(&weighed.vector(&text, EmbedTask::Query)));
    }
}

#[test]
fn vectors_are_the_ones_of_every_release_before() {
    // Whoever changes this changes the name of the model: stored vectors do not compare with these any more.
    assert_eq!(MODEL, "hashed-words-2");
    let vector = document("Книги о войне и мире, 1869. A covid19 café!");
    let hash = vector
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    assert_eq!(hash, 17_839_077_013_115_155_721);
}

#[test]
fn other_forms_of_the_words_find_the_text_and_other_words_do_not() {
    let texts = [
        "Доставка заказов по городу занимает два дня, по области четыре.",
        "Возврат денег возможен в течение четырнадцати дней после покупки.",
        "The server is restarted every night to apply the updates.",
        "Рецепт борща: свёкла, капуста, морковь, картофель и говядина.",
    ];
    for (question, wanted) in [
        ("сколько дней занимает доставка заказа", 0),
        ("как вернуть деньги за покупку, возврат", 1),
        ("when are servers restarted for an update?", 2),
        ("свекла и капуста в рецептах борщей", 3),
        ("свкла капста морков", 3),
    ] {
        let likeness = |text: &&str| cosine(&query(question), &document(text));
        let best = texts.iter().enumerate().max_by(|left, right| likeness(left.1).total_cmp(&likeness(right.1))).unwrap();
        assert_eq!(best.0, wanted, "{question}: {:?}", texts.iter().map(likeness).collect::<Vec<_>>());
    }
}

#[test]
fn words_that_say_nothing_weigh_little() {
    let text = document("доставка в область");
    let subject = cosine(&query("доставка"), &text);
    let function = cosine(&query("что же это было и как это в чём"), &text);
    assert!(subject > 0.5 && function.abs() < 0.1, "{subject} {function}");
    assert!(is_unit(&document("и в на")), "and are still something");
}

#[test]
fn a_table_of_frequencies_weighs_the_question_and_never_a_document() {
    let mut frequencies = vec![0; DIMENSIONS];
    for bucket in LocalEmbedder::word_buckets("доставка") {
        frequencies[bucket] = 1000;
    }
    let weighed = LocalEmbedder::new().with_weights(Arc::new(BucketWeights::new(1000, &frequencies).unwrap()));
    assert_eq!(weighed.vector("доставка мебели", EmbedTask::Document), document("доставка мебели"));
    let question = weighed.vector("доставка мебели", EmbedTask::Query);
    let (common, rare) = (cosine(&question, &document("доставка")), cosine(&question, &document("мебель")));
    assert!(rare > common + 0.2, "{rare} {common}");
}

#[test]
fn words_fall_into_buckets_that_their_forms_share() {
    let buckets = LocalEmbedder::word_buckets("Книги, книга, КНИГОЙ");
    assert_eq!(buckets.len(), 1);
    assert_eq!(LocalEmbedder::word_buckets("война книге").len(), 2);
    assert!(LocalEmbedder::word_buckets("…").is_empty());
}

#[test]
fn a_smile_is_something() {
    assert_eq!(document("🎉"), document(" 🎉 "));
    assert!(cosine(&document("🎉"), &document("😢")).abs() < 0.5);
    assert!(is_unit(&document("")) && document("") == document("\n\t "));
}
