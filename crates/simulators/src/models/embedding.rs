//! Vectors of texts: each stem has a direction of its own, made from its hash, and a text is the sum of its stems.
//! Deterministic on every machine; the cosine of two texts grows with the words they share.

use std::collections::BTreeMap;

use crate::random::Random;
use crate::vault::sha256;

use super::stems::stems;

/// In how many coordinates a stem shows. Enough of them fall into the first 256 for a shortened vector to work.
const COORDINATES: usize = 96;
/// How far the kind of task, or the mere fact of being a text, moves a vector.
const COMMON_WEIGHT: f32 = 0.3;

/// The vector of length 1 of a text in a space. Spaces, which are models, have nothing in common. The task moves
/// the vector a little, as a query and a document of the same words differ a little in a real one.
pub(crate) fn embed(space: &str, task: &str, text: &str, dimensions: usize) -> Vec<f32> {
    let mut weights: BTreeMap<String, f32> = BTreeMap::new();
    for (stem, weight) in stems(text) {
        *weights.entry(stem).or_default() += weight;
    }
    let mut vector = vec![0.0; dimensions];
    for (stem, weight) in &weights {
        add(&mut vector, &format!("{space}/stem/{stem}"), weight.sqrt());
    }
    let scale = length(&vector).max(1.0) * COMMON_WEIGHT;
    add(&mut vector, &format!("{space}/task/{task}"), scale);
    normalise(&mut vector);
    vector
}

/// The first coordinates only. They are not of length 1 unless `is_unit` asks for it; the whole vector is anyway.
pub(crate) fn shorten(mut vector: Vec<f32>, dimensions: usize, is_unit: bool) -> Vec<f32> {
    let is_shorter = dimensions < vector.len();
    vector.truncate(dimensions);
    if is_unit && is_shorter {
        normalise(&mut vector);
    }
    vector
}

/// Adds a direction of the given length.
fn add(vector: &mut [f32], name: &str, weight: f32) {
    let digest = sha256(name.as_bytes());
    let seed = digest[..8].iter().fold(0_u64, |seed, byte| (seed << 8) | u64::from(*byte));
    let mut random = Random::seeded(seed);
    // The root of the number of coordinates.
    let share = weight / 9.797_959;
    for _ in 0..COORDINATES {
        let word = random.next();
        let place = usize::try_from((word >> 1) % vector.len().max(1) as u64).unwrap_or(0);
        if let Some(coordinate) = vector.get_mut(place) {
            *coordinate += if word & 1 == 0 { share } else { -share };
        }
    }
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|coordinate| coordinate * coordinate).sum::<f32>().sqrt()
}

fn normalise(vector: &mut [f32]) {
    let length = length(vector);
    if length > 0.0 {
        for coordinate in vector {
            *coordinate /= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{embed, shorten};

    fn cosine(one: &[f32], two: &[f32]) -> f32 {
        let dot = |one: &[f32], two: &[f32]| one.iter().zip(two).map(|(one, two)| one * two).sum::<f32>();
        dot(one, two) / (dot(one, one) * dot(two, two)).sqrt()
    }

    #[test]
    fn texts_with_common_words_are_near_also_when_shortened() {
        let question = embed("m", "q", "Сколько стоит доставка по городу?", 3072);
        let near = embed("m", "d", "Доставка внутри города стоит 300 рублей.", 3072);
        let far = embed("m", "d", "The warranty covers the battery for two years.", 3072);
        for dimensions in [3072, 768, 256] {
            let cut = |vector: &[f32]| shorten(vector.to_vec(), dimensions, true);
            let (near, far) = (cosine(&cut(&question), &cut(&near)), cosine(&cut(&question), &cut(&far)));
            assert!(near > far + 0.2, "{dimensions}: {near} {far}");
        }
    }

    #[test]
    fn a_vector_has_length_1_and_another_model_another_space() {
        let text = "Orders are delivered on Monday";
        let vector = embed("m", "", text, 1536);
        assert!((vector.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-4);
        assert_eq!(vector, embed("m", "", text, 1536));
        assert!(cosine(&vector, &embed("other", "", text, 1536)).abs() < 0.2);
        assert!(embed("m", "", "", 8).iter().any(|value| *value != 0.0));
    }
}
