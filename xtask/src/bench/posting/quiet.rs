//! What one sees when there is little to do, or when there is much to do for others: latency, idleness, neighbours.

use std::{thread, time::Duration};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    super::machine::load_average,
    PostingSizes,
    stage::{BenchServer, BenchStage, CHANNELS, WORKSPACE},
};

/// Time for a fresh server to do what it does once.
const SETTLE: Duration = Duration::from_secs(6);
const QUIET: &str = "quiet";
const QUIET_CHANNELS: u32 = 4;
const QUIET_POSTS_PER_SECOND: u32 = 20;

pub(super) fn latency(stage: &mut BenchStage, sizes: PostingSizes) -> Result<()> {
    let url = stage.new_world("posting_latency")?;
    let server = stage.serve(&url)?;
    thread::sleep(Duration::from_secs(1));
    let order = |seconds: u32| json!({"do": "steady", "server": server.url, "workspace": WORKSPACE, "rate": 5, "seconds": seconds, "channels": CHANNELS});
    // The first posts meet cold caches and no connections.
    stage.order(&order(2))?;
    let (before, own_before) = (stage.sample()?, server.cpu_seconds());
    let found = stage.order(&order(sizes.steady_seconds))?;
    let (own, after) = (server.cpu_seconds() - own_before, stage.sample()?);
    println!("\nfrom the push to the channel, 5 posts/s = 200 deliveries/s for {} s", sizes.steady_seconds);
    println!("{}", times(&found));
    let deliveries = found["deliveries"].as_f64().unwrap_or(1.0);
    let cpu = after["cpu_seconds"].as_f64().unwrap_or(0.0) - before["cpu_seconds"].as_f64().unwrap_or(0.0);
    println!("CPU us each: server {:.0}, PostgreSQL {:.0}", own * 1e6 / deliveries, cpu * 1e6 / deliveries);
    server.stop()?;
    stage.drop_database("posting_latency")
}

pub(super) fn idle(stage: &mut BenchStage, sizes: PostingSizes) -> Result<()> {
    let url = stage.new_world("posting_idle")?;
    let server = stage.serve(&url)?;
    // It has worked before.
    stage.burst(&server, 10)?;
    thread::sleep(SETTLE);
    let seconds = f64::from(sizes.steady_seconds);
    let (before, own_before) = (stage.sample()?, server.cpu_seconds());
    thread::sleep(Duration::from_secs(sizes.steady_seconds.into()));
    let (own, after) = (server.cpu_seconds() - own_before, stage.sample()?);
    let grown = |key: &str| after[key].as_f64().unwrap_or(0.0) - before[key].as_f64().unwrap_or(0.0);
    println!(
        "\nidle for {seconds} s: server {:.2} % of a core, PostgreSQL {:.2} %, {:.1} commits/s, {:.0} WAL bytes/s (load average {:.1})",
        own * 100.0 / seconds,
        grown("cpu_seconds") * 100.0 / seconds,
        grown("commits") / seconds,
        grown("wal_bytes") / seconds,
        load_average(),
    );
    server.stop()?;
    stage.drop_database("posting_idle")
}

/// One workspace sends a little, steadily. Beside it another has a backlog and a channel that answers after 20 seconds.
pub(super) fn noisy(stage: &mut BenchStage, sizes: PostingSizes) -> Result<()> {
    println!(
        "\na quiet workspace, {QUIET_POSTS_PER_SECOND} posts/s to {QUIET_CHANNELS} channels for {} s, from the push to the channel",
        sizes.steady_seconds
    );
    for (name, has_noise, rate) in [
        ("alone", false, Value::Null),
        ("beside a dead channel and a backlog, 1 post/s and channel", true, json!(1)),
        ("beside a dead channel and a backlog at full speed", true, Value::Null),
    ] {
        let url = stage.new_database("posting_noisy")?;
        stage.order(&json!({"do": "workspace", "name": QUIET, "telegram": QUIET_CHANNELS / 2, "max": QUIET_CHANNELS / 2}))?;
        stage.order(&json!({"do": "workspace", "name": "noise", "telegram": CHANNELS / 2, "max": CHANNELS / 2, "dead": true, "rate": rate}))?;
        let server = stage.serve(&url)?;
        steady_quiet(stage, &server, 2)?;
        if has_noise {
            let order = json!({"do": "backlog", "server": server.url, "workspace": "noise", "deliveries": sizes.backlog, "channels": CHANNELS + 1});
            stage.order(&order)?;
        }
        let found = steady_quiet(stage, &server, sizes.steady_seconds)?;
        let sent = stage.order(&json!({"do": "stop"}))?;
        let noise = sent["sent"].as_f64().unwrap_or(0.0) / f64::from(sizes.steady_seconds);
        println!("{name:58} {}  (the noise: {noise:.0} sends/s)", times(&found));
        // Not stopped in order: the dead channel would hold it.
        drop(server);
    }
    stage.drop_database("posting_noisy")
}

fn steady_quiet(stage: &mut BenchStage, server: &BenchServer, seconds: u32) -> Result<Value> {
    stage.order(&json!({
        "do": "steady", "server": server.url, "workspace": QUIET, "rate": QUIET_POSTS_PER_SECOND, "seconds": seconds, "channels": QUIET_CHANNELS,
    }))
}

fn times(found: &Value) -> String {
    let number = |key: &str| found[key].as_f64().unwrap_or(0.0);
    let late = number("expected") - number("deliveries");
    format!(
        "p50 {:.1} ms, p90 {:.1} ms, p99 {:.1} ms, max {:.1} ms{} (load average {:.1})",
        number("p50_ms"),
        number("p90_ms"),
        number("p99_ms"),
        number("max_ms"),
        if late > 0.0 { format!(", {late} never came") } else { String::new() },
        load_average(),
    )
}
