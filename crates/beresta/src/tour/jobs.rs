//! The jobs of the tour: each leaves one line in the journal, so that everybody can count.

use std::time::Duration;

use kernel::RetryPolicy;
use platform::{
    Db,
    jobs::{Job, JobError, JobType, Registry},
    journal::{self, Entry},
};
use serde::Deserialize;
use serde_json::json;

/// Leaves a note in the journal. `fail_until` makes the first attempts fail.
pub(crate) const NOTE: &str = "demo.note";

#[derive(Deserialize)]
struct Note {
    n: i64,
    #[serde(default)]
    fail_until: u32,
}

pub(crate) fn register(registry: &mut Registry, db: &Db) {
    let db = db.clone();
    // Quick to come back, so that neither the tour nor a crash test has to wait.
    let policy = RetryPolicy { base: Duration::from_millis(50), cap: Duration::from_secs(1), ..RetryPolicy::jobs() };
    let note = JobType::new(NOTE).concurrency(32).lease(Duration::from_secs(3)).policy(policy);
    registry.register(note, move |job| {
        let db = db.clone();
        async move { leave_note(&db, job).await }
    });
}

async fn leave_note(db: &Db, job: Job) -> Result<(), JobError> {
    let note: Note = job.payload()?;
    if job.attempt <= note.fail_until {
        return Err(JobError::retry(format!("attempt {} fails on purpose", job.attempt)));
    }
    let mut tx = db.begin(job.workspace_id).await?;
    let subject = note.n.to_string();
    let entry = Entry {
        source: "demo",
        action: "noted",
        subject: Some(&subject),
        trace_id: None,
        data: json!({"job_id": job.id, "attempt": job.attempt}),
    };
    journal::append(&mut tx, job.workspace_id, entry).await?;
    tx.commit().await.map_err(platform::DbError::from)?;
    Ok(())
}
