//! The jobs of knowledge: each calls the workflow of its type. A payload carries ids, never texts.

use std::time::Duration;

use kernel::Problem;
use platform::jobs::{Job, JobError, JobType, Registry};

use crate::{
    Knowledge,
    workflows::{self, Request},
};

/// A type of job and the workflow that it runs.
const TYPES: [(&str, &str); 2] = [("knowledge.process_update", "WF20"), ("knowledge.chunk", "WF40")];

pub fn registry(knowledge: &Knowledge) -> Registry {
    let mut registry = Registry::new();
    for (name, workflow) in TYPES {
        let knowledge = knowledge.clone();
        registry.register(JobType::new(name), move |job| run(knowledge.clone(), workflow, job));
    }
    let knowledge = knowledge.clone();
    registry.register(JobType::new("knowledge.remove_objects").concurrency(1), move |job| remove_objects(knowledge.clone(), job));
    registry
}

async fn run(knowledge: Knowledge, workflow: &'static str, job: Job) -> Result<(), JobError> {
    let request = Request { workspace: job.workspace_id, req: job.payload, trace: job.trace_id };
    match workflows::run(&knowledge, workflow, request).await {
        Ok(_) => Ok(()),
        // What the job was for went meanwhile: forgotten, or edited away.
        Err(problem) if problem.status == 404 => Ok(()),
        Err(problem) => Err(error(&problem)),
    }
}

fn error(problem: &Problem) -> JobError {
    match problem.retry_after {
        _ if !problem.retryable => JobError::fail(&problem.message),
        Some(after) => JobError::retry_after(&problem.message, after),
        None => JobError::retry(&problem.message),
    }
}

/// Objects that no row names any more, once whoever may be writing one has had its time.
const GARBAGE_AGE: Duration = Duration::from_mins(30);
const GARBAGE_BATCH: i64 = 100;

async fn remove_objects(knowledge: Knowledge, job: Job) -> Result<(), JobError> {
    let query = "select object_key from content.object_garbage g
                  where workspace_id = $1
                    and (g.is_dropped or since < platform.now() - $2 * interval '1 second') limit $3";
    let workspace = job.workspace_id.uuid();
    loop {
        let query = sqlx::query_scalar(query).bind(workspace).bind(GARBAGE_AGE.as_secs_f64()).bind(GARBAGE_BATCH);
        let keys: Vec<String> = query.fetch_all(knowledge.db.pool()).await.map_err(platform::DbError::from)?;
        if keys.is_empty() {
            return Ok(());
        }
        for key in &keys {
            knowledge.objects.delete(job.workspace_id, key).await.map_err(|error| JobError::retry(error.to_string()))?;
        }
        let query = sqlx::query("delete from content.object_garbage where workspace_id = $1 and object_key = any ($2)");
        query.bind(workspace).bind(&keys).execute(knowledge.db.pool()).await.map_err(platform::DbError::from)?;
    }
}
