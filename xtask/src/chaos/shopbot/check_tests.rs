use super::*;
use crate::chaos::{
    evidence::Copy,
    shopbot::evidence::{Kept, Receipt, SavedPoison},
};

const CHAT: &str = "5";

/// The messages of one chat, one after the other: all brought and taken, none received yet.
fn chat(said: &[&str]) -> AnswerEvidence {
    let mut evidence = AnswerEvidence::default();
    for (n, said) in (1_i64..).zip(said) {
        let message_id = format!("mid.{n}");
        evidence.written.push(Written {
            chat_id: CHAT.into(),
            message_id: message_id.clone(),
            said: (*said).into(),
            round: u32::try_from(n).unwrap(),
            brought: 3,
            taken: 2,
        });
        evidence.receipts.push(Receipt { message_id: message_id.clone(), arrival: 10 + n });
        evidence.answers.push(SavedAnswer {
            id: format!("answer-{n}"),
            chat_id: CHAT.into(),
            message_id,
            status: "sent".into(),
            attempt: 1,
            unknown: 0,
        });
    }
    evidence.turns.insert(CHAT.into(), i64::try_from(said.len()).unwrap());
    evidence
}

fn receives(evidence: &mut AnswerEvidence, texts: &[&str]) {
    let copy = |text: &&str| Copy { target: CHAT.into(), text: (*text).into(), message_id: "7".into(), at: 0, is_answered: true };
    evidence.copies = texts.iter().map(copy).collect();
}

#[test]
fn a_chat_in_which_everything_was_answered_breaks_nothing() {
    let mut good = chat(&["a", "b"]);
    receives(&mut good, &["1: a", "2: b"]);
    for verdict in [answered(&good), copies(&good), order(&good), turns(&good), poison(&good)] {
        assert!(verdict.broken.is_empty(), "{verdict:?}");
    }
}

#[test]
fn a_message_without_an_answer_and_an_answer_without_a_message_are_found() {
    let mut one = chat(&["a"]);
    assert!(answered(&one).broken[0].words.contains("never arrived"));
    one.answers[0].status = "dead".into();
    assert!(answered(&one).broken[0].words.contains("`dead`"));
    one.answers.clear();
    assert!(answered(&one).broken[0].words.contains("0 answers"));
    one.receipts.clear();
    assert!(answered(&one).broken[0].words.contains("0 receipts"));
    one.written[0].taken = 0;
    assert!(answered(&one).broken[0].words.contains("never acknowledged"));
    let mut invented = chat(&["a"]);
    receives(&mut invented, &["1: a", "2: b", "Не совсем понял вас."]);
    assert_eq!(answered(&invented).broken.len(), 2);
    invented.answers[0].message_id = "mid.9".into();
    assert!(answered(&invented).broken.last().unwrap().words.contains("answers nobody"));
}

#[test]
fn a_second_answer_is_found_by_its_receipt_and_by_its_copy() {
    let mut two = chat(&["a"]);
    two.receipts.push(Receipt { arrival: 12, ..two.receipts[0].clone() });
    two.answers.push(two.answers[0].clone());
    receives(&mut two, &["1: a", "2: a"]);
    assert!(answered(&two).broken[0].words.contains("2 receipts"));
    assert!(copies(&two).broken[0].words.contains("2 copies, with 0 attempts"));
    assert!(turns(&two).broken[0].words.contains("answered as number 2"));
}

#[test]
fn a_second_copy_needs_an_attempt_that_could_not_be_read() {
    let mut one = chat(&["a"]);
    receives(&mut one, &["1: a", "1: a"]);
    assert_eq!(copies(&one).broken.len(), 1);
    one.answers[0].unknown = 1;
    assert!(copies(&one).broken.is_empty());
    receives(&mut one, &["1: a", "1: a", "1: a"]);
    assert_eq!(copies(&one).broken.len(), 1);
}

#[test]
fn only_the_first_copies_have_to_be_in_order() {
    let mut three = chat(&["a", "b", "c"]);
    receives(&mut three, &["1: a", "2: b", "1: a", "3: c", "2: b"]);
    assert!(order(&three).broken.is_empty());
    receives(&mut three, &["2: b", "1: a", "3: c"]);
    let verdict = order(&three);
    assert!(verdict.broken.len() == 1 && verdict.broken[0].words.starts_with("`a`"), "{verdict:?}");
}

#[test]
fn a_message_that_arrived_before_an_earlier_one_is_found_unless_both_were_sent_at_once() {
    let mut swapped = chat(&["a", "b"]);
    (swapped.receipts[0].arrival, swapped.receipts[1].arrival) = (12, 11);
    receives(&mut swapped, &["1: b", "2: a"]);
    assert!(order(&swapped).broken[0].words.contains("arrived after `b`"));
    swapped.written[0].round = 2;
    assert!(order(&swapped).broken.is_empty() && turns(&swapped).broken.is_empty());
}

#[test]
fn a_turn_that_was_not_counted_is_found_in_the_answer_and_in_the_state() {
    let mut lost = chat(&["a", "b"]);
    receives(&mut lost, &["1: a", "1: b"]);
    lost.turns.insert(CHAT.into(), 1);
    assert_eq!(turns(&lost).broken.len(), 2);
}

#[test]
fn poison_is_kept_once_and_nothing_else_is() {
    let kept = |body: &str, seen_count| Kept { body: body.into(), problem: "no".into(), seen_count };
    let marker = "poison-1-end".to_owned();
    let mut evidence = AnswerEvidence { poison: vec![SavedPoison { marker, brought: 3, taken: 2 }], ..AnswerEvidence::default() };
    assert!(poison(&evidence).broken[0].words.contains("kept 0 times"));
    for (seen_count, is_good) in [(1, false), (2, true), (3, true), (4, false)] {
        evidence.kept = vec![kept("{poison-1-end", seen_count)];
        assert_eq!(poison(&evidence).broken.is_empty(), is_good, "{seen_count}");
    }
    evidence.kept = vec![kept("poison-1-end", 2), kept("poison-1-end ", 1)];
    assert!(poison(&evidence).broken[0].words.contains("kept 2 times"));
    evidence.kept = vec![kept("poison-1-end", 2), kept("hello", 1)];
    assert!(poison(&evidence).broken[0].words.contains("a good update"));
    evidence.poison[0].taken = 0;
    assert!(poison(&evidence).broken[0].words.contains("never acknowledged"));
}
