//! Habits that the catalog can check, and files that must agree with the database.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Executor, Row};

use crate::support;

async fn names(query: &'static str) -> BTreeSet<String> {
    let test = support::frozen().await;
    let rows = sqlx::query(query).fetch_all(&mut test.owner().await).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>(0)).collect()
}

fn listed(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn every_table_can_be_sharded_by_workspace_and_is_protected() {
    let query = "select c.relname::text from pg_class c
                  where c.relnamespace = 'posting'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
                    and not (c.relrowsecurity and c.relforcerowsecurity
                             and exists (select from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                                          where i.indrelid = c.oid and i.indisprimary and a.attname = 'workspace_id'))";
    // The running dispatchers belong to the installation.
    assert_eq!(names(query).await, listed(&["dispatchers"]));
}

#[tokio::test]
async fn every_unique_rule_has_the_workspace_first() {
    let query = "select x.relname::text from pg_index i join pg_class x on x.oid = i.indexrelid join pg_class c on c.oid = i.indrelid
                   join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                  where c.relnamespace = 'posting'::regnamespace and i.indisunique and not c.relispartition and a.attname not in ('workspace_id', 'name')";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn a_claim_and_a_start_touch_no_column_of_any_index_on_deliveries() {
    let query = "select distinct a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid
                  where i.indrelid = 'posting.deliveries'::regclass
                    and (a.attnum = any (i.indkey) or pg_get_expr(i.indpred, i.indrelid) ~ ('\\m' || a.attname || '\\M'))
                    and a.attname in ('status', 'attempt', 'not_before', 'next_retry_at', 'claimed_at', 'claim_token', 'sending_started_at', 'updated_at')";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn partitions_cannot_be_reached_around_their_parent() {
    let query = "select c.relname::text from pg_class c where c.relispartition and c.relkind = 'r' and c.relnamespace = 'posting'::regnamespace
                    and has_table_privilege('beresta_app', c.oid, 'select, insert, update, delete')";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[test]
fn every_sql_file_is_installed() {
    testkit::files::every_sql_file_is_installed(env!("CARGO_MANIFEST_DIR"), &posting::SQL);
}

#[tokio::test]
async fn every_function_body_is_valid_with_everything_in_place() {
    let test = support::frozen().await;
    let mut owner = test.owner().await;
    for file in posting::SQL.functions {
        owner.execute(AssertSqlSafe(file.text.to_owned())).await.unwrap_or_else(|error| panic!("{}: {error}", file.name));
    }
}

#[tokio::test]
async fn the_flows_for_n8n_are_whole_and_call_functions_that_exist() {
    let functions = names("select distinct proname::text from pg_proc where pronamespace = 'posting'::regnamespace").await;
    let flows = ["01_ingest", "02_dispatcher", "03_monitor"];
    let seen: usize = flows.iter().map(|flow| testkit::files::calls_of_flow(flow, "posting", &functions)).sum();
    assert!(seen >= 9, "{seen}");
}
