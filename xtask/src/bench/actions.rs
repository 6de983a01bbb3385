//! `cargo xtask bench actions`: thousands of people watch chats while bots say what they do. Our server, which writes every event
//! down before anybody hears it, and beside it, in the same run, plain axum with a broadcast channel for each chat in
//! memory, which writes nothing: what this machine can do at most.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};

use super::{
    jobs::OURS,
    machine::{self, bench_dir},
    stage::{BenchServer, BenchStage, Cast, Cost},
};

#[derive(Args)]
pub(crate) struct ActionsBench {
    /// How many people watch
    #[arg(long, default_value_t = 5000)]
    watchers: u32,
    /// Everything shorter: about a minute
    #[arg(long)]
    quick: bool,
    /// Only these shapes, separated by commas: apart, groups, together
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Measure this server instead of the one that is built from here
    #[arg(long)]
    server: Option<PathBuf>,
}

const PARTS: [&str; 3] = ["apart", "groups", "together"];
const PLAIN: &str = "plain axum, nothing kept";
const DATABASE: &str = "actions";
/// Bots that call at the same time.
const AT_ONCE: u32 = 64;

/// How the watchers are spread over chats, and how much happens there.
struct BenchShape {
    name: &'static str,
    chats: u32,
    /// As fast as it goes.
    burst_events: u32,
    /// With time enough: so many a second, for so long.
    rate: u32,
    seconds: u32,
}

impl BenchShape {
    fn of(name: &'static str, watchers: u32, is_quick: bool) -> Self {
        let (chats, burst_events, rate) = match name {
            "apart" => (watchers, 20_000, 300),
            "groups" => ((watchers / 50).max(1), 4000, 50),
            // Fewer than either server keeps for a slow watcher.
            _ => (1, 400, 2),
        };
        let (burst_events, seconds) = if is_quick { (burst_events / 4, 4) } else { (burst_events, 20) };
        Self { name, chats, burst_events, rate, seconds }
    }

    fn warm_up_events(&self) -> u32 {
        (self.burst_events / 5).next_multiple_of(2)
    }
}

pub(crate) fn run(options: &ActionsBench) -> Result<()> {
    let parts = machine::wanted(&PARTS, &options.only)?;
    machine::build()?;
    let server = machine::server(options.server.as_deref())?;
    let mut stage = BenchStage::start(&Cast { sender: "bench_watchers", providers: "" }, server)?;
    for part in parts {
        let shape = BenchShape::of(part, options.watchers, options.quick);
        let each = options.watchers / shape.chats;
        println!("\n{}: {} watchers, {each} in each of {} chats", shape.name, options.watchers, shape.chats);
        println!(
            "{:26} {:>9} {:>10} {:>8} {:>8} | {:>7} {:>8} {:>8} {:>8} {:>9} | {:>9} {:>9} {:>9} {:>5}",
            "",
            "events/s",
            "arrivals/s",
            "p50 ms",
            "p99 ms",
            "steady/s",
            "p50 ms",
            "p99 ms",
            "max ms",
            "reply p50",
            "KiB/watch",
            "own us/a",
            "db us/ev",
            "load"
        );
        let ours = play(&mut stage, &shape, options.watchers, true)?;
        let plain = play(&mut stage, &shape, options.watchers, false)?;
        let ratio = |key: fn(&Played) -> f64| key(&ours) / key(&plain);
        println!(
            "{OURS} to {PLAIN}: {:.2}x the arrivals, {:.2}x the memory for each watcher",
            ratio(|played| played.arrivals_per_second),
            ratio(|played| played.watcher_kib)
        );
    }
    println!("\nevery event was heard exactly once by each of its watchers; from the POST until it arrived there");
    Ok(())
}

struct Played {
    arrivals_per_second: f64,
    watcher_kib: f64,
}

fn play(stage: &mut BenchStage, shape: &BenchShape, watchers: u32, is_ours: bool) -> Result<Played> {
    let name = if is_ours { OURS } else { PLAIN };
    let url = stage.new_database(DATABASE)?;
    let token = stage.order(&json!({"do": "prepare"}))?["token"].clone();
    let server = if is_ours { open_ours(stage, &url, watchers)? } else { open_plain()? };
    let told = |what: &str, more: Value| {
        let mut order = json!({"do": what, "server": server.url, "token": token});
        if let (Some(order), Some(more)) = (order.as_object_mut(), more.as_object()) {
            order.extend(more.clone());
        }
        order
    };
    let before = server.memory_kib()?;
    stage.order(&told("open", json!({"chats": shape.chats, "watchers": watchers}))).with_context(|| name)?;
    let watcher_kib = (server.memory_kib()? - before) / f64::from(watchers);
    stage.order(&told("burst", json!({"events": shape.warm_up_events(), "at_once": AT_ONCE}))).with_context(|| name)?;
    stage.order(&json!({"do": "execute", "sql": "analyze actions.actions, actions.chats, bus.messages"}))?;

    let burst = told("burst", json!({"events": shape.burst_events, "at_once": AT_ONCE}));
    let (fast, cost) = stage.measure(&server, f64::from(shape.burst_events), &burst).with_context(|| name)?;
    let steady = told("steady", json!({"events": shape.rate * shape.seconds, "rate": shape.rate}));
    let calm = stage.order(&steady).with_context(|| name)?;
    stage.order(&json!({"do": "close"}))?;
    server.stop()?;
    stage.drop_database(DATABASE)?;

    let seconds = fast["heard_seconds"].as_f64().context("seconds")?;
    let arrivals_per_second = fast["heard"].as_f64().context("heard")? / seconds;
    let played = Played { arrivals_per_second, watcher_kib };
    report(name, shape, &played, (&fast, &cost), &calm);
    Ok(played)
}

fn report(name: &str, shape: &BenchShape, played: &Played, (fast, cost): (&Value, &Cost), calm: &Value) {
    let ms = |found: &Value, what: &str, key: &str| found[what][key].as_f64().unwrap_or(0.0);
    let told = f64::from(shape.burst_events) / fast["heard_seconds"].as_f64().unwrap_or(f64::INFINITY);
    let arrivals_each = fast["heard"].as_f64().unwrap_or(0.0) / f64::from(shape.burst_events);
    println!(
        "{name:26} {told:9.0} {:10.0} {:8.1} {:8.1} | {:8} {:8.2} {:8.2} {:8.1} {:9.2} | {:9.1} {:9.1} {:9.0} {:5.1}",
        played.arrivals_per_second,
        ms(fast, "arrival", "p50_ms"),
        ms(fast, "arrival", "p99_ms"),
        shape.rate,
        ms(calm, "arrival", "p50_ms"),
        ms(calm, "arrival", "p99_ms"),
        ms(calm, "arrival", "max_ms"),
        ms(calm, "reply", "p50_ms"),
        played.watcher_kib,
        cost.own_cpu / arrivals_each,
        cost.database_cpu,
        cost.load_average,
    );
}

/// All of them come from one address with one token, which the limits of a server that people use do not allow.
fn open_ours(stage: &BenchStage, database_url: &str, watchers: u32) -> Result<BenchServer> {
    let most = (watchers + 100).to_string();
    let streams = ["BERESTA_STREAMS_MAX", "BERESTA_STREAMS_PER_TOKEN_MAX", "BERESTA_STREAMS_PER_ADDRESS_MAX"];
    stage.serve_with(database_url, &streams.map(|name| (name, most.as_str())))
}

fn open_plain() -> Result<BenchServer> {
    BenchServer::start(std::process::Command::new(bench_dir().join("target/release/plain_broadcast")))
}
