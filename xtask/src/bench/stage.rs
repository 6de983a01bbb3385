//! What a benchmark of a whole server is played on: the database, the sink, a sender, and a server between them.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::machine::{Helper, bench_dir, data_dir, load_average, tree_cpu_seconds};

pub(super) const TELEGRAM_TOKEN: &str = "1000001:bench-token-of-the-telegram-sink";

/// Who plays beside the server.
pub(super) struct Cast {
    /// The helper program that sends.
    pub(super) sender: &'static str,
    /// Under which path the sink plays the providers.
    pub(super) providers: &'static str,
}

pub(super) struct BenchStage {
    pub(super) database: Helper,
    pub(super) sink: Helper,
    sender: Helper,
    /// The program.
    server: PathBuf,
    /// The address of the providers, to which their names are added.
    pub(super) providers: String,
}

/// What something cost, for each unit of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) wal_bytes: f64,
    pub(super) commits: f64,
    /// In microseconds.
    pub(super) own_cpu: f64,
    pub(super) database_cpu: f64,
    pub(super) load_average: f64,
}

impl BenchStage {
    pub(super) fn start(cast: &Cast, server: PathBuf) -> Result<Self> {
        let program = |name: &str| bench_dir().join("target/release").join(name);
        let database = Helper::start(&program("bench_database"), &[&data_dir()])?;
        let sink = Helper::start(&program("bench_sink"), &[])?;
        let sender = Helper::start(&program(cast.sender), &[&sink.first_line])?;
        let providers = format!("{}{}", sink.first_line, cast.providers);
        Ok(Self { database, sink, sender, server, providers })
    }

    /// Gives the sender an order and returns its answer.
    pub(super) fn order(&mut self, order: &Value) -> Result<Value> {
        self.sender.ask(&order.to_string()).with_context(|| order.to_string())
    }

    pub(super) fn sample(&mut self) -> Result<Value> {
        let sample = self.database.ask("sample")?;
        ensure!(sample["fsync"] == "on" && sample["synchronous_commit"] == "on", "durability is off: {sample}");
        Ok(sample)
    }

    /// Has an order carried out on a running server; what was found, and what it cost for each of so many units.
    pub(super) fn measure(&mut self, server: &BenchServer, units: f64, order: &Value) -> Result<(Value, Cost)> {
        let (before, own_before) = (self.sample()?, server.cpu_seconds());
        let found = self.order(order)?;
        let (own_after, after) = (server.cpu_seconds(), self.sample()?);
        let each = |key: &str| (after[key].as_f64().unwrap_or(0.0) - before[key].as_f64().unwrap_or(0.0)) / units;
        let cost = Cost {
            wal_bytes: each("wal_bytes"),
            commits: each("commits"),
            own_cpu: (own_after - own_before) * 1e6 / units,
            database_cpu: each("cpu_seconds") * 1e6,
            load_average: load_average(),
        };
        Ok((found, cost))
    }

    pub(super) fn empty_database(&mut self, name: &str) -> Result<String> {
        let url = self.database.ask(&format!("new {name}"))?["url"].as_str().context("a URL")?.to_owned();
        self.order(&json!({"do": "database", "url": url}))?;
        Ok(url)
    }

    /// An empty database, brought up to date by the server's own command.
    pub(super) fn new_database(&mut self, name: &str) -> Result<String> {
        let url = self.empty_database(name)?;
        let status = self.program().args(["migrate", "--database-url", &url]).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "beresta migrate failed");
        Ok(url)
    }

    pub(super) fn drop_database(&mut self, name: &str) -> Result<()> {
        self.database.ask(&format!("drop {name}"))?;
        Ok(())
    }

    /// Our server, with every role.
    pub(super) fn serve(&self, database_url: &str) -> Result<BenchServer> {
        self.serve_with(database_url, &[])
    }

    /// The same with these settings.
    pub(super) fn serve_with(&self, database_url: &str, settings: &[(&str, &str)]) -> Result<BenchServer> {
        let mut command = self.program();
        command
            .envs(settings.iter().copied())
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir", "beresta-data", "--database-url", database_url])
            .env("BERESTA_TELEGRAM_BASE_URL", format!("{}telegram", self.providers))
            .env("BERESTA_MAX_BASE_URL", format!("{}max", self.providers))
            .env("BENCH_TELEGRAM_TOKEN", TELEGRAM_TOKEN)
            .env("BENCH_MAX_TOKEN", "bench-token-of-the-max-sink");
        if std::env::var_os("BERESTA_LOG").is_none() {
            command.env("BERESTA_LOG", "warn");
        }
        BenchServer::start(command)
    }

    fn program(&self) -> Command {
        let mut command = Command::new(&self.server);
        // Away from any beresta.toml of the user's.
        command.current_dir(bench_dir().join("target"));
        command
    }
}

/// A process that serves until this value ends.
pub(super) struct BenchServer {
    child: Child,
    pub(super) url: String,
}

impl BenchServer {
    /// Starts a program and waits until it says where it `serves on`.
    pub(super) fn start(mut command: Command) -> Result<Self> {
        let name = command.get_program().display().to_string();
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| name.clone())?;
        let output = child.stdout.take().context("its output")?;
        let mut server = Self { child, url: String::new() };
        for line in BufReader::new(output).lines() {
            if let Some((_, url)) = line?.split_once("serves on ") {
                url.trim().clone_into(&mut server.url);
                return Ok(server);
            }
        }
        anyhow::bail!("{name} ended before it served")
    }

    pub(super) fn cpu_seconds(&self) -> f64 {
        tree_cpu_seconds(self.child.id())
    }

    /// What it holds of the machine's memory.
    pub(super) fn memory_kib(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }

    /// As an operator stops it: what has begun comes to its end.
    pub(super) fn stop(mut self) -> Result<()> {
        kill(Pid::from_raw(i32::try_from(self.child.id())?), Signal::SIGTERM)?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
