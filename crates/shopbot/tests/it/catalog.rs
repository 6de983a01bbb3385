//! Habits that the catalog can check, and files that must agree with the database.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Executor, Row};

use crate::world::World;

async fn names(query: &'static str) -> BTreeSet<String> {
    let world = World::new().await;
    let rows = sqlx::query(query).fetch_all(&mut world.test.owner().await).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>(0)).collect()
}

#[tokio::test]
async fn every_table_can_be_sharded_by_workspace_and_is_protected() {
    let query = "select c.relname::text from pg_class c
                  where c.relnamespace = 'shopbot'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
                    and not (c.relrowsecurity and c.relforcerowsecurity
                             and exists (select from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                                          where i.indrelid = c.oid and i.indisprimary and a.attname = 'workspace_id'))";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn every_unique_rule_has_the_workspace_first() {
    let query = "select x.relname::text from pg_index i join pg_class x on x.oid = i.indexrelid join pg_class c on c.oid = i.indrelid
                   join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                  where c.relnamespace = 'shopbot'::regnamespace and i.indisunique and not c.relispartition and a.attname <> 'workspace_id'";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn a_claim_touches_no_column_of_any_index_on_answers() {
    let query = "select distinct a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid
                  where i.indrelid = 'shopbot.bot_outbox'::regclass
                    and (a.attnum = any (i.indkey) or pg_get_expr(i.indpred, i.indrelid) ~ ('\\m' || a.attname || '\\M'))
                    and a.attname in ('status', 'attempt', 'next_retry_at', 'claim_token', 'claimed_until', 'updated_at')";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[test]
fn every_sql_file_is_installed() {
    testkit::files::every_sql_file_is_installed(env!("CARGO_MANIFEST_DIR"), &shopbot::SQL);
}

#[tokio::test]
async fn every_function_body_is_valid_with_everything_in_place() {
    let world = World::new().await;
    let mut owner = world.test.owner().await;
    for file in shopbot::SQL.functions {
        owner.execute(AssertSqlSafe(file.text.to_owned())).await.unwrap_or_else(|error| panic!("{}: {error}", file.name));
    }
}

#[tokio::test]
async fn the_flows_for_n8n_are_whole_and_call_functions_that_exist() {
    let functions = names("select distinct proname::text from pg_proc where pronamespace = 'shopbot'::regnamespace").await;
    let flows = ["11_bot_ingest", "12_bot_engine", "13_bot_monitor"];
    let seen: usize = flows.iter().map(|flow| testkit::files::calls_of_flow(flow, "shopbot", &functions)).sum();
    assert!(seen >= 7, "{seen}");
}
