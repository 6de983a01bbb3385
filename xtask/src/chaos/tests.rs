//! Short runs of the whole harness: the real program passes, and each planted fault is found.

use std::{
    fmt::Debug,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use clap::ValueEnum;

use super::{ChaosOutcome, PostingChaos, options::ChaosOptions, plant::Plant, run_program};
use crate::run::{cargo, step};

/// One run has six processes and a PostgreSQL; a small machine has no room for two of them.
pub(super) static ALONE: Mutex<()> = Mutex::new(());

fn run(seed: u64, rounds: u32, plant: Option<Plant>) -> ChaosOutcome {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let options = PostingChaos { common: options(seed, rounds, plant), dispatchers: 3 };
    run_program(&program(), &options).expect("the run comes to its end")
}

/// What a test tells a play.
pub(super) fn options<P: ValueEnum + Debug + Send + Sync + 'static>(seed: u64, rounds: u32, plant: Option<P>) -> ChaosOptions<P> {
    ChaosOptions { seed: Some(seed), rounds, plant, release: false, program: None, keep: false }
}

/// The program that `cargo test --workspace` has built beside this test; built now if only this package is tested.
pub(super) fn program() -> PathBuf {
    let here = std::env::current_exe().expect("this test has a path");
    let program = here.ancestors().nth(2).expect("target/<profile>/deps/xtask").join("beresta");
    if !program.exists() {
        step("build", cargo(&["build", "--package", "beresta"])).expect("the program builds");
    }
    program
}

#[test]
fn a_short_run_keeps_every_promise() {
    let outcome = run(20_261_116, 8, None);
    assert!(outcome.broken.is_empty(), "{outcome:?}");
    assert!(outcome.kills >= 10, "{outcome:?}");
}

#[test]
fn a_run_without_fencing_is_found_out() {
    // A worker wakes up in its worst moment nearly every time; three runs may try for the machine that is too busy for it.
    let promise = "a result is recorded for the attempt that brought it";
    assert!((1..=3).any(|seed| run(seed, 5, Some(Plant::NoFencing)).broken.contains(&promise)));
}

#[test]
fn a_run_with_the_receipt_before_the_work_is_found_out() {
    let outcome = run(4, 1, Some(Plant::ReceiptFirst));
    assert!(outcome.broken.contains(&"every accepted post arrived everywhere, or ended with its event"), "{outcome:?}");
}

#[test]
fn a_run_without_gates_is_found_out() {
    let outcome = run(5, 1, Some(Plant::NoGates));
    assert!(outcome.broken.contains(&"parallel gates were kept") && outcome.broken.contains(&"rates were kept"), "{outcome:?}");
}
