//! A small seeded generator (SplitMix64), the source of all draws of the harness. A seed names which troubles come in which order;
//! whom they meet, and what the machine makes of it, is different each time.

use std::time::Duration;

#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// From `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub(super) fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_millis(self.between(low, high))
    }

    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    /// One of these, or nothing when there are none.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len())).copied()
    }

    /// From nothing to less than `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(1).max(1);
        usize::try_from(self.next() % count).unwrap_or(0)
    }

    /// One of these, each as likely as its weight.
    pub(super) fn weighted<T: Copy>(&mut self, items: &[(u64, T)]) -> Option<T> {
        let total: u64 = items.iter().map(|(weight, _)| weight).sum();
        let mut draw = self.next() % total.max(1);
        for (weight, item) in items {
            if draw < *weight {
                return Some(*item);
            }
            draw -= weight;
        }
        None
    }
}
