//! What the server could do at most: the same row life in plain set-based SQL, without functions, triggers or a network.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{
    super::machine::{bench_dir, load_average},
    stage::{BenchStage, PostingRun},
};

const PREPARE: &str = include_str!("../../../../bench/physical/prepare.sql");
/// 500 deliveries from queued to sent with their events; `:batch` is a number that no other batch has.
const BATCH: &str = include_str!("../../../../bench/physical/batch.sql");
const ROWS: u32 = 500;
const CLIENTS: u32 = 2;

pub(super) fn run(stage: &mut BenchStage, batches: u32) -> Result<PostingRun> {
    let url = stage.new_database("posting_physical")?;
    stage.order(&json!({"do": "execute", "sql": PREPARE}))?;
    let each = (batches / CLIENTS).max(1);
    let deliveries = f64::from(each * CLIENTS * ROWS);
    let before = stage.sample()?;
    // The server's own, of its version, before any other.
    let own = Path::new(before["programs"].as_str().unwrap_or("")).join("pgbench");
    let program = if own.exists() { own } else { PathBuf::from("pgbench") };
    let seconds = if let Some(seconds) = pgbench(&program, &url, each)? {
        seconds
    } else {
        eprintln!("there is no pgbench here: the same batches are run by a loop of ours");
        let done = stage.order(&json!({"do": "batches", "sql": BATCH, "clients": CLIENTS, "each": each}))?;
        done["seconds"].as_f64().context("seconds")?
    };
    let after = stage.sample()?;
    stage.drop_database("posting_physical")?;
    let grown = |key: &str| (after[key].as_f64().unwrap_or(0.0) - before[key].as_f64().unwrap_or(0.0)) / deliveries;
    let per_second = deliveries / seconds;
    Ok(PostingRun {
        per_second,
        pushed_per_second: per_second,
        wal_bytes: grown("wal_bytes"),
        commits: grown("commits"),
        own_cpu: 0.0,
        database_cpu: grown("cpu_seconds") * 1e6,
        load_average: load_average(),
    })
}

/// How long pgbench needed for the batches of its clients; nothing when there is no pgbench.
fn pgbench(program: &Path, url: &str, each: u32) -> Result<Option<f64>> {
    let script = bench_dir().join("target/physical.pgbench");
    fs::write(&script, format!("\\set batch random(1, 9000000000000000)\n{BATCH}"))?;
    let output = Command::new(program)
        .args([
            "--no-vacuum",
            "--client",
            &CLIENTS.to_string(),
            "--jobs",
            &CLIENTS.to_string(),
            "--transactions",
            &each.to_string(),
        ])
        .arg("--file")
        .arg(&script)
        .arg(url)
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse::<f64>().ok());
    let rate = rate.with_context(|| format!("pgbench did not say how fast it was: {text}"))?;
    Ok(Some(f64::from(each * CLIENTS) / rate))
}
