//! What became of each answer, step by step, as written down by the trigger of the harness.

use std::collections::HashMap;

use super::evidence::{AnswerEvidence, Move, SavedAnswer};
use crate::chaos::check::{Broken, ChaosVerdict};

/// The last two: a success that comes after the lease was lost is still a success.
const EDGES: [(&str, &str); 8] = [
    ("queued", "sending"),
    ("retry", "sending"),
    ("sending", "sent"),
    ("sending", "retry"),
    ("sending", "failed"),
    ("sending", "dead"),
    ("retry", "sent"),
    ("dead", "sent"),
];

fn by(answer: &SavedAnswer, words: impl AsRef<str>) -> Broken {
    let words = format!("the answer to {} in chat {}: {}", answer.message_id, answer.chat_id, words.as_ref());
    Broken { words, whose: Some(answer.message_id.clone()) }
}

fn moves_of<'a>(evidence: &'a AnswerEvidence, answer: &SavedAnswer) -> &'a [Move] {
    evidence.moves.get(&answer.id).map_or(&[], Vec::as_slice)
}

/// Only allowed edges, without a gap; a claim is one more attempt, and an attempt is of unknown outcome once at most.
pub(super) fn transitions(evidence: &AnswerEvidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut count = 0;
    for answer in &evidence.answers {
        let mut before: Option<&Move> = None;
        for moved in moves_of(evidence, answer) {
            count += 1;
            if !is_allowed(before, moved) {
                broken.push(by(answer, format!("went from {:?} to {:?}", before.map(shown), shown(moved))));
            }
            before = Some(moved);
        }
        if before.map(shown) != Some((answer.status.as_str(), answer.attempt, answer.unknown)) {
            broken.push(by(answer, format!("is {}, and was last seen as {:?}", answer.status, before.map(shown))));
        }
    }
    let attempts: i32 = evidence.answers.iter().map(|answer| answer.attempt).sum();
    let figures = format!("{count} transitions of {} answers, {attempts} attempts", evidence.answers.len());
    ChaosVerdict { promise: "only allowed transitions, each attempt ended once", figures, broken }
}

fn shown(moved: &Move) -> (&str, i32, i32) {
    (moved.to_status.as_str(), moved.attempt, moved.unknown)
}

fn is_allowed(before: Option<&Move>, moved: &Move) -> bool {
    let to = moved.to_status.as_str();
    match (before, moved.from_status.as_deref()) {
        (None, None) => (to, moved.attempt, moved.unknown) == ("queued", 0, 0),
        (Some(before), Some(from)) => {
            let unknown_more = moved.unknown - before.unknown;
            from == before.to_status
                && EDGES.contains(&(from, to))
                && moved.attempt - before.attempt == i32::from(to == "sending")
                && (unknown_more == 0 || (unknown_more == 1 && from == "sending" && to != "sent"))
        }
        _ => false,
    }
}

/// What is recorded as an attempt's success is a message that this attempt made: the fence held. A success that came too late
/// did not end an attempt.
pub(super) fn own_results(evidence: &AnswerEvidence) -> ChaosVerdict {
    let copies: HashMap<(&str, &str), i64> =
        evidence.copies.iter().map(|copy| ((copy.target.as_str(), copy.message_id.as_str()), copy.at)).collect();
    let mut broken = Vec::new();
    let (mut checked, mut late) = (0, 0);
    for answer in &evidence.answers {
        let moves = moves_of(evidence, answer);
        for sent in moves.iter().filter(|moved| moved.to_status == "sent") {
            let is_late = sent.from_status.as_deref() != Some("sending");
            checked += 1;
            late += u32::from(is_late);
            let id = sent.provider_message_id.as_deref().unwrap_or_default();
            let Some(accepted_at) = copies.get(&(answer.chat_id.as_str(), id)) else {
                broken.push(by(answer, format!("was recorded as message {id}, which the simulator does not have there")));
                continue;
            };
            let began = moves.iter().find(|moved| moved.to_status == "sending" && moved.attempt == sent.attempt);
            if !is_late && began.is_none_or(|began| *accepted_at < began.ms) {
                let words = format!("attempt {} was ended with message {id}, accepted before that attempt began", sent.attempt);
                broken.push(by(answer, words));
            }
        }
    }
    let figures = format!("{checked} successes, {late} of them late, {} possible duplicates noted", evidence.possible_duplicates);
    ChaosVerdict { promise: "a result is recorded for the attempt that brought it", figures, broken }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::chaos::evidence::Copy;

    fn moved(from: Option<&str>, to: &str, attempt: i32, unknown: i32, ms: i64) -> Move {
        Move {
            answer_id: "a".into(),
            from_status: from.map(Into::into),
            to_status: to.into(),
            attempt,
            unknown,
            provider_message_id: (to == "sent").then(|| "7".into()),
            ms,
        }
    }

    fn evidence(moves: Vec<Move>) -> AnswerEvidence {
        let last = moves.last().unwrap();
        let answer = SavedAnswer {
            id: "a".into(),
            chat_id: "5".into(),
            message_id: "mid.1".into(),
            status: last.to_status.clone(),
            attempt: last.attempt,
            unknown: last.unknown,
        };
        AnswerEvidence { answers: vec![answer], moves: BTreeMap::from([("a".to_owned(), moves)]), ..AnswerEvidence::default() }
    }

    fn copy(at: i64) -> Copy {
        Copy { target: "5".into(), text: "1: hello".into(), message_id: "7".into(), at, is_answered: true }
    }

    #[test]
    fn an_edge_that_does_not_exist_and_an_unknown_outcome_too_many_are_found() {
        let path = |unknown| {
            vec![
                moved(None, "queued", 0, 0, 1),
                moved(Some("queued"), "sending", 1, 0, 2),
                moved(Some("sending"), "retry", 1, unknown, 3),
                moved(Some("retry"), "sending", 2, unknown, 4),
                moved(Some("sending"), "sent", 2, unknown, 5),
            ]
        };
        assert!(transitions(&evidence(path(1))).broken.is_empty(), "{:?}", transitions(&evidence(path(1))));
        assert_eq!(transitions(&evidence(path(2))).broken.len(), 1);
        let mut gap = path(1);
        gap.remove(3);
        assert_eq!(transitions(&evidence(gap)).broken.len(), 1);
        let mut unseen = evidence(path(1));
        unseen.answers[0].status = "dead".into();
        assert!(transitions(&unseen).broken[0].words.contains("last seen"));
    }

    #[test]
    fn a_success_that_another_attempt_brought_is_found_unless_it_ended_no_attempt() {
        let mut stolen = evidence(vec![
            moved(None, "queued", 0, 0, 1),
            moved(Some("queued"), "sending", 1, 0, 50),
            moved(Some("sending"), "retry", 1, 1, 700),
            moved(Some("retry"), "sending", 2, 1, 800),
            moved(Some("sending"), "sent", 2, 1, 850),
        ]);
        stolen.copies = vec![copy(100)];
        assert!(own_results(&stolen).broken[0].words.contains("before that attempt began"));
        stolen.copies = vec![copy(820)];
        assert!(own_results(&stolen).broken.is_empty());
        stolen.copies.clear();
        assert!(own_results(&stolen).broken[0].words.contains("does not have"));
        let mut late = evidence(vec![
            moved(None, "queued", 0, 0, 1),
            moved(Some("queued"), "sending", 1, 0, 50),
            moved(Some("sending"), "retry", 1, 1, 700),
            moved(Some("retry"), "sent", 1, 1, 850),
        ]);
        late.copies = vec![copy(100)];
        assert!(own_results(&late).broken.is_empty(), "{:?}", own_results(&late));
    }
}
