//! The shop bot as a subject of the harness.

use crate::chaos::{
    crew::Part,
    subject::{Failpoint, Subject},
};

pub(super) static SUBJECT: Subject = Subject {
    name: "shopbot",
    apis: 2,
    worker_roles: "dispatcher,monitor",
    providers: &["telegram", "max"],
    settings: |_, _| Vec::new(),
    setup: || include_str!("setup.sql").to_owned(),
    failpoints,
    failures: &FAILURES,
    refusals: &[],
    under_way: "select count(*) from shopbot.bot_outbox where phase = 'open'",
    // Pauses double up to five minutes. A longer wait is nobody's intention, and is left to be found. What somebody holds is
    // skipped: whoever never waits can be part of no deadlock.
    hurry: "with late as (
                select o.workspace_id, o.answer_id from shopbot.bot_outbox o
                 where o.phase = 'open' and o.status = 'retry'
                   and o.next_retry_at between platform.now() + interval '1 second' and platform.now() + interval '6 minutes'
                   for no key update skip locked)
            update shopbot.bot_outbox o set next_retry_at = platform.now() from late l
             where o.workspace_id = l.workspace_id and o.answer_id = l.answer_id",
    stuck: "select o.inbound_provider_message_id,
                   o.provider || ' chat ' || o.chat_id || ': the answer to ' || o.inbound_provider_message_id || ' is ' || o.status
                   || ', attempt ' || o.attempt || ', due ' || o.next_retry_at || coalesce(', leased until ' || o.claimed_until, '')
                   || coalesce(', its bot closed until ' || b.closed_until, '')
              from shopbot.bot_outbox o join shopbot.bots b on b.workspace_id = o.workspace_id and b.bot_id = o.bot_id
             where o.phase = 'open' order by o.seq",
    // What is being sent was last updated by its claim.
    held: "select answer_id::text, attempt from shopbot.bot_outbox
            where phase = 'open' and status = 'sending' and updated_at < now() - make_interval(secs => $1)",
    taken_over: "select coalesce(bool_or(o.status = 'sending' and o.attempt > h.attempt), false)
                   from unnest($1::uuid[], $2::int[]) h (id, attempt) join shopbot.bot_outbox o on o.answer_id = h.id",
};

/// A claim is looked for many times a second, the others are passed once for each send.
const OF_SENDERS: [Failpoint; 5] = [
    ("shopbot.claimed", 0.006),
    ("shopbot.before_send", 0.03),
    ("shopbot.acknowledged", 0.03),
    ("shopbot.sent_not_recorded", 0.03),
    ("shopbot.recorded", 0.03),
];
/// Passed once for each webhook. The owner has none: PostgreSQL would go with it each time.
const OF_APIS: [Failpoint; 1] = [("shopbot.before_answer", 0.03)];

/// Only what passes: an answer that a provider refuses for good never arrives, and that every answer does is to be shown. One
/// answer of 429 closes a bot for two seconds.
const FAILURES: [(f64, &str); 5] = [
    (0.10, r#"{"drop": "after"}"#),
    (0.08, r#"{"drop": "before"}"#),
    (0.11, r#"{"status": 500}"#),
    (0.05, r#"{"status": 502, "body": "<html>Bad Gateway</html>"}"#),
    (0.01, r#"{"status": 429, "retry_after": 1}"#),
];

fn failpoints(part: Part) -> &'static [Failpoint] {
    match part {
        Part::Dispatcher => &OF_SENDERS,
        Part::Api => &OF_APIS,
        Part::Simulator | Part::Owner => &[],
    }
}
