//! A small seeded generator (SplitMix64), so that a chaos test can be repeated with the same faults.

pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// True for the given share of the calls.
    pub(crate) fn chance(&mut self, rate: f64) -> bool {
        // 32 bits are exact in an f64 and fine enough for a share of requests.
        let draw = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        f64::from(draw) < rate * f64::from(u32::MAX)
    }
}

/// One draw without a generator of its own: the word that follows `seed`.
pub(crate) fn scramble(seed: u64) -> u64 {
    Random::seeded(seed).next()
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_gives_the_same_faults_and_about_the_asked_share_of_them() {
        let draw = |seed| {
            let mut random = Random::seeded(seed);
            (0..10_000).map(|_| random.chance(0.3)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        let hits = draw(7).iter().filter(|hit| **hit).count();
        assert!((2_700..3_300).contains(&hits), "{hits}");
    }
}
