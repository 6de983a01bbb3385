//! Habits that the catalog can check: every table of workspace data can be sharded and is protected.

use std::collections::BTreeSet;

use sqlx::Row;
use testkit::TestDb;

/// Tables that hold no workspace's data, and why.
const NOT_WORKSPACE_DATA: &[(&str, &str)] = &[
    ("platform.migrations", "bookkeeping of the installation"),
    ("platform.functions", "bookkeeping of the installation"),
    ("platform.journals", "which tables are partitioned"),
    ("ops.job_types", "registered by the program"),
    ("ops.processes", "the running processes of the installation"),
    ("bus.forgotten", "one row: how far retention has come"),
];
/// Unique rules that cannot start with the workspace, and why.
const UNIQUE_ACROSS_WORKSPACES: &[(&str, &str)] = &[
    ("workspace_name_unique", "the registry of workspaces itself"),
    ("endpoint_secret_is_active_once", "a secret has to lead to exactly one workspace"),
];

async fn names(db: &TestDb, query: &'static str) -> BTreeSet<String> {
    let rows = sqlx::query(query).fetch_all(&mut db.owner().await).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>(0)).collect()
}

fn listed(list: &[(&str, &str)]) -> BTreeSet<String> {
    list.iter().map(|(name, _)| (*name).to_owned()).collect()
}

#[tokio::test]
async fn every_table_of_workspace_data_has_the_workspace_first_in_its_primary_key() {
    let db = TestDb::new().await;
    let without = names(
        &db,
        "select format('%s.%s', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('platform', 'core', 'ops', 'bus')
            and not exists (select from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                             where i.indrelid = c.oid and i.indisprimary and a.attname = 'workspace_id')",
    )
    .await;
    assert_eq!(without, listed(NOT_WORKSPACE_DATA));
}

#[tokio::test]
async fn every_unique_rule_has_the_workspace_first() {
    let db = TestDb::new().await;
    let without = names(
        &db,
        "select x.relname::text from pg_index i join pg_class x on x.oid = i.indexrelid join pg_class c on c.oid = i.indrelid
           join pg_namespace n on n.oid = c.relnamespace
           join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
          where i.indisunique and not i.indisprimary and not c.relispartition
            and n.nspname in ('core', 'ops', 'bus') and a.attname <> 'workspace_id'",
    )
    .await;
    assert_eq!(without, listed(UNIQUE_ACROSS_WORKSPACES));
}

#[tokio::test]
async fn every_table_of_workspace_data_has_row_security_on_and_forced() {
    let db = TestDb::new().await;
    let unprotected = names(
        &db,
        "select format('%s.%s', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('platform', 'core', 'ops', 'bus')
            and not (c.relrowsecurity and c.relforcerowsecurity)",
    )
    .await;
    assert_eq!(unprotected, listed(NOT_WORKSPACE_DATA));
}

#[tokio::test]
async fn no_partition_can_be_reached_around_its_parent() {
    let db = TestDb::new().await;
    let open = names(
        &db,
        "select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where c.relispartition and c.relkind = 'r' and n.nspname in ('ops', 'bus')
            and has_table_privilege('beresta_app', c.oid, 'select, insert, update, delete')",
    )
    .await;
    assert_eq!(open, BTreeSet::new());
}

#[tokio::test]
async fn every_foreign_key_has_an_index() {
    let db = TestDb::new().await;
    let without = names(
        &db,
        "select k.conname::text from pg_constraint k join pg_namespace n on n.oid = k.connamespace
          where k.contype = 'f' and n.nspname in ('core', 'ops', 'bus')
            and not exists (select from pg_index i where i.indrelid = k.conrelid and i.indkey[0] = k.conkey[1])",
    )
    .await;
    assert_eq!(without, BTreeSet::new());
}

#[tokio::test]
async fn the_program_is_neither_the_owner_nor_above_row_security() {
    let db = TestDb::new().await;
    let row = sqlx::query("select current_user::text, rolsuper, rolbypassrls from pg_roles where rolname = current_user")
        .fetch_one(db.db.pool())
        .await
        .unwrap();
    assert_eq!(
        (row.get::<String, _>(0).as_str(), row.get::<bool, _>(1), row.get::<bool, _>(2)),
        ("beresta_system", false, false)
    );
}

#[test]
fn every_sql_file_is_installed() {
    testkit::files::every_sql_file_is_installed(env!("CARGO_MANIFEST_DIR"), &platform::SQL);
}
