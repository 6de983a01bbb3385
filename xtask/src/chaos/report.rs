//! What is printed: one line for each promise, and the story of whoever broke one.

use std::{sync::atomic::Ordering, time::Duration};

use super::{Outcome, check::Verdict, evidence::Evidence, stage::Stage};

/// So many of those who broke a promise are shown; the rest are counted.
const SHOWN_MAX: usize = 5;

pub(super) fn print(stage: &Stage, evidence: &Evidence, verdicts: &[Verdict], took: Duration) -> Outcome {
    let tally = stage.crew.tally();
    let kinds: Vec<String> = tally.kills.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    println!("kills: {} ({})", tally.total(), kinds.join(", "));
    let worst = stage.worst_moments.load(Ordering::Relaxed);
    println!(
        "stops past the lease: {}, {worst} of them until the worst moment; took {:.0} s",
        evidence.stops.len(),
        took.as_secs_f64()
    );
    let calls: Vec<_> = evidence.calls.iter().filter(|call| call.started_at < evidence.peace_at).collect();
    let failed = calls.iter().filter(|call| call.is_failed).count() * 100 / calls.len().max(1);
    println!("until peace the simulator saw {} calls and failed {failed} % of them", calls.len());
    for verdict in verdicts {
        let mark = if verdict.broken.is_empty() { "ok  " } else { "FAIL" };
        println!("{mark} {}: {}", verdict.promise, verdict.figures);
        for broken in verdict.broken.iter().take(SHOWN_MAX) {
            println!("     {}", broken.words);
            if let Some(id) = &broken.delivery_id {
                println!("{}", evidence.story(id));
            }
        }
        if verdict.broken.len() > SHOWN_MAX {
            println!("     and {} more", verdict.broken.len() - SHOWN_MAX);
        }
    }
    let broken: Vec<&'static str> =
        verdicts.iter().filter(|verdict| !verdict.broken.is_empty()).map(|verdict| verdict.promise).collect();
    println!("chaos posting: seed {}, {}", stage.seed, if broken.is_empty() { "every promise was kept" } else { "FAILED" });
    Outcome { kills: tally.total(), broken }
}
