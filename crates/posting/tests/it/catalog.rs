//! Habits that the catalog can check, and files that must agree with the database.

use std::collections::BTreeSet;

use testkit::{catalog, files};

use crate::{support::frozen, world::MODULES};

#[tokio::test]
async fn tables_and_functions_keep_the_rules_of_every_module() {
    let tables = &[("posting.dispatchers", "the running dispatchers belong to the installation")];
    catalog::check(env!("CARGO_MANIFEST_DIR"), MODULES, catalog::Exceptions { tables, unique: &[] }).await;
}

#[tokio::test]
async fn a_claim_and_a_start_touch_no_column_of_any_index_on_deliveries() {
    let changed =
        ["status", "attempt", "not_before", "next_retry_at", "claimed_at", "claim_token", "sending_started_at", "updated_at"];
    assert_eq!(catalog::indexed(&frozen().await, "posting.deliveries", &changed).await, BTreeSet::new());
}

#[tokio::test]
async fn the_flows_for_n8n_are_whole_and_call_functions_that_exist() {
    let functions = catalog::functions(&frozen().await, "posting").await;
    let flows = ["01_ingest", "02_dispatcher", "03_monitor"];
    let seen: usize = flows.iter().map(|flow| files::calls_of_flow(flow, "posting", &functions)).sum();
    assert!(seen >= 9, "{seen}");
}
