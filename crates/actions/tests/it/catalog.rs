//! Habits that the catalog can check.

use std::collections::BTreeSet;

use testkit::{TestDb, catalog};

use crate::world::MODULES;

#[tokio::test]
async fn tables_and_functions_keep_the_rules_of_every_module() {
    catalog::check(env!("CARGO_MANIFEST_DIR"), MODULES, catalog::Exceptions::default()).await;
}

#[tokio::test]
async fn a_repeated_start_touches_no_column_of_any_index() {
    let test = TestDb::frozen_with(MODULES).await;
    let changed = ["updated_at", "display_text", "payload"];
    assert_eq!(catalog::indexed(&test, "actions.actions", &changed).await, BTreeSet::new());
}
