//! What is printed: one line for each promise, and the story of whoever broke one.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use super::{ChaosOutcome, check::ChaosVerdict, evidence::ProviderCall, stage::Stage};

/// So many of those who broke a promise are shown; the rest are counted.
const SHOWN_MAX: usize = 5;

/// What is told beside the verdicts.
pub(super) struct Facts<'a> {
    pub(super) calls: &'a [ProviderCall],
    /// From then on the simulator failed nothing any more.
    pub(super) peace_at: i64,
    /// Everything known about one that broke a promise.
    pub(super) story: &'a dyn Fn(&str) -> String,
}

/// Prints what came of a play, and ends it.
pub(super) async fn conclude(stage: &Stage, facts: &Facts<'_>, verdicts: &[ChaosVerdict], started: Instant) -> ChaosOutcome {
    let outcome = print(stage, facts, verdicts, started.elapsed());
    stage.close().await;
    outcome
}

fn print(stage: &Stage, facts: &Facts<'_>, verdicts: &[ChaosVerdict], took: Duration) -> ChaosOutcome {
    let tally = stage.crew.tally();
    let kinds: Vec<String> = tally.kills.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    println!("kills: {} ({})", tally.total(), kinds.join(", "));
    let worst = stage.worst_moments.load(Ordering::Relaxed);
    println!(
        "stops past the lease: {}, {worst} of them until the worst moment; took {:.0} s",
        stage.stops().len(),
        took.as_secs_f64()
    );
    let calls: Vec<_> = facts.calls.iter().filter(|call| call.started_at < facts.peace_at).collect();
    let failed = calls.iter().filter(|call| call.is_failed).count() * 100 / calls.len().max(1);
    println!("until peace the simulator saw {} calls and failed {failed} % of them", calls.len());
    for verdict in verdicts {
        let mark = if verdict.broken.is_empty() { "ok  " } else { "FAIL" };
        println!("{mark} {}: {}", verdict.promise, verdict.figures);
        for broken in verdict.broken.iter().take(SHOWN_MAX) {
            println!("     {}", broken.words);
            if let Some(id) = &broken.whose {
                println!("{}", (facts.story)(id));
            }
        }
        if verdict.broken.len() > SHOWN_MAX {
            println!("     and {} more", verdict.broken.len() - SHOWN_MAX);
        }
    }
    let broken: Vec<&'static str> =
        verdicts.iter().filter(|verdict| !verdict.broken.is_empty()).map(|verdict| verdict.promise).collect();
    let end = if broken.is_empty() { "every promise was kept" } else { "FAILED" };
    println!("chaos {}: seed {}, {end}", stage.subject.name, stage.seed);
    ChaosOutcome { kills: tally.total(), broken }
}
