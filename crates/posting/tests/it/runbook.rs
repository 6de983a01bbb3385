//! The runbook of the specification, word for word: its statements run on our tables and do what they say, and nothing else.

use jiff::Timestamp;
use kernel::Clock;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor, PgConnection, Row, postgres::PgRow};
use uuid::Uuid;

use crate::stage::{Changes, Stage, To};

/// The statements exactly as the specification has them, each under its heading.
const RUNBOOK: &str = include_str!("runbook.sql");
const ROLES: [&str; 2] = ["beresta_system", "none"];
const WHO: [(&str, &str); 2] = [("operator", "'ann'"), ("reason", "'it''s mended'")];

/// A block as it is, without its heading.
fn verbatim(number: usize) -> &'static str {
    let heading = format!("{number}) ");
    RUNBOOK.split("-- ### ").find(|part| part.starts_with(&heading)).unwrap().split_once('\n').unwrap().1
}

/// A block with its parameters written in.
fn block(number: usize, parameters: &[(&str, String)]) -> String {
    let mut text = verbatim(number).to_owned();
    for (name, value) in parameters {
        assert!(text.contains(&format!(":{name}")), "block {number} has no :{name}");
        text = text.replace(&format!(":{name}"), value);
    }
    let is_bound = text.split(':').skip(1).all(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    assert!(is_bound, "block {number} has more parameters: {text}");
    text
}

fn quoted(value: &(impl ToString + ?Sized)) -> String {
    format!("'{}'", value.to_string().replace('\'', "''"))
}

fn ids(ids: &[Uuid]) -> String {
    format!("'{{{}}}'", ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

/// An operator's session with the search path that the runbook takes for granted.
async fn session(stage: &Stage, role: &str) -> PgConnection {
    let mut session = stage.test.owner().await;
    session.execute(AssertSqlSafe(format!("set role {role}; set search_path = posting, core"))).await.unwrap();
    session
}

/// Runs a block of the runbook for our workspace as this role; `:workspace_id` and the `who` ones it has are given.
async fn run(stage: &Stage, role: &str, number: usize, parameters: &[(&str, String)]) -> Vec<PgRow> {
    let mut all: Vec<(&str, String)> = parameters.to_vec();
    all.push(("workspace_id", quoted(&stage.ours)));
    let text = verbatim(number);
    all.extend(
        WHO.iter().filter(|(name, _)| text.contains(&format!(":{name}"))).map(|(name, value)| (*name, (*value).to_owned())),
    );
    let text = block(number, &all);
    let mut session = session(stage, role).await;
    sqlx::raw_sql(AssertSqlSafe(text.clone())).fetch_all(&mut session).await.unwrap_or_else(|error| panic!("{text}: {error}"))
}

async fn stage() -> Stage {
    Stage::new(Clock::system()).await
}

fn changed(rows: &[(&str, &str)]) -> Vec<String> {
    let mut lines: Vec<String> = rows.iter().map(|(name, fields)| format!("{name}: {fields}")).collect();
    lines.sort();
    lines
}

/// A time of the changes lies this many seconds from now, give or take the time that a test needs.
fn assert_from_now(changes: &Changes, row: &str, field: &str, seconds: i64) {
    let at: Timestamp = changes.field(row, field).as_str().unwrap().parse().unwrap();
    let off = at.duration_since(Timestamp::now()).as_secs() - seconds;
    assert!((-60..=0).contains(&off), "{row} {field}: {at} is {off} s off");
}

#[test]
fn the_runbook_is_whole() {
    let headings: Vec<&str> = RUNBOOK.lines().filter(|line| line.starts_with("-- ### ")).collect();
    assert_eq!(headings.len(), 11, "the prerequisite and ten operations: {headings:?}");
}

#[tokio::test]
async fn the_prerequisite_holds_or_is_not_needed() {
    let mut stage = stage().await;
    let is_available: bool = stage.one("exists (select from pg_available_extensions where name = 'pgcrypto')").await;
    if is_available {
        stage.run(&block(0, &[])).await;
    } else {
        eprintln!("skipped: `create extension pgcrypto`, which this PostgreSQL does not bring along");
    }
    let is_built_in: bool = stage.one("to_regprocedure('pg_catalog.gen_random_uuid()') is not null").await;
    assert!(is_built_in, "all that the runbook wants of pgcrypto");
}

#[tokio::test]
async fn block_1_counts_the_deliveries_of_each_status_in_one_workspace() {
    let mut stage = stage().await;
    for to in [To::Sent, To::Sent, To::Retry, To::Dead, To::Failed, To::Sending, To::Queued] {
        stage.deliver(stage.ours, "a", to, 0).await;
    }
    stage.deliver(stage.theirs, "a", To::Dead, 0).await;
    for role in ROLES {
        let rows = run(&stage, role, 1, &[]).await;
        let counts: Vec<(String, i64)> = rows.iter().map(|row| (row.get("status"), row.get("cnt"))).collect();
        let expected = [("dead", 1), ("failed_permanent", 1), ("queued", 1), ("retry", 1), ("sending", 1), ("sent", 2)];
        assert_eq!(counts, expected.map(|(status, count)| (status.to_owned(), count)));
    }
}

#[tokio::test]
async fn block_2_shows_the_errors_of_the_last_half_hour_newest_first() {
    let mut stage = stage().await;
    stage.deliver(stage.ours, "a", To::Failed, 31).await;
    let dead = stage.deliver(stage.ours, "a", To::Dead, 20).await;
    let failed = stage.deliver(stage.ours, "a", To::Failed, 10).await;
    stage.deliver(stage.ours, "a", To::Sent, 5).await;
    stage.deliver(stage.theirs, "a", To::Failed, 5).await;
    for role in ROLES {
        let rows = run(&stage, role, 2, &[]).await;
        let mut seen: Vec<(Uuid, String, i32)> =
            rows.iter().map(|row| (row.get("delivery_id"), row.get("action"), row.get("attempt"))).collect();
        seen[..2].sort_by(|a, b| a.1.cmp(&b.1));
        seen[2..].sort_by(|a, b| a.1.cmp(&b.1));
        let expected = [(failed, "failed_permanent"), (failed, "send_attempt"), (dead, "dead_letter"), (dead, "send_attempt")];
        assert_eq!(seen, expected.map(|(id, action)| (id, action.to_owned(), 1)));
        assert_eq!(rows[0].get::<Value, _>("error")["message"], "no such chat");
    }
}

#[tokio::test]
async fn block_3_requeues_the_dead_among_the_named_and_they_are_sent() {
    for role in ROLES {
        let mut stage = stage().await;
        let dead = stage.deliver(stage.ours, "a", To::Dead, 1).await;
        stage.deliver(stage.ours, "a", To::Dead, 1).await;
        let failed = stage.deliver(stage.ours, "a", To::Failed, 1).await;
        let theirs = stage.deliver(stage.theirs, "a", To::Dead, 1).await;
        let before = stage.rows().await;
        run(&stage, role, 3, &[("delivery_ids", ids(&[dead, failed, theirs]))]).await;
        let changes = stage.changes(&before).await;
        let row = format!("delivery {dead}");
        assert_eq!(changes.fields(), changed(&[(&row, "next_retry_at phase status updated_at")]));
        assert_eq!(changes.field(&row, "status"), "retry");
        assert_from_now(&changes, &row, "next_retry_at", 0);
        let meta = json!({ "operator": "ann", "reason": "it's mended", "from_status": "dead" });
        assert_eq!(changes.events(), [(dead.to_string(), "manual_requeue".to_owned(), 1, meta)]);
        stage.now(1).await;
        assert_eq!(stage.start(stage.ours).await, [(dead, "old-bot".to_owned(), 2)]);
    }
}

#[tokio::test]
async fn block_4_requeues_what_failed_by_itself_and_not_because_of_its_channel() {
    for role in ROLES {
        let mut stage = stage().await;
        let failed = stage.deliver(stage.ours, "a", To::Failed, 1).await;
        let by_channel = stage.deliver(stage.ours, "b", To::FailedByChannel, 1).await;
        let theirs = stage.deliver(stage.theirs, "a", To::Failed, 1).await;
        let dead = stage.deliver(stage.ours, "a", To::Dead, 1).await;
        let before = stage.rows().await;
        run(&stage, role, 4, &[("delivery_ids", ids(&[failed, by_channel, theirs, dead]))]).await;
        let changes = stage.changes(&before).await;
        let row = format!("delivery {failed}");
        assert_eq!(changes.fields(), changed(&[(&row, "next_retry_at phase status updated_at")]));
        assert_eq!(changes.field(&row, "status"), "retry");
        let meta = json!({ "operator": "ann", "reason": "it's mended", "from_status": "failed_permanent" });
        assert_eq!(changes.events(), [(failed.to_string(), "manual_requeue".to_owned(), 1, meta)]);
        stage.now(1).await;
        assert_eq!(stage.start(stage.ours).await, [(failed, "old-bot".to_owned(), 2)]);
    }
}

#[tokio::test]
async fn block_5_pauses_one_channel_and_nothing_starts_there_until_it_is_over() {
    for role in ROLES {
        let mut stage = stage().await;
        let waits = stage.deliver(stage.ours, "a", To::Queued, 0).await;
        let before = stage.rows().await;
        run(&stage, role, 5, &[("pause_seconds", quoted("600")), ("channel_id", quoted("a"))]).await;
        let changes = stage.changes(&before).await;
        let row = stage.channel("a");
        assert_eq!(changes.fields(), changed(&[(&row, "paused_until updated_at")]));
        assert_from_now(&changes, &row, "paused_until", 600);
        let meta = json!({ "operator": "ann", "reason": "it's mended", "manual": true });
        assert_eq!(changes.events(), [("a".to_owned(), "channel_paused".to_owned(), 0, meta)]);
        assert!(stage.start(stage.ours).await.is_empty());
        stage.now(601).await;
        assert_eq!(stage.start(stage.ours).await[0].0, waits);
    }
}

#[tokio::test]
async fn block_6_opens_a_quarantined_channel() {
    for role in ROLES {
        let mut stage = stage().await;
        stage.deliver(stage.ours, "a", To::FailedByChannel, 1).await;
        stage.deliver(stage.theirs, "a", To::FailedByChannel, 1).await;
        stage.run("update posting.channels set enabled = false where channel_id = 'a'").await;
        let before = stage.rows().await;
        run(&stage, role, 6, &[("channel_id", quoted("a"))]).await;
        let changes = stage.changes(&before).await;
        let row = stage.channel("a");
        assert_eq!(changes.fields(), changed(&[(&row, "enabled error_streak paused_until updated_at")]));
        let now = ["enabled", "error_streak", "paused_until"].map(|field| changes.field(&row, field));
        assert_eq!(now, [json!(true), json!(0), Value::Null]);
        let meta = json!({ "operator": "ann", "reason": "it's mended", "manual": true });
        assert_eq!(changes.events(), [("a".to_owned(), "channel_enabled".to_owned(), 0, meta)]);
        let next = stage.deliver(stage.ours, "a", To::Queued, 0).await;
        assert_eq!(stage.start(stage.ours).await[0].0, next);
    }
}

#[tokio::test]
async fn blocks_7_and_8_close_and_open_the_channels_of_a_group() {
    for role in ROLES {
        let mut stage = stage().await;
        let waits = stage.deliver(stage.ours, "a", To::Queued, 0).await;
        let before = stage.rows().await;
        run(&stage, role, 7, &[("rate_group", quoted("bot"))]).await;
        let changes = stage.changes(&before).await;
        let (a, b) = (stage.channel("a"), stage.channel("b"));
        assert_eq!(changes.fields(), changed(&[(&a, "enabled updated_at"), (&b, "enabled updated_at")]));
        let meta = json!({ "operator": "ann", "reason": "it's mended", "rate_group": "bot", "manual": true });
        let event = |channel: &str, action: &str| (channel.to_owned(), action.to_owned(), 0, meta.clone());
        assert_eq!(changes.events(), [event("a", "channel_disabled"), event("b", "channel_disabled")]);
        assert!(stage.start(stage.ours).await.is_empty());

        stage.run("update posting.channels set error_streak = 2, paused_until = now() + interval '1 hour'").await;
        let before = stage.rows().await;
        run(&stage, role, 8, &[("rate_group", quoted("bot"))]).await;
        let changes = stage.changes(&before).await;
        let fields = "enabled error_streak paused_until updated_at";
        assert_eq!(changes.fields(), changed(&[(&a, fields), (&b, fields)]));
        assert_eq!(changes.events(), [event("a", "channel_enabled"), event("b", "channel_enabled")]);
        assert_eq!(stage.start(stage.ours).await[0].0, waits);
    }
}

#[tokio::test]
async fn block_9_switches_the_credential_and_says_how_many_sends_use_the_old_one() {
    for role in ROLES {
        for (is_sending, new_group) in [(false, "null"), (true, "'spare'")] {
            let mut stage = stage().await;
            if is_sending {
                stage.deliver(stage.ours, "a", To::Sending, 0).await;
            }
            let before = stage.rows().await;
            let parameters = [
                ("channel_id", quoted("a")),
                ("new_auth_ref", quoted("new-bot")),
                ("old_auth_ref", quoted("old-bot")),
                ("new_rate_group", new_group.to_owned()),
            ];
            let rows = run(&stage, role, 9, &parameters).await;
            assert_eq!(rows[0].get::<i64, _>("sending_now"), i64::from(is_sending), "the operator looks at this");
            let mut changes = stage.changes(&before).await;
            let row = stage.channel("a");
            let fields =
                if is_sending { "auth_ref paused_until rate_group updated_at" } else { "auth_ref paused_until updated_at" };
            assert_eq!(changes.fields(), changed(&[(&row, fields)]));
            assert_from_now(&changes, &row, "paused_until", 120);
            let auth = changes.added.iter().position(|row| row.get("rotated_at").is_some()).unwrap();
            assert_eq!(changes.added.remove(auth)["auth_ref"], "new-bot");
            let meta = json!({ "operator": "ann", "old_auth_ref": "old-bot", "new_auth_ref": "new-bot" });
            assert_eq!(changes.events(), [("a".to_owned(), "auth_rotated".to_owned(), 0, meta)]);
            let next = stage.deliver(stage.ours, "a", To::Queued, 0).await;
            stage.now(121).await;
            assert_eq!(stage.start(stage.ours).await, [(next, "new-bot".to_owned(), 1)]);
        }
    }
}

#[tokio::test]
async fn block_10_releases_what_is_stale_and_a_late_answer_no_longer_counts() {
    for role in ROLES {
        let mut stage = stage().await;
        let claimed = stage.deliver(stage.ours, "a", To::Claimed, 11).await;
        let sending = stage.deliver(stage.ours, "b", To::Sending, 11).await;
        stage.deliver(stage.theirs, "a", To::Sending, 11).await;
        stage.deliver(stage.ours, "c", To::Sending, 9).await;
        stage.deliver(stage.ours, "c", To::Claimed, 9).await;
        let before = stage.rows().await;
        run(&stage, role, 10, &[]).await;
        let mut changes = stage.changes(&before).await;
        let counters = ["a", "b"].map(|channel| format!("counter {channel} of {}", stage.ours));
        let freed = counters.map(|counter| changes.updated.remove(&counter).unwrap());
        assert_eq!(
            freed.map(|counter| counter.into_iter().collect::<Vec<_>>()),
            [vec![("claimed".to_owned(), json!(0))], vec![("sending".to_owned(), json!(0))]]
        );
        let rows = [format!("delivery {claimed}"), format!("delivery {sending}")];
        let fields = "claim_token claimed_at next_retry_at status updated_at";
        let sending_fields = "claim_token claimed_at next_retry_at sending_started_at status updated_at";
        assert_eq!(changes.fields(), changed(&[(&rows[0], fields), (&rows[1], sending_fields)]));
        for row in &rows {
            assert_eq!(changes.field(row, "status"), "retry");
            assert_from_now(&changes, row, "next_retry_at", 15);
        }
        let meta = json!({ "operator": "ann", "reason": "manual_stuck_release" });
        let mut expected = [(claimed, 0), (sending, 1)]
            .map(|(id, attempt)| (id.to_string(), "manual_requeue".to_owned(), attempt, meta.clone()));
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(changes.events(), expected);
        let late: String =
            stage.one(&format!("posting.schedule_retry('{}', '{sending}', null, '{{}}', 'run-{sending}')", stage.ours)).await;
        assert_eq!(late, "lost");
        stage.now(16).await;
        let mut started: Vec<Uuid> = stage.start(stage.ours).await.into_iter().map(|row| row.0).collect();
        started.sort();
        let mut expected = [claimed, sending];
        expected.sort();
        assert_eq!(started, expected);
    }
}
