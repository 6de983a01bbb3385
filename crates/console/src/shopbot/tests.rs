//! What the pages of the shop bot say.

use askama::Template;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use shopbot::reads::{BotAlertRead, BotRead, ConversationRead, PoisonRead, RuleOfIntent, RuleRead, TurnRead, WayOut};
use uuid::Uuid;

use super::{changes, data, rules, words};
use crate::views::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn later(seconds: i64) -> platform::reads::Time {
    (NOW + SignedDuration::from_secs(seconds)).into()
}

fn pager() -> Pager {
    Pager { first_href: None, next_href: None, shown: "1 conversations".to_owned(), labels: ("Newest", "Older") }
}

fn nothing() -> EmptyNote {
    EmptyNote { words: "Nobody has written yet.".to_owned(), command: words::try_command("demo", "max") }
}

fn conversations(rows: Vec<ConversationRow>) -> String {
    ConversationsRegion { rows, empty: nothing(), pager: pager(), announce: String::new() }.render().unwrap()
}

fn chat() -> ConversationRead {
    ConversationRead {
        bot_id: Some(Uuid::nil()),
        provider: "max".to_owned(),
        chat_id: "-5/<b>".to_owned(),
        state: "return_order".to_owned(),
        intent: Some("return".to_owned()),
        versions: json!({"return": 2, "return_order": 1}),
        captured: json!({"order_number": "<i>10234</i>"}),
        turns: 2,
        expires_at: Some(later(900)),
        muted_until: None,
        last_at: later(-5),
        last_message: "<script>alert(1)</script>".to_owned(),
        last_outcome: "re_asked".to_owned(),
        last_rule_id: Some("return_order".to_owned()),
        last_rule_version: Some(1),
        waiting: 1,
        failed: 0,
        log_id: 7,
        is_one_of_several: false,
    }
}

fn message(status: Option<&str>, why: &Value) -> TurnRead {
    TurnRead {
        log_id: 7,
        ts: later(-5),
        inbound_provider_message_id: "m1".to_owned(),
        message_text: "<script>alert(1)</script>".to_owned(),
        outcome: "answered".to_owned(),
        matched_rule_id: Some("payment".to_owned()),
        rule_version: Some(3),
        state_before: "default".to_owned(),
        state_after: "return_order".to_owned(),
        response_preview: Some("Картой <b>или</b> по СБП.".to_owned()),
        meta: json!({"why": why, "kind": "text", "trace_id": "0198f3c2"}),
        answer_id: status.map(|_| Uuid::nil()),
        answer_status: status.map(ToOwned::to_owned),
        attempt: Some(2),
        unknown_outcomes: Some(1),
        last_error: Some(json!({"code": "429", "message": "slow down"})),
        next_retry_at: Some(later(42)),
        provider_message_id: None,
        sent_at: None,
        failed_at: None,
    }
}

fn way() -> WayOut {
    WayOut { bot_id: Uuid::nil(), provider: "max".to_owned(), enabled: true, closed_until: None }
}

fn rule(version: i32, enabled: bool, keywords: &[&str], answer: &str) -> RuleRead {
    RuleRead {
        rule_id: "payment".to_owned(),
        version,
        enabled,
        intent: "payment".to_owned(),
        pattern: json!({"keywords": keywords, "mode": "contains"}),
        keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
        priority: 10,
        max_turns: 5,
        state: None,
        capture: None,
        check_pattern: None,
        response_template: answer.to_owned(),
        re_ask_template: None,
        buttons: json!([[{"text": "In English", "payload": "english"}, {"text": "<u>"}]]),
        next_state: None,
        created_at: later(-60),
    }
}

#[test]
fn why_a_rule_spoke_is_said_with_its_keyword_and_how_the_tie_was_decided() {
    let told = |why: Value| words::why(&why);
    assert_eq!(
        told(json!({"step": "any_time", "keyword": "оплат", "decided_by": "priority", "over": "delivery"})),
        "the keyword “оплат”; over delivery by its priority"
    );
    assert_eq!(
        told(json!({"step": "state", "keyword": "отмена", "decided_by": "only_match", "expired": true})),
        "the keyword “отмена” of this step; no other rule fits as well; the conversation had run out and began anew"
    );
    assert!(
        told(json!({"step": "capture", "decided_by": "rule_id", "over": "b"}))
            .ends_with("over b by its id, all else being equal")
    );
    assert!(told(json!({"step": "re_ask", "decided_by": "longest_keyword"})).contains("does not pass the check"));
    assert_eq!(told(json!({"fallbacks": 1})), "no rule fits");
    assert_eq!(told(json!({"fallbacks": 3})), "no rule fits, for the 3rd time in a row");
    assert!(told(json!({"guard": "turns", "limit": 20})).starts_with("20 messages without a pause"));
    assert_eq!(told(json!({"guard": "scenario", "limit": 5})), "5 messages did not end the scenario");
    assert!(told(json!({"muted_until": "2026-11-16T10:17:05.852276+00:00"})).ends_with("until 2026-11-16 10:17:05 UTC"));
    assert_eq!(told(Value::Null), "");
}

#[test]
fn every_outcome_and_status_has_words_of_its_own_and_a_called_operator_is_the_worst() {
    for outcome in ["answered", "re_asked", "fallback", "escalated", "greeted", "unsupported", "muted"] {
        assert!(!words::outcome(outcome).label.contains('_'), "{outcome}");
    }
    assert_eq!(words::outcome("escalated").tone, Tone::Bad);
    for status in ["queued", "sending", "retry", "failed", "dead"] {
        assert!(status == "failed" || words::status(status).label != status, "{status}");
    }
    assert_eq!(words::how(&json!({"kind": "button", "is_from_bot": true})), "pressed a button, is a bot");
    assert_eq!(words::how(&json!({"kind": "text", "is_from_bot": false})), "");
}

#[test]
fn an_answer_says_why_it_waits_and_what_went_wrong() {
    let answer = data::answer(&message(Some("retry"), &Value::Null), Some(&way()), NOW).unwrap();
    let waits = answer.waits.unwrap();
    assert_eq!((answer.status.label.as_str(), answer.error.as_str()), ("will retry", "slow down (429)"));
    assert_eq!((waits.why.as_str(), waits.until.unwrap().ago.as_str()), ("it is tried again", "in 42\u{a0}s"));
    assert_eq!(answer.notes, "attempt\u{a0}2, nobody knows whether it arrived in 1 of them");

    let closed = WayOut { closed_until: Some(later(60)), ..way() };
    let waits = data::answer(&message(Some("queued"), &Value::Null), Some(&closed), NOW).unwrap().waits.unwrap();
    assert_eq!(waits.until.unwrap().ago, "in 1\u{a0}min", "a closed bot is what it waits for");
    let off = WayOut { enabled: false, ..way() };
    let waits = data::answer(&message(Some("queued"), &Value::Null), Some(&off), NOW).unwrap().waits.unwrap();
    assert_eq!(waits.why, "the bot is switched off");

    let sent = TurnRead {
        sent_at: Some(later(-1)),
        provider_message_id: Some("mid.9".to_owned()),
        ..message(Some("sent"), &Value::Null)
    };
    let answer = data::answer(&sent, Some(&way()), NOW).unwrap();
    assert!(answer.waits.is_none() && answer.error.is_empty() && answer.provider_id.as_deref() == Some("mid.9"));
    assert_eq!(answer.at.unwrap().ago, "1\u{a0}s ago");
    assert_eq!(data::answer(&message(None, &Value::Null), None, NOW).unwrap().status.label, "no longer kept");
    let silent = TurnRead { response_preview: None, ..message(None, &Value::Null) };
    assert!(data::answer(&silent, None, NOW).is_none());
}

#[test]
fn what_customers_wrote_is_printed_as_text() {
    let rows = vec![data::conversation_row(&chat(), NOW)];
    assert_eq!(rows[0].href, "/console/conversations/max/-5%2F%3Cb%3E");
    let several = data::conversation_row(&ConversationRead { is_one_of_several: true, ..chat() }, NOW);
    assert_eq!(several.href, format!("/console/conversations/max/-5%2F%3Cb%3E?bot={}", Uuid::nil()));
    let html = conversations(rows);
    assert!(html.contains(r#"data-fragment="conversations""#));
    for words in ["in a scenario", "return_order", "asked again", "1&nbsp;waiting", "/console/rules/return_order"] {
        assert!(html.contains(words), "{words}");
    }
    let why = json!({"step": "any_time", "keyword": "<u>", "decided_by": "longest_keyword", "over": "delivery"});
    let conversation = data::conversation(&chat(), vec![message(Some("retry"), &why)], Some(&way()), pager(), NOW);
    assert_eq!(conversation.id, "max--5/<b>");
    let whole = conversation.render().unwrap();
    for words in [
        "payment\u{a0}v3",
        "return\u{a0}v2",
        "over delivery by its longer keyword",
        "will retry",
        "slow down (429)",
        "Begins anew",
    ] {
        assert!(whole.contains(words), "{words}");
    }
    for html in [html, whole] {
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("<i>") && !html.contains("<u>"));
        assert!(!html.contains("style=") && !html.contains("onclick"));
    }
}

#[test]
fn an_empty_list_says_what_to_do() {
    assert!(conversations(Vec::new()).contains("beresta shopbot try --workspace demo"));
    assert_eq!(
        words::try_command("it's ours", "telegram"),
        r"beresta shopbot try --workspace 'it'\''s ours' --provider telegram"
    );
    let rules = RulesRegion { intents: Vec::new(), empty: nothing(), pager: pager() };
    assert!(rules.render().unwrap().contains("beresta shopbot try"));
}

#[test]
fn versions_say_what_changed_between_them_and_which_one_answers() {
    let first = rule(1, true, &["оплат", "карт"], "Картой.");
    let mut second = rule(2, false, &["оплат", "сбп"], "Картой и по СБП.");
    second.next_state = Some("paying".to_owned());
    let changed: Vec<_> =
        changes::between(&first, &second).into_iter().map(|change| (change.field, change.before, change.after)).collect();
    let row = |field: &str, before: &str, after: &str| (field.to_owned(), before.to_owned(), after.to_owned());
    assert_eq!(
        changed,
        [row("Keywords", "карт", "сбп"), row("Answer", "Картой.", "Картой и по СБП."), row("Next state", "", "paying")]
    );
    let details = rules::details(&[second.clone(), first.clone()], NOW).unwrap();
    assert_eq!((details.body.version, details.state.label.as_str()), (1, "version\u{a0}1"));
    assert_eq!(details.summary, "It answers, although version 2 is newer.");
    assert_eq!((details.versions[0].changes.len(), details.versions[1].unchanged.as_str()), (3, "The first version."));
    let html = details.render().unwrap();
    assert!(html.contains("<del>") && html.contains("→ english") && html.contains(r#"data-fragment="rule-payment""#));
    assert!(!html.contains("<u>"));
    assert!(rules::details(&[], NOW).is_none());

    let intents = rules::by_intent(vec![
        RuleOfIntent { rule: first, newest: 2 },
        RuleOfIntent { rule: RuleRead { rule_id: "pay".to_owned(), ..second }, newest: 2 },
    ]);
    assert_eq!((intents.len(), intents[0].rules.len()), (1, 2));
    let html = RulesRegion { intents, empty: nothing(), pager: pager() }.render().unwrap();
    assert!(html.contains("newest 2") && html.contains("switched off") && html.contains("оплат"));
}

#[test]
fn a_bot_shows_its_error_rate_its_alerts_and_what_it_could_not_read() {
    let bot = BotRead {
        bot_id: Uuid::nil(),
        name: "shop".to_owned(),
        subject: "max".to_owned(),
        provider: "max".to_owned(),
        enabled: true,
        closed_until: Some(later(30)),
        rate_rps: Some(25.0),
        chat_rps: Some(0.5),
        next_allowed_at: Some(later(1)),
        messages: 10_000,
        errors: 350,
        error_rate: 0.035,
        alert_error_rate: 0.1,
        alert_min_messages: 20,
        alert_chat_id: None,
        waiting: 3,
        alerts: json!([]),
        greeting_text: String::new(),
        fallback_text: String::new(),
        escalation_text: String::new(),
        unsupported_text: String::new(),
        menu: json!([]),
        variables: json!({}),
    };
    let alert = BotAlertRead {
        subject: "max".to_owned(),
        provider: "max".to_owned(),
        alert: "late_answers".to_owned(),
        raised_at: later(-600),
        told_at: Some(later(-600)),
        cleared_at: None,
        count: 3,
        why: Some("3 waited for more than five minutes, the last error of one is 429".to_owned()),
    };
    let poison = PoisonRead {
        id: Uuid::nil(),
        provider: "max".to_owned(),
        endpoint_id: None,
        received_at: later(-90),
        last_seen_at: later(-9),
        seen_count: 3,
        problem: "`chat_id` is missing <b>".to_owned(),
        body: r#"{"text":"<script>"}"#.to_owned(),
    };
    let bots = BotsRegion {
        rows: vec![data::bot_row(&bot, std::slice::from_ref(&alert), NOW)],
        poison: vec![data::poison_row(poison, NOW)],
        empty: nothing(),
        pager: pager(),
        recount: None,
        announce: String::new(),
    };
    let html = bots.render().unwrap();
    for words in [
        "closed",
        "in 30\u{a0}s",
        "10\u{202f}000+",
        "3.5\u{a0}%",
        "25 answers a second over all chats, 0.5 in one chat",
        "above 10\u{a0}% of at least 20 messages",
        "answers are late",
        "3 waited for more than five minutes, the last error of one is 429",
        "alert_chat_id is not set",
        "came 3\u{a0}times",
        "<details id=\"poison-00000000-0000-0000-0000-000000000000\">",
    ] {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("style="));
    let well = data::bot_row(
        &BotRead { closed_until: None, ..bot.clone() },
        &[BotAlertRead { cleared_at: Some(later(-1)), ..alert }],
        NOW,
    );
    assert_eq!((well.state.label.as_str(), well.alerts[0].state.label.as_str()), ("answering", "over"));
    assert_eq!(data::bot_row(&BotRead { enabled: false, ..bot }, &[], NOW).state.label, "switched off");
}
