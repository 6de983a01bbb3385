//! `cargo xtask bench ingest`: a message on its way from the webhook until it can be found: stored, cut and embedded by the local model;
//! beside ten thousand chunks and beside many, to see that it costs the same.

use std::{path::PathBuf, time::Instant};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};

use super::{
    machine::{self, median},
    stage::{BenchServer, BenchStage, Cast, Cost},
};

#[derive(Args)]
pub(crate) struct IngestBench {
    /// How many chunks the large database has; a million takes some minutes to load
    #[arg(long, default_value_t = 200_000)]
    chunks: u32,
    /// Messages per burst
    #[arg(long, default_value_t = 3000)]
    messages: u32,
    /// Bursts per database
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// How long the steady rate lasts
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// Measure this server instead of the one that is built from here
    #[arg(long)]
    server: Option<PathBuf>,
}

const FEW: u32 = 10_000;
/// The most that Telegram's `max_connections` allows.
const AT_ONCE: u32 = 100;
const RATE: u32 = 200;
/// Messages that meet cold caches and no plans.
const WARM_UP: u32 = 500;
const SECRET: &str = "bench-webhook-secret";

/// A database with so many chunks, and what a message cost there.
struct IngestWorld {
    name: &'static str,
    chunks: u32,
    bursts: Vec<(f64, Cost)>,
    steady: Option<(Value, Cost)>,
}

pub(crate) fn run(options: &IngestBench) -> Result<()> {
    machine::build_helpers(&["bench_database", "bench_sink", "bench_ingest"])?;
    let server = machine::server(options.server.as_deref())?;
    let mut stage = BenchStage::start(&Cast { sender: "bench_ingest", providers: "chats/" }, server)?;
    let world = |name, chunks| IngestWorld { name, chunks, bursts: Vec::new(), steady: None };
    let mut worlds = [world("ingest_few", FEW), world("ingest_many", options.chunks.max(FEW))];
    let mut servers = Vec::new();
    for world in &worlds {
        servers.push(open(&mut stage, world)?);
    }
    for round in 0..options.rounds.max(1) {
        for (world, (url, server)) in worlds.iter_mut().zip(&servers) {
            stage.order(&json!({"do": "database", "url": url}))?;
            let order = order(server, "burst", options.messages, &json!({"at_once": AT_ONCE}));
            let (found, cost) = stage.measure(server, f64::from(options.messages), &order)?;
            let speed = f64::from(options.messages) / found["seconds"].as_f64().context("seconds")?;
            eprintln!(
                "round {} beside {:8} chunks {speed:8.0} messages/s  (load average {:.1})",
                round + 1,
                world.chunks,
                cost.load_average
            );
            world.bursts.push((speed, cost));
        }
    }
    for (world, (url, server)) in worlds.iter_mut().zip(&servers) {
        stage.order(&json!({"do": "database", "url": url}))?;
        let messages = RATE * options.seconds.max(1);
        let order = order(server, "steady", messages, &json!({"rate": RATE}));
        world.steady = Some(stage.measure(server, f64::from(messages), &order)?);
    }
    report(options, &worlds);
    for (world, (_, server)) in worlds.iter().zip(servers) {
        server.stop()?;
        stage.drop_database(world.name)?;
    }
    Ok(())
}

/// A server that has its connections and plans, on a database of that size.
fn open(stage: &mut BenchStage, world: &IngestWorld) -> Result<(String, BenchServer)> {
    let url = stage.new_database(world.name)?;
    stage.order(&json!({"do": "prepare", "secret": SECRET}))?;
    let server = stage.serve(&url)?;
    // The first message makes the model whose vectors are loaded.
    stage.order(&order(&server, "burst", WARM_UP, &json!({"at_once": AT_ONCE})))?;
    let started = Instant::now();
    let filled = stage.order(&json!({"do": "fill", "chunks": world.chunks}))?;
    eprintln!("{} chunks with their vectors loaded in {:.0} s", filled["chunks"], started.elapsed().as_secs_f64());
    stage.order(&order(&server, "burst", WARM_UP, &json!({"at_once": AT_ONCE})))?;
    Ok((url, server))
}

fn order(server: &BenchServer, what: &str, messages: u32, more: &Value) -> Value {
    let mut order = json!({"do": what, "server": server.url, "secret": SECRET, "messages": messages});
    if let (Some(order), Some(more)) = (order.as_object_mut(), more.as_object()) {
        order.extend(more.clone());
    }
    order
}

fn report(options: &IngestBench, worlds: &[IngestWorld]) {
    println!(
        "\n{} messages of one chunk per run, {AT_ONCE} webhooks at once, from the first webhook until the last vector is stored, local embedder;",
        options.messages
    );
    println!("median of {} rounds, fsync and synchronous_commit on; every message has one chunk and one vector", options.rounds);
    println!(
        "{:20} {:>10} {:>8} {:>10} {:>8} {:>8} {:>10} {:>10} {:>8} {:>5}",
        "beside", "messages/s", "to first", "WAL B", "to first", "commits", "own CPU us", "db CPU us", "to first", "load"
    );
    let of = |world: &IngestWorld, read: fn(&(f64, Cost)) -> f64| median(world.bursts.iter().map(read));
    let speed = |world: &IngestWorld| of(world, |(speed, _)| *speed);
    let wal = |world: &IngestWorld| of(world, |(_, cost)| cost.wal_bytes);
    let cpu = |world: &IngestWorld| of(world, |(_, cost)| cost.own_cpu + cost.database_cpu);
    let Some(first) = worlds.first() else { return };
    for world in worlds {
        println!(
            "{:20} {:10.0} {:7.2}x {:10.0} {:7.2}x {:8.2} {:10.0} {:10.0} {:7.2}x {:5.1}",
            format!("{} chunks", world.chunks),
            speed(world),
            speed(world) / speed(first),
            wal(world),
            wal(world) / wal(first),
            of(world, |(_, cost)| cost.commits),
            of(world, |(_, cost)| cost.own_cpu),
            of(world, |(_, cost)| cost.database_cpu),
            cpu(world) / cpu(first),
            of(world, |(_, cost)| cost.load_average),
        );
    }
    println!("\n{RATE} messages/s for {} s: until the 200, and until the vector is stored", options.seconds);
    println!(
        "{:20} {:>12} {:>12} {:>12} {:>12} {:>10} {:>10} {:>5}",
        "beside", "200: p50 ms", "200: p99 ms", "p50 ms", "p99 ms", "own CPU us", "db CPU us", "load"
    );
    for world in worlds {
        let Some((found, cost)) = &world.steady else { continue };
        let ms = |what: &str, key: &str| found[what][key].as_f64().unwrap_or(0.0);
        println!(
            "{:20} {:12.1} {:12.1} {:12.1} {:12.1} {:10.0} {:10.0} {:5.1}",
            format!("{} chunks", world.chunks),
            ms("taken", "p50_ms"),
            ms("taken", "p99_ms"),
            ms("found", "p50_ms"),
            ms("found", "p99_ms"),
            cost.own_cpu,
            cost.database_cpu,
            cost.load_average,
        );
    }
}
