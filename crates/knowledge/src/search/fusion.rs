//! Several rankings into one.

use std::collections::HashMap;

use super::run::VectorLeg;

/// What each leg says of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LegScores {
    pub(crate) score: f64,
    /// The share of the best score that the words could get.
    pub(crate) words: f64,
    /// The cosine; nothing where the model was not asked, or did not find it.
    pub(crate) vector: Option<f64>,
}

/// The chunks of all legs, best first. A leg counts for what it was measured to be worth; a chunk that a leg did not find has
/// nothing of it.
pub(super) fn fuse(words: &[(i64, f64)], vectors: Option<&VectorLeg>) -> Vec<(i64, LegScores)> {
    let mut scores: HashMap<i64, LegScores> = HashMap::new();
    for (chunk, share) in words {
        scores.entry(*chunk).or_default().words = *share;
    }
    let weight = vectors.map_or(0.0, |leg| leg.weight);
    for (chunk, cosine) in vectors.map(|leg| leg.scores.as_slice()).unwrap_or_default() {
        scores.entry(*chunk).or_default().vector = Some(*cosine);
    }
    let mut fused: Vec<(i64, LegScores)> = scores.into_iter().collect();
    for (_, legs) in &mut fused {
        legs.score = (1.0 - weight) * legs.words + weight * legs.vector.unwrap_or_default().max(0.0);
    }
    // Of equals the newer one.
    fused.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(b.0.cmp(&a.0)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_the_words_decide_and_the_newer_of_equals_comes_first() {
        let fused = fuse(&[(1, 0.5), (2, 0.5), (3, 0.9)], None);
        assert_eq!(fused.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(fused[0].1, LegScores { score: 0.9, words: 0.9, vector: None });
    }

    #[test]
    fn a_leg_counts_for_what_it_is_worth() {
        let leg = VectorLeg { weight: 0.5, scores: vec![(2, 0.9), (4, 0.8)] };
        let fused = fuse(&[(1, 0.6), (2, 0.4)], Some(&leg));
        assert_eq!(fused.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 4, 1]);
    }
}
