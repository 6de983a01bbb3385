//! The jobs of knowledge: each calls the workflow of its type. A payload carries ids, never texts.

use std::time::Duration;

use kernel::Problem;
use platform::{
    jobs::{Job, JobError, JobType, Registry},
    wake::Topic,
};

use crate::{
    Knowledge,
    workflows::{self, Request},
};

/// A type of job, the workflow that it runs, and how many run at once in a process.
const TYPES: [(&str, &str, usize); 8] = [
    ("knowledge.process_update", "WF20", 16),
    ("knowledge.fetch_url", "WF31", 8),
    ("knowledge.download_file", "WF32", 4),
    // Each is a process of its own that uses a core.
    ("knowledge.extract", "WF33", 2),
    ("knowledge.chunk", "WF40", 16),
    ("knowledge.embed", "WF41", 8),
    ("knowledge.answer", "WF51", 8),
    ("knowledge.watch_transport", "WF11", 4),
];

pub fn registry(knowledge: &Knowledge) -> Registry {
    let mut registry = Registry::new();
    for (name, workflow, concurrency) in TYPES {
        let knowledge = knowledge.clone();
        let mut job_type = JobType::new(name).concurrency(concurrency);
        if workflow == "WF33" {
            // The workflow ends first, and says why.
            job_type = job_type.timeout(workflows::takes_up_to(&knowledge) + Duration::from_mins(1));
        }
        let attempts_max = job_type.policy.attempts_max;
        registry.register(job_type, move |job| run(knowledge.clone(), workflow, attempts_max, job));
    }
    let of = knowledge.clone();
    registry
        .register(JobType::new("knowledge.fill_model").concurrency(1).timeout(FILL_MAX), move |job| fill_model(of.clone(), job));
    let of = knowledge.clone();
    registry.register(JobType::new("knowledge.count_terms").concurrency(1), move |job| count_terms(of.clone(), job));
    let of = knowledge.clone();
    registry.register(JobType::new("knowledge.remove_objects").concurrency(1), move |job| remove_objects(of.clone(), job));
    registry
}

async fn run(knowledge: Knowledge, workflow: &'static str, attempts_max: u32, job: Job) -> Result<(), JobError> {
    let is_last_attempt = job.attempt.saturating_sub(job.forgiven) >= attempts_max;
    let request = Request { workspace: job.workspace_id, req: job.payload, trace: job.trace_id, is_last_attempt };
    match workflows::run(&knowledge, workflow, request).await {
        Ok(_) => Ok(()),
        // What the job was for went meanwhile (forgotten, or edited away), or may not be done any more.
        Err(problem) if matches!(problem.status, 403 | 404) => Ok(()),
        Err(problem) => Err(error(&problem)),
    }
}

/// A large workspace is filled in many rounds; what is stored is not made again by the next attempt.
const FILL_MAX: Duration = Duration::from_hours(6);

async fn fill_model(knowledge: Knowledge, job: Job) -> Result<(), JobError> {
    let model_id = job.payload["model_id"].as_i64().ok_or_else(|| JobError::fail("the job names no model"))?;
    workflows::fill_model(&knowledge, job.workspace_id, model_id).await.map_err(|problem| error(&problem))
}

/// Enqueues a look at the transport of each bot whose transport is configured (`core.bot_transport_config`), whichever module it serves.
pub async fn watch_transports(knowledge: Knowledge) -> Result<(), JobError> {
    let query =
        "select ops.enqueue_job(b.workspace_id, 'knowledge.watch_transport', jsonb_build_object('bot_id', b.bot_id), null,
                                        b.bot_id::text)
                   from core.bots b join core.workspaces w on w.workspace_id = b.workspace_id and w.status = 'active'
                  where b.provider = 'telegram' and b.enabled
                    and exists (select from core.bot_transport_config c
                                 where (c.workspace_id, c.bot_id) = (b.workspace_id, b.bot_id))";
    sqlx::query(query).execute(knowledge.db.pool()).await.map_err(platform::DbError::from)?;
    knowledge.db.wake().tell(Topic::JOBS);
    Ok(())
}

/// How long a chunk may be without a vector before its job is taken for lost, and how many documents are asked for at once.
const VECTORS_WAIT: Duration = Duration::from_mins(30);
const VECTORS_BATCH: i32 = 1000;

/// Vectors that are missing are asked for again: a model that is being filled goes on by itself, and a document whose job gave up comes back.
pub async fn look_for_vectors(knowledge: Knowledge) -> Result<(), JobError> {
    let query = sqlx::query("select knowledge.ask_for_vectors($1 * interval '1 second', $2)");
    let query = query.bind(VECTORS_WAIT.as_secs_f64()).bind(VECTORS_BATCH);
    query.execute(knowledge.db.pool()).await.map_err(platform::DbError::from)?;
    knowledge.db.wake().tell(Topic::JOBS);
    Ok(())
}

fn error(problem: &Problem) -> JobError {
    match problem.retry_after {
        _ if !problem.retryable => JobError::fail(&problem.message),
        Some(after) => JobError::retry_after(&problem.message, after),
        None => JobError::retry(&problem.message),
    }
}

/// Changes of the index of words that are counted in one transaction.
const COUNTED_AT_ONCE: i32 = 1000;

async fn count_terms(knowledge: Knowledge, job: Job) -> Result<(), JobError> {
    loop {
        let query =
            sqlx::query_scalar("select knowledge.count_terms($1, $2)").bind(job.workspace_id.uuid()).bind(COUNTED_AT_ONCE);
        let counted: i32 = query.fetch_one(knowledge.db.pool()).await.map_err(platform::DbError::from)?;
        if counted < COUNTED_AT_ONCE {
            return Ok(());
        }
    }
}

/// What was forgotten, and what came while a count was under way, is counted too.
pub async fn count_changed_terms(knowledge: Knowledge) -> Result<(), JobError> {
    let query = "select ops.enqueue_job(c.workspace_id, 'knowledge.count_terms', '{}', null, 'count_terms')
                   from (select distinct workspace_id from kg.term_changes) c";
    sqlx::query(query).execute(knowledge.db.pool()).await.map_err(platform::DbError::from)?;
    knowledge.db.wake().tell(Topic::JOBS);
    Ok(())
}

/// Objects that no row names any more, once whoever may be writing one has had its time.
const GARBAGE_AGE: Duration = Duration::from_mins(30);
const GARBAGE_BATCH: i64 = 100;

/// Makes sure that what a killed process left in object storage is removed, also where nothing else is ever dropped.
pub async fn collect_garbage(knowledge: Knowledge) -> Result<(), JobError> {
    let query = "select ops.enqueue_job(g.workspace_id, 'knowledge.remove_objects', '{}', null, 'remove_objects')
                   from (select distinct workspace_id from content.object_garbage
                          where is_dropped or since < platform.now() - $1 * interval '1 second') g";
    let query = sqlx::query(query).bind(GARBAGE_AGE.as_secs_f64());
    query.execute(knowledge.db.pool()).await.map_err(platform::DbError::from)?;
    knowledge.db.wake().tell(Topic::JOBS);
    Ok(())
}

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
