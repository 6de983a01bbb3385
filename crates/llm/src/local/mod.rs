//! The embedder that needs no network, no key and no model file: words and pieces of words, hashed into 1536 buckets.
//!
//! It finds what shares words with the question, in any of their forms, and survives typing errors; it does not know that
//! a car is an automobile. It is the default of an installation, so that search works before anybody has a key.
//!
//! Guarantees: a vector has length 1 for any text, and is the same on every machine, whatever the normal form, the case and
//! the choice between `ё` and `е`. What changes a vector changes [`MODEL`], because old and new vectors do not compare.

mod hashing;
mod weights;
mod words;

use std::{collections::BTreeMap, sync::Arc};

pub use self::{
    hashing::feature as feature_hash,
    weights::{BucketCountError, BucketWeights},
    words::{TextWord, WordReader, normal_form},
};
use crate::embed::{DIMENSIONS, EmbedTask};

/// The name of the space that the vectors are in.
pub(crate) const MODEL: &str = "hashed-words-2";

/// The kinds of features, with what one of them adds. A word counts fully; its neighbourhood and its pieces support it.
const STEM: u8 = b'w';
const STEM_WEIGHT: f64 = 1.0;
const FUNCTION_WORD_WEIGHT: f64 = 0.1;
const PAIR: u8 = b'p';
const PAIR_WEIGHT: f64 = 0.4;
/// All pieces of a word together weigh this, however long it is.
const PIECE: u8 = b'g';
const PIECES_WEIGHT: f64 = 0.6;
const PIECE_CHARS: [usize; 2] = [3, 4];
/// Signs of a text that has no words, such as a smile.
const SIGN: u8 = b's';
/// The only feature of a text with nothing to see in it.
const NOTHING: u8 = b'0';

/// The marks around a word, so that its beginning and its end are pieces of their own.
const BEGIN: char = '^';
const END: char = '$';

#[derive(Clone, Debug, Default)]
pub struct LocalEmbedder {
    weights: Option<Arc<BucketWeights>>,
}

impl LocalEmbedder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Weighs the buckets of questions, and of nothing else: vectors stored before stay valid.
    #[must_use]
    pub fn with_weights(self, weights: Arc<BucketWeights>) -> Self {
        Self { weights: Some(weights) }
    }

    /// The buckets that the words of a text fall into, each once and in order: what the table of document frequencies
    /// counts. Pieces and pairs do not count; a long text has some of them in every bucket.
    pub fn word_buckets(text: &str) -> Vec<usize> {
        let words = WordReader::new().words(&normal_form(text));
        let mut buckets: Vec<usize> = words.iter().map(|word| hashing::bucket(hashing::feature(STEM, &[&word.stem]))).collect();
        buckets.sort_unstable();
        buckets.dedup();
        buckets
    }

    /// One vector for each text. Between two texts other tasks get their turn: there is no call to wait for.
    pub(crate) async fn embed(&self, texts: &[String], task: EmbedTask) -> Vec<Vec<f32>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(self.vector(text, task));
            tokio::task::yield_now().await;
        }
        vectors
    }

    /// The vector of any text, also of an empty one.
    pub fn vector(&self, text: &str, task: EmbedTask) -> Vec<f32> {
        let mut vector = vec![0.0; DIMENSIONS];
        for (hash, feature) in features(text) {
            // The root grows more slowly than the count, and is exact on every machine, unlike a logarithm.
            vector[hashing::bucket(hash)] += hashing::sign(hash) * feature.weight * f64::from(feature.count).sqrt();
        }
        if let (Some(weights), EmbedTask::Query) = (&self.weights, task) {
            weights.apply(&mut vector);
        }
        unit(&vector).unwrap_or_else(|| nothing(&vector))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct HashedFeature {
    weight: f64,
    count: u32,
}

/// The features in the order of their hashes: sums of floating-point numbers depend on the order.
fn features(text: &str) -> BTreeMap<u64, HashedFeature> {
    let normal = normal_form(text);
    let words = WordReader::new().words(&normal);
    let mut features = Features::default();
    for word in &words {
        features.add(if word.is_function { FUNCTION_WORD_WEIGHT } else { STEM_WEIGHT }, STEM, &[&word.stem]);
    }
    let subject: Vec<&TextWord> = words.iter().filter(|word| !word.is_function).collect();
    for word in &subject {
        features.add_pieces(&word.form);
    }
    // Neighbours over what stands between them: "книга о войне" has the pair of "книги про войну".
    for pair in subject.windows(2) {
        features.add(PAIR_WEIGHT, PAIR, &[&pair[0].stem, &pair[1].stem]);
    }
    if words.is_empty() {
        for sign in normal.chars().filter(|sign| !sign.is_whitespace() && !sign.is_control()) {
            features.add(STEM_WEIGHT, SIGN, &[sign.encode_utf8(&mut [0; 4])]);
        }
    }
    features.0
}

#[derive(Default)]
struct Features(BTreeMap<u64, HashedFeature>);

impl Features {
    fn add(&mut self, weight: f64, kind: u8, parts: &[&str]) {
        let feature = self.0.entry(hashing::feature(kind, parts)).or_default();
        // A piece weighs differently in words of different length; the most counts.
        feature.weight = feature.weight.max(weight);
        feature.count = feature.count.saturating_add(1);
    }

    fn add_pieces(&mut self, form: &str) {
        // 2024 and 2023 are not nearly the same.
        if form.contains(char::is_numeric) {
            return;
        }
        let letters: Vec<char> = std::iter::once(BEGIN).chain(form.chars()).chain([END]).collect();
        let pieces: Vec<String> =
            PIECE_CHARS.into_iter().flat_map(|chars| letters.windows(chars)).map(|piece| piece.iter().collect()).collect();
        let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
        for piece in &pieces {
            self.add(PIECES_WEIGHT / f64::from(count).sqrt(), PIECE, &[piece]);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a vector is stored as f32")]
fn unit(vector: &[f64]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    // Features that meet with opposite signs may leave nothing.
    (length > f64::from(f32::EPSILON)).then(|| vector.iter().map(|value| (value / length) as f32).collect())
}

fn nothing(vector: &[f64]) -> Vec<f32> {
    let mut nothing = vec![0.0; vector.len()];
    nothing[hashing::bucket(hashing::feature(NOTHING, &[]))] = 1.0;
    nothing
}

#[cfg(test)]
mod tests;
