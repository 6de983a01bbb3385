//! Beresta's job queue as a contestant: see ../../../README.md for the contract.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Uri, header::CONTENT_TYPE};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use kernel::Clock;
use platform::{
    Db, Settings, install,
    jobs::{self, Job, JobError, JobType, NewJob, Registry, Runner},
    workspaces,
};
use serde_json::json;
use sqlx::Connection;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;

const ADD_AT_ONCE: u64 = 10_000;
const TYPE: &str = "bench";

type Http = Client<HttpConnector, Full<Bytes>>;

#[tokio::main]
async fn main() -> Result<()> {
    let url = flag("--database-url").context("--database-url")?;
    let is_http = flag("--mode").context("--mode")? == "http";
    let jobs_max: u64 = flag("--jobs").context("--jobs")?.parse()?;
    let default = if is_http { 128 } else { 500 };
    let concurrency = flag("--concurrency").map_or(Ok(default), |text| text.parse())?;
    let sink: Option<Uri> = if is_http { Some(flag("--sink").context("--sink")?.parse()?) } else { None };

    let mut owner = sqlx::PgConnection::connect(&url).await?;
    install(&mut owner, &[platform::SQL]).await?;
    let db = Db::connect(&Settings::new(&url), Clock::system())?;
    let workspace = workspaces::create(db.pool(), "bench").await?;
    let finished = Arc::new(AtomicU64::new(0));
    let runner = runner(&db, sink, concurrency, Arc::clone(&finished));
    runner.register().await?;
    ensure!(is_empty(&db).await?, "the queue already holds jobs: use an empty database");

    let started = Instant::now();
    for first in (0..jobs_max).step_by(ADD_AT_ONCE as usize) {
        let batch = (first..jobs_max.min(first + ADD_AT_ONCE)).map(|n| NewJob::new(TYPE, json!({"n": n}))).collect();
        let mut tx = db.begin(workspace).await?;
        jobs::enqueue_many(&mut tx, workspace, batch, None).await?;
        tx.commit().await?;
    }
    println!("{}", json!({"event": "enqueued", "seconds": started.elapsed().as_secs_f64()}));
    sqlx::query("analyze ops.jobs").execute(&mut owner).await?;
    println!("{}", json!({"event": "ready"}));
    let mut line = String::new();
    BufReader::new(tokio::io::stdin()).read_line(&mut line).await?;
    ensure!(line.trim() == "go", "stdin ended before `go`");

    let started = Instant::now();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    while finished.load(Ordering::Relaxed) < jobs_max {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Ended in batches after the handlers: done means that every job has left the queue for its runs.
    while !is_empty(&db).await? {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    println!("{}", json!({"event": "done", "seconds": started.elapsed().as_secs_f64()}));
    stop.cancel();
    running.await?;
    let succeeded: i64 = sqlx::query_scalar("select count(*) from ops.job_runs where outcome = 'succeeded'").fetch_one(&mut owner).await?;
    ensure!(u64::try_from(succeeded)? == jobs_max, "{succeeded} of {jobs_max} jobs succeeded");
    Ok(())
}

fn runner(db: &Db, sink: Option<Uri>, concurrency: usize, finished: Arc<AtomicU64>) -> Runner {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Http = Client::builder(TokioExecutor::new()).build(connector);
    let mut registry = Registry::new();
    registry.register(JobType::new(TYPE).concurrency(concurrency), move |job| {
        let (client, sink, finished) = (client.clone(), sink.clone(), Arc::clone(&finished));
        async move {
            if let Some(sink) = sink {
                post(&client, sink, &job).await.map_err(|error| JobError::retry(error.to_string()))?;
            }
            finished.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    });
    Runner::new(db.clone(), registry, "bench")
}

async fn post(client: &Http, sink: Uri, job: &Job) -> Result<()> {
    let request = Request::post(sink).header(CONTENT_TYPE, "application/json").body(Full::from(serde_json::to_vec(&job.payload)?))?;
    let response = client.request(request).await?;
    ensure!(response.status().is_success(), "the sink answered {}", response.status());
    response.into_body().collect().await?;
    Ok(())
}

async fn is_empty(db: &Db) -> Result<bool> {
    Ok(sqlx::query_scalar("select not exists (select from ops.jobs)").fetch_one(db.pool()).await?)
}

fn flag(name: &str) -> Option<String> {
    let mut args = std::env::args();
    args.by_ref().find(|arg| arg == name)?;
    args.next()
}
