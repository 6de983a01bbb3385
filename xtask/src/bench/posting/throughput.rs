//! Deliveries a second: ours, the peers', and what PostgreSQL could do.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::json;

use super::{
    super::{jobs, machine::median},
    PostingSizes, physical,
    stage::{BenchStage, CHANNELS, PostingRun},
};

const COLD: &str = "beresta, its first posts";
const PHYSICAL: &str = "PostgreSQL alone";

pub(super) fn run(stage: &mut BenchStage, sizes: PostingSizes, parts: &[&str]) -> Result<()> {
    let deliveries = sizes.posts * CHANNELS;
    let peers: Vec<_> = jobs::CONTESTANTS.iter().filter(|peer| peer.name != jobs::OURS && parts.contains(&"peers")).collect();
    let mut runs: BTreeMap<&str, Vec<PostingRun>> = BTreeMap::new();
    for round in 0..sizes.rounds {
        let mut take = |name: &'static str, run: PostingRun| {
            eprintln!(
                "round {} {name:34} {:8.0} deliveries/s  (load average {:.1})",
                round + 1,
                run.per_second,
                run.load_average
            );
            runs.entry(name).or_default().push(run);
        };
        let (cold, warm) = ours(stage, sizes.posts)?;
        take(COLD, cold);
        take(jobs::OURS, warm);
        for peer in &peers {
            let sink = stage.sink.first_line.clone();
            take(peer.name, jobs::measure(peer, "http", &sink, deliveries, &mut stage.database)?.into());
        }
        if parts.contains(&"physical") {
            take(PHYSICAL, physical::run(stage, sizes.physical_batches)?);
        }
    }
    let names = [jobs::OURS, COLD].into_iter().chain(peers.iter().map(|peer| peer.name)).chain([PHYSICAL]);
    report(sizes, names, &runs);
    Ok(())
}

/// The first posts of a fresh server on an empty database, which meet plans that are still to be made, and then the run itself.
fn ours(stage: &mut BenchStage, posts: u32) -> Result<(PostingRun, PostingRun)> {
    let url = stage.new_world("posting")?;
    let server = stage.serve(&url)?;
    let cold = stage.burst(&server, (posts / 2).max(1))?;
    // As for the peers: a live database has statistics, and autovacuum would bring them within a minute.
    stage.order(&json!({"do": "execute", "sql": "analyze posting.messages, posting.deliveries, posting.events, posting.channel_counters"}))?;
    let run = stage.burst(&server, posts)?;
    server.stop()?;
    stage.drop_database("posting")?;
    Ok((cold, run))
}

impl From<jobs::JobsRun> for PostingRun {
    fn from(run: jobs::JobsRun) -> Self {
        Self {
            per_second: run.jobs_per_second,
            pushed_per_second: run.with_adding_per_second,
            wal_bytes: run.wal_bytes_per_job,
            commits: run.commits_per_job,
            own_cpu: run.own_cpu,
            database_cpu: run.database_cpu,
            load_average: super::machine::load_average(),
        }
    }
}

fn report<'a>(sizes: PostingSizes, names: impl Iterator<Item = &'a str>, runs: &BTreeMap<&'a str, Vec<PostingRun>>) {
    let of = |name: &str, read: fn(&PostingRun) -> f64| runs.get(name).map_or(0.0, |runs| median(runs.iter().map(read)));
    let ours = of(jobs::OURS, |run| run.per_second);
    println!(
        "\n{} posts to {CHANNELS} channels ({} deliveries) per run, median of {} rounds, fsync and synchronous_commit on",
        sizes.posts,
        sizes.posts * CHANNELS,
        sizes.rounds
    );
    println!("ours: from the first push until all are sent; the queues: from all enqueued until all are done");
    println!(
        "{:34} {:>9} {:>10} {:>12} {:>9} {:>9} {:>10} {:>10} {:>5}",
        "contestant", "sends/s", "ours to it", "with adding", "WAL B", "commits", "own CPU us", "db CPU us", "load"
    );
    for name in names.filter(|name| runs.contains_key(name)) {
        let speed = of(name, |run| run.per_second);
        let with_adding = if name == jobs::OURS || name == COLD { speed } else { of(name, |run| run.pushed_per_second) };
        println!(
            "{name:34} {speed:9.0} {:9.2}x {with_adding:12.0} {:9.0} {:9.4} {:10.0} {:10.0} {:5.1}",
            ours / speed,
            of(name, |run| run.wal_bytes),
            of(name, |run| run.commits),
            of(name, |run| run.own_cpu),
            of(name, |run| run.database_cpu),
            of(name, |run| run.load_average),
        );
    }
    println!("ours accepted pushes at {:.0} deliveries/s", of(jobs::OURS, |run| run.pushed_per_second));
}
