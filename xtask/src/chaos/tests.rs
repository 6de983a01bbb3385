//! Short runs of the whole harness: the real program passes, and each planted fault is found.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use super::{Options, plant::Plant, run_program};
use crate::run::{cargo, step};

/// One run has six processes and a PostgreSQL; a small machine has no room for two of them.
static ALONE: Mutex<()> = Mutex::new(());

fn options(rounds: u32, plant: Option<Plant>) -> Options {
    Options { seed: Some(20_261_116), rounds, dispatchers: 3, plant, release: false, program: None, keep: false }
}

/// The program that `cargo test --workspace` has built beside this test; built now if only this package is tested.
fn program() -> PathBuf {
    let here = std::env::current_exe().expect("this test has a path");
    let program = here.ancestors().nth(2).expect("target/<profile>/deps/xtask").join("beresta");
    if !program.exists() {
        step("build", cargo(&["build", "--package", "beresta"])).expect("the program builds");
    }
    program
}

#[test]
fn a_short_run_keeps_every_promise() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = run_program(&program(), &options(10, None)).expect("the run comes to its end");
    assert!(outcome.broken.is_empty(), "{outcome:?}");
    assert!(outcome.kills >= 20, "{outcome:?}");
}

#[test]
fn a_run_without_fencing_is_found_out() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = run_program(&program(), &options(12, Some(Plant::NoFencing))).expect("the run comes to its end");
    assert!(outcome.broken.contains(&"a result is recorded for the attempt that brought it"), "{outcome:?}");
}

#[test]
fn a_run_with_the_receipt_before_the_work_is_found_out() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = run_program(&program(), &options(2, Some(Plant::ReceiptFirst))).expect("the run comes to its end");
    assert!(outcome.broken.contains(&"every accepted post arrived everywhere, or ended with its event"), "{outcome:?}");
}
