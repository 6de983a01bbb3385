//! The hash that gives a feature its bucket and its sign.
//!
//! Guarantee: the same on every machine and in every release, because stored vectors are compared with new ones. The hash
//! of the standard library promises neither; FNV-1a is a loop of two lines, which is less than a dependency.

use crate::embed::DIMENSIONS;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The hash of a feature: what it is made of, kept apart, so that a pair of words is not the word between them.
pub fn feature(kind: u8, parts: &[&str]) -> u64 {
    let mut hash = step(FNV_OFFSET, kind);
    for part in parts {
        hash = part.bytes().fold(hash, step);
        // No part of a text has this byte: UTF-8 does not.
        hash = step(hash, 0xff);
    }
    mixed(hash)
}

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
}

/// FNV leaves the high bits of short texts alike; the end of splitmix64 spreads them.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The bucket by the high bits, as a product: no bucket is favoured as by a remainder.
pub(super) fn bucket(hash: u64) -> usize {
    let scaled = (hash >> 32) * DIMENSIONS as u64;
    usize::try_from(scaled >> 32).unwrap_or_default()
}

/// The sign by the lowest bit. Features that meet in a bucket then cancel out as often as they add up, so that a long text
/// does not become like every other one.
pub(super) fn sign(hash: u64) -> f64 {
    if hash & 1 == 0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_of_every_release_before() {
        assert_eq!(feature(b'w', &["книг"]), 0xeb6e_b545_59c5_2b93);
        assert_ne!(feature(b'w', &["аб", "в"]), feature(b'w', &["а", "бв"]), "parts are kept apart");
        assert_ne!(feature(b'w', &["а"]), feature(b'g', &["а"]), "kinds are kept apart");
    }

    #[test]
    fn buckets_and_signs_are_spread_evenly() {
        let mut counts = vec![0_u32; DIMENSIONS];
        let mut signs = 0.0;
        for number in 0..100 * DIMENSIONS {
            let hash = feature(b'w', &[&number.to_string()]);
            counts[bucket(hash)] += 1;
            signs += sign(hash);
        }
        assert!(counts.iter().all(|count| (50..170).contains(count)), "{:?}", (counts.iter().min(), counts.iter().max()));
        assert!(f64::abs(signs) < 2000.0, "{signs}");
    }
}
