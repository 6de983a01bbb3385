//! What the platform's own tables do otherwise than those of a module, and why.

use sqlx::Row;
use testkit::{TestDb, catalog::Exceptions};

const EXCEPTIONS: Exceptions = Exceptions {
    tables: &[
        ("platform.migrations", "bookkeeping of the installation"),
        ("platform.functions", "bookkeeping of the installation"),
        ("platform.journals", "which tables are partitioned"),
        ("ops.job_types", "registered by the program"),
        ("ops.processes", "the running processes of the installation"),
        ("ops.event_types", "declared by the migrations of the modules"),
        ("bus.forgotten", "one row: how far retention has come"),
    ],
    unique: &[
        ("workspace_name_unique", "the registry of workspaces itself"),
        ("endpoint_secret_is_active_once", "a secret has to lead to exactly one workspace"),
    ],
};

#[tokio::test]
async fn tables_and_functions_keep_the_rules_of_every_module() {
    testkit::catalog::check(env!("CARGO_MANIFEST_DIR"), &[platform::SQL], EXCEPTIONS).await;
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
