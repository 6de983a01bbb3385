//! What was written stays as it was written, until its time is over.

use jiff::SignedDuration;
use kernel::WorkspaceId;
use platform::{
    DbError,
    journal::{self, Entry},
};
use serde_json::{Value, json};
use sqlx::Row;
use testkit::TestDb;

async fn note(db: &TestDb, workspace: WorkspaceId, data: Value) {
    let mut tx = db.db.begin(workspace).await.unwrap();
    let entry = Entry { source: "test", action: "noted", subject: Some("x"), trace_id: None, data };
    journal::append(&mut tx, workspace, entry).await.unwrap();
    tx.commit().await.unwrap();
}

async fn notes(db: &TestDb) -> i64 {
    sqlx::query_scalar("select count(*) from ops.journal where action = 'noted'").fetch_one(db.db.pool()).await.unwrap()
}

#[tokio::test]
async fn a_journal_refuses_update_delete_and_truncate_even_from_its_owner() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    note(&db, ours, json!({})).await;
    for statement in ["update ops.journal set action = 'x'", "delete from ops.journal", "truncate ops.journal"] {
        let error: DbError = sqlx::query(statement).execute(&mut db.owner().await).await.unwrap_err().into();
        assert!(error.is_refusal("ZP001"), "{statement}: {error}");
        let error = sqlx::query(statement).execute(db.db.pool()).await.unwrap_err();
        assert!(error.to_string().contains("permission denied"), "{statement}: {error}");
    }
    assert_eq!(notes(&db).await, 1);
}

#[tokio::test]
async fn secrets_and_personal_data_are_redacted_before_they_are_journaled() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    note(&db, ours, json!({"token": "abc", "text": "write to ivan@example.org"})).await;
    let row = sqlx::query("select data from ops.journal where action = 'noted'").fetch_one(db.db.pool()).await.unwrap();
    assert_eq!(row.get::<Value, _>(0), json!({"token": "[redacted]", "text": "write to [email]"}));
}

#[tokio::test]
async fn retention_drops_a_partition_when_its_time_is_over_and_not_before() {
    let db = TestDb::frozen().await;
    let ours = db.workspace("ours").await;
    let upkeep = async || sqlx::query("select platform.upkeep_journals()").execute(db.db.pool()).await.map(|_| ());
    upkeep().await.unwrap();
    note(&db, ours, json!({})).await;
    // The journal is kept for a year in partitions of a month.
    db.clock.advance(SignedDuration::from_hours(24 * 365));
    upkeep().await.unwrap();
    assert_eq!(notes(&db).await, 1);
    db.clock.advance(SignedDuration::from_hours(24 * 31));
    upkeep().await.unwrap();
    assert_eq!(notes(&db).await, 0);
}

#[tokio::test]
async fn a_row_outside_of_every_partition_is_taken_all_the_same_and_forgotten_on_schedule() {
    let db = TestDb::frozen().await;
    let ours = db.workspace("ours").await;
    // Far ahead of the partitions that were made.
    db.clock.advance(SignedDuration::from_hours(24 * 3000));
    note(&db, ours, json!({})).await;
    sqlx::query("select platform.upkeep_journals()").execute(db.db.pool()).await.unwrap();
    assert_eq!(notes(&db).await, 1);
    db.clock.advance(SignedDuration::from_hours(24 * 366));
    sqlx::query("select platform.upkeep_journals()").execute(db.db.pool()).await.unwrap();
    assert_eq!(notes(&db).await, 0);
}
