//! WF33: the text of a document, made from its bytes in a child process with limits.

use std::time::Duration;

use extract::{ExtractedText, Refusal, RefusalReason, Source};
use kernel::{Kind, Problem};
use llm::{Audio, TRANSCRIBE_TIMEOUT};
use platform::{DbError, objects, wake::Topic};
use serde_json::{Value, json};
use sqlx::FromRow;

use super::{Request, refused};
use crate::{Knowledge, model::chunking::token_count};

/// How long one attempt may take: reading, and if it is a recording then transcribing, each with a limit of its own.
pub(crate) fn takes_up_to(knowledge: &Knowledge) -> Duration {
    knowledge.extractor.wall() + TRANSCRIBE_TIMEOUT + Duration::from_mins(1)
}

const GONE: &str = "its bytes are not in object storage any more; share it again";

/// When a document that waits for a program of the machine is tried again.
const WAIT: Duration = Duration::from_hours(1);

#[derive(Debug, FromRow)]
struct Extractable {
    version: i32,
    status: String,
    doc_type: String,
    token_count: Option<i32>,
    object_key: Option<String>,
    mime: Option<String>,
    file_name: Option<String>,
    url: Option<String>,
}

/// What became of the bytes.
enum ExtractionEnd {
    Text(Box<ExtractedText>),
    /// There will never be a text.
    Unreadable(String),
    /// A program of the machine is missing.
    Waits(String),
}

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let document_id = request.number("document_id")?;
    let query =
        "select d.version, d.status, d.doc_type, d.token_count, b.object_key, coalesce(f.mime, b.mime) as mime, f.file_name,
                        (select coalesce(x.final_url, u.normalized_url) from content.urls u
                           left join content.url_fetches x on (x.workspace_id, x.url_id) = (u.workspace_id, u.id)
                          where (u.workspace_id, u.id) = (d.workspace_id, d.url_id) order by x.id desc limit 1) as url
                   from content.documents d
                   left join content.blob_objects b on (b.workspace_id, b.id) = (d.workspace_id, d.blob_object_id)
                   left join tg.files f on (f.workspace_id, f.file_unique_id) = (d.workspace_id, d.file_unique_id)
                  where (d.workspace_id, d.id) = ($1, $2)";
    let query = sqlx::query_as(query).bind(request.workspace.uuid()).bind(document_id);
    let found: Option<Extractable> = query.fetch_optional(knowledge.db.pool()).await.map_err(DbError::from)?;
    let found = found.ok_or_else(|| Problem::not_found("document"))?;
    if found.doc_type == "message" || found.status == "done" {
        return Ok(json!({ "document_id": document_id, "status": found.status, "token_count": found.token_count }));
    }
    let Some(key) = &found.object_key else {
        return Err(Problem::conflict(
            "knowledge.no_bytes",
            "the bytes of the document are not here yet; fetch or download it first",
        ));
    };
    let bytes = match knowledge.objects.get(request.workspace, key).await {
        Ok(bytes) => bytes,
        // A 404 would look as if the document were gone, and it would wait for ever.
        Err(objects::Error::NotFound(_)) => {
            let outcome = ExtractionEnd::Unreadable(GONE.to_owned());
            return store(knowledge, &request, document_id, found.version, outcome).await;
        }
        Err(error) => return Err(error.into()),
    };
    let source =
        Source { bytes: &bytes, mime: found.mime.as_deref(), file_name: found.file_name.as_deref(), url: found.url.as_deref() };
    let limit = takes_up_to(knowledge);
    let outcome = match tokio::time::timeout(limit, read(knowledge, &request, &found, source)).await {
        Ok(outcome) => outcome?,
        Err(_elapsed) => give_up_or_retry(&request, "knowledge.extractor", too_long(limit))?,
    };
    store(knowledge, &request, document_id, found.version, outcome).await
}

fn too_long(limit: Duration) -> String {
    format!("reading the document took more than the {} minutes that one may take", limit.as_secs() / 60)
}

async fn read(
    knowledge: &Knowledge,
    request: &Request,
    found: &Extractable,
    source: Source<'_>,
) -> Result<ExtractionEnd, Problem> {
    let bytes = source.bytes;
    match knowledge.extractor.extract(source).await {
        Ok(text) => Ok(ExtractionEnd::Text(Box::new(text))),
        Err(Refusal { reason: RefusalReason::Audio, .. }) => transcribe(knowledge, request, found, bytes).await,
        Err(Refusal { reason: RefusalReason::NoOcr, message }) => Ok(ExtractionEnd::Waits(message)),
        Err(Refusal { reason: RefusalReason::Unavailable, message }) => give_up_or_retry(request, "knowledge.extractor", message),
        Err(refusal) => Ok(ExtractionEnd::Unreadable(refusal.message)),
    }
}

/// What may go better at the next attempt. After the last one the document says why it has no text.
fn give_up_or_retry(request: &Request, code: &'static str, message: String) -> Result<ExtractionEnd, Problem> {
    if request.is_last_attempt {
        return Ok(ExtractionEnd::Unreadable(message));
    }
    let mut problem = Problem::new(503, Kind::Unavailable, code, message);
    problem.retryable = true;
    Err(problem)
}

async fn store(
    knowledge: &Knowledge,
    request: &Request,
    document_id: i64,
    version: i32,
    outcome: ExtractionEnd,
) -> Result<Value, Problem> {
    let (text, problem, is_final) = match &outcome {
        ExtractionEnd::Text(text) => {
            let marks: Vec<Value> = text
                .marks
                .iter()
                .map(|mark| json!({ "start": mark.at, "kind": mark.kind, "number": mark.number, "name": mark.name }))
                .collect();
            let row = json!({
                "text": text.text, "title": text.title, "author": text.author, "date": text.date, "language": text.language,
                "mime": text.mime, "marks": marks, "token_count": token_count(&text.text),
            });
            (Some(row), None, true)
        }
        ExtractionEnd::Unreadable(why) => (None, Some(why), true),
        ExtractionEnd::Waits(why) => (None, Some(why), false),
    };
    let stored: Result<Option<Value>, _> = sqlx::query_scalar("select knowledge.store_text($1, $2, $3, $4, $5, $6, $7)")
        .bind(request.workspace.uuid())
        .bind(document_id)
        .bind(version)
        .bind(&text)
        .bind(problem)
        .bind(is_final)
        .bind(request.trace())
        .fetch_one(knowledge.db.pool())
        .await;
    let told = stored.map_err(|error| refused(DbError::from(error)))?;
    if matches!(outcome, ExtractionEnd::Waits(_)) {
        let key = format!("document {document_id} waits");
        sqlx::query("select ops.enqueue_job($1, 'knowledge.extract', $2, platform.now() + $3 * interval '1 second', $4, $5)")
            .bind(request.workspace.uuid())
            .bind(json!({ "document_id": document_id }))
            .bind(WAIT.as_secs_f64())
            .bind(key)
            .bind(request.trace())
            .execute(knowledge.db.pool())
            .await
            .map_err(DbError::from)?;
    }
    knowledge.db.wake().tell(Topic::JOBS);
    knowledge.db.wake().tell(Topic::BUS);
    // Other bytes came meanwhile, and have a job of their own.
    Ok(told.unwrap_or_else(|| json!({ "document_id": document_id, "status": "pending", "token_count": null })))
}

async fn transcribe(
    knowledge: &Knowledge,
    request: &Request,
    found: &Extractable,
    bytes: &[u8],
) -> Result<ExtractionEnd, Problem> {
    let Some(transcriber) = &knowledge.transcriber else {
        let words = "this is a recording, and no transcriber is configured (BERESTA_TRANSCRIBER)";
        return Ok(ExtractionEnd::Unreadable(words.to_owned()));
    };
    let audio = Audio {
        bytes: bytes.to_vec().into(),
        mime: found.mime.clone().unwrap_or_else(|| "audio/ogg".to_owned()),
        file_name: found.file_name.clone().unwrap_or_else(|| "voice.ogg".to_owned()),
        language: None,
    };
    match transcriber.transcribe(audio).await {
        Ok(transcript) if transcript.text.trim().is_empty() => {
            Ok(ExtractionEnd::Unreadable("nobody speaks in this recording".to_owned()))
        }
        Ok(transcript) => Ok(ExtractionEnd::Text(Box::new(ExtractedText {
            text: transcript.text,
            title: None,
            author: None,
            date: None,
            language: transcript.language,
            mime: found.mime.clone().unwrap_or_default(),
            marks: Vec::new(),
        }))),
        Err(error) if error.category == kernel::Category::Transient && !request.is_last_attempt => {
            let mut problem = Problem::new(502, Kind::Upstream, "knowledge.transcriber", error.message);
            problem.retryable = true;
            problem.retry_after = error.retry_after_ms.map(Duration::from_millis);
            Err(problem)
        }
        Err(error) => Ok(ExtractionEnd::Unreadable(format!("the recording could not be transcribed: {}", error.message))),
    }
}
