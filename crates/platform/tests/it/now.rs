//! Jobs that a caller runs at once and waits for: what becomes of them when the caller gives up, or the database does not answer.

use std::{sync::Arc, time::Duration};

use platform::{
    Db, DbError,
    jobs::{JobType, NewJob, RanNow, Registry, run_now},
};
use serde_json::json;
use sqlx::Row;
use testkit::{TestDb, until};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};

use crate::jobs::{TYPE, enqueue, status};

/// Two jobs, and a caller that runs them over its own connections. A handler says that it has begun, and waits until it may end.
struct Stage {
    test: TestDb,
    ids: [i64; 2],
    begun: mpsc::UnboundedReceiver<()>,
    may_end: Arc<Semaphore>,
    running: JoinHandle<Result<RanNow, DbError>>,
}

impl Stage {
    async fn new(process: impl FnOnce(&TestDb) -> Db) -> Self {
        let test = TestDb::new().await;
        let workspace = test.workspace("ours").await;
        let (says, begun) = mpsc::unbounded_channel();
        let may_end = Arc::new(Semaphore::new(0));
        let gate = Arc::clone(&may_end);
        let mut registry = Registry::new();
        registry.register(JobType::new(TYPE), move |_| {
            let (says, gate) = (says.clone(), Arc::clone(&gate));
            async move {
                let _ = says.send(());
                gate.acquire().await.unwrap().forget();
                Ok(())
            }
        });
        registry.put_types(&test.db).await.unwrap();
        let ids = [
            enqueue(&test.db, workspace, NewJob::new(TYPE, json!({}))).await,
            enqueue(&test.db, workspace, NewJob::new(TYPE, json!({}))).await,
        ];
        let process = process(&test);
        let running = tokio::spawn(async move { run_now(&process, &registry, workspace, "caller", 10).await });
        Self { test, ids, begun, may_end, running }
    }

    async fn until_gone(&self, id: i64) {
        until("the job has ended", async || status(&self.test.db, id).await.is_none().then_some(())).await;
    }
}

#[tokio::test]
async fn a_caller_that_gives_up_leaves_the_job_that_runs_to_come_to_its_end_and_starts_no_other() {
    let mut stage = Stage::new(TestDb::another).await;
    stage.begun.recv().await.unwrap();
    stage.running.abort();
    assert!((&mut stage.running).await.unwrap_err().is_cancelled());
    stage.may_end.add_permits(2);
    stage.until_gone(stage.ids[0]).await;
    let runs = "select count(*), count(*) filter (where outcome = 'succeeded') from ops.job_runs";
    let row = sqlx::query(runs).fetch_one(stage.test.db.pool()).await.unwrap();
    assert_eq!((row.get::<i64, _>(0), row.get::<i64, _>(1)), (1, 1));
    assert_eq!(status(&stage.test.db, stage.ids[1]).await.as_deref(), Some("queued"));
}

#[tokio::test]
async fn a_heartbeat_whose_answer_is_lost_stops_no_handler() {
    let mut wire = None;
    let mut stage = Stage::new(|test| {
        let (process, its_wire) = test.over_a_wire();
        wire = Some(its_wire);
        process
    })
    .await;
    let wire = wire.unwrap();
    stage.begun.recv().await.unwrap();
    wire.lose_answers();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(21)).await;
    tokio::time::resume();
    wire.lose_one_answer_for_a_minute().await;
    stage.may_end.add_permits(2);
    let ran = (&mut stage.running).await.unwrap().unwrap();
    assert_eq!(ran, RanNow { picked: 2, succeeded: 2, failed: 0 });
}
