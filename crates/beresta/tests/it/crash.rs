//! Kill what you like: every job whose enqueueing was acknowledged runs.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kernel::WorkspaceId;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use platform::{
    Db, Settings,
    jobs::{self, NewJob},
    workspaces,
};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{Serving, data_dir, postgres_pid, run, stdout, until};

const BACKLOG_MAX: i64 = 500;
/// The server has jobs of its own beside ours, on its schedules.
const NOTES_LEFT: &str = "select count(*) from ops.jobs where job_type = 'demo.note'";

/// Enqueues batches until told to stop; returns what was acknowledged, and what may or may not have been taken.
async fn load(db: Db, workspace: WorkspaceId, stop: Arc<AtomicBool>) -> (BTreeSet<i64>, BTreeSet<i64>) {
    let (mut acknowledged, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    let mut n = 0_i64;
    while !stop.load(Ordering::Relaxed) {
        // Enough to keep every worker busy, and not more than they can work off afterwards.
        let waiting: Option<i64> = sqlx::query_scalar(NOTES_LEFT).fetch_one(db.pool()).await.ok();
        if waiting.is_none_or(|waiting| waiting > BACKLOG_MAX) {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        }
        let numbers: Vec<i64> = (n..n + 20).collect();
        n += 20;
        let batch = numbers.iter().map(|n| NewJob::new("demo.note", json!({"n": n}))).collect();
        let result = async {
            let mut tx = db.begin(workspace).await?;
            jobs::enqueue_many(&mut tx, workspace, batch, None).await?;
            tx.commit().await.map_err(platform::DbError::from)
        };
        if result.await.is_ok() {
            acknowledged.extend(numbers);
        } else {
            // The commit may have happened all the same.
            unknown.extend(numbers);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    (acknowledged, unknown)
}

struct Stage {
    dir: TempDir,
    serving: Option<Serving>,
    db: Db,
    workspace: WorkspaceId,
}

impl Stage {
    async fn new() -> Self {
        let dir = data_dir();
        let serving = Some(Serving::embedded(dir.path(), &["--demo-jobs"]));
        let path = dir.path().to_string_lossy().into_owned();
        let url = stdout(&run(&["database", "url", "--data-dir", &path])).trim().to_owned();
        let db = Db::connect(&Settings::new(url), kernel::Clock::system()).unwrap();
        let workspace = workspaces::create(db.pool(), "ours").await.unwrap();
        Self { dir, serving, db, workspace }
    }

    async fn left(&self) -> Option<i64> {
        sqlx::query_scalar(NOTES_LEFT).fetch_one(self.db.pool()).await.ok()
    }

    async fn noted(&self) -> Option<i64> {
        let query = "select count(*) from ops.journal where action = 'noted'";
        sqlx::query_scalar(query).fetch_one(self.db.pool()).await.ok()
    }

    /// Waits until the queue is empty, then counts.
    async fn check(&self, acknowledged: &BTreeSet<i64>, unknown: &BTreeSet<i64>) {
        // As long as the queue moves it comes to its end, however slow the machine is.
        let mut left = until("they are counted", || self.left()).await;
        while left > 0 {
            left = until("fewer jobs are left", async || self.left().await.filter(|now| *now < left)).await;
        }
        let rows: Vec<(String, i64)> =
            sqlx::query_as("select subject, count(*) from ops.journal where action = 'noted' group by subject")
                .fetch_all(self.db.pool())
                .await
                .unwrap();
        let ran: BTreeSet<i64> = rows.iter().map(|(subject, _)| subject.parse().unwrap()).collect();
        let lost: Vec<_> = acknowledged.difference(&ran).collect();
        assert!(lost.is_empty(), "{} acknowledged jobs never ran: {lost:?}", lost.len());
        let invented: Vec<_> = ran.iter().filter(|n| !acknowledged.contains(n) && !unknown.contains(n)).collect();
        assert!(invented.is_empty(), "jobs ran that nobody asked for: {invented:?}");
        // A second run is only possible where the end of the first could not be recorded.
        let extra: i64 = rows.iter().map(|(_, runs)| runs - 1).sum();
        let unrecorded: i64 = sqlx::query_scalar("select count(*) from ops.job_runs where outcome <> 'succeeded'")
            .fetch_one(self.db.pool())
            .await
            .unwrap();
        assert!(extra <= unrecorded, "{extra} extra runs, but only {unrecorded} attempts whose end is unknown");
        let twice: i64 = sqlx::query_scalar(
            "select count(*) from (select from ops.job_runs where outcome = 'succeeded' group by workspace_id, job_id having count(*) > 1) t",
        )
        .fetch_one(self.db.pool())
        .await
        .unwrap();
        assert_eq!(twice, 0, "a job succeeded twice");
        println!("acknowledged {}, unknown {}, ran {}, extra runs {extra}", acknowledged.len(), unknown.len(), ran.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_kill_9_of_the_server_under_load_every_job_has_run() {
    let mut stage = Stage::new().await;
    let stop = Arc::new(AtomicBool::new(false));
    let loading = tokio::spawn(load(stage.db.clone(), stage.workspace, Arc::clone(&stop)));
    for round in 1..=3 {
        let target = until("they are counted", || stage.noted()).await + 200;
        until("jobs run", async || stage.noted().await.filter(|n| *n >= target)).await;
        stage.serving.take().expect("a running server").kill();
        stage.serving = Some(Serving::embedded(stage.dir.path(), &["--demo-jobs"]));
        println!("round {round}: killed and started again");
    }
    stop.store(true, Ordering::Relaxed);
    let (acknowledged, unknown) = loading.await.unwrap();
    assert!(acknowledged.len() > 500);
    stage.check(&acknowledged, &unknown).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_kill_9_of_postgresql_under_load_every_job_has_run() {
    let stage = Stage::new().await;
    let stop = Arc::new(AtomicBool::new(false));
    let loading = tokio::spawn(load(stage.db.clone(), stage.workspace, Arc::clone(&stop)));
    for round in 1..=3 {
        let target = until("they are counted", || stage.noted()).await + 200;
        until("jobs run", async || stage.noted().await.filter(|n| *n >= target)).await;
        let pid = postgres_pid(stage.dir.path());
        kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
        until("PostgreSQL is back", async || {
            let text = std::fs::read_to_string(stage.dir.path().join("postgres/data/postmaster.pid")).ok()?;
            let now: i32 = text.lines().next()?.trim().parse().ok()?;
            (now != pid && stage.noted().await.is_some()).then_some(())
        })
        .await;
        println!("round {round}: PostgreSQL was killed and came back");
    }
    stop.store(true, Ordering::Relaxed);
    let (acknowledged, unknown) = loading.await.unwrap();
    assert!(acknowledged.len() > 500);
    stage.check(&acknowledged, &unknown).await;
    assert!(stage.serving.unwrap().stop(), "the server itself went on all the time and ends well");
}
