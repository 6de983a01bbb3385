//! Runners at work: many of them, one that stops, one whose database goes away.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use platform::{
    jobs::{self, JobType, NewJob, Registry, Runner},
    wake::Topic,
};
use serde_json::json;
use sqlx::Row;
use testkit::TestDb;
use tokio_util::sync::CancellationToken;

use crate::jobs::{TYPE, enqueue, runner, status};

#[tokio::test]
async fn many_workers_on_many_connections_run_every_job_exactly_once() {
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    let runs = Arc::new(AtomicUsize::new(0));
    let stop = CancellationToken::new();
    let start = |n: usize| {
        let process = db.another();
        let runs = Arc::clone(&runs);
        let mut registry = Registry::new();
        registry.register(JobType::new(TYPE).concurrency(8), move |_| {
            let runs = Arc::clone(&runs);
            async move {
                runs.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        });
        tokio::spawn(Runner::new(process, registry, format!("worker-{n}")).run(stop.clone()))
    };
    let workers: Vec<_> = (0..4).map(start).collect();
    runner(&db.db, JobType::new(TYPE), |_| async { Ok(()) }).register().await.unwrap();
    for batch in 0..10 {
        let mut tx = db.db.begin(workspace).await.unwrap();
        let jobs = (0..200).map(|n| NewJob::new(TYPE, json!({"n": batch * 200 + n}))).collect();
        jobs::enqueue_many(&mut tx, workspace, jobs, None).await.unwrap();
        tx.commit().await.unwrap();
    }
    db.db.wake().tell(Topic::JOBS);
    let done = "select count(*) from ops.job_runs where outcome = 'succeeded'";
    while sqlx::query(done).fetch_one(db.db.pool()).await.unwrap().get::<i64, _>(0) < 2000 {
        tokio::task::yield_now().await;
    }
    stop.cancel();
    for worker in workers {
        worker.await.unwrap();
    }
    assert_eq!(runs.load(Ordering::Relaxed), 2000);
    let left: i64 = sqlx::query_scalar("select count(*) from ops.jobs").fetch_one(db.db.pool()).await.unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_graceful_stop_gives_back_what_was_not_started_without_costing_an_attempt() {
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    let stop = CancellationToken::new();
    let (started, mut first_started) = tokio::sync::mpsc::unbounded_channel();
    let goes_on = Arc::new(tokio::sync::Semaphore::new(0));
    let gate = Arc::clone(&goes_on);
    let slow = runner(&db.another(), JobType::new(TYPE).concurrency(1), move |_| {
        let (started, gate) = (started.clone(), Arc::clone(&gate));
        async move {
            let _ = started.send(());
            drop(gate.acquire().await);
            Ok(())
        }
    });
    slow.register().await.unwrap();
    for _ in 0..4 {
        enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    }
    let running = tokio::spawn(slow.run(stop.clone()));
    first_started.recv().await.unwrap();
    stop.cancel();
    goes_on.add_permits(1);
    running.await.unwrap();
    let rows = sqlx::query("select status, attempts from ops.jobs").fetch_all(db.db.pool()).await.unwrap();
    let left: Vec<(String, i32)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(left, vec![("queued".to_owned(), 0); 3]);
}

#[tokio::test]
async fn what_was_claimed_runs_although_the_database_goes_away_right_after_the_claim() {
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    // The look that follows a claim, for a type that had nothing.
    let gone = "create or replace function ops.next_due_at(p_job_types text[]) returns timestamptz language plpgsql as
                $$ begin raise exception 'going away' using errcode = '57P01'; end $$";
    sqlx::raw_sql(gone).execute(&mut db.owner().await).await.unwrap();
    let (ran, mut running) = tokio::sync::mpsc::unbounded_channel();
    let mut registry = Registry::new();
    registry.register(JobType::new("nothing"), |_| async { Ok(()) });
    registry.register(JobType::new(TYPE), move |job| {
        let _ = ran.send(job.id);
        async { Ok(()) }
    });
    let worker = Runner::new(db.another(), registry, "worker-1");
    worker.register().await.unwrap();
    let id = enqueue(&db.db, workspace, NewJob::new(TYPE, json!({}))).await;
    let stop = CancellationToken::new();
    let working = tokio::spawn(worker.run(stop.clone()));
    let in_time = tokio::time::timeout(Duration::from_mins(1), running.recv()).await;
    assert_eq!(in_time.expect("it runs"), Some(id));
    stop.cancel();
    working.await.unwrap();
    assert_eq!(status(&db.db, id).await, None, "and its end is recorded");
}
