//! Short runs of the whole harness around knowledge: the real program passes, and each planted fault is found.

use std::sync::PoisonError;

use super::{ChaosOutcome, KnowledgeChaos, plant::ArchivePlant, run_program};
use crate::chaos::tests::{ALONE, options, program};

fn run(seed: u64, rounds: u32, plant: Option<ArchivePlant>) -> ChaosOutcome {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let options = KnowledgeChaos { common: options(seed, rounds, plant), runners: 2 };
    run_program(&program(), &options).expect("the run comes to its end")
}

#[test]
fn a_short_run_of_knowledge_keeps_every_promise() {
    let outcome = run(20_261_118, 6, None);
    assert!(outcome.broken.is_empty(), "{outcome:?}");
    assert!(outcome.kills >= 6, "{outcome:?}");
}

#[test]
fn a_run_that_forgets_without_blobs_is_found_out() {
    let outcome = run(8, 1, Some(ArchivePlant::ForgetWithoutBlobs));
    assert!(outcome.broken.contains(&"nothing is left of what was forgotten"), "{outcome:?}");
}

#[test]
fn a_run_that_embeds_after_an_edit_is_found_out() {
    let outcome = run(9, 1, Some(ArchivePlant::EmbedAfterEdit));
    assert!(outcome.broken.contains(&"each chunk has one vector, made of what it says"), "{outcome:?}");
}
