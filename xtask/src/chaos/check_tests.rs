use super::*;
use crate::chaos::evidence::Transition;

const ID: &str = "d1";

/// A delivery in the first channel, or in one that holds.
fn delivery(channel_id: &str, status: &str, attempt: i32) -> Delivery {
    Delivery { id: ID.into(), channel_id: channel_id.into(), text: "chaos-1-1".into(), status: status.into(), attempt }
}

fn event(action: &str, attempt: i32, is_error: bool) -> Event {
    Event {
        delivery_id: ID.into(),
        action: action.into(),
        attempt,
        is_error,
        is_unknown: false,
        is_late: false,
        code: None,
        provider_message_id: None,
        ms: 0,
    }
}

fn unknown(attempt: i32) -> Event {
    Event { is_unknown: true, ..event("send_attempt", attempt, true) }
}

fn sent(attempt: i32, message_id: &str) -> Event {
    Event { provider_message_id: Some(message_id.into()), ..event("sent", attempt, false) }
}

fn copy(channel_id: &str, message_id: &str, at: i64) -> Copy {
    let channel = CHANNELS.iter().find(|channel| channel.id == channel_id).unwrap();
    Copy { target: channel.target.into(), text: "chaos-1-1".into(), message_id: message_id.into(), at, is_answered: true }
}

fn moved(from: Option<&str>, to: &str, attempt: i32, ms: i64) -> Transition {
    Transition { delivery_id: ID.into(), from_status: from.map(Into::into), to_status: to.into(), attempt, ms }
}

fn evidence(delivery: Delivery, events: Vec<Event>, copies: Vec<Copy>) -> Evidence {
    let events = BTreeMap::from([(ID.to_owned(), events)]);
    Evidence { seed: 1, deliveries: vec![delivery], events, copies, ..Evidence::default() }
}

fn start(attempt: i32) -> Event {
    event("send_attempt", attempt, false)
}

#[test]
fn a_post_without_a_delivery_is_lost_and_one_without_a_sender_is_invented() {
    let nothing = Evidence { seed: 1, accepted: vec![1], ..Evidence::default() };
    let channels = CHANNELS.iter().filter(|channel| channel.takes(false)).count();
    assert_eq!(arrived(&nothing).broken.len(), channels);
    let invented = evidence(delivery("tg-one", "sent", 1), vec![start(1), sent(1, "7")], vec![copy("tg-one", "7", 1)]);
    assert!(arrived(&invented).broken[0].words.contains("nobody sent this"));
}

#[test]
fn an_end_without_its_event_or_its_copy_is_found() {
    let ends = [("sent", "sent"), ("failed_permanent", "failed_permanent"), ("dead", "dead_letter")];
    for (status, action) in ends {
        let one = delivery("tg-one", status, 1);
        assert!(ended(&one, &[event(action, 1, false)], 1).is_none());
        assert!(ended(&one, &[], 1).is_some(), "{status}");
    }
    assert!(ended(&delivery("tg-one", "sent", 1), &[event("sent", 1, false)], 0).is_some());
    assert!(ended(&delivery("tg-one", "retry", 1), &[], 0).is_some());
}

#[test]
fn a_second_copy_needs_an_attempt_that_could_not_be_read() {
    let two = || vec![copy("tg-one", "7", 1), copy("tg-one", "8", 2)];
    let refused = vec![start(1), event("send_attempt", 1, true), start(2), sent(2, "8")];
    assert_eq!(copies(&evidence(delivery("tg-one", "sent", 2), refused, two())).broken.len(), 1);
    for unread in [unknown(1), event("sending_lease_expired", 1, true)] {
        let events = vec![start(1), unread, start(2), sent(2, "8")];
        assert!(copies(&evidence(delivery("tg-one", "sent", 2), events, two())).broken.is_empty());
    }
    let never_ended = vec![start(1), start(2), sent(2, "8")];
    assert!(copies(&evidence(delivery("tg-one", "sent", 2), never_ended, two())).broken.is_empty());
}

#[test]
fn a_copy_of_what_was_refused_and_a_second_one_of_what_is_held_are_found() {
    let refused = vec![start(1), event("send_attempt", 1, true), event("failed_permanent", 1, true)];
    let failed = evidence(delivery("tg-one", "failed_permanent", 1), refused, vec![copy("tg-one", "7", 1)]);
    assert_eq!(copies(&failed).broken.len(), 1);
    let events = vec![start(1), unknown(1), start(2), sent(2, "8")];
    let held = evidence(delivery("tg-hold", "sent", 2), events, vec![copy("tg-hold", "7", 1), copy("tg-hold", "8", 2)]);
    assert!(copies(&held).broken[0].words.contains("holds"));
}

#[test]
fn a_success_that_another_attempt_brought_is_found_unless_it_says_that_it_is_late() {
    let events = vec![start(1), event("sending_lease_expired", 1, true), start(2), sent(2, "7")];
    let mut stolen = evidence(delivery("tg-one", "sent", 2), events, vec![copy("tg-one", "7", 100), copy("tg-one", "8", 900)]);
    let began = vec![moved(Some("claimed"), "sending", 1, 50), moved(Some("claimed"), "sending", 2, 800)];
    stolen.transitions.insert(ID.to_owned(), began);
    assert!(own_results(&stolen).broken[0].words.contains("before that attempt began"));
    stolen.events.get_mut(ID).unwrap()[3].provider_message_id = Some("8".into());
    assert!(own_results(&stolen).broken.is_empty());
    let last = &mut stolen.events.get_mut(ID).unwrap()[3];
    (last.provider_message_id, last.is_late) = (Some("7".into()), true);
    assert!(own_results(&stolen).broken.is_empty());
}

#[test]
fn an_edge_that_does_not_exist_and_an_attempt_that_ended_twice_are_found() {
    let events = vec![start(1), sent(1, "7")];
    let mut good = evidence(delivery("tg-one", "sent", 1), events, vec![copy("tg-one", "7", 1)]);
    let path = vec![
        moved(None, "queued", 0, 1),
        moved(Some("queued"), "claimed", 0, 2),
        moved(Some("claimed"), "sending", 1, 3),
        moved(Some("sending"), "sent", 1, 4),
    ];
    good.transitions.insert(ID.to_owned(), path);
    assert!(transitions(&good).broken.is_empty(), "{:?}", transitions(&good));
    good.transitions.get_mut(ID).unwrap().remove(1);
    assert_eq!(transitions(&good).broken.len(), 1);
    let twice = [start(1), event("send_attempt", 1, true), event("send_attempt", 1, true), start(2), sent(2, "7")];
    assert!(attempts(&delivery("tg-one", "sent", 2), &twice).is_some());
    let expired = [start(1), event("sending_lease_expired", 1, true), unknown(1), event("dead_letter", 1, true)];
    assert!(attempts(&delivery("tg-one", "dead", 1), &expired).is_none());
}
