//! The benchmark peer `graphile_worker` (the Rust crate): see ../../README.md for the contract.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use graphile_worker::{IntoTaskHandlerResult, JobSpec, LocalQueueConfig, RawJobSpec, TaskHandler, WorkerContext, WorkerOptions};
use http_body_util::{BodyExt, Full};
use hyper::{Request, Uri, header::CONTENT_TYPE};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::postgres::PgPoolOptions;
use tokio::io::{AsyncBufReadExt, BufReader};

/// Jobs per call of `add_raw_jobs`, the documented bulk path.
const ADD_AT_ONCE: u64 = 10_000;

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse()?;
    // 20 is the crate's own default for its pool.
    let pool = PgPoolOptions::new().max_connections(20).connect(&args.database_url).await?;
    let bench = Arc::new(Bench {
        sink: args.sink.clone(),
        client: http_client(),
        finished: AtomicU64::new(0),
        failed: AtomicU64::new(0),
    });
    // init() migrates; running it before the jobs are added makes the schema from scratch.
    let worker = WorkerOptions::default()
        .pg_pool(pool.clone())
        .concurrency(args.concurrency)
        // Documented for many small jobs. Four queues of 500 measured best of 1 to 8 queues of 500 to 5000:
        // the next batch is fetched while another is worked off.
        .local_queue(LocalQueueConfig::default().with_size(args.fetch).with_queue_count(4))
        // Documented: "a small value like 1-5ms is recommended"; 1, 2 and 5 measured alike.
        .complete_job_batch_delay(Duration::from_millis(1))
        .fail_job_batch_delay(Duration::from_millis(1))
        .add_extension(Shared(bench.clone()))
        .define_job::<Job>()
        .init()
        .await?;
    ensure!(is_empty(&pool).await?, "the queue already holds jobs: use an empty database");

    let started = Instant::now();
    let utils = worker.create_utils();
    for first in (0..args.jobs).step_by(ADD_AT_ONCE as usize) {
        let jobs: Vec<RawJobSpec> = (first..args.jobs.min(first + ADD_AT_ONCE))
            .map(|n| RawJobSpec { identifier: Job::IDENTIFIER.into(), payload: json!({ "n": n }), spec: JobSpec::default() })
            .collect();
        utils.add_raw_jobs(&jobs).await?;
    }
    println!("{}", json!({ "event": "enqueued", "seconds": started.elapsed().as_secs_f64() }));
    // A live database has statistics; a fresh bulk load has none until autovacuum comes.
    sqlx::query("analyze graphile_worker._private_jobs").execute(&pool).await?;
    println!("{}", json!({ "event": "ready" }));
    wait_for_go().await?;

    let started = Instant::now();
    let worker = Arc::new(worker);
    let run = tokio::spawn({
        let worker = worker.clone();
        async move { worker.run().await }
    });
    while bench.finished.load(Ordering::Relaxed) < args.jobs {
        tokio::time::sleep(Duration::from_millis(1)).await;
        ensure!(bench.failed.load(Ordering::Relaxed) == 0, "a job failed");
        if run.is_finished() {
            run.await??;
            bail!("the worker stopped early");
        }
    }
    // Completions are written in batches after the handlers: done means every row is gone.
    while !is_empty(&pool).await? {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    println!("{}", json!({ "event": "done", "seconds": started.elapsed().as_secs_f64() }));
    worker.request_shutdown();
    run.await??;
    Ok(())
}

/// What the handlers share.
struct Bench {
    sink: Option<Uri>,
    client: Client<HttpConnector, Full<Bytes>>,
    finished: AtomicU64,
    failed: AtomicU64,
}

#[derive(Clone)]
struct Shared(Arc<Bench>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

#[derive(Deserialize, Serialize)]
struct Job {
    n: u64,
}

impl TaskHandler for Job {
    const IDENTIFIER: &'static str = "bench";

    async fn run(self, ctx: WorkerContext) -> impl IntoTaskHandlerResult {
        let Shared(bench) = ctx.get_ext::<Shared>().expect("registered in main");
        if let Some(sink) = &bench.sink
            && let Err(error) = post(&bench.client, sink, &self).await
        {
            eprintln!("job {}: {error:#}", self.n);
            bench.failed.fetch_add(1, Ordering::Relaxed);
            return Err(error.to_string());
        }
        bench.finished.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// hyper's pooled client without TLS: keep-alive is its default, idle connections are unlimited.
fn http_client() -> Client<HttpConnector, Full<Bytes>> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).build(connector)
}

async fn post(client: &Client<HttpConnector, Full<Bytes>>, sink: &Uri, job: &Job) -> Result<()> {
    let request = Request::post(sink).header(CONTENT_TYPE, "application/json").body(Full::from(serde_json::to_vec(job)?))?;
    let response = client.request(request).await?;
    ensure!(response.status().is_success(), "the sink answered {}", response.status());
    // Reading the body to its end returns the connection to the pool.
    response.into_body().collect().await?;
    Ok(())
}

async fn is_empty(pool: &sqlx::PgPool) -> Result<bool> {
    Ok(sqlx::query_scalar("select not exists (select from graphile_worker._private_jobs)").fetch_one(pool).await?)
}

async fn wait_for_go() -> Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        if line.trim() == "go" {
            return Ok(());
        }
    }
    bail!("stdin ended before \"go\"")
}

struct Args {
    database_url: String,
    sink: Option<Uri>,
    jobs: u64,
    concurrency: usize,
    fetch: usize,
}

impl Args {
    fn parse() -> Result<Self> {
        let (mut database_url, mut mode, mut sink, mut jobs) = (None, None, None, None);
        let (mut concurrency, mut fetch) = (None, None);
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--database-url" => database_url = Some(value),
                "--mode" => mode = Some(value),
                "--sink" => sink = Some(value.parse()?),
                "--jobs" => jobs = Some(value.parse()?),
                "--concurrency" => concurrency = Some(value.parse()?),
                "--fetch" => fetch = Some(value.parse()?),
                _ => bail!("unknown option {word}"),
            }
        }
        let http = match mode.as_deref() {
            Some("noop") => false,
            Some("http") => true,
            _ => bail!("--mode is noop or http"),
        };
        Ok(Self {
            database_url: database_url.context("--database-url is missing")?,
            sink: if http { Some(sink.context("--mode http needs --sink")?) } else { None },
            jobs: jobs.context("--jobs is missing")?,
            // Measured alike from 12 to 48 for no-ops and from 24 to 96 for HTTP; 500 is slower.
            concurrency: concurrency.unwrap_or(if http { 48 } else { 24 }),
            fetch: fetch.unwrap_or(500),
        })
    }
}
