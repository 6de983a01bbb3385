//! The database, the sink, the sender of posts, and a server between them.

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

use super::super::machine::{Helper, bench_dir, data_dir, load_average, tree_cpu_seconds};

pub(super) const CHANNELS: u32 = 40;
/// The workspace of most runs; its name is also the secret of its endpoint.
pub(super) const WORKSPACE: &str = "bench";

pub(super) struct Stage {
    pub(super) database: Helper,
    pub(super) sink: Helper,
    sender: Helper,
    /// The program.
    server: PathBuf,
}

/// What a run cost, for each delivery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) per_second: f64,
    /// How fast posts were accepted, in deliveries.
    pub(super) pushed_per_second: f64,
    pub(super) wal_bytes: f64,
    pub(super) commits: f64,
    /// In microseconds.
    pub(super) own_cpu: f64,
    pub(super) database_cpu: f64,
    pub(super) load_average: f64,
}

impl Stage {
    pub(super) fn start(server: PathBuf) -> Result<Self> {
        let program = |name: &str| bench_dir().join("target/release").join(name);
        let database = Helper::start(&program("bench_database"), &[&data_dir()])?;
        let sink = Helper::start(&program("bench_sink"), &[])?;
        let sender = Helper::start(&program("bench_posting"), &[&sink.first_line])?;
        Ok(Self { database, sink, sender, server })
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

    /// An empty database, brought up to date by the server's own command.
    pub(super) fn new_database(&mut self, name: &str) -> Result<String> {
        let url = self.database.ask(&format!("new {name}"))?["url"].as_str().context("a URL")?.to_owned();
        let status = self.program().args(["migrate", "--database-url", &url]).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "beresta migrate failed");
        self.order(&json!({"do": "database", "url": url}))?;
        Ok(url)
    }

    pub(super) fn drop_database(&mut self, name: &str) -> Result<()> {
        self.database.ask(&format!("drop {name}"))?;
        Ok(())
    }

    /// A database with the workspace of most runs: 20 channels of each kind, without limits.
    pub(super) fn new_world(&mut self, name: &str) -> Result<String> {
        let url = self.new_database(name)?;
        self.order(&json!({"do": "workspace", "name": WORKSPACE, "telegram": CHANNELS / 2, "max": CHANNELS / 2}))?;
        Ok(url)
    }

    /// Posts through a running server until every delivery is sent.
    pub(super) fn burst(&mut self, server: &Server, posts: u32) -> Result<Run> {
        let deliveries = f64::from(posts * CHANNELS);
        let (before, own_before) = (self.sample()?, server.cpu_seconds());
        let done = self
            .order(&json!({"do": "burst", "server": server.url, "workspace": WORKSPACE, "posts": posts, "channels": CHANNELS}))?;
        let (own_after, after) = (server.cpu_seconds(), self.sample()?);
        let seconds = |key: &str| done[key].as_f64().context("seconds");
        let each = |key: &str| (after[key].as_f64().unwrap_or(0.0) - before[key].as_f64().unwrap_or(0.0)) / deliveries;
        Ok(Run {
            per_second: deliveries / seconds("seconds")?,
            pushed_per_second: deliveries / seconds("push_seconds")?,
            wal_bytes: each("wal_bytes"),
            commits: each("commits"),
            own_cpu: (own_after - own_before) * 1e6 / deliveries,
            database_cpu: each("cpu_seconds") * 1e6,
            load_average: load_average(),
        })
    }

    pub(super) fn serve(&self, database_url: &str) -> Result<Server> {
        Server::start(self.program(), database_url, &self.sink.first_line)
    }

    fn program(&self) -> Command {
        let mut command = Command::new(&self.server);
        // Away from any beresta.toml of the user's.
        command.current_dir(bench_dir().join("target"));
        command
    }
}

/// A real server, with every role, that ends with this value.
pub(super) struct Server {
    child: Child,
    pub(super) url: String,
}

impl Server {
    fn start(mut command: Command, database_url: &str, sink: &str) -> Result<Self> {
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir", "beresta-data", "--database-url", database_url])
            .env("BERESTA_TELEGRAM_BASE_URL", format!("{sink}telegram"))
            .env("BERESTA_MAX_BASE_URL", format!("{sink}max"))
            .env("BENCH_TELEGRAM_TOKEN", "1000001:bench-token-of-the-telegram-sink")
            .env("BENCH_MAX_TOKEN", "bench-token-of-the-max-sink")
            .stdout(Stdio::piped());
        if std::env::var_os("BERESTA_LOG").is_none() {
            command.env("BERESTA_LOG", "warn");
        }
        let mut child = command.spawn().context("beresta serve")?;
        let output = child.stdout.take().context("its output")?;
        let mut server = Self { child, url: String::new() };
        for line in BufReader::new(output).lines() {
            if let Some((_, url)) = line?.split_once("serves on ") {
                url.trim().clone_into(&mut server.url);
                return Ok(server);
            }
        }
        anyhow::bail!("beresta serve ended before it served")
    }

    pub(super) fn cpu_seconds(&self) -> f64 {
        tree_cpu_seconds(self.child.id())
    }

    /// As an operator stops it: what has begun comes to its end.
    pub(super) fn stop(mut self) -> Result<()> {
        kill(Pid::from_raw(i32::try_from(self.child.id())?), Signal::SIGTERM)?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
