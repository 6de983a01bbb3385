//! A workspace with forty channels, and posts on their way through a server.

use anyhow::{Context, Result};
use serde_json::json;

pub(super) use super::super::stage::{BenchServer, BenchStage};

pub(super) const CHANNELS: u32 = 40;
/// The workspace of most runs; its name is also the secret of its endpoint.
pub(super) const WORKSPACE: &str = "bench";

/// What a run cost, for each delivery.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostingRun {
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

impl BenchStage {
    /// A database with the workspace of most runs: 20 channels of each kind, without limits.
    pub(super) fn new_world(&mut self, name: &str) -> Result<String> {
        let url = self.new_database(name)?;
        self.order(&json!({"do": "workspace", "name": WORKSPACE, "telegram": CHANNELS / 2, "max": CHANNELS / 2}))?;
        Ok(url)
    }

    /// Posts through a running server until every delivery is sent.
    pub(super) fn burst(&mut self, server: &BenchServer, posts: u32) -> Result<PostingRun> {
        let deliveries = f64::from(posts * CHANNELS);
        let order = json!({"do": "burst", "server": server.url, "workspace": WORKSPACE, "posts": posts, "channels": CHANNELS});
        let (done, cost) = self.measure(server, deliveries, &order)?;
        // Counting is not what is measured.
        self.order(&json!({"do": "check", "run": done["run"], "posts": posts, "channels": CHANNELS}))?;
        let seconds = |key: &str| done[key].as_f64().context("seconds");
        Ok(PostingRun {
            per_second: deliveries / seconds("seconds")?,
            pushed_per_second: deliveries / seconds("push_seconds")?,
            wal_bytes: cost.wal_bytes,
            commits: cost.commits,
            own_cpu: cost.own_cpu,
            database_cpu: cost.database_cpu,
            load_average: cost.load_average,
        })
    }
}
