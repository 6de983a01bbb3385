//! The checker: pure functions from the evidence to verdicts. It knows nothing of the code under test but its promises.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    chats::read_answer,
    evidence::{AnswerEvidence, SavedAnswer, Written},
};
use crate::chaos::check::{Broken, ChaosVerdict};

/// A copy of an answer: its place in the simulator's ledger, and the turn that it speaks of.
struct ReceivedAnswer {
    place: usize,
    turn: i64,
}

/// What is known of each message, by what was said in which chat and by the message's own id.
struct Known<'a> {
    received: HashMap<(&'a str, &'a str), Vec<ReceivedAnswer>>,
    answers: HashMap<&'a str, Vec<&'a SavedAnswer>>,
    arrivals: HashMap<&'a str, Vec<i64>>,
}

impl<'a> Known<'a> {
    fn of(evidence: &'a AnswerEvidence) -> Self {
        let mut known = Self { received: HashMap::new(), answers: HashMap::new(), arrivals: HashMap::new() };
        for (place, copy) in evidence.copies.iter().enumerate() {
            if let Some((turn, said)) = read_answer(&copy.text) {
                known.received.entry((copy.target.as_str(), said)).or_default().push(ReceivedAnswer { place, turn });
            }
        }
        for answer in &evidence.answers {
            known.answers.entry(answer.message_id.as_str()).or_default().push(answer);
        }
        for receipt in &evidence.receipts {
            known.arrivals.entry(receipt.message_id.as_str()).or_default().push(receipt.arrival);
        }
        known
    }

    fn received(&self, written: &'a Written) -> &[ReceivedAnswer] {
        self.received.get(&(written.chat_id.as_str(), written.said.as_str())).map_or(&[], Vec::as_slice)
    }

    fn answers(&self, written: &Written) -> &[&'a SavedAnswer] {
        self.answers.get(written.message_id.as_str()).map_or(&[], Vec::as_slice)
    }

    fn arrivals(&self, written: &Written) -> &[i64] {
        self.arrivals.get(written.message_id.as_str()).map_or(&[], Vec::as_slice)
    }

    /// The messages of each chat that have arrived, in that order; by the first time, if there were several.
    fn in_order(&self, evidence: &'a AnswerEvidence) -> BTreeMap<&'a str, Vec<&'a Written>> {
        let mut chats: BTreeMap<&'a str, Vec<(i64, &'a Written)>> = BTreeMap::new();
        for written in &evidence.written {
            if let Some(arrival) = self.arrivals(written).iter().min() {
                chats.entry(written.chat_id.as_str()).or_default().push((*arrival, written));
            }
        }
        let mut sorted = BTreeMap::new();
        for (chat, mut messages) in chats {
            messages.sort_by_key(|(arrival, _)| *arrival);
            sorted.insert(chat, messages.into_iter().map(|(_, written)| written).collect());
        }
        sorted
    }
}

fn by(written: &Written, words: impl AsRef<str>) -> Broken {
    let words = format!("`{}` in chat {}: {}", written.said, written.chat_id, words.as_ref());
    Broken { words, whose: Some(written.message_id.clone()) }
}

/// Every message was acknowledged, was taken once, and has one answer that was sent and arrived; and nobody was told anything
/// that answers nothing.
pub(super) fn answered(evidence: &AnswerEvidence) -> ChaosVerdict {
    let known = Known::of(evidence);
    let mut broken = Vec::new();
    for written in &evidence.written {
        let receipts = known.arrivals(written).len();
        let words = match known.answers(written) {
            _ if written.taken == 0 => "was never acknowledged".to_owned(),
            _ if receipts != 1 => format!("was acknowledged, and has {receipts} receipts"),
            [answer] if answer.status != "sent" => format!("its answer is `{}`", answer.status),
            [_] if known.received(written).is_empty() => "its answer is said to be sent, but never arrived".to_owned(),
            [_] => continue,
            answers => format!("was acknowledged, and has {} answers", answers.len()),
        };
        broken.push(by(written, words));
    }
    let said: BTreeSet<(&str, &str)> =
        evidence.written.iter().map(|written| (written.chat_id.as_str(), written.said.as_str())).collect();
    for copy in &evidence.copies {
        if read_answer(&copy.text).is_none_or(|(_, words)| !said.contains(&(copy.target.as_str(), words))) {
            broken.push(Broken::new(format!("chat {} was told `{}`, which answers nothing", copy.target, copy.text)));
        }
    }
    let ids: BTreeSet<&str> = evidence.written.iter().map(|written| written.message_id.as_str()).collect();
    let strangers = evidence.answers.iter().filter(|answer| !ids.contains(answer.message_id.as_str()));
    broken.extend(strangers.map(|answer| Broken::new(format!("{} of chat {} answers nobody", answer.id, answer.chat_id))));
    let (brought, taken) = evidence.written.iter().fold((0, 0), |(b, t), one| (b + one.brought, t + one.taken));
    let figures = format!(
        "{} messages of {} chats, brought {brought} times and taken {taken} times; {} answers",
        evidence.written.len(),
        evidence.turns.len(),
        evidence.answers.len()
    );
    ChaosVerdict { promise: "every acknowledged message has one answer", figures, broken }
}

/// Copies of an answer: at most one and one more for each attempt whose outcome could not be read; exactly one where there was
/// none.
pub(super) fn copies(evidence: &AnswerEvidence) -> ChaosVerdict {
    let known = Known::of(evidence);
    let mut broken = Vec::new();
    let (mut extra, mut unknown_total, mut exact) = (0, 0, 0);
    for written in &evidence.written {
        let count = known.received(written).len();
        let unknown: usize = known.answers(written).iter().map(|answer| usize::try_from(answer.unknown).unwrap_or(0)).sum();
        unknown_total += unknown;
        extra += count.saturating_sub(1);
        exact += u32::from(unknown == 0 && count == 1);
        if count > 1 + unknown {
            broken.push(by(written, format!("{count} copies, with {unknown} attempts of unknown outcome")));
        }
    }
    let figures = format!(
        "{} copies, {extra} extra, {unknown_total} attempts of unknown outcome; {exact} answers had none, and one copy",
        evidence.copies.len()
    );
    ChaosVerdict { promise: "no more copies than attempts that could not be read explain", figures, broken }
}

/// The messages of a chat arrived as they were written, and their answers were first received in that order.
pub(super) fn order(evidence: &AnswerEvidence) -> ChaosVerdict {
    let known = Known::of(evidence);
    let mut broken = Vec::new();
    let mut pairs = 0;
    for messages in known.in_order(evidence).values() {
        let mut last: Option<&Written> = None;
        let mut furthest: Option<(usize, &Written)> = None;
        for &written in messages {
            if let Some(before) = last.filter(|before| before.round > written.round) {
                let words = format!("arrived after `{}`, which was written when this had been acknowledged", before.said);
                broken.push(by(written, words));
            }
            last = Some(written);
            let Some(first) = known.received(written).first() else { continue };
            pairs += u32::from(furthest.is_some());
            match furthest {
                Some((place, before)) if place > first.place => {
                    broken.push(by(before, format!("was answered after `{}`, which arrived later", written.said)));
                }
                _ => furthest = Some((first.place, written)),
            }
        }
    }
    let figures = format!("{pairs} answers came after another one of their chat");
    ChaosVerdict { promise: "answers of a chat came in the order of its messages", figures, broken }
}

/// As which turn of its chat each message was counted: every answer says it. How many there were: the state does.
pub(super) fn turns(evidence: &AnswerEvidence) -> ChaosVerdict {
    let known = Known::of(evidence);
    let mut broken = Vec::new();
    let mut checked = 0;
    for (chat, messages) in known.in_order(evidence) {
        for (turn, written) in (1_i64..).zip(messages.iter().copied()) {
            for received in known.received(written) {
                checked += 1;
                if received.turn != turn {
                    let words = format!("is message {turn} of its chat, and was answered as number {}", received.turn);
                    broken.push(by(written, words));
                }
            }
        }
        let count = i64::try_from(messages.len()).unwrap_or(i64::MAX);
        let counted = evidence.turns.get(chat).copied().unwrap_or(0);
        if counted != count {
            broken.push(Broken::new(format!("chat {chat} has {count} messages, and its state has counted {counted}")));
        }
    }
    let figures = format!("{} chats, {checked} numbers in answers", evidence.turns.len());
    ChaosVerdict { promise: "turns are counted exactly", figures, broken }
}

/// What cannot be handled is acknowledged, and kept once, with how often it came; and nothing else is kept.
pub(super) fn poison(evidence: &AnswerEvidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut explained = 0;
    for poison in &evidence.poison {
        let kept: Vec<_> = evidence.kept.iter().filter(|kept| kept.body.contains(&poison.marker)).collect();
        explained += kept.len();
        let (taken, brought) = (i64::from(poison.taken), i64::from(poison.brought));
        match kept.as_slice() {
            _ if poison.taken == 0 => broken.push(Broken::new(format!("{} was never acknowledged", poison.marker))),
            // A visit whose answer was lost may have been counted too.
            [kept] if (taken..=brought).contains(&kept.seen_count) => {}
            [kept] => {
                let words = format!("{} was brought {brought} times and taken {taken} times", poison.marker);
                broken.push(Broken::new(format!("{words}, and is said to be seen {} times", kept.seen_count)));
            }
            _ => broken.push(Broken::new(format!("{} is kept {} times", poison.marker, kept.len()))),
        }
    }
    if explained < evidence.kept.len() {
        let is_foreign = |body: &str| !evidence.poison.iter().any(|poison| body.contains(&poison.marker));
        for kept in evidence.kept.iter().filter(|kept| is_foreign(&kept.body)) {
            broken.push(Broken::new(format!("a good update was kept as poison ({}): {}", kept.problem, kept.body)));
        }
    }
    let figures = format!("{} poisonous updates", evidence.poison.len());
    ChaosVerdict { promise: "what cannot be handled is acknowledged and kept once", figures, broken }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
