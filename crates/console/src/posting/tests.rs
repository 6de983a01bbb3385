//! What the pages of posting say.

use askama::Template;
use jiff::Timestamp;
use serde_json::json;

use super::words;
use crate::views::*;

fn moment() -> Moment {
    Moment::new(Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH)
}

fn pager() -> Pager {
    Pager {
        first_href: None,
        next_href: Some("/console/posts?before=1".to_owned()),
        shown: "1 posts".to_owned(),
        labels: ("Newest", "Older"),
    }
}

fn post(title: &str) -> PostRow {
    PostRow {
        key: "k".to_owned(),
        href: "/console/posts/k".to_owned(),
        title: title.to_owned(),
        media: String::new(),
        created: moment(),
        tags: vec!["<i>".to_owned()],
        from: "push".to_owned(),
        copies: words::copies(&json!({"sent": 38, "failed_permanent": 2, "queued": 0}), 0),
    }
}

#[test]
fn copies_are_counted_in_plain_words_and_the_worst_comes_first() {
    let told: Vec<_> = words::copies(&json!({"sent": 1200, "dead": 1, "retry": 3, "failed_permanent": 5}), 5)
        .into_iter()
        .map(|badge| badge.label)
        .collect();
    assert_eq!(told, ["1\u{a0}given up", "3\u{a0}will retry", "1\u{202f}200\u{a0}sent", "5\u{a0}withdrawn"]);
    assert!(words::copies(&json!({}), 0).is_empty());
}

#[test]
fn what_was_withdrawn_has_not_failed() {
    let badge = words::status("failed_permanent", "send", Some(&json!({"code": "withdrawn"})));
    assert_eq!((badge.label.as_str(), badge.tone), ("withdrawn", Tone::Quiet));
    assert_eq!(words::status("failed_permanent", "send", Some(&json!({"code": "403"}))).label, "failed");
}

#[test]
fn every_status_action_and_reason_has_words_of_its_own() {
    for status in posting::reads::STATUSES {
        assert!(!words::status(status, "send", None).label.contains('_'), "{status}");
    }
    for action in posting::reads::ACTIONS {
        let words = words::action(action, false).label;
        assert!(
            !words.contains('_') && (words != action.replace('_', " ") || words == "sent" || words == "channel paused"),
            "{action}"
        );
    }
    let now = Timestamp::UNIX_EPOCH;
    for reason in [
        "slot",
        "scheduled",
        "window",
        "channel_disabled",
        "channel_paused",
        "probe",
        "channel_closed",
        "platform_closed",
        "next_retry",
        "parallel",
        "lease",
        "follows",
        "workspace_paused",
        "dispatcher",
    ] {
        assert_ne!(words::waits(&json!({"reason": reason}), now).why, reason.replace('_', " "));
    }
    let waits = words::waits(&json!({"reason": "next_retry", "until": "1970-01-01T00:00:42+00:00"}), now);
    assert_eq!((waits.why.as_str(), waits.until.unwrap().ago.as_str()), ("It is tried again", "in 42\u{a0}s"));
    assert_eq!(words::waits(&json!({"reason": "new_one"}), now).why, "new one");
}

#[test]
fn a_text_begins_without_its_markup() {
    assert_eq!(words::beginning("<b>Bread</b>\n &amp; <a href=\"x\">salt</a>", true, 50), "Bread & salt");
    assert_eq!(words::beginning("2 < 3", false, 50), "2 < 3");
    assert_eq!(words::beginning("cut in a <a hre", true, 50), "cut in a");
    assert_eq!(words::beginning("абвгд", false, 4), "абв…");
}

#[test]
fn an_error_is_told_with_its_code_once() {
    assert_eq!(words::error(&json!({"code": "403", "message": "bot was kicked"})), "bot was kicked (403)");
    assert_eq!(words::error(&json!({"code": "403", "message": "403 Forbidden"})), "403 Forbidden");
    assert_eq!(words::error(&json!({"code": "outcome_unknown"})), "outcome unknown");
}

#[test]
fn numbers_of_a_run_become_a_line() {
    let stats = json!({"accepted": 1, "deliveries": {"queued": 40, "deduped": 2}, "unchanged": true, "error": null});
    assert_eq!(words::describe(&stats, &[]), "accepted\u{a0}1 · deliveries: repeats\u{a0}2, queued\u{a0}40 · unchanged");
    assert_eq!(words::describe(&json!({"until": "2026-11-16T10:17:05.852276+00:00"}), &[]), "until\u{a0}2026-11-16 10:17:05 UTC");
    assert_eq!(words::describe(&json!({"a": 1, "trace_id": "x"}), &["trace_id"]), "a\u{a0}1");
}

#[test]
fn what_was_posted_is_printed_as_text() {
    let rows = vec![post("<script>alert(1)</script>")];
    let html = PostsRegion { counters: Vec::new(), rows, pager: pager(), announce: String::new() }.render().unwrap();
    assert!(html.contains(r#"data-fragment="posts""#) && html.contains("38\u{a0}sent"));
    assert!(!html.contains("<script") && !html.contains("<i>") && !html.contains("style="));
}

#[test]
fn a_copy_says_why_it_waits_and_what_went_wrong() {
    let copy = CopyRow {
        key: "d".to_owned(),
        subject: PageLink::new("/console/channels/a%22", "\"><b>"),
        platform: "Telegram".to_owned(),
        operation: String::new(),
        status: words::status("retry", "send", None),
        attempts: 2,
        waits: Some(words::waits(&json!({"reason": "channel_paused"}), Timestamp::UNIX_EPOCH)),
        error: "Too Many Requests (429)".to_owned(),
        at: moment(),
        provider_id: None,
        events_href: "/console/events?delivery_id=d".to_owned(),
    };
    let post = PostDetails {
        id: "p".to_owned(),
        title: "Hello".to_owned(),
        crumb: PageLink::new("/console/posts", "Posts"),
        badges: Vec::new(),
        created: moment(),
        text: "Hello".to_owned(),
        attached: Vec::new(),
        facts: Vec::new(),
        copies: CopiesTable { subject: "Channel", rows: vec![copy] },
        has_more: false,
        following: vec![post("Edit: Hello!")],
        events_href: "/console/events?message_id=p".to_owned(),
        announce: String::new(),
    };
    let html = post.render().unwrap();
    for words in [
        "will retry",
        "Its channel is paused after errors",
        "Too Many Requests (429)",
        "Edit: Hello!",
        "data-fragment=\"post-p\"",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.contains("<b>"));
}
