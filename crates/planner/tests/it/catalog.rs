//! Habits that the catalog can check.

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
                  where c.relnamespace = 'planner'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
                    and not (c.relrowsecurity and c.relforcerowsecurity
                             and exists (select from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                                          where i.indrelid = c.oid and i.indisprimary and a.attname = 'workspace_id'))";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn every_unique_rule_has_the_workspace_first() {
    let query = "select x.relname::text from pg_index i join pg_class x on x.oid = i.indexrelid join pg_class c on c.oid = i.indrelid
                   join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                  where c.relnamespace = 'planner'::regnamespace and i.indisunique and not c.relispartition and a.attname <> 'workspace_id'";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn every_foreign_key_has_an_index_with_its_columns_first() {
    let query = "select k.conname::text from pg_constraint k
                  where k.contype = 'f' and k.connamespace = 'planner'::regnamespace
                    and not exists (select from pg_index i
                                     where i.indrelid = k.conrelid
                                       and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey)";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn every_table_and_view_says_what_it_is() {
    let query = "select c.relname::text from pg_class c
                  where c.relnamespace = 'planner'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
                    and obj_description(c.oid, 'pg_class') is null";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[tokio::test]
async fn the_ordinary_role_can_change_no_history_no_ledger_and_no_log_and_reach_no_partition() {
    let query = "select c.relname || ' ' || p.privilege
                   from pg_class c cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) p (privilege)
                  where c.relnamespace = 'planner'::regnamespace and c.relkind in ('r', 'p')
                    and (c.relispartition or c.relname in ('changes', 'xp_entries', 'mcp_requests', 'mcp_responses'))
                    and (c.relispartition or p.privilege in ('update', 'delete', 'truncate'))
                    and has_table_privilege('beresta_app', c.oid, p.privilege)";
    assert_eq!(names(query).await, BTreeSet::new());
}

#[test]
fn every_sql_file_is_installed() {
    testkit::files::every_sql_file_is_installed(env!("CARGO_MANIFEST_DIR"), &planner::SQL);
}

#[tokio::test]
async fn every_function_body_is_valid_with_everything_in_place() {
    let world = World::new().await;
    let mut owner = world.test.owner().await;
    for file in planner::SQL.functions {
        owner.execute(AssertSqlSafe(file.text.to_owned())).await.unwrap_or_else(|error| panic!("{}: {error}", file.name));
    }
}
