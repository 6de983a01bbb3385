//! The queue: enqueued exactly with its transaction, run under a lease, ended once, never looping.

use std::time::Duration;

use jiff::SignedDuration;
use kernel::{RetryPolicy, WorkspaceId};
use platform::{
    Db, DbError,
    jobs::{self, Drained, Job, JobError, JobType, NewJob, Registry, Runner, store},
};
use serde_json::{Value, json};
use testkit::TestDb;
use tokio_util::sync::CancellationToken;

pub(crate) const TYPE: &str = "sample";

/// A runner of one job type.
pub(crate) fn runner<F, R>(db: &Db, job_type: JobType, handler: F) -> Runner
where
    F: Fn(Job) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), JobError>> + Send + 'static,
{
    let mut registry = Registry::new();
    registry.register(job_type, handler);
    Runner::new(db.clone(), registry, "worker-1")
}

/// A database with the type registered, and a workspace.
async fn setup() -> (TestDb, WorkspaceId) {
    let db = TestDb::frozen().await;
    let workspace = db.workspace("ours").await;
    runner(&db.db, JobType::new(TYPE), |_| async { Ok(()) }).register().await.unwrap();
    (db, workspace)
}

pub(crate) async fn enqueue(db: &Db, workspace: WorkspaceId, job: NewJob) -> i64 {
    let mut tx = db.begin(workspace).await.unwrap();
    let id = jobs::enqueue(&mut tx, workspace, job, None).await.unwrap();
    tx.commit().await.unwrap();
    id
}

async fn claim(db: &Db, worker: &str) -> Vec<Job> {
    store::expire_leases(db.pool(), &[TYPE]).await.unwrap();
    let wanted = store::WantedJobs { job_type: TYPE, limit: 10, after: store::After::START };
    store::claim_jobs(db.pool(), worker, &[wanted]).await.unwrap()
}

pub(crate) async fn status(db: &Db, id: i64) -> Option<String> {
    sqlx::query_scalar("select status from ops.jobs where id = $1").bind(id).fetch_optional(db.pool()).await.unwrap()
}

async fn outcomes(db: &Db, id: i64) -> Vec<String> {
    let query = "select outcome from ops.job_runs where job_id = $1 order by attempt, ts";
    sqlx::query_scalar(query).bind(id).fetch_all(db.pool()).await.unwrap()
}

#[tokio::test]
async fn every_change_of_jobs_is_published_once_for_each_workspace() {
    let (db, ours) = setup().await;
    let theirs = db.workspace("theirs").await;
    let told = async || -> Vec<i64> {
        let query = "select (select count(*) from bus.messages m where m.topic = 'jobs' and m.workspace_id = w)
                       from unnest($1::uuid[]) with ordinality t (w, n) order by n";
        let workspaces = [ours.uuid(), theirs.uuid(), WorkspaceId::SYSTEM.uuid()];
        sqlx::query_scalar(query).bind(workspaces).fetch_all(db.db.pool()).await.unwrap()
    };
    for workspace in [ours, ours, ours, theirs, WorkspaceId::SYSTEM] {
        enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    }
    assert_eq!(told().await, [3, 1, 0], "the jobs of the system are on no page");
    let lease = |jobs: &[Job]| jobs.iter().map(store::Lease::from).collect::<Vec<_>>();
    let jobs = claim(&db.db, "a").await;
    assert_eq!((jobs.len(), told().await), (5, vec![4, 2, 0]));
    store::release_jobs(db.db.pool(), &lease(&jobs)).await.unwrap();
    assert_eq!(told().await, [5, 3, 0]);
    claim(&db.db, "b").await;
    db.clock.advance(SignedDuration::from_hours(1));
    let jobs = claim(&db.db, "c").await;
    assert_eq!(told().await, [8, 6, 0], "claimed, expired and claimed again");
    store::complete_jobs(db.db.pool(), &lease(&jobs)).await.unwrap();
    assert_eq!(told().await, [9, 7, 0]);
    assert!(claim(&db.db, "d").await.is_empty());
    assert_eq!(told().await, [9, 7, 0], "nothing has changed");
}

#[tokio::test]
async fn a_job_exists_exactly_if_the_transaction_that_asked_for_it_commits() {
    let (db, workspace) = setup().await;
    let mut tx = db.db.begin(workspace).await.unwrap();
    jobs::enqueue(&mut tx, workspace, NewJob::new(TYPE, json!({})), None).await.unwrap();
    drop(tx);
    assert_eq!(claim(&db.db, "w").await.len(), 0);
    enqueue(&db.db, workspace, NewJob::new(TYPE, json!({"n": 7}))).await;
    assert_eq!(claim(&db.db, "w").await[0].payload, json!({"n": 7}));
}

#[tokio::test]
async fn a_type_that_no_module_registered_is_refused_with_the_known_ones() {
    let (db, workspace) = setup().await;
    let mut tx = db.db.begin(workspace).await.unwrap();
    let error = jobs::enqueue(&mut tx, workspace, NewJob::new("sampel", json!({})), None).await.unwrap_err();
    let DbError::Refused { code, message, hint, .. } = error else { panic!("{error}") };
    assert_eq!((code.as_str(), message.as_str()), ("ZP004", "no module registered the job type sampel"));
    assert_eq!(hint.as_deref(), Some("known types: sample"));
}

#[tokio::test]
async fn a_payload_over_the_limit_is_refused() {
    let (db, workspace) = setup().await;
    let mut tx = db.db.begin(workspace).await.unwrap();
    let payload = json!({"text": "ю".repeat(200_000)});
    let error = jobs::enqueue(&mut tx, workspace, NewJob::new(TYPE, payload), None).await.unwrap_err();
    assert!(matches!(&error, DbError::Constraint { constraint } if constraint == "job_payload_bounded"), "{error}");
}

#[tokio::test]
async fn a_claimed_job_is_nobody_elses_until_its_lease_runs_out() {
    let (db, workspace) = setup().await;
    enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    assert_eq!(claim(&db.db, "first").await.len(), 1);
    assert_eq!(claim(&db.db, "second").await.len(), 0);
    db.clock.advance(SignedDuration::from_secs(61));
    let again = claim(&db.db, "second").await;
    assert_eq!((again.len(), again[0].attempt), (1, 2));
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_cannot_complete() {
    let (db, workspace) = setup().await;
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    let first = claim(&db.db, "first").await;
    db.clock.advance(SignedDuration::from_secs(61));
    let second = claim(&db.db, "second").await;
    let late = [(&first[0]).into()];
    assert_eq!(store::complete_jobs(db.db.pool(), &late).await.unwrap(), Vec::<i64>::new());
    assert_eq!(store::extend_leases(db.db.pool(), &late).await.unwrap(), Vec::<i64>::new());
    assert_eq!(store::release_jobs(db.db.pool(), &late).await.unwrap(), Vec::<i64>::new());
    let failure = store::JobFailure { lease: late[0], error: json!({}), retry_in: None };
    assert_eq!(store::fail_jobs(db.db.pool(), &[failure]).await.unwrap(), []);
    assert_eq!(store::complete_jobs(db.db.pool(), &[(&second[0]).into()]).await.unwrap(), [id]);
    assert_eq!(outcomes(&db.db, id).await, ["lease_expired", "succeeded"]);
}

#[tokio::test]
async fn a_heartbeat_keeps_the_lease_of_a_long_job() {
    let (db, workspace) = setup().await;
    enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    let held = claim(&db.db, "first").await;
    db.clock.advance(SignedDuration::from_secs(50));
    assert_eq!(store::extend_leases(db.db.pool(), &[(&held[0]).into()]).await.unwrap().len(), 1);
    db.clock.advance(SignedDuration::from_secs(50));
    assert_eq!(claim(&db.db, "second").await.len(), 0);
}

#[tokio::test]
async fn a_job_that_kills_its_worker_every_time_ends_as_failed() {
    let (db, workspace) = setup().await;
    let policy = RetryPolicy { attempts_max: 3, ..RetryPolicy::jobs() };
    runner(&db.db, JobType::new(TYPE).policy(policy), |_| async { Ok(()) }).register().await.unwrap();
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    for _ in 0..3 {
        assert_eq!(claim(&db.db, "doomed").await.len(), 1);
        db.clock.advance(SignedDuration::from_secs(61));
    }
    assert_eq!(claim(&db.db, "next").await.len(), 0);
    assert_eq!(status(&db.db, id).await.as_deref(), Some("failed"));
    assert_eq!(outcomes(&db.db, id).await, ["lease_expired"; 3]);
    let reason: Value =
        sqlx::query_scalar("select last_error from ops.jobs where id = $1").bind(id).fetch_one(db.db.pool()).await.unwrap();
    assert_eq!(reason["message"], "worker doomed did not finish within its lease");
    let told: i64 =
        sqlx::query_scalar("select count(*) from ops.journal where action = 'job_failed'").fetch_one(db.db.pool()).await.unwrap();
    assert_eq!(told, 1);
}

#[tokio::test]
async fn a_failed_attempt_is_retried_later_and_later_until_the_attempts_are_used_up() {
    let (db, workspace) = setup().await;
    let policy = RetryPolicy { attempts_max: 3, jitter: 0.0, base: Duration::from_secs(10), ..RetryPolicy::jobs() };
    let runner = runner(&db.db, JobType::new(TYPE).policy(policy), |_| async { Err(JobError::retry("mail me at a@b.ru")) });
    runner.register().await.unwrap();
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    assert_eq!(runner.drain().await.unwrap(), Drained { picked: 1, succeeded: 0, failed: 1 });
    assert_eq!(runner.drain().await.unwrap().picked, 0);
    db.clock.advance(SignedDuration::from_secs(10));
    assert_eq!(runner.drain().await.unwrap().picked, 1);
    db.clock.advance(SignedDuration::from_secs(10));
    assert_eq!(runner.drain().await.unwrap().picked, 0);
    db.clock.advance(SignedDuration::from_secs(10));
    assert_eq!(runner.drain().await.unwrap().picked, 1);
    assert_eq!(status(&db.db, id).await.as_deref(), Some("failed"));
    assert_eq!(outcomes(&db.db, id).await, ["retried", "retried", "failed"]);
    let messages: Vec<String> =
        sqlx::query_scalar("select message from ops.errors order by ts").fetch_all(db.db.pool()).await.unwrap();
    assert_eq!(messages, ["mail me at [email]"; 3]);
}

#[tokio::test]
async fn a_providers_retry_after_is_kept_to() {
    let (db, workspace) = setup().await;
    let runner = runner(&db.db, JobType::new(TYPE), |_| async { Err(JobError::retry_after("429", Duration::from_hours(1))) });
    enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    assert_eq!(runner.drain().await.unwrap().failed, 1);
    db.clock.advance(SignedDuration::from_secs(3599));
    assert_eq!(runner.drain().await.unwrap().picked, 0);
    db.clock.advance(SignedDuration::from_secs(400));
    assert_eq!(runner.drain().await.unwrap().picked, 1);
}

#[tokio::test]
async fn a_final_failure_and_an_unreadable_payload_are_not_retried() {
    let (db, workspace) = setup().await;
    let runner = runner(&db.db, JobType::new(TYPE), |job: Job| async move { job.payload::<u32>().map(|_| ()) });
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({"not": "a number"}))).await;
    runner.drain().await.unwrap();
    assert_eq!(status(&db.db, id).await.as_deref(), Some("failed"));
    assert_eq!(outcomes(&db.db, id).await, ["failed"]);
}

#[tokio::test]
async fn a_panic_in_a_handler_is_a_failed_attempt() {
    let (db, workspace) = setup().await;
    let runner = runner(&db.db, JobType::new(TYPE), |job: Job| async move {
        assert!(job.attempt > 1, "the first attempt panics");
        Ok(())
    });
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    assert_eq!(runner.drain().await.unwrap().failed, 1);
    db.clock.advance(SignedDuration::from_hours(1));
    assert_eq!(runner.drain().await.unwrap().succeeded, 1);
    assert_eq!(outcomes(&db.db, id).await, ["retried", "succeeded"]);
}

#[tokio::test]
async fn an_operator_can_ask_for_a_failed_job_again() {
    let (db, workspace) = setup().await;
    let fails = runner(&db.db, JobType::new(TYPE), |_| async { Err(JobError::fail("no")) });
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    fails.drain().await.unwrap();
    assert!(store::retry_job(db.db.pool(), workspace, id, "olga", "fixed the token").await.unwrap());
    assert!(!store::retry_job(db.db.pool(), workspace, id, "olga", "again").await.unwrap());
    let works = runner(&db.db, JobType::new(TYPE), |_| async { Ok(()) });
    assert_eq!(works.drain().await.unwrap().succeeded, 1);
    let data: Value =
        sqlx::query_scalar("select data from ops.journal where action = 'job_retried'").fetch_one(db.db.pool()).await.unwrap();
    assert_eq!(data, json!({"operator": "olga", "reason": "fixed the token"}));
}

#[tokio::test]
async fn every_edge_that_is_not_allowed_is_refused_by_the_database_itself() {
    let (db, workspace) = setup().await;
    let allowed = [("queued", "running"), ("running", "queued"), ("running", "failed"), ("failed", "queued")];
    let states = ["queued", "running", "failed"];
    // Sets a job to a state by hand, with the columns that the state's own rules ask for.
    let set = "update ops.jobs set status = $2, next_run_at = case $2 when 'failed' then 'infinity'::timestamptz else now() end,
                      lease_id = case $2 when 'running' then gen_random_uuid() end,
                      leased_until = case $2 when 'running' then now() end
                where id = $1";
    for from in states {
        for to in states {
            let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
            let mut owner = db.owner().await;
            let path: &[&str] = match from {
                "queued" => &[],
                "running" => &["running"],
                _ => &["running", "failed"],
            };
            for step in path {
                sqlx::query(set).bind(id).bind(*step).execute(&mut owner).await.unwrap();
            }
            let result = sqlx::query(set).bind(id).bind(to).execute(&mut owner).await.map_err(DbError::from);
            if from == to || allowed.contains(&(from, to)) {
                result.unwrap_or_else(|error| panic!("{from} -> {to}: {error}"));
            } else {
                let error = result.expect_err("the edge is refused");
                assert!(error.is_refusal("ZP003"), "{from} -> {to}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn a_job_waits_for_its_time() {
    let (db, workspace) = setup().await;
    let at = db.clock.now() + SignedDuration::from_hours(2);
    enqueue(&db.db, workspace, NewJob::new(TYPE, json!({})).at(at)).await;
    assert_eq!(claim(&db.db, "w").await.len(), 0);
    assert_eq!(store::next_due_at(db.db.pool(), &[TYPE]).await.unwrap(), Some(at));
    db.clock.advance(SignedDuration::from_hours(2));
    assert_eq!(claim(&db.db, "w").await.len(), 1);
}

#[tokio::test]
async fn a_job_with_a_live_dedup_key_is_not_added_twice_but_may_come_again_once_it_is_done() {
    let (db, workspace) = setup().await;
    let job = || NewJob::new(TYPE, json!({})).once("chat-1");
    let first = enqueue(&db.db, workspace, job()).await;
    assert_eq!(enqueue(&db.db, workspace, job()).await, first);
    let other = db.workspace("theirs").await;
    assert_ne!(enqueue(&db.db, other, job()).await, first);
    let works = runner(&db.db, JobType::new(TYPE), |_| async { Ok(()) });
    assert_eq!(works.drain().await.unwrap().succeeded, 2);
    assert_ne!(enqueue(&db.db, workspace, job()).await, first);
}

#[tokio::test]
async fn a_key_whose_job_has_failed_is_asked_for_again_with_what_it_is_told_now() {
    let (db, workspace) = setup().await;
    let fails = runner(&db.db, JobType::new(TYPE), |_| async { Err(JobError::fail("no")) });
    let first = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({"n": 1})).once("chat-1")).await;
    fails.drain().await.unwrap();
    assert_eq!(status(&db.db, first).await.as_deref(), Some("failed"));
    assert_eq!(enqueue(&db.db, workspace, NewJob::new(TYPE, json!({"n": 2})).once("chat-1")).await, first);
    assert_eq!(claim(&db.db, "w").await[0].payload, json!({"n": 2}));
}

#[tokio::test]
async fn a_schedule_goes_on_after_one_of_its_jobs_has_failed() {
    let (db, workspace) = setup().await;
    store::put_schedule(db.db.pool(), workspace, "hourly", NewJob::new(TYPE, json!({})), Duration::from_hours(1)).await.unwrap();
    let fails = runner(&db.db, JobType::new(TYPE), |_| async { Err(JobError::fail("no")) });
    for _ in 0..3 {
        db.clock.advance(SignedDuration::from_hours(1));
        assert_eq!(fails.drain().await.unwrap(), Drained { picked: 1, succeeded: 0, failed: 1 });
    }
}

#[tokio::test]
async fn many_who_enqueue_one_key_at_once_all_get_the_same_job() {
    let (db, workspace) = setup().await;
    let all = (0..8).map(|_| {
        let process = db.another();
        async move { enqueue(&process, workspace, NewJob::new(TYPE, json!({})).once("one")).await }
    });
    let ids = futures::future::join_all(all).await;
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(claim(&db.db, "w").await.len(), 1);
}

/// Runs a real runner until as many attempts have ended.
async fn run_until(db: &TestDb, runner: Runner, attempts: i64) {
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    let query = "select count(*) from ops.job_runs";
    while sqlx::query_scalar::<_, i64>(query).fetch_one(db.db.pool()).await.unwrap() < attempts {
        tokio::task::yield_now().await;
    }
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn an_error_that_cannot_be_stored_as_it_is_spoils_neither_its_job_nor_the_others() {
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    let odd = runner(&db.another(), JobType::new(TYPE), |job: Job| async move {
        match job.payload["n"].as_i64() {
            Some(0) => Err(JobError::fail("a provider answered \0 and more")),
            Some(1) => Err(JobError::retry_after("wait", Duration::from_secs(u64::MAX / 2))),
            _ => Err(JobError::fail("no")),
        }
    });
    odd.register().await.unwrap();
    for n in 0..20 {
        enqueue(&db.db, workspace, NewJob::new(TYPE, json!({"n": n}))).await;
    }
    run_until(&db, odd, 20).await;
    let failed: i64 =
        sqlx::query_scalar("select count(*) from ops.jobs where status = 'failed'").fetch_one(db.db.pool()).await.unwrap();
    assert_eq!(failed, 19, "all but the one that waits");
}

#[tokio::test]
async fn a_handler_that_panics_before_it_waits_is_a_failed_attempt_too() {
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    let policy = RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::jobs() };
    let hasty = runner(&db.another(), JobType::new(TYPE).policy(policy), |job: Job| {
        assert!(job.attempt > 1, "the first attempt panics");
        async { Ok(()) }
    });
    hasty.register().await.unwrap();
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    run_until(&db, hasty, 2).await;
    assert_eq!(outcomes(&db.db, id).await, ["retried", "succeeded"]);
}

#[tokio::test]
async fn a_busy_type_with_an_idle_one_beside_it_runs_to_its_end() {
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    let mut registry = Registry::new();
    registry.register(JobType::new(TYPE).concurrency(2), |_| async {
        tokio::task::yield_now().await;
        Ok(())
    });
    registry.register(JobType::new("idle"), |_| async { Ok(()) });
    let both = Runner::new(db.another(), registry, "worker");
    both.register().await.unwrap();
    let mut tx = db.db.begin(workspace).await.unwrap();
    let jobs = (0..500).map(|n| NewJob::new(TYPE, json!({"n": n}))).collect();
    jobs::enqueue_many(&mut tx, workspace, jobs, None).await.unwrap();
    tx.commit().await.unwrap();
    run_until(&db, both, 500).await;
}

#[tokio::test]
async fn a_schedule_fires_once_however_many_processes_look_and_makes_up_for_missed_times_once() {
    let (db, workspace) = setup().await;
    store::put_schedule(db.db.pool(), workspace, "hourly", NewJob::new(TYPE, json!({})), Duration::from_hours(1)).await.unwrap();
    assert_eq!(store::fire_schedules(db.db.pool()).await.unwrap(), 0);
    // Five intervals and a half pass while everything is down.
    db.clock.advance(SignedDuration::from_mins(5 * 60 + 30));
    let looks = (0..8).map(|_| async {
        let process = db.another();
        store::fire_schedules(process.pool()).await.unwrap()
    });
    let fired: i32 = futures::future::join_all(looks).await.into_iter().sum();
    assert_eq!(fired, 1);
    let works = runner(&db.db, JobType::new(TYPE), |_| async { Ok(()) });
    assert_eq!(works.drain().await.unwrap().succeeded, 1);
    db.clock.advance(SignedDuration::from_mins(29));
    assert_eq!(works.drain().await.unwrap().picked, 0);
    db.clock.advance(SignedDuration::from_mins(1));
    assert_eq!(works.drain().await.unwrap().picked, 1);
}
