//! How much each bucket of a question counts, by how many documents have a word in it.
//!
//! Only questions are weighed, never documents. What is stored then depends on nothing but its text: it stays valid while
//! documents come and go, and the table may be counted again at any time, or differ between two workspaces.

use crate::embed::DIMENSIONS;

/// What a bucket weighs that every document has: little, and not nothing, so that a question of common words still asks.
const WEIGHT_MIN: f64 = 0.1;

/// Weights of the buckets. Made of document frequencies, which the caller counts by [`super::LocalEmbedder::word_buckets`].
#[derive(Clone, Debug, PartialEq)]
pub struct BucketWeights(Vec<f64>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a table of document frequencies has {DIMENSIONS} buckets, not {found}")]
pub struct BucketCountError {
    pub found: usize,
}

impl BucketWeights {
    /// Of `documents` documents, `frequencies[bucket]` have a word in the bucket. A frequency above `documents`, as a count
    /// taken at another time may be, is read as all of them.
    pub fn new(documents: u64, frequencies: &[u64]) -> Result<Self, BucketCountError> {
        if frequencies.len() != DIMENSIONS {
            return Err(BucketCountError { found: frequencies.len() });
        }
        let weight = |frequency: &u64| {
            let (documents, frequency) = (real(documents) + 1.0, real((*frequency).min(documents)) + 1.0);
            // ln may differ in its last bit between machines; a question is embedded and compared on one.
            (documents / frequency).ln() + WEIGHT_MIN
        };
        Ok(Self(frequencies.iter().map(weight).collect()))
    }

    pub(super) fn apply(&self, vector: &mut [f64]) {
        vector.iter_mut().zip(&self.0).for_each(|(value, weight)| *value *= weight);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a weight needs no more digits than an f64 has")]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_bucket_weighs_more_than_a_common_one_and_none_weighs_nothing() {
        let mut frequencies = vec![1000; DIMENSIONS];
        (frequencies[0], frequencies[1], frequencies[2]) = (0, 10, 5000);
        let BucketWeights(weights) = BucketWeights::new(1000, &frequencies).unwrap();
        assert!(weights[0] > weights[1] && weights[1] > weights[3]);
        assert!(weights.iter().all(|weight| weight.is_finite() && *weight >= WEIGHT_MIN));
    }

    #[test]
    fn a_table_of_another_size_is_refused() {
        assert_eq!(BucketWeights::new(1, &[1, 2]).unwrap_err(), BucketCountError { found: 2 });
    }
}
