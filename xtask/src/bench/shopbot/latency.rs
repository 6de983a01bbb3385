//! How long a customer waits when there is time enough: from the webhook until the answer has arrived.

use anyhow::{Context, Result};
use serde_json::json;

use super::{
    super::stage::BenchStage,
    LINES, ShopbotSizes,
    contestants::{BenchAct, CONTESTANTS, Contestant},
};

const MESSAGES_PER_SECOND: u32 = 100;

pub(super) fn run(stage: &mut BenchStage, sizes: ShopbotSizes) -> Result<()> {
    let seconds = sizes.steady_seconds.next_multiple_of(LINES);
    let act = BenchAct {
        what: "steady",
        more: json!({"rate": MESSAGES_PER_SECOND}),
        // The first messages meet cold caches and no connections.
        warm_up: MESSAGES_PER_SECOND * LINES,
        messages: MESSAGES_PER_SECOND * seconds,
    };
    println!(
        "\n{MESSAGES_PER_SECOND} messages/s for {seconds} s, from the webhook until the answer has arrived, and until the 200"
    );
    println!(
        "{:34} {:>8} {:>8} {:>8} {:>8} {:>12} {:>12} {:>10} {:>10} {:>5}",
        "contestant", "p50 ms", "p90 ms", "p99 ms", "max ms", "200: p50 ms", "200: p99 ms", "own CPU us", "db CPU us", "load"
    );
    for contestant in CONTESTANTS {
        let server = contestant.open(stage)?;
        let (found, cost) = contestant.play(stage, &server, &act).with_context(|| contestant.name)?;
        Contestant::close(server, stage)?;
        let ms = |what: &str, key: &str| found[what][key].as_f64().unwrap_or(0.0);
        println!(
            "{:34} {:8.1} {:8.1} {:8.1} {:8.1} {:12.1} {:12.1} {:10.0} {:10.0} {:5.1}",
            contestant.name,
            ms("answered", "p50_ms"),
            ms("answered", "p90_ms"),
            ms("answered", "p99_ms"),
            ms("answered", "max_ms"),
            ms("taken", "p50_ms"),
            ms("taken", "p99_ms"),
            cost.own_cpu,
            cost.database_cpu,
            cost.load_average,
        );
    }
    Ok(())
}
