//! Messages a second, from the first webhook until the last answer has arrived: ours and the peers'.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    super::{
        jobs::OURS,
        machine::median,
        stage::{BenchStage, Cost},
    },
    ShopbotSizes,
    contestants::{BenchAct, CONTESTANTS, Contestant},
};

/// As many connections as Telegram opens at most (`max_connections` of setWebhook): each chat waits for its 200 on one.
const AT_ONCE: u32 = 100;
/// Webhooks that come a second time.
const REPEATED: u32 = 20;

#[derive(Clone, Copy)]
struct ShopbotRun {
    per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    cost: Cost,
}

pub(super) fn run(stage: &mut BenchStage, sizes: ShopbotSizes) -> Result<()> {
    let act = BenchAct {
        what: "burst",
        more: json!({"at_once": AT_ONCE}),
        warm_up: (sizes.messages / 4).max(1000),
        messages: sizes.messages,
    };
    let mut runs: BTreeMap<&str, Vec<ShopbotRun>> = BTreeMap::new();
    let mut repeated = Vec::new();
    let mut told = Value::Null;
    for round in 0..sizes.rounds {
        for contestant in CONTESTANTS {
            let server = contestant.open(stage)?;
            let (found, cost) = contestant.play(stage, &server, &act).with_context(|| contestant.name)?;
            if told.is_null() {
                told = found["texts"].clone();
            }
            ensure!(found["texts"] == told, "{} says {}, and {OURS} says {told}", contestant.name, found["texts"]);
            if round == 0 {
                repeated.push((contestant.name, contestant.repeat(stage, &server, &act, REPEATED)?));
            }
            Contestant::close(server, stage)?;
            let number = |value: &Value| value.as_f64().unwrap_or(0.0);
            let run = ShopbotRun {
                per_second: f64::from(sizes.messages) / found["seconds"].as_f64().context("seconds")?,
                p50_ms: number(&found["answered"]["p50_ms"]),
                p99_ms: number(&found["answered"]["p99_ms"]),
                cost,
            };
            eprintln!(
                "round {} {:34} {:8.0} messages/s  (load average {:.1})",
                round + 1,
                contestant.name,
                run.per_second,
                cost.load_average
            );
            runs.entry(contestant.name).or_default().push(run);
        }
    }
    report(sizes, &runs, &repeated);
    Ok(())
}

fn report(sizes: ShopbotSizes, runs: &BTreeMap<&str, Vec<ShopbotRun>>, repeated: &[(&str, u64)]) {
    let of = |name: &str, read: fn(&ShopbotRun) -> f64| runs.get(name).map_or(0.0, |runs| median(runs.iter().map(read)));
    let ours = of(OURS, |run| run.per_second);
    println!(
        "\n{} messages per run, {AT_ONCE} chats at once, median of {} rounds, fsync and synchronous_commit on",
        sizes.messages, sizes.rounds
    );
    println!("from the first webhook until the last answer has arrived; every answer compared with what it should be");
    println!(
        "{:34} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>5}",
        "contestant", "messages/s", "ours to it", "p50 ms", "p99 ms", "WAL B", "commits", "own CPU us", "db CPU us", "load"
    );
    for name in CONTESTANTS.iter().map(|contestant| contestant.name).filter(|name| runs.contains_key(name)) {
        let speed = of(name, |run| run.per_second);
        println!(
            "{name:34} {speed:10.0} {:9.2}x {:8.1} {:8.1} {:8.0} {:8.2} {:10.0} {:10.0} {:5.1}",
            ours / speed,
            of(name, |run| run.p50_ms),
            of(name, |run| run.p99_ms),
            of(name, |run| run.cost.wal_bytes),
            of(name, |run| run.cost.commits),
            of(name, |run| run.cost.own_cpu),
            of(name, |run| run.cost.database_cpu),
            of(name, |run| run.cost.load_average),
        );
    }
    for (name, answered) in repeated {
        println!("of {REPEATED} webhooks that came again, {name} answered {answered} again");
    }
}
