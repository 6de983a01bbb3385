//! Rates and parallel gates, as the simulator saw them.

use super::{
    channels::{CHANNELS, ChaosChannel, GROUP_RATE},
    check::{Broken, ChaosVerdict},
    evidence::{Evidence, ProviderCall},
};

/// A stopped worker whose lease ran out meanwhile may make its call when it goes on: nobody can fence what is already between
/// the last check and the network. It does so soon, and only to a channel where a send was under way when it was stopped.
const AFTER_A_STOP_MS: i64 = 1_500;
/// A lease that was over before the worker went on is found so when a monitor looks, which is every five seconds.
const FOUND_WITHIN_MS: i64 = 5_000;
/// What begins later than this after a worker was stopped is not its own; its start may have been on the way.
const STILL_STARTING_MS: i64 = 1_000;

/// From when to when a channel may be called by a worker that has lost its lease.
struct Excuse {
    target: &'static str,
    from: i64,
    to: i64,
}

fn excuses(evidence: &Evidence) -> Vec<Excuse> {
    let mut excuses = Vec::new();
    for delivery in &evidence.deliveries {
        let own = || evidence.events.get(&delivery.id).into_iter().flatten();
        for event in own().filter(|event| event.action == "sending_lease_expired") {
            let began = own().find(|start| start.action == "send_attempt" && !start.is_error && start.attempt == event.attempt);
            let may_be_of = |(from, to): &&(i64, i64)| {
                (*from..=to + FOUND_WITHIN_MS).contains(&event.ms)
                    && began.is_some_and(|start| start.ms <= from + STILL_STARTING_MS)
            };
            for (_, to) in evidence.stops.iter().filter(may_be_of) {
                let channel = CHANNELS.iter().find(|channel| channel.id == delivery.channel_id);
                excuses.extend(channel.map(|channel| Excuse { target: channel.target, from: *to, to: to + AFTER_A_STOP_MS }));
            }
        }
    }
    excuses
}

fn is_explained(call: &ProviderCall, excuses: &[Excuse]) -> bool {
    excuses.iter().any(|excuse| excuse.target == call.target && (excuse.from..=excuse.to).contains(&call.started_at))
}

/// By how many calls a stream ever was ahead of its rate, in any window: 0 is perfect pace.
fn ahead(times: &mut [i64], rate: f64) -> f64 {
    times.sort_unstable();
    let (mut lowest, mut most) = (f64::INFINITY, 0.0_f64);
    for (n, time) in times.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since the first call and the number of calls are small")]
        let balance = n as f64 - rate * (time - times[0]) as f64 / 1000.0;
        lowest = lowest.min(balance);
        most = most.max(balance - lowest);
    }
    most
}

/// In any window of W seconds, no more than rate x W calls, one for its beginning, and those that were on their way when it
/// began: each had a slot before the window and came late, because its process or the database was away meanwhile, and the
/// parallel gate bounds how many there are.
pub(super) fn rates(evidence: &Evidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut figures = Vec::new();
    let excuses = excuses(evidence);
    let mut judge = |name: &str, rate: f64, late_max: u32, is_ours: &dyn Fn(&ProviderCall) -> bool| {
        let ours = evidence.calls.iter().filter(|call| is_ours(call) && !is_explained(call, &excuses));
        let mut times: Vec<i64> = ours.map(|call| call.started_at).collect();
        let most = ahead(&mut times, rate);
        figures.push(format!("{name} {most:.1}/{late_max}"));
        if most > f64::from(late_max) {
            broken.push(Broken::new(format!("{name}: {most:.1} calls ahead of {rate} a second, where {late_max} may be late")));
        }
    };
    for channel in &CHANNELS {
        if let Some(rate) = channel.rate {
            judge(channel.id, rate, channel.parallel, &|call| call.target == channel.target);
        }
    }
    for provider in ["telegram", "max"] {
        let late_max = CHANNELS.iter().filter(|channel| channel.platform == provider).map(|channel| channel.parallel).sum();
        judge(provider, GROUP_RATE, late_max, &|call| call.provider == provider);
    }
    ChaosVerdict {
        promise: "rates were kept",
        figures: format!("{} calls; ahead of the rate/allowed: {}", evidence.calls.len(), figures.join(", ")),
        broken,
    }
}

/// Never more calls at once to a channel than its gate lets through.
pub(super) fn parallel(evidence: &Evidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut figures = Vec::new();
    let mut explained = 0;
    let excuses = excuses(evidence);
    for channel in &CHANNELS {
        let (most, at) = at_once(evidence, channel, &excuses, &mut explained);
        figures.push(format!("{most}/{}", channel.parallel));
        if most > channel.parallel {
            broken.push(Broken::new(format!("{}: {most} calls at once at {at}, where {} may be", channel.id, channel.parallel)));
        }
    }
    let figures =
        format!("most at once/allowed: {}; {explained} calls left out that a stopped worker may have made", figures.join(" "));
    ChaosVerdict { promise: "parallel gates were kept", figures, broken }
}

fn at_once(evidence: &Evidence, channel: &ChaosChannel, excuses: &[Excuse], explained: &mut u32) -> (u32, i64) {
    let mut edges = Vec::new();
    for call in evidence.calls.iter().filter(|call| call.target == channel.target) {
        if is_explained(call, excuses) {
            *explained += 1;
        } else {
            // In half milliseconds: who ends in the millisecond in which another begins ended before it, and yet a call
            // that took no time at all was there.
            edges.push((2 * call.started_at, 1));
            edges.push((2 * call.at + i64::from(call.at == call.started_at), -1));
        }
    }
    edges.sort_unstable();
    let (mut now, mut most, mut when) = (0_i32, 0, 0);
    for (at, step) in edges {
        now += step;
        if now > most {
            (most, when) = (now, at / 2);
        }
    }
    (u32::try_from(most).unwrap_or(0), when)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::evidence::{Delivery, Event};

    fn call(started_at: i64, at: i64) -> ProviderCall {
        ProviderCall { provider: "telegram".into(), target: CHANNELS[0].target.into(), started_at, at, is_failed: false }
    }

    #[test]
    fn a_steady_stream_is_never_ahead_and_a_burst_is() {
        let mut steady: Vec<i64> = (0..50).map(|n| n * 200).collect();
        assert!(ahead(&mut steady, 5.0) < 0.01);
        let mut late_one: Vec<i64> = vec![0, 200, 799, 800, 1000];
        assert!(ahead(&mut late_one, 5.0) < 1.01, "one call that came late beside the next");
        let mut burst: Vec<i64> = (0..50).map(|n| 10_000 + n).collect();
        assert!(ahead(&mut burst, 5.0) > 40.0);
    }

    #[test]
    fn calls_at_once_are_counted_unless_a_worker_that_lost_its_lease_explains_them() {
        let calls = vec![call(0, 10), call(10, 20), call(15, 18), call(5_000, 5_010), call(5_001, 5_002), call(5_003, 5_004)];
        let mut evidence = Evidence { calls, stops: vec![(1_000, 4_900)], ..Evidence::default() };
        let verdict = parallel(&evidence);
        assert!(verdict.broken[0].words.contains("2 calls at once at 15"), "{verdict:?}");
        evidence.calls.drain(..3);
        assert_eq!(parallel(&evidence).broken.len(), 1, "no lease expired");
        let delivery = Delivery {
            id: "d".into(),
            channel_id: CHANNELS[0].id.into(),
            text: String::new(),
            status: "sent".into(),
            attempt: 2,
        };
        evidence.deliveries.push(delivery);
        let event = |action: &str, ms| Event {
            delivery_id: "d".into(),
            action: action.into(),
            attempt: 1,
            is_error: action != "send_attempt",
            is_unknown: false,
            is_late: false,
            code: None,
            provider_message_id: None,
            ms,
        };
        let expired = event("sending_lease_expired", 4_000);
        evidence.events.insert("d".into(), vec![event("send_attempt", 2_500), expired.clone()]);
        assert_eq!(parallel(&evidence).broken.len(), 1, "it was begun by somebody else, after the stop");
        evidence.events.insert("d".into(), vec![event("send_attempt", 900), expired]);
        assert!(parallel(&evidence).broken.is_empty());
    }
}
