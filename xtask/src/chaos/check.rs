//! The checker: pure functions from the evidence to verdicts. It knows nothing of the code under test but its promises.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    channels::CHANNELS,
    evidence::{Copy, Delivery, Event, Evidence},
    pusher::{is_special, marker},
};

/// The list of the specification, which is no part of the code under test.
#[path = "../../../crates/posting/tests/it/edges.rs"]
mod edges;

/// One promise, what was found, and who broke it.
#[derive(Debug)]
pub(super) struct ChaosVerdict {
    pub(super) promise: &'static str,
    pub(super) figures: String,
    pub(super) broken: Vec<Broken>,
}

#[derive(Debug)]
pub(super) struct Broken {
    pub(super) words: String,
    /// Whose story to tell.
    pub(super) whose: Option<String>,
}

impl Broken {
    pub(super) fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), whose: None }
    }

    fn by(delivery: &Delivery, words: impl AsRef<str>) -> Self {
        let words = format!("{} of {} ({}): {}", delivery.text, delivery.channel_id, delivery.status, words.as_ref());
        Self { words, whose: Some(delivery.id.clone()) }
    }
}

/// Nothing may begin anywhere else.
const BEGINNINGS: [&str; 3] = ["queued", "deduped", "failed_permanent"];

type CopiesByPlace<'a> = HashMap<(&'a str, &'a str), Vec<&'a Copy>>;

fn copies_by_place(evidence: &Evidence) -> CopiesByPlace<'_> {
    let mut map = CopiesByPlace::new();
    for copy in &evidence.copies {
        map.entry((copy.target.as_str(), copy.text.as_str())).or_default().push(copy);
    }
    map
}

fn copies_of<'a, 'b>(copies: &'b CopiesByPlace<'a>, delivery: &'a Delivery) -> &'b [&'a Copy] {
    let target = CHANNELS.iter().find(|channel| channel.id == delivery.channel_id).map_or("", |channel| channel.target);
    copies.get(&(target, delivery.text.as_str())).map_or(&[], Vec::as_slice)
}

fn events_of<'a>(evidence: &'a Evidence, delivery: &Delivery) -> &'a [Event] {
    evidence.events.get(&delivery.id).map_or(&[], Vec::as_slice)
}

/// Every accepted post is in every channel it was routed to, or ended there in a terminal state with its event; and nothing is
/// anywhere that nobody sent.
pub(super) fn arrived(evidence: &Evidence) -> ChaosVerdict {
    let copies = copies_by_place(evidence);
    let mut deliveries: BTreeMap<(&str, &str), Vec<&Delivery>> = BTreeMap::new();
    for delivery in &evidence.deliveries {
        deliveries.entry((&delivery.text, &delivery.channel_id)).or_default().push(delivery);
    }
    let mut broken = Vec::new();
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wanted = BTreeSet::new();
    for n in &evidence.accepted {
        let text = marker(evidence.seed, *n);
        for channel in CHANNELS.iter().filter(|channel| channel.takes(is_special(*n))) {
            let found = deliveries.get(&(text.as_str(), channel.id)).map_or(&[][..], Vec::as_slice);
            wanted.insert((text.clone(), channel.id));
            match found {
                [] => broken.push(Broken::new(format!("{text} was accepted, but {} has no delivery of it", channel.id))),
                [delivery] => {
                    *ends
                        .entry(match delivery.status.as_str() {
                            "sent" => "sent",
                            "dead" => "dead",
                            "failed_permanent" => "failed",
                            _ => "not ended",
                        })
                        .or_default() += 1;
                    broken.extend(ended(delivery, events_of(evidence, delivery), copies_of(&copies, delivery).len()));
                }
                _ => broken.push(Broken::new(format!("{text} has {} deliveries for {}", found.len(), channel.id))),
            }
        }
    }
    // A post whose sender never got an answer may be there all the same, but none was left in that state.
    for delivery in &evidence.deliveries {
        if !wanted.contains(&(delivery.text.clone(), delivery.channel_id.as_str())) {
            broken.push(Broken::by(delivery, "nobody sent this there"));
        }
    }
    let ends: Vec<String> = ends.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let figures = format!("{} posts accepted, {} deliveries: {}", evidence.accepted.len(), wanted.len(), ends.join(", "));
    ChaosVerdict { promise: "every accepted post arrived everywhere, or ended with its event", figures, broken }
}

fn ended(delivery: &Delivery, events: &[Event], copies: usize) -> Option<Broken> {
    let has = |action: &str| events.iter().any(|event| event.action == action);
    match delivery.status.as_str() {
        "sent" if copies == 0 => Some(Broken::by(delivery, "is said to be sent, but never arrived")),
        "sent" if !has("sent") => Some(Broken::by(delivery, "has no event that says so")),
        "failed_permanent" if !has("failed_permanent") => Some(Broken::by(delivery, "has no event that says so")),
        "dead" if !has("dead_letter") => Some(Broken::by(delivery, "has no event that says so")),
        "sent" | "failed_permanent" | "dead" => None,
        _ => Some(Broken::by(delivery, "has not ended")),
    }
}

/// The attempts of a delivery whose outcome could not be read.
fn unknown_attempts(events: &[Event]) -> BTreeSet<i32> {
    let is_start = |event: &&Event| event.action == "send_attempt" && !event.is_error;
    let is_end = |event: &Event| event.is_error || (event.action == "sent" && !event.is_late);
    let is_unread = |event: &Event| {
        event.action == "sending_lease_expired" || (event.action == "send_attempt" && event.is_error && event.is_unknown)
    };
    let started = events.iter().filter(is_start).map(|event| event.attempt);
    started
        .filter(|n| {
            let mut own = events.iter().filter(|event| event.attempt == *n);
            own.clone().any(is_unread) || !own.any(is_end)
        })
        .collect()
}

/// Copies of a delivery: at most one and one more for each attempt whose outcome could not be read; at most one where the
/// channel holds such deliveries.
pub(super) fn copies(evidence: &Evidence) -> ChaosVerdict {
    let copies = copies_by_place(evidence);
    let mut broken = Vec::new();
    let (mut extra, mut unknown_total, mut held) = (0, 0, 0);
    for delivery in &evidence.deliveries {
        let count = copies_of(&copies, delivery).len();
        let unknown = unknown_attempts(events_of(evidence, delivery)).len();
        let holds = CHANNELS.iter().any(|channel| channel.id == delivery.channel_id && channel.holds);
        unknown_total += unknown;
        extra += count.saturating_sub(1);
        held += usize::from(holds && unknown > 0);
        // A delivery that was never acknowledged has no copy of its own, only those of the unread attempts.
        let known = usize::from(delivery.status == "sent");
        if count > known + unknown {
            broken.push(Broken::by(delivery, format!("{count} copies, with {unknown} attempts of unknown outcome")));
        } else if holds && count > 1 {
            broken.push(Broken::by(delivery, format!("{count} copies in a channel that holds what it does not know")));
        } else if unknown == 0 && count != known {
            broken.push(Broken::by(delivery, format!("{count} copies and every outcome known")));
        }
    }
    let figures = format!(
        "{} copies, {extra} extra, {unknown_total} attempts of unknown outcome, {held} deliveries held",
        evidence.copies.len()
    );
    ChaosVerdict { promise: "no more copies than attempts that could not be read explain", figures, broken }
}

/// What is recorded as an attempt's success is a message that this attempt made: the fence held. A success that came too
/// late says so.
pub(super) fn own_results(evidence: &Evidence) -> ChaosVerdict {
    let copies = copies_by_place(evidence);
    let mut broken = Vec::new();
    let (mut checked, mut late, mut duplicates) = (0, 0, 0);
    for delivery in &evidence.deliveries {
        let events = events_of(evidence, delivery);
        duplicates += events.iter().filter(|event| event.action == "possible_duplicate").count();
        for event in events.iter().filter(|event| event.action == "sent") {
            checked += 1;
            late += u32::from(event.is_late);
            let id = event.provider_message_id.as_deref().unwrap_or_default();
            let Some(copy) = copies_of(&copies, delivery).iter().find(|copy| copy.message_id == id) else {
                broken
                    .push(Broken::by(delivery, format!("was recorded as message {id}, which the simulator does not have there")));
                continue;
            };
            let began = evidence.transitions.get(&delivery.id).into_iter().flatten();
            let began =
                began.filter(|moved| moved.to_status == "sending" && moved.attempt == event.attempt).map(|moved| moved.ms).min();
            if !event.is_late && began.is_none_or(|began| copy.at < began) {
                let words = format!("attempt {} was ended with message {id}, accepted before that attempt began", event.attempt);
                broken.push(Broken::by(delivery, words));
            }
        }
    }
    let figures = format!("{checked} successes, {late} of them late, {duplicates} possible duplicates noted");
    ChaosVerdict { promise: "a result is recorded for the attempt that brought it", figures, broken }
}

/// Only allowed edges, no gap between them; every attempt began once and ended once; counters tell the truth.
pub(super) fn transitions(evidence: &Evidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut count = 0;
    for delivery in &evidence.deliveries {
        let mut before: Option<(&str, i32)> = None;
        for moved in evidence.transitions.get(&delivery.id).into_iter().flatten() {
            count += 1;
            let to = moved.to_status.as_str();
            let edge = (moved.from_status.as_deref(), before);
            let is_legal = match edge {
                (None, None) => BEGINNINGS.contains(&to) && moved.attempt == 0,
                (Some(from), Some((status, attempt))) => {
                    let steps = moved.attempt - attempt;
                    from == status && edges::ALLOWED.contains(&(from, to)) && (steps == 0 || (steps == 1 && to == "sending"))
                }
                _ => false,
            };
            if !is_legal {
                let words = format!("went from {before:?} to {to}, attempt {}", moved.attempt);
                broken.push(Broken::by(delivery, words));
            }
            before = Some((to, moved.attempt));
        }
        if before.map(|(status, _)| status) != Some(delivery.status.as_str()) {
            broken.push(Broken::by(delivery, format!("was last seen as {before:?}")));
        }
        broken.extend(attempts(delivery, events_of(evidence, delivery)));
    }
    broken.extend(evidence.wrong_counters.iter().map(|words| Broken::new(format!("counters of {words}"))));
    let expired = evidence.events.values().flatten().filter(|event| event.action == "claimed_lease_expired").count();
    let figures = format!("{count} transitions of {} deliveries, {expired} claims expired", evidence.deliveries.len());
    ChaosVerdict { promise: "only allowed transitions, each attempt ended once, counters true", figures, broken }
}

fn attempts(delivery: &Delivery, events: &[Event]) -> Option<Broken> {
    for n in 1..=delivery.attempt {
        let own = || events.iter().filter(move |event| event.attempt == n);
        let starts = own().filter(|event| event.action == "send_attempt" && !event.is_error).count();
        let sent = own().filter(|event| event.action == "sent" && !event.is_late).count();
        let expired = own().filter(|event| event.action == "sending_lease_expired").count();
        // An expired lease that ends the delivery is told twice: as what happened, and as the attempt's error.
        let refused = own().filter(|event| event.action == "send_attempt" && event.is_error).count();
        let refused = if expired == 1 && refused == 1 { 0 } else { refused };
        if starts != 1 || sent + expired + refused != 1 {
            let words =
                format!("attempt {n} began {starts} times; ended {sent} times as sent, {refused} refused, {expired} expired");
            return Some(Broken::by(delivery, words));
        }
        if sent == 1 && n < delivery.attempt {
            return Some(Broken::by(delivery, format!("attempt {n} was a success, and {} came after it", delivery.attempt - n)));
        }
    }
    let sent = events.iter().filter(|event| event.action == "sent").count();
    let is_sent = usize::from(delivery.status == "sent");
    (sent != is_sent).then(|| Broken::by(delivery, format!("has {sent} events that say it was sent")))
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
