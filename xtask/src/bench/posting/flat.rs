//! Whether a delivery costs the same however much has been sent before, and beside a transaction that nobody ends.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use super::{
    super::machine::median,
    PostingSizes,
    stage::{BenchServer, BenchStage, PostingRun, WORKSPACE},
};

const FEW: u32 = 10_000;

pub(super) fn run(stage: &mut BenchStage, sizes: PostingSizes, is_flat: bool, is_held: bool) -> Result<()> {
    let mut worlds = vec![("posting_few", FEW, Vec::new())];
    if is_flat {
        worlds.push(("posting_many", sizes.rows, Vec::new()));
    }
    let mut urls = Vec::new();
    for (name, rows, _) in &worlds {
        let started = Instant::now();
        let url = stage.new_world(name)?;
        stage.order(&json!({"do": "fill", "workspace": WORKSPACE, "rows": rows}))?;
        let sizes = stage.order(&json!({"do": "measure table"}))?;
        eprintln!("{rows} finished deliveries loaded in {:.0} s: {sizes}", started.elapsed().as_secs_f64());
        urls.push(url);
    }
    for round in 0..sizes.rounds {
        for ((_, rows, runs), url) in worlds.iter_mut().zip(&urls) {
            let run = one(stage, url, sizes.posts)?;
            eprintln!(
                "round {} beside {rows:8} finished {:8.0} deliveries/s  (load average {:.1})",
                round + 1,
                run.per_second,
                run.load_average
            );
            runs.push(run);
        }
    }
    let held = if is_held { held(stage, urls.first().map_or("", String::as_str), sizes)? } else { Vec::new() };
    for (name, ..) in &worlds {
        stage.drop_database(name)?;
    }

    println!("\nthe same beside what is already there, {} posts per run, median of {} rounds", sizes.posts, sizes.rounds);
    println!(
        "{:44} {:>9} {:>8} {:>9} {:>10} {:>10} {:>8} {:>5}",
        "", "sends/s", "to first", "WAL B", "own CPU us", "db CPU us", "to first", "load"
    );
    let first = worlds.first().map_or(&[][..], |world| &world.2);
    for (_, rows, runs) in &worlds {
        line(&format!("{rows} finished deliveries"), runs, first);
    }
    if let [begin, .., end] = held.as_slice() {
        line("a transaction held open, all runs", &held, first);
        line("its first run", std::slice::from_ref(begin), first);
        line(&format!("its last run, after {} s", sizes.held_seconds), std::slice::from_ref(end), first);
    }
    Ok(())
}

/// A server that has its connections and its plans.
fn warm(stage: &mut BenchStage, url: &str, posts: u32) -> Result<BenchServer> {
    let server = stage.serve(url)?;
    stage.burst(&server, (posts / 4).max(1))?;
    Ok(server)
}

fn one(stage: &mut BenchStage, url: &str, posts: u32) -> Result<PostingRun> {
    stage.order(&json!({"do": "database", "url": url}))?;
    let server = warm(stage, url, posts)?;
    let run = stage.burst(&server, posts)?;
    server.stop()?;
    Ok(run)
}

/// Burst after burst while a snapshot is held that began before the first of them.
fn held(stage: &mut BenchStage, url: &str, sizes: PostingSizes) -> Result<Vec<PostingRun>> {
    stage.order(&json!({"do": "database", "url": url}))?;
    let server = warm(stage, url, sizes.posts)?;
    stage.order(&json!({"do": "hold"}))?;
    let started = Instant::now();
    let mut runs = Vec::new();
    while started.elapsed() < Duration::from_secs(sizes.held_seconds.into()) || runs.len() < 2 {
        let run = stage.burst(&server, sizes.posts)?;
        let after = started.elapsed().as_secs_f64();
        eprintln!("held for {after:4.0} s {:8.0} deliveries/s, PostgreSQL {:.0} us each", run.per_second, run.database_cpu);
        runs.push(run);
    }
    stage.order(&json!({"do": "release"}))?;
    server.stop()?;
    Ok(runs)
}

fn line(name: &str, runs: &[PostingRun], first: &[PostingRun]) {
    let of = |runs: &[PostingRun], read: fn(&PostingRun) -> f64| median(runs.iter().map(read));
    let cost = |runs: &[PostingRun]| of(runs, |run| run.own_cpu + run.database_cpu);
    let speed = of(runs, |run| run.per_second);
    println!(
        "{name:44} {speed:9.0} {:7.2}x {:9.0} {:10.0} {:10.0} {:7.2}x {:5.1}",
        speed / of(first, |run| run.per_second),
        of(runs, |run| run.wal_bytes),
        of(runs, |run| run.own_cpu),
        of(runs, |run| run.database_cpu),
        cost(runs) / cost(first),
        of(runs, |run| run.load_average),
    );
}
