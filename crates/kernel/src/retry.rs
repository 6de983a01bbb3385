//! When to try again: one rule for every worker that repeats a failed effect.
//!
//! Pure: the caller brings the attempt count, the age, what the provider asked for and a random number, so a test
//! decides all of them. Guarantees: the wait never shrinks from one attempt to the next until it reaches the cap; a
//! provider's `retry_after` is never undercut; no attempt number, however large, overflows.

use std::{fmt, time::Duration};

/// How often, how fast and how long a failed effect is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// The wait after the first failed attempt.
    pub base: Duration,
    /// Each further wait is this many times longer. Zero counts as one.
    pub factor: u32,
    /// The longest wait of our own choosing. A provider's `retry_after` may exceed it.
    pub cap: Duration,
    /// The share of the wait that may be added on top, never subtracted: failures arrive in groups (a provider goes
    /// down, a limit is hit), and a group must spread out, not come back earlier than it was told to.
    pub jitter: f64,
    /// The attempts made in all, the first one included.
    pub attempts_max: u32,
    /// No attempt starts later than this after the work was accepted.
    pub age_max: Option<Duration>,
}

/// What to do with work whose attempt has just failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTry {
    RetryIn(Duration),
    GiveUp(GiveUpReason),
}

/// Which limit ended the retries; goes into the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveUpReason {
    /// `attempts_max` attempts were made.
    Attempts,
    /// The next attempt would start after `age_max`.
    Age,
}

impl RetryPolicy {
    /// The default of the job queue: waits of 2, 4, 8 … 512 seconds, then 15 minutes twice. Twelve attempts span about
    /// 47 minutes, which outlives a provider's restart or deployment; whatever is still failing then needs a person.
    pub const fn jobs() -> Self {
        Self {
            base: Duration::from_secs(2),
            factor: 2,
            cap: Duration::from_mins(15),
            jitter: 0.1,
            attempts_max: 12,
            age_max: None,
        }
    }

    /// Decides after a failed attempt.
    ///
    /// `attempt` counts the attempts already made (at least 1), `age` is the time since the work was accepted,
    /// `retry_after` is what the provider asked for, `random` is uniform in 0..1. The limits count even when the
    /// provider names a time: a provider that always says "later" must not keep work alive for ever.
    pub fn next(&self, attempt: u32, age: Duration, retry_after: Option<Duration>, random: f64) -> NextTry {
        if attempt >= self.attempts_max {
            return NextTry::GiveUp(GiveUpReason::Attempts);
        }
        let floor = self.backoff(attempt).max(retry_after.unwrap_or_default());
        let delay = floor.saturating_add(self.spread(floor, random));
        match self.age_max {
            Some(age_max) if age >= age_max || age.saturating_add(delay) > age_max => NextTry::GiveUp(GiveUpReason::Age),
            _ => NextTry::RetryIn(delay),
        }
    }

    /// `base * factor^(attempt - 1)`, at most `cap`. In nanoseconds of 128 bits, so that a tiny base with a large
    /// power is exact and anything that overflows is beyond every cap.
    fn backoff(&self, attempt: u32) -> Duration {
        u128::from(self.factor.max(1))
            .checked_pow(attempt.saturating_sub(1))
            .and_then(|power| power.checked_mul(self.base.as_nanos()))
            .filter(|nanos| *nanos < self.cap.as_nanos())
            .map_or(self.cap, Duration::from_nanos_u128)
    }

    /// The jitter. Measured on at most `cap`, so that a provider that asks for a day does not cost hours more.
    fn spread(&self, floor: Duration, random: f64) -> Duration {
        let share = share(self.jitter, f64::MAX) * share(random, 1.0);
        Duration::try_from_secs_f64(floor.min(self.cap).as_secs_f64() * share).unwrap_or(Duration::MAX)
    }
}

/// A number in `0..=max`: what is negative or not a number adds nothing.
fn share(value: f64, max: f64) -> f64 {
    if value > 0.0 { value.min(max) } else { 0.0 }
}

impl fmt::Display for GiveUpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attempts => "every allowed attempt was made",
            Self::Age => "the next attempt would come too late",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const POLICY: RetryPolicy = RetryPolicy { age_max: Some(Duration::from_hours(1)), ..RetryPolicy::jobs() };

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn wait(policy: &RetryPolicy, attempt: u32, retry_after: Option<Duration>, random: f64) -> Duration {
        match policy.next(attempt, Duration::ZERO, retry_after, random) {
            NextTry::RetryIn(delay) => delay,
            NextTry::GiveUp(reason) => panic!("gave up after attempt {attempt}: {reason}"),
        }
    }

    #[test]
    fn jobs_wait_two_seconds_then_twice_as_long_each_time_up_to_a_quarter_of_an_hour() {
        let waits: Vec<u64> = (1..12).map(|attempt| wait(&RetryPolicy::jobs(), attempt, None, 0.0).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
        assert_eq!(waits.iter().sum::<u64>() / 60, 47);
    }

    #[test]
    fn jitter_is_added_on_top_and_never_subtracted() {
        assert_eq!(wait(&POLICY, 1, None, 0.0), secs(2));
        assert_eq!(wait(&POLICY, 1, None, 0.5), Duration::from_millis(2100));
        assert_eq!(wait(&POLICY, 1, None, 1.0), Duration::from_millis(2200));
    }

    #[test]
    fn the_provider_is_a_floor_that_the_cap_does_not_lower() {
        assert_eq!(wait(&POLICY, 1, Some(secs(30)), 0.0), secs(30));
        assert_eq!(wait(&POLICY, 1, Some(secs(30)), 1.0), secs(33));
        assert_eq!(wait(&POLICY, 1, Some(secs(1800)), 0.0), secs(1800));
    }

    #[test]
    fn our_own_longer_wait_stands_when_the_provider_asks_for_less() {
        assert_eq!(wait(&POLICY, 6, Some(secs(1)), 0.0), secs(64));
    }

    #[test]
    fn jitter_on_a_provider_that_asks_for_a_day_is_measured_on_the_cap() {
        let jobs = RetryPolicy::jobs();
        assert_eq!(wait(&jobs, 1, Some(secs(86_400)), 1.0), secs(86_400 + 90));
    }

    #[test]
    fn the_limit_of_attempts_counts_although_the_provider_names_a_time() {
        let next = POLICY.next(12, Duration::ZERO, Some(secs(1)), 0.0);
        assert_eq!(next, NextTry::GiveUp(GiveUpReason::Attempts));
    }

    #[test]
    fn work_older_than_the_limit_is_given_up() {
        assert_eq!(POLICY.next(1, secs(3600), None, 0.0), NextTry::GiveUp(GiveUpReason::Age));
        assert_eq!(POLICY.next(1, secs(3599), None, 0.0), NextTry::GiveUp(GiveUpReason::Age));
        assert_eq!(POLICY.next(1, secs(3598), None, 0.0), NextTry::RetryIn(secs(2)));
    }

    #[test]
    fn a_provider_that_asks_for_more_time_than_is_left_ends_the_work_now() {
        assert_eq!(POLICY.next(1, secs(60), Some(secs(3541)), 0.0), NextTry::GiveUp(GiveUpReason::Age));
        assert_eq!(POLICY.next(1, secs(60), Some(secs(3540)), 0.0), NextTry::RetryIn(secs(3540)));
    }

    #[test]
    fn a_policy_of_one_attempt_or_none_never_retries() {
        for attempts_max in [0, 1] {
            let once = RetryPolicy { attempts_max, ..POLICY };
            assert_eq!(once.next(1, Duration::ZERO, None, 0.0), NextTry::GiveUp(GiveUpReason::Attempts));
        }
    }

    #[test]
    fn broken_numbers_never_panic_and_never_shorten_the_wait() {
        for jitter in [f64::NAN, -1.0, f64::INFINITY, f64::MAX] {
            for random in [f64::NAN, -5.0, 0.0, 7.0, f64::INFINITY] {
                let policy = RetryPolicy { jitter, factor: 0, attempts_max: u32::MAX, ..POLICY };
                let policy = RetryPolicy { age_max: None, ..policy };
                assert!(wait(&policy, 0, Some(Duration::MAX), random) == Duration::MAX);
                assert!(wait(&policy, u32::MAX - 1, None, random) >= secs(2));
            }
        }
    }

    prop_compose! {
        fn any_policy()(
            base_ms in 0..100_000_u64, factor in 0..10_u32, cap_ms in 0..10_000_000_u64,
            jitter in 0.0..2.0, attempts_max in 2..u32::MAX,
        ) -> RetryPolicy {
            RetryPolicy {
                base: Duration::from_millis(base_ms),
                factor,
                cap: Duration::from_millis(cap_ms),
                jitter,
                attempts_max,
                age_max: None,
            }
        }
    }

    proptest! {
        #[test]
        fn the_wait_never_shrinks_with_the_attempt_and_stays_at_the_cap(
            policy in any_policy(), attempt in 1..200_u32, random in 0.0..1.0,
        ) {
            let policy = RetryPolicy { attempts_max: u32::MAX, ..policy };
            let (this, later) = (wait(&policy, attempt, None, random), wait(&policy, attempt + 1, None, random));
            prop_assert!(this <= later);
            if wait(&policy, attempt, None, 0.0) == policy.cap {
                prop_assert_eq!(this, later);
            }
        }

        #[test]
        fn the_wait_is_never_shorter_than_the_provider_asked(
            policy in any_policy(), retry_after_ms in any::<u64>(), attempt in 1..u32::MAX, random in 0.0..1.0,
        ) {
            let policy = RetryPolicy { attempts_max: u32::MAX, ..policy };
            let retry_after = Duration::from_millis(retry_after_ms);
            prop_assert!(wait(&policy, attempt, Some(retry_after), random) >= retry_after);
        }

        #[test]
        fn without_the_provider_the_wait_is_never_longer_than_the_cap_and_its_jitter(
            policy in any_policy(), attempt in 1..u32::MAX, random in 0.0..=1.0,
        ) {
            let policy = RetryPolicy { attempts_max: u32::MAX, ..policy };
            let longest = policy.cap + policy.spread(policy.cap, 1.0);
            prop_assert!(longest.as_secs_f64() <= policy.cap.as_secs_f64() * (1.0 + policy.jitter) + 1e-6);
            prop_assert!(wait(&policy, attempt, None, random) <= longest);
        }

        #[test]
        fn it_gives_up_exactly_at_the_last_attempt(
            policy in any_policy(), attempt in any::<u32>(), random in 0.0..1.0,
        ) {
            for attempt in [attempt, policy.attempts_max - 1, policy.attempts_max] {
                let gave_up = policy.next(attempt, Duration::MAX, None, random)
                    == NextTry::GiveUp(GiveUpReason::Attempts);
                prop_assert_eq!(gave_up, attempt >= policy.attempts_max);
            }
        }

        #[test]
        fn no_retry_starts_after_the_age_limit(
            policy in any_policy(), attempt in any::<u32>(), random in 0.0..1.0,
            age_ms in 0..100_000_u64, age_max_ms in 0..100_000_u64, retry_after_ms in prop::option::of(0..100_000_u64),
        ) {
            let (age, age_max) = (Duration::from_millis(age_ms), Duration::from_millis(age_max_ms));
            let policy = RetryPolicy { age_max: Some(age_max), ..policy };
            if let NextTry::RetryIn(delay) = policy.next(attempt, age, retry_after_ms.map(Duration::from_millis), random) {
                prop_assert!(age + delay <= age_max && age < age_max);
            }
        }
    }
}
