//! `cargo xtask bench jobs`: our queue and three others on the same PostgreSQL with the same durability, taking turns.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use super::machine::{Helper, bench_dir, build, children_cpu_seconds, data_dir, median, tree_cpu_seconds};

#[derive(Args)]
pub(crate) struct JobsBench {
    /// Jobs per run
    #[arg(long, default_value_t = 40_000)]
    jobs: u32,
    /// How often every contestant runs in each mode
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Only this mode: noop or http
    #[arg(long)]
    mode: Option<String>,
    /// Only contestants whose name contains this, and our own
    #[arg(long)]
    only: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A contestant: its name and how it is started from the bench folder.
pub(super) struct JobsContestant {
    pub(super) name: &'static str,
    program: &'static str,
    args: &'static [&'static str],
}

pub(super) const OURS: &str = "beresta";
/// The Node that comes with the peers.
pub(super) const NODE: &str = "peers/node_modules/.bin/node";
pub(super) const CONTESTANTS: &[JobsContestant] = &[
    JobsContestant { name: OURS, program: "target/release/beresta_jobs", args: &[] },
    JobsContestant { name: "graphile_worker (crate)", program: "target/release/graphile_worker_rs", args: &[] },
    JobsContestant { name: "graphile-worker (npm)", program: NODE, args: &["peers/graphile-worker/main.mjs"] },
    // Its documented queue of 500 is not its best on two cores; this one is.
    JobsContestant {
        name: "graphile-worker (npm), queue 2000",
        program: NODE,
        args: &["peers/graphile-worker/main.mjs", "--fetch", "2000"],
    },
    JobsContestant { name: "pg-boss (npm)", program: NODE, args: &["peers/pg-boss/main.mjs"] },
];

/// What one run cost.
#[derive(Clone, Copy)]
pub(super) struct JobsRun {
    pub(super) jobs_per_second: f64,
    /// The same with the time that adding the jobs took.
    pub(super) with_adding_per_second: f64,
    pub(super) wal_bytes_per_job: f64,
    pub(super) commits_per_job: f64,
    /// CPU of the contestant and of PostgreSQL, in microseconds per job.
    pub(super) own_cpu: f64,
    pub(super) database_cpu: f64,
}

pub(crate) fn run(options: &JobsBench) -> Result<()> {
    build()?;
    let mut database = Helper::start(&bench_dir().join("target/release/bench_database"), &[&data_dir()])?;
    let sink = Helper::start(&bench_dir().join("target/release/bench_sink"), &[])?;
    let sink_url = sink.first_line.clone();
    let mut runs: BTreeMap<(String, &str), Vec<JobsRun>> = BTreeMap::new();
    let modes = ["noop", "http"].into_iter().filter(|mode| options.mode.as_deref().is_none_or(|wanted| wanted == *mode));
    let modes: Vec<&str> = modes.collect();
    let is_wanted = |name: &str| name == OURS || options.only.as_deref().is_none_or(|wanted| name.contains(wanted));
    for round in 0..options.rounds {
        for mode in &modes {
            for contestant in CONTESTANTS.iter().filter(|contestant| is_wanted(contestant.name)) {
                let run = measure(contestant, mode, &sink_url, options.jobs, &mut database)?;
                eprintln!("round {} {mode:4} {:34} {:8.0} jobs/s", round + 1, contestant.name, run.jobs_per_second);
                runs.entry(((*mode).to_owned(), contestant.name)).or_default().push(run);
            }
        }
    }
    report(options, &modes, &runs)
}

pub(super) fn measure(contestant: &JobsContestant, mode: &str, sink: &str, jobs: u32, database: &mut Helper) -> Result<JobsRun> {
    let url = database.ask("new contest")?["url"].as_str().context("a URL")?.to_owned();
    let jobs_text = jobs.to_string();
    let children_before = children_cpu_seconds();
    let mut child = Command::new(bench_dir().join(contestant.program))
        .args(contestant.args)
        .args(["--database-url", &url, "--mode", mode, "--sink", sink, "--jobs", &jobs_text])
        .current_dir(bench_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| contestant.name)?;
    let mut lines = BufReader::new(child.stdout.take().context("its output")?).lines();
    let mut wait_for = |event: &str| -> Result<Value> {
        for line in lines.by_ref() {
            let value: Value = serde_json::from_str(&line?)?;
            if value["event"] == event {
                return Ok(value);
            }
        }
        anyhow::bail!("{} ended before `{event}`", contestant.name)
    };
    let adding_seconds = wait_for("enqueued")?["seconds"].as_f64().context("seconds")?;
    wait_for("ready")?;
    let before = database.ask("sample")?;
    ensure!(before["fsync"] == "on" && before["synchronous_commit"] == "on", "durability is off: {before}");
    let own_before = tree_cpu_seconds(child.id());
    writeln!(child.stdin.as_mut().context("its input")?, "go")?;
    let seconds = wait_for("done")?["seconds"].as_f64().context("seconds")?;
    let status = child.wait()?;
    ensure!(status.success(), "{} ended with {status}", contestant.name);
    let after = database.ask("sample")?;
    let per_job = |key: &str| (after[key].as_f64().unwrap_or(0.0) - before[key].as_f64().unwrap_or(0.0)) / f64::from(jobs);
    Ok(JobsRun {
        jobs_per_second: f64::from(jobs) / seconds,
        with_adding_per_second: f64::from(jobs) / (seconds + adding_seconds),
        wal_bytes_per_job: per_job("wal_bytes"),
        commits_per_job: per_job("commits"),
        own_cpu: (children_cpu_seconds() - children_before - own_before).max(0.0) * 1e6 / f64::from(jobs),
        database_cpu: per_job("cpu_seconds") * 1e6,
    })
}

fn report(options: &JobsBench, modes: &[&str], runs: &BTreeMap<(String, &str), Vec<JobsRun>>) -> Result<()> {
    let mut rows = Vec::new();
    for mode in modes {
        let ours = runs.get(&((*mode).to_owned(), OURS)).map_or(0.0, |runs| median(runs.iter().map(|run| run.jobs_per_second)));
        for contestant in CONTESTANTS {
            let Some(runs) = runs.get(&((*mode).to_owned(), contestant.name)) else { continue };
            let speed = median(runs.iter().map(|run| run.jobs_per_second));
            rows.push(json!({
                "mode": mode, "contestant": contestant.name, "jobs_per_second": speed.round(), "ours_to_it": ours / speed,
                "wal_bytes_per_job": median(runs.iter().map(|run| run.wal_bytes_per_job)).round(),
                "commits_per_job": median(runs.iter().map(|run| run.commits_per_job)),
                "cpu_us_per_job": median(runs.iter().map(|run| run.own_cpu)).round(),
                "database_cpu_us_per_job": median(runs.iter().map(|run| run.database_cpu)).round(),
            }));
        }
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("\n{} jobs per run, median of {} rounds, fsync and synchronous_commit on", options.jobs, options.rounds);
    println!(
        "{:5} {:34} {:>9} {:>10} {:>9} {:>12} {:>10} {:>10}",
        "mode", "contestant", "jobs/s", "ours to it", "WAL B/job", "commits/job", "CPU us/job", "db us/job"
    );
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or(0.0);
        println!(
            "{:5} {:34} {:9.0} {:9.2}x {:9.0} {:12.4} {:10.0} {:10.0}",
            row["mode"].as_str().unwrap_or(""),
            row["contestant"].as_str().unwrap_or(""),
            number("jobs_per_second"),
            number("ours_to_it"),
            number("wal_bytes_per_job"),
            number("commits_per_job"),
            number("cpu_us_per_job"),
            number("database_cpu_us_per_job"),
        );
    }
    Ok(())
}
