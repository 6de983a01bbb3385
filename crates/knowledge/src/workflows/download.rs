//! WF32: downloads a file of Telegram, once in a workspace, and makes the document of one audience.

use std::time::Duration;

use bytes::Bytes;
use kernel::{AdapterError, Category, ErrorKind, Kind, Problem};
use messengers::Telegram;
use platform::{DbError, wake::Topic};
use serde_json::{Value, json};
use sqlx::FromRow;
use uuid::Uuid;

use super::{Request, bot_access, busy, refused};
use crate::{
    Knowledge,
    blobs::{self, StoredBytes},
};

/// Longer than a download can take: whoever needs the same file meanwhile comes again.
const LEASE: Duration = Duration::from_mins(2);

#[derive(Debug, FromRow)]
struct BegunDownload {
    bot_id: Option<Uuid>,
    secret_ref: Option<String>,
    blob_object_id: Option<i64>,
    bytes: Option<i64>,
    mime: Option<String>,
    is_busy: bool,
}

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let file_id = request.text("file_id")?.to_owned();
    let unique_id = request.text("file_unique_id")?.to_owned();
    let ctx = request.ctx()?;
    super::allow(knowledge, &request, &ctx, "allow_file_download", "the policy of this chat allows no download of files").await?;
    let begun: Option<BegunDownload> = sqlx::query_as(
        "select bot_id, secret_ref, blob_object_id, bytes, mime, is_busy
           from knowledge.begin_download($1, $2, $3, $4 * interval '1 second')",
    )
    .bind(request.workspace.uuid())
    .bind(&file_id)
    .bind(&unique_id)
    .bind(LEASE.as_secs_f64())
    .fetch_optional(knowledge.db.pool())
    .await
    .map_err(DbError::from)?;
    let begun = begun.ok_or_else(|| Problem::not_found("file"))?;
    if begun.is_busy {
        return Err(busy("the file is being downloaded"));
    }
    let mut file = json!({ "bot_id": begun.bot_id, "file_id": file_id, "file_unique_id": unique_id });
    let mut blob = None;
    let mut failure = None;
    if begun.blob_object_id.is_none() {
        match download(knowledge, &begun, &file_id).await {
            Ok((path, bytes)) => {
                file["tg_file_path"] = json!(path);
                let stored = StoredBytes::put(knowledge, request.workspace, bytes, begun.mime.as_deref()).await?;
                blob = Some(stored);
            }
            Err(error) => {
                let is_final = error.category == Category::Permanent || request.is_last_attempt;
                file["error"] = json!(reason(&error));
                file["is_final"] = json!(is_final);
                failure = Some(error);
            }
        }
    }
    let stored: Result<Value, _> = sqlx::query_scalar("select knowledge.store_download($1, $2, $3, $4, $5)")
        .bind(request.workspace.uuid())
        .bind(&ctx)
        .bind(&file)
        .bind(blob.as_ref().map(StoredBytes::to_json))
        .bind(request.trace())
        .fetch_one(knowledge.db.pool())
        .await;
    let told = stored.map_err(|error| refused(DbError::from(error)));
    blobs::settle(knowledge, request.workspace, blob.as_ref(), told.as_ref().err()).await?;
    let told = told?;
    knowledge.db.wake().tell(Topic::JOBS);
    knowledge.db.wake().tell(Topic::BUS);
    match failure {
        Some(error) if error.category == Category::Transient => {
            let mut problem = Problem::new(502, Kind::Upstream, "knowledge.download_failed", error.message);
            problem.retryable = true;
            problem.retry_after = error.retry_after_ms.map(Duration::from_millis);
            Err(problem)
        }
        _ => Ok(told),
    }
}

async fn download(knowledge: &Knowledge, begun: &BegunDownload, file_id: &str) -> Result<(String, Bytes), AdapterError> {
    begun.bytes.and_then(|bytes| u64::try_from(bytes).ok()).map_or(Ok(()), Telegram::allow_file)?;
    let unseen = || AdapterError::credential_missing(Category::Transient, "no bot of this workspace has seen this file");
    let (telegram, token) = bot_access(knowledge, begun.secret_ref.as_deref().ok_or_else(unseen)?).await?;
    let place = telegram.get_file(&token, file_id).await?;
    let bytes = telegram.download(&token, &place).await?;
    Ok((place.path, bytes))
}

fn reason(error: &AdapterError) -> String {
    match error.kind {
        ErrorKind::TooLarge => format!("{}; share it in parts or as a link", error.message),
        ErrorKind::Invalid | ErrorKind::NotFound => format!("Telegram does not have this file any more ({})", error.message),
        ErrorKind::Unauthorized => format!("the token of the bot is missing or refused: {}", error.message),
        _ => format!("Telegram could not be asked for the file: {}", error.message),
    }
}
