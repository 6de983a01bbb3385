//! Posting as a subject of the harness.

use serde_json::Value;

use super::{
    channels::{CHANNELS, ChaosChannel, GROUP_RATE},
    crew::Part,
    pusher::PUSH_SECRET,
    subject::{Failpoint, Subject},
};

pub(super) static SUBJECT: Subject = Subject {
    name: "posting",
    apis: 1,
    worker_roles: "dispatcher,monitor",
    providers: &["telegram", "max"],
    settings: |_, _| Vec::new(),
    setup,
    failpoints,
    failures: &FAILURES,
    refusals: &[],
    under_way: "select count(*) from posting.deliveries where phase = 'inflight'",
    // After an expired lease a delivery waits up to half a minute. A wait of more than a minute is nobody's intention, and is
    // left to be found.
    hurry: "update posting.deliveries set next_retry_at = platform.now() where phase = 'inflight' and status = 'retry'
               and next_retry_at between platform.now() + interval '2 seconds' and platform.now() + interval '1 minute'",
    stuck: "select d.delivery_id::text, d.channel_id || ' ' || d.status || ' waits for ' || coalesce(posting.waiting_for(d)::text, 'nothing')
              from posting.deliveries d where d.phase = 'inflight' order by d.created_at",
    held: "select delivery_id::text, attempt from posting.deliveries
            where phase = 'inflight' and status = 'sending' and sending_started_at < now() - make_interval(secs => $1)",
    taken_over: "select coalesce(bool_or(d.status = 'sending' and d.attempt > h.attempt), false)
                   from unnest($1::uuid[], $2::int[]) h (id, attempt) join posting.deliveries d on d.delivery_id = h.id",
};

/// So that a busy dispatcher lives for some seconds. A claim is looked for many times a second, the others are passed once for
/// each send.
const FAILPOINTS: [Failpoint; 5] = [
    ("posting.claimed", 0.006),
    ("posting.before_send", 0.03),
    ("posting.acknowledged", 0.03),
    ("posting.sent_not_recorded", 0.03),
    ("posting.recorded", 0.03),
];

/// Half of the calls, which leaves 30 % of all when the calls are counted that a stopped worker needs to be slow and good.
const FAILURES: [(f64, &str); 7] = [
    (0.14, r#"{"drop": "after"}"#),
    (0.13, r#"{"drop": "before"}"#),
    (0.13, r#"{"status": 500}"#),
    (0.05, r#"{"status": 502, "body": "<html>Bad Gateway</html>"}"#),
    (0.02, r#"{"status": 429, "retry_after": 1}"#),
    (0.01, r#"{"status": 403}"#),
    (0.02, r#"{"status": 400}"#),
];

fn failpoints(part: Part) -> &'static [Failpoint] {
    if part == Part::Dispatcher { &FAILPOINTS } else { &[] }
}

fn setup() -> String {
    let channels: Vec<Value> = CHANNELS.iter().map(ChaosChannel::row).collect();
    include_str!("setup.sql")
        .replace("{secret}", PUSH_SECRET)
        .replace("{group_rate}", &GROUP_RATE.to_string())
        .replace("{channels}", &Value::Array(channels).to_string())
}
