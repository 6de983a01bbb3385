//! Knowledge as a subject of the harness.

use std::path::Path;

use crate::chaos::{
    crew::Part,
    subject::{Failpoint, Subject},
};

pub(super) static SUBJECT: Subject = Subject {
    name: "knowledge",
    apis: 1,
    worker_roles: "runner,dispatcher,monitor",
    providers: &["telegram", "web", "openai"],
    settings,
    setup: || include_str!("setup.sql").to_owned(),
    failpoints,
    failures: &FAILURES,
    // The job of something that was forgotten or edited away meanwhile.
    refusals: &["there is no document", "there is no address", "there is no such fetch"],
    under_way: "select count(*) from ops.jobs where job_type like 'knowledge.%' and status <> 'failed'",
    // A job that failed waits for up to a quarter of an hour, one whose worker died for a minute, and its page for two. Twelve
    // attempts are all that a job has, so a wait is never cut to nothing. What somebody holds is skipped: whoever never waits
    // can be part of no deadlock.
    hurry: "with late as (
                select j.workspace_id, j.id from ops.jobs j
                 where j.job_type like 'knowledge.%' and j.status = 'queued' and j.attempts > 0
                   and j.next_run_at between platform.now() + interval '3 seconds' and platform.now() + interval '20 minutes'
                   for no key update skip locked
            ), silent as (
                select j.workspace_id, j.id from ops.jobs j
                 where j.job_type like 'knowledge.%' and j.status = 'running' and j.started_at < platform.now() - interval '5 seconds'
                   and j.leased_until > platform.now()
                   for no key update skip locked
            ), left_busy as (
                select u.workspace_id, u.id from content.urls u
                 where u.busy_until between platform.now() and platform.now() + interval '115 seconds'
                   for no key update skip locked
            ), hurried as (
                update ops.jobs j set next_run_at = platform.now() + interval '2 seconds' from late l
                 where (j.workspace_id, j.id) = (l.workspace_id, l.id)
            ), expired as (
                update ops.jobs j set leased_until = platform.now() from silent l
                 where (j.workspace_id, j.id) = (l.workspace_id, l.id)
            )
            update content.urls u set busy_until = null from left_busy l where (u.workspace_id, u.id) = (l.workspace_id, l.id)",
    stuck: "select j.id::text, j.job_type || ' ' || j.payload::text || ' is ' || j.status || ', attempt ' || j.attempts || ', due '
                   || j.next_run_at || coalesce(', leased until ' || j.leased_until, '') || coalesce(': ' || (j.last_error ->> 'message'), '')
              from ops.jobs j where j.job_type like 'knowledge.%' and j.status <> 'failed' order by j.id",
    held: "select id::text, attempts from ops.jobs
            where job_type like 'knowledge.%' and status = 'running' and started_at < now() - make_interval(secs => $1)",
    taken_over: "select coalesce(bool_or(j.status = 'running' and j.attempts > h.attempt), false)
                   from unnest($1::bigint[], $2::int[]) h (id, attempt) join ops.jobs j on j.id = h.id",
};

/// Between an object and its blob, between facts and the end of their update, between vectors and their rows.
const FAILPOINTS: [Failpoint; 3] =
    [("knowledge.object_stored", 0.08), ("knowledge.facts_stored", 0.03), ("knowledge.embedded", 0.03)];

/// Only what passes: a page that is gone for good is set up as such, and the embedder has to come to its end with every chunk. Two
/// fifths of the calls, which leaves 30 % of all when the calls are counted that a stopped worker needs to be slow and good.
const FAILURES: [(f64, &str); 5] = [
    (0.12, r#"{"drop": "after"}"#),
    (0.10, r#"{"drop": "before"}"#),
    (0.12, r#"{"status": 500}"#),
    (0.06, r#"{"status": 502, "body": "<html>Bad Gateway</html>"}"#),
    (0.02, r#"{"status": 429, "retry_after": 1}"#),
];

fn failpoints(part: Part) -> &'static [Failpoint] {
    if part == Part::Dispatcher { &FAILPOINTS } else { &[] }
}

/// The pages and the embedder are the simulator's, and all processes have one object store.
fn settings(simulator: &str, dir: &Path) -> Vec<(&'static str, String)> {
    vec![
        ("BERESTA_FETCH_ALLOW", simulator.trim_start_matches("http://").trim_end_matches('/').to_owned()),
        ("BERESTA_EMBEDDER", "openai".to_owned()),
        ("BERESTA_OPENAI_BASE_URL", format!("{simulator}/openai")),
        ("BERESTA_OPENAI_API_KEY", "env:CHAOS_TELEGRAM_TOKEN".to_owned()),
        ("BERESTA_OBJECTS_URL", format!("file://{}", dir.join("objects").display())),
    ]
}
