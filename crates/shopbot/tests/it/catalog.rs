//! Habits that the catalog can check, and files that must agree with the database.

use std::collections::BTreeSet;

use testkit::{TestDb, catalog, files};

use crate::world::MODULES;

#[tokio::test]
async fn tables_and_functions_keep_the_rules_of_every_module() {
    catalog::check(env!("CARGO_MANIFEST_DIR"), MODULES, catalog::Exceptions::default()).await;
}

#[tokio::test]
async fn a_claim_touches_no_column_of_any_index_on_answers() {
    let changed = ["status", "attempt", "next_retry_at", "claim_token", "claimed_until", "updated_at"];
    let test = TestDb::frozen_with(MODULES).await;
    assert_eq!(catalog::indexed(&test, "shopbot.bot_outbox", &changed).await, BTreeSet::new());
}

#[tokio::test]
async fn the_flows_for_n8n_are_whole_and_call_functions_that_exist() {
    let functions = catalog::functions(&TestDb::frozen_with(MODULES).await, "shopbot").await;
    let flows = ["11_bot_ingest", "12_bot_engine", "13_bot_monitor"];
    let seen: usize = flows.iter().map(|flow| files::calls_of_flow(flow, "shopbot", &functions)).sum();
    assert!(seen >= 7, "{seen}");
}
