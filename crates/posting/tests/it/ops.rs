//! What an operator does by hand through our functions: each does what its block of the runbook does, refuses what it should,
//! and touches one workspace only.

use std::time::Duration;

use jiff::SignedDuration;
use kernel::Clock;
use platform::DbError;
use posting::ops::{self, By, Mode, Verdict, Which};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::stage::{Stage, To};

const ANN: By<'_> = By { operator: "ann@shop.example", reason: "it is mended" };
const HOUR: Duration = Duration::from_hours(1);

async fn stage() -> Stage {
    Stage::new(Clock::frozen("2026-03-02T09:00:00Z".parse().unwrap())).await
}

/// The SQLSTATE of a refusal, and its words with what to do.
fn refusal<T: std::fmt::Debug>(result: Result<T, DbError>) -> (String, String) {
    match result {
        Err(DbError::Refused { code, message, hint, .. }) => (code, format!("{message}; {}", hint.unwrap_or_default())),
        other => panic!("not refused: {other:?}"),
    }
}

fn note(more: &Value) -> Value {
    let mut note = json!({ "operator": "ann@shop.example", "reason": "it is mended" });
    note.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    note
}

#[tokio::test]
async fn the_dead_are_requeued_as_the_runbook_does_and_the_dispatchers_are_told() {
    let mut stage = stage().await;
    let dead = stage.deliver(stage.ours, "a", To::Dead, 5).await;
    stage.deliver(stage.ours, "a", To::Dead, 5).await;
    let before = stage.rows().await;
    let news = stage.test.db.wake().subscribe(posting::DELIVERIES);
    let rows = ops::requeue_dead(&stage.test.db, stage.ours, ANN, Which::Named(&[dead]), Mode::Apply).await.unwrap();
    assert!(news.has_changed().unwrap());
    assert_eq!(
        rows.iter().map(|row| (row.delivery_id, row.channel_id.as_str(), row.attempt)).collect::<Vec<_>>(),
        [(dead, "a", 1)]
    );
    let changes = stage.changes(&before).await;
    let row = format!("delivery {dead}");
    assert_eq!(changes.fields(), [format!("{row}: next_retry_at phase status updated_at")]);
    assert_eq!(changes.field(&row, "next_retry_at"), "2026-03-02T09:00:00+00:00");
    let meta = note(&json!({ "from_status": "dead" }));
    assert_eq!(changes.events(), [(dead.to_string(), "manual_requeue".to_owned(), 1, meta)]);
    assert_eq!(stage.start(stage.ours).await, [(dead, "old-bot".to_owned(), 2)]);
}

#[tokio::test]
async fn one_wrong_delivery_among_the_named_refuses_them_all_and_says_why() {
    let mut stage = stage().await;
    let dead = stage.deliver(stage.ours, "a", To::Dead, 5).await;
    let sent = stage.deliver(stage.ours, "a", To::Sent, 5).await;
    let failed = stage.deliver(stage.ours, "a", To::Failed, 5).await;
    let by_channel = stage.deliver(stage.ours, "b", To::FailedByChannel, 5).await;
    let theirs = stage.deliver(stage.theirs, "a", To::Dead, 5).await;
    let before = stage.rows().await;
    let nowhere = Uuid::nil();
    let cases = [
        (sent, "ZD002", format!("delivery {sent} is sent; only what is dead can be requeued this way; nothing was changed")),
        (theirs, "ZD003", format!("there is no delivery {theirs}; ")),
        (nowhere, "ZD003", format!("there is no delivery {nowhere}; ")),
    ];
    for (wrong, code, words) in cases {
        let result = ops::requeue_dead(&stage.test.db, stage.ours, ANN, Which::Named(&[dead, wrong]), Mode::Apply).await;
        assert_eq!(refusal(result), (code.to_owned(), words));
    }
    let result = ops::requeue_failed(&stage.test.db, stage.ours, ANN, Which::Named(&[failed, by_channel]), Mode::Apply).await;
    let words =
        format!("delivery {by_channel} failed because of its channel; mend that and send the post in again; nothing was changed");
    assert_eq!(refusal(result), ("ZD002".to_owned(), words));
    let changes = stage.changes(&before).await;
    assert!(changes.updated.is_empty() && changes.added.is_empty());
}

#[tokio::test]
async fn of_two_operators_at_once_one_requeues_and_the_other_is_told() {
    let mut stage = stage().await;
    let dead = stage.deliver(stage.ours, "a", To::Dead, 5).await;
    let before = stage.rows().await;
    let requeue = async || ops::requeue_dead(&stage.test.db, stage.ours, ANN, Which::Named(&[dead]), Mode::Apply).await;
    let results = tokio::join!(requeue(), requeue());
    let (won, lost) = if results.0.is_ok() { results } else { (results.1, results.0) };
    assert_eq!(won.unwrap().len(), 1);
    assert!(refusal(lost).1.starts_with(&format!("delivery {dead} is retry;")));
    assert_eq!(stage.changes(&before).await.events().len(), 1);
}

#[tokio::test]
async fn all_of_a_kind_are_previewed_then_requeued_except_those_whose_outcome_nobody_knows() {
    let mut stage = stage().await;
    let failed = stage.deliver(stage.ours, "a", To::Failed, 5).await;
    let held = stage.deliver(stage.ours, "c", To::Held, 5).await;
    stage.deliver(stage.ours, "b", To::FailedByChannel, 5).await;
    stage.deliver(stage.ours, "a", To::Dead, 5).await;
    stage.deliver(stage.theirs, "a", To::Failed, 5).await;
    let before = stage.rows().await;
    let preview = ops::requeue_failed(&stage.test.db, stage.ours, ANN, Which::All, Mode::Preview).await.unwrap();
    assert!(stage.changes(&before).await.fields().is_empty(), "a preview changes nothing");
    let rows = ops::requeue_failed(&stage.test.db, stage.ours, ANN, Which::All, Mode::Apply).await.unwrap();
    assert_eq!(rows, preview);
    assert_eq!(rows.iter().map(|row| row.delivery_id).collect::<Vec<_>>(), [failed]);
    let changes = stage.changes(&before).await;
    assert_eq!(
        changes.events(),
        [(failed.to_string(), "manual_requeue".to_owned(), 1, note(&json!({ "from_status": "failed_permanent" })))]
    );
    // Whoever names it has decided.
    let named = ops::requeue_failed(&stage.test.db, stage.ours, ANN, Which::Named(&[held]), Mode::Apply).await.unwrap();
    assert_eq!(named.len(), 1);
}

#[tokio::test]
async fn a_paused_channel_gives_back_its_claims_and_starts_nothing() {
    let mut stage = stage().await;
    let claimed = stage.deliver(stage.ours, "a", To::Claimed, 0).await;
    stage.deliver(stage.theirs, "a", To::Claimed, 0).await;
    let before = stage.rows().await;
    let channel = ops::pause(&stage.test.db, stage.ours, ANN, "a", HOUR).await.unwrap();
    let until = stage.test.clock.now() + SignedDuration::from_hours(1);
    assert_eq!(channel.paused_until.map(jiff_sqlx::Timestamp::to_jiff), Some(until));
    let changes = stage.changes(&before).await;
    let expected = [
        format!("{}: paused_until", stage.channel("a")),
        format!("counter a of {}: claimed", stage.ours),
        format!("delivery {claimed}: claim_token claimed_at status"),
    ];
    assert_eq!(changes.fields(), expected, "the clock stands still, so updated_at does too");
    let meta = note(&json!({ "manual": true, "until": "2026-03-02T10:00:00+00:00" }));
    assert_eq!(changes.events(), [("a".to_owned(), "channel_paused".to_owned(), 0, meta)]);
    assert!(stage.start(stage.ours).await.is_empty());
    for seconds in [0, 31_536_001] {
        let result = ops::pause(&stage.test.db, stage.ours, ANN, "a", Duration::from_secs(seconds)).await;
        assert_eq!(refusal(result).0, "ZD005");
    }
}

#[tokio::test]
async fn an_unknown_channel_or_group_is_answered_with_the_nearest_names() {
    let mut stage = stage().await;
    for n in 1..=9 {
        let values = format!("'tg-news-{n}', 'telegram', '{}', 'old-bot', 'news-bot'", -2000 - n);
        let columns = "workspace_id, channel_id, platform, target_id, auth_ref, rate_group";
        stage.run(&format!("insert into posting.channels ({columns}) values ('{}', {values})", stage.ours)).await;
    }
    let (code, words) = refusal(ops::enable(&stage.test.db, stage.ours, ANN, "tg-new-7").await);
    assert_eq!(code, "ZD003");
    assert!(words.starts_with("there is no channel `tg-new-7`; the nearest are: tg-news-7, "), "{words}");
    let (code, words) = refusal(ops::disable_group(&stage.test.db, stage.ours, ANN, "news").await);
    assert_eq!((code.as_str(), words.as_str()), ("ZD003", "no channel is in the group `news`; there are: news-bot, bot, spare"));
    assert_eq!(refusal(ops::enable_group(&stage.test.db, stage.theirs, ANN, "news-bot").await).0, "ZD003", "ours, not theirs");
    assert_eq!(refusal(ops::pause(&stage.test.db, stage.theirs, ANN, "tg-news-7", HOUR).await).0, "ZD003");
    let empty = stage.test.workspace("empty").await;
    let words = refusal(ops::enable(&stage.test.db, empty, ANN, "a").await).1;
    assert_eq!(words, "there is no channel `a`; there are none yet");
}

#[tokio::test]
async fn a_quarantined_channel_is_opened_without_a_probe() {
    let mut stage = stage().await;
    stage.deliver(stage.ours, "a", To::FailedByChannel, 5).await;
    stage.deliver(stage.theirs, "a", To::FailedByChannel, 5).await;
    let queued = [stage.deliver(stage.ours, "a", To::Queued, 0).await, stage.deliver(stage.ours, "a", To::Queued, 0).await];
    let before = stage.rows().await;
    let channel = ops::enable(&stage.test.db, stage.ours, ANN, "a").await.unwrap();
    assert!(channel.enabled && channel.paused_until.is_none() && channel.error_streak == 0);
    let changes = stage.changes(&before).await;
    assert_eq!(changes.fields(), [format!("{}: error_streak paused_until updated_at", stage.channel("a"))]);
    assert_eq!(changes.events(), [("a".to_owned(), "channel_enabled".to_owned(), 0, note(&json!({ "manual": true })))]);
    assert_eq!(stage.start(stage.ours).await.len(), queued.len());
}

#[tokio::test]
async fn a_group_is_closed_and_opened_channel_by_channel() {
    let mut stage = stage().await;
    let claimed = stage.deliver(stage.ours, "b", To::Claimed, 0).await;
    let before = stage.rows().await;
    let rows = ops::disable_group(&stage.test.db, stage.ours, ANN, "bot").await.unwrap();
    assert_eq!(rows.iter().map(|row| (row.channel_id.as_str(), row.enabled)).collect::<Vec<_>>(), [("a", false), ("b", false)]);
    let changes = stage.changes(&before).await;
    let mut expected = [
        format!("{}: enabled", stage.channel("a")),
        format!("{}: enabled", stage.channel("b")),
        format!("counter b of {}: claimed", stage.ours),
        format!("delivery {claimed}: claim_token claimed_at status"),
    ];
    expected.sort();
    assert_eq!(changes.fields(), expected);
    let meta = note(&json!({ "manual": true, "rate_group": "bot" }));
    let event = |channel: &str, action: &str| (channel.to_owned(), action.to_owned(), 0, meta.clone());
    assert_eq!(changes.events(), [event("a", "channel_disabled"), event("b", "channel_disabled")]);
    assert!(stage.start(stage.ours).await.is_empty());

    let before = stage.rows().await;
    let rows = ops::enable_group(&stage.test.db, stage.ours, ANN, "bot").await.unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.enabled));
    let changes = stage.changes(&before).await;
    assert_eq!(changes.events(), [event("a", "channel_enabled"), event("b", "channel_enabled")]);
    assert_eq!(stage.start(stage.ours).await[0].0, claimed);
}

#[tokio::test]
async fn a_credential_in_use_is_not_rotated_until_the_channel_has_drained() {
    let mut stage = stage().await;
    let sending = stage.deliver(stage.ours, "a", To::Sending, 0).await;
    let next = stage.deliver(stage.ours, "a", To::Queued, 0).await;
    let before = stage.rows().await;
    let (code, words) = refusal(ops::rotate_auth(&stage.test.db, stage.ours, ANN, "a", "new-bot", Some("spare")).await);
    assert_eq!(code, "ZD002");
    let expected = "1 delivery of `a` is being sent with `old-bot`, so nothing was switched; the channel is paused until \
                    2026-03-02T09:02:00Z; run the same command again in a moment";
    assert_eq!(words, expected);
    let changes = stage.changes(&before).await;
    assert_eq!(changes.fields(), [format!("{}: paused_until", stage.channel("a"))], "the pause stays, the credential too");
    assert_eq!(changes.events()[0].1, "channel_paused");
    assert!(stage.start(stage.ours).await.is_empty(), "it drains");

    stage.run(&format!("select posting.mark_sent('{}', '{sending}', 'm-1')", stage.ours)).await;
    let before = stage.rows().await;
    let rotated = ops::rotate_auth(&stage.test.db, stage.ours, ANN, "a", "new-bot", Some("spare")).await.unwrap();
    assert_eq!([&rotated.old_auth_ref, &rotated.auth_ref, &rotated.rate_group], ["old-bot", "new-bot", "spare"]);
    let mut changes = stage.changes(&before).await;
    assert_eq!(changes.fields(), [format!("{}: auth_ref rate_group", stage.channel("a"))]);
    let auth = changes.added.iter().position(|row| row.get("rotated_at").is_some()).unwrap();
    assert_eq!(changes.added.remove(auth)["auth_ref"], "new-bot");
    let meta = note(&json!({ "old_auth_ref": "old-bot", "new_auth_ref": "new-bot", "rate_group": "spare" }));
    assert_eq!(changes.events(), [("a".to_owned(), "auth_rotated".to_owned(), 0, meta)]);
    stage.now(121).await;
    assert_eq!(stage.start(stage.ours).await, [(next, "new-bot".to_owned(), 1)]);
}

#[tokio::test]
async fn an_idle_channel_is_rotated_at_once_and_back_and_only_to_a_known_credential() {
    let stage = stage().await;
    let rotate = async |channel, auth_ref| ops::rotate_auth(&stage.test.db, stage.ours, ANN, channel, auth_ref, None).await;
    let rotated = rotate("a", "new-bot").await.unwrap();
    assert!(rotated.paused_until.is_none() && rotated.rate_group == "bot");
    let back = rotate("a", "old-bot").await.unwrap();
    assert_eq!([&back.old_auth_ref, &back.auth_ref], ["new-bot", "old-bot"]);
    let (code, words) = refusal(rotate("a", "new-bto").await);
    let expected = "there is no credential `new-bto` for telegram; there are: new-bot, old-bot";
    assert_eq!((code.as_str(), words.as_str()), ("ZD003", expected));
    assert_eq!(refusal(rotate("d", "new-bot").await).0, "ZD003");
}

#[tokio::test]
async fn what_is_stale_is_released_or_held_and_what_is_young_is_left_alone() {
    let mut stage = stage().await;
    let claimed = stage.deliver(stage.ours, "a", To::Claimed, 11).await;
    let sending = stage.deliver(stage.ours, "b", To::Sending, 11).await;
    let held = stage.deliver(stage.ours, "c", To::Sending, 11).await;
    stage.run("update posting.channels set settings = '{\"on_unknown\": \"hold\"}' where channel_id = 'c'").await;
    stage.deliver(stage.theirs, "a", To::Sending, 11).await;
    stage.deliver(stage.ours, "a", To::Sending, 9).await;
    let before = stage.rows().await;
    let release = async |age, mode| ops::release_stale(&stage.test.db, stage.ours, ANN, age, mode).await;
    let preview = release(Duration::from_mins(10), Mode::Preview).await.unwrap();
    let rows = release(Duration::from_mins(10), Mode::Apply).await.unwrap();
    assert_eq!(rows, preview);
    let seen: Vec<_> =
        rows.iter().map(|row| (row.delivery_id, row.from_status.as_str(), row.status.as_str(), row.attempt)).collect();
    assert_eq!(
        seen,
        [(claimed, "claimed", "retry", 0), (sending, "sending", "retry", 1), (held, "sending", "failed_permanent", 1)]
    );
    assert_eq!(refusal(release(Duration::from_secs(59), Mode::Apply).await).0, "ZD005");

    let mut changes = stage.changes(&before).await;
    let touched: Vec<&String> = changes.updated.keys().filter(|name| name.starts_with("delivery")).collect();
    assert_eq!(touched.len(), 3);
    assert_eq!(changes.field(&format!("delivery {sending}"), "next_retry_at"), "2026-03-02T09:00:15+00:00");
    changes.added.retain(|row| row["result"] == "ok");
    let found = |id: Uuid, action: &str, attempt: i64, more: Value| {
        let mut meta = note(&more);
        meta["reason"] = "manual_stuck_release".into();
        meta["note"] = ANN.reason.into();
        assert!(changes.events().contains(&(id.to_string(), action.to_owned(), attempt, meta)), "{:?}", changes.events());
    };
    found(claimed, "manual_requeue", 0, json!({ "from_status": "claimed" }));
    found(sending, "manual_requeue", 1, json!({ "from_status": "sending" }));
    found(held, "manual_settle", 1, json!({ "from_status": "sending", "verdict": "held" }));
    let late = format!("posting.mark_sent('{}', '{held}', 'm-9', null, null, 'run-{held}')", stage.ours);
    assert_eq!(stage.one::<String>(&late).await, "late", "the answer of its worker still settles it");
}

#[tokio::test]
async fn an_unknown_outcome_is_settled_and_a_known_one_is_not() {
    let mut stage = stage().await;
    let arrived = stage.deliver(stage.ours, "a", To::Held, 5).await;
    let lost = stage.deliver(stage.ours, "a", To::Held, 5).await;
    let failed = stage.deliver(stage.ours, "a", To::Failed, 5).await;
    let theirs = stage.deliver(stage.theirs, "a", To::Held, 5).await;
    let settle = async |id, verdict| ops::settle(&stage.test.db, stage.ours, ANN, id, verdict).await;
    let delivered = Verdict::Delivered { provider_message_id: Some("m-5") };
    assert_eq!(settle(arrived, delivered).await.unwrap(), "sent");
    assert_eq!(settle(lost, Verdict::Resend).await.unwrap(), "retry");
    let known = refusal(settle(failed, Verdict::Resend).await);
    assert_eq!(known, ("ZD002".to_owned(), "the outcome of this delivery is known: 400; ".to_owned()));
    let (code, words) = refusal(settle(arrived, delivered).await);
    assert_eq!((code.as_str(), words.as_str()), ("ZD002", "the delivery is sent; it would have to be failed_permanent or dead"));
    assert_eq!(refusal(settle(theirs, delivered).await).0, "ZD003");
    assert_eq!(stage.start(stage.ours).await, [(lost, "old-bot".to_owned(), 2)]);
    let provider: String =
        stage.one(&format!("provider_message_id from posting.deliveries where delivery_id = '{arrived}'")).await;
    assert_eq!(provider, "m-5");
    let audited: i64 =
        stage.one("count(*) from posting.events where action = 'manual_settle' and meta->>'operator' = 'ann@shop.example'").await;
    assert_eq!(audited, 2);
}

#[tokio::test]
async fn nothing_is_done_by_hand_without_a_name_and_a_reason() {
    let mut stage = stage().await;
    let dead = stage.deliver(stage.ours, "a", To::Dead, 5).await;
    let (db, ours) = (stage.test.db.clone(), stage.ours);
    let before = stage.rows().await;
    for by in [By { operator: " ", reason: "why" }, By { operator: "ann", reason: "" }] {
        let codes = [
            refusal(ops::requeue_dead(&db, ours, by, Which::Named(&[dead]), Mode::Apply).await).0,
            refusal(ops::requeue_failed(&db, ours, by, Which::All, Mode::Apply).await).0,
            refusal(ops::pause(&db, ours, by, "a", HOUR).await).0,
            refusal(ops::enable(&db, ours, by, "a").await).0,
            refusal(ops::disable_group(&db, ours, by, "bot").await).0,
            refusal(ops::enable_group(&db, ours, by, "bot").await).0,
            refusal(ops::rotate_auth(&db, ours, by, "a", "new-bot", None).await).0,
            refusal(ops::release_stale(&db, ours, by, HOUR, Mode::Apply).await).0,
            refusal(ops::settle(&db, ours, by, dead, Verdict::Resend).await).0,
        ];
        assert_eq!(codes, ["ZD005"; 9]);
    }
    assert!(stage.changes(&before).await.fields().is_empty());
    let by = By { operator: "ann", reason: "the new token=s3cr3t-value works" };
    ops::pause(&db, ours, by, "a", HOUR).await.unwrap();
    let reason: String = stage.one("meta->>'reason' from posting.events where action = 'channel_paused'").await;
    assert_eq!(reason, "the new token=[secret] works");
}

#[tokio::test]
async fn the_snapshot_and_the_errors_are_those_of_one_workspace() {
    let mut stage = stage().await;
    let failed = stage.deliver(stage.ours, "a", To::Failed, 29).await;
    stage.deliver(stage.ours, "a", To::Failed, 31).await;
    stage.deliver(stage.ours, "a", To::Sent, 1).await;
    stage.deliver(stage.theirs, "a", To::Failed, 1).await;
    let rows = ops::snapshot(&stage.test.db, stage.ours).await.unwrap();
    let counts: Vec<(&str, i64)> = rows.iter().map(|row| (row.status.as_str(), row.deliveries)).collect();
    assert_eq!(counts, [("failed_permanent", 2), ("sent", 1)]);
    let half_an_hour = Duration::from_mins(30);
    let errors = ops::errors(&stage.test.db, stage.ours, half_an_hour, 200).await.unwrap();
    assert_eq!(errors.len(), 2);
    assert!(errors.iter().all(|row| row.delivery_id == Some(failed) && row.attempt == 1 && row.result == "error"));
    assert_eq!(ops::errors(&stage.test.db, stage.ours, half_an_hour, 1).await.unwrap().len(), 1);
}
