//! Short runs of the whole harness around the shop bot: the real program passes, and each planted fault is found.

use std::sync::PoisonError;

use super::{ChaosOutcome, ShopbotChaos, plant::AnswerPlant, run_program};
use crate::chaos::tests::{ALONE, options, program};

fn run(seed: u64, rounds: u32, plant: Option<AnswerPlant>) -> ChaosOutcome {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let options = ShopbotChaos { common: options(seed, rounds, plant), dispatchers: 3 };
    run_program(&program(), &options).expect("the run comes to its end")
}

#[test]
fn a_short_run_of_the_shop_bot_keeps_every_promise() {
    let outcome = run(20_261_117, 8, None);
    assert!(outcome.broken.is_empty(), "{outcome:?}");
    assert!(outcome.kills >= 10, "{outcome:?}");
}

#[test]
fn a_run_without_an_inbox_is_found_out() {
    let outcome = run(6, 1, Some(AnswerPlant::NoInbox));
    assert!(outcome.broken.contains(&"every acknowledged message has one answer"), "{outcome:?}");
    assert!(outcome.broken.contains(&"no more copies than attempts that could not be read explain"), "{outcome:?}");
}

#[test]
fn a_run_without_order_is_found_out() {
    let outcome = run(7, 2, Some(AnswerPlant::NoOrder));
    assert!(outcome.broken.contains(&"answers of a chat came in the order of its messages"), "{outcome:?}");
}
