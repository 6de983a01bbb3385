//! Habits that the catalog can check.

use std::collections::BTreeSet;

use testkit::{TestDb, catalog};

use crate::world::MODULES;

/// The names in a list that a query of the catalog finds.
async fn names(query: &str, list: &[&str]) -> BTreeSet<String> {
    catalog::names(&TestDb::frozen_with(MODULES).await, query, list).await
}

#[tokio::test]
async fn tables_and_functions_keep_the_rules_of_every_module() {
    catalog::check(env!("CARGO_MANIFEST_DIR"), MODULES, catalog::Exceptions::default()).await;
}

#[tokio::test]
async fn every_table_and_view_says_what_it_is() {
    let query = "select c.relname::text from pg_class c
                  where c.relnamespace = 'planner'::regnamespace and c.relkind::text = any ($1) and not c.relispartition
                    and obj_description(c.oid, 'pg_class') is null";
    assert_eq!(names(query, &["r", "p", "v"]).await, BTreeSet::new());
}

#[tokio::test]
async fn the_ordinary_role_can_change_no_history_no_ledger_and_no_log_and_reach_no_partition() {
    let query = "select c.relname || ' ' || p.privilege
                   from pg_class c cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) p (privilege)
                  where c.relnamespace = 'planner'::regnamespace and c.relkind in ('r', 'p')
                    and (c.relispartition or c.relname = any ($1))
                    and (c.relispartition or p.privilege in ('update', 'delete', 'truncate'))
                    and has_table_privilege('beresta_app', c.oid, p.privilege)";
    assert_eq!(names(query, &["changes", "xp_entries", "mcp_requests", "mcp_responses"]).await, BTreeSet::new());
}
