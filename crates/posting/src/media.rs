//! Media that we keep: stored once by its content, found again by what a provider calls it.

use bytes::Bytes;
use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use kernel::{Problem, WorkspaceId};
use outbound::{FetchRequest, Fetcher};
use platform::{Db, DbError, objects::Objects};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::PgExecutor;
use uuid::Uuid;

/// How large a picture or video may be that is fetched from an address.
pub const FETCH_BYTES_MAX: usize = 50 << 20;
const ORIGIN_SCHEME: &str = "objects://";

/// What is known of a stored item for one provider.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct StoredMedia {
    pub blob_ref: String,
    pub file_id: Option<String>,
    pub origin_url: Option<String>,
    pub content_type: Option<String>,
}

impl StoredMedia {
    pub(crate) fn without_cache(&self) -> Self {
        Self { file_id: None, ..self.clone() }
    }
}

/// Looks items up for a provider; what the provider may have forgotten does not count.
pub(crate) async fn find(
    db: impl PgExecutor<'_>,
    workspace: Uuid,
    refs: &[String],
    provider: &str,
) -> Result<Vec<StoredMedia>, DbError> {
    if refs.is_empty() {
        return Ok(Vec::new());
    }
    let query = "select * from posting.find_media($1, $2, $3)";
    Ok(sqlx::query_as(query).bind(workspace).bind(refs).bind(provider).fetch_all(db).await?)
}

pub(crate) async fn put_blob(
    db: impl PgExecutor<'_>,
    workspace: Uuid,
    blob_ref: &str,
    provider: &str,
    file_id: &str,
    expires_at: Option<Timestamp>,
) -> Result<(), DbError> {
    sqlx::query("select posting.put_media_blob($1, $2, $3, $4, $5)")
        .bind(workspace)
        .bind(blob_ref)
        .bind(provider)
        .bind(file_id)
        .bind(expires_at.map(ToSqlx::to_sqlx))
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn forget_blobs(
    db: impl PgExecutor<'_>,
    workspace: Uuid,
    refs: &[String],
    provider: &str,
) -> Result<(), DbError> {
    let query = "delete from posting.media_blobs where workspace_id = $1 and blob_ref = any ($2) and provider = $3";
    sqlx::query(query).bind(workspace).bind(refs).bind(provider).execute(db).await?;
    Ok(())
}

pub(crate) async fn is_url_allowed(db: impl PgExecutor<'_>, workspace: Uuid, kind: &str) -> Result<bool, DbError> {
    let query = "select (posting.policy($1)).max_upload_policy->>$2 = 'url_allowed'";
    Ok(sqlx::query_scalar::<_, Option<bool>>(query).bind(workspace).bind(kind).fetch_one(db).await?.unwrap_or(false))
}

/// Stores bytes under their own hash and makes them known; the same bytes are stored once.
pub async fn keep(
    db: &Db,
    objects: &Objects,
    workspace: WorkspaceId,
    bytes: Bytes,
    content_type: &str,
) -> Result<String, Problem> {
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let blob_ref = format!("sha256-{sha256}");
    let mut tx = db.begin(workspace).await?;
    let query = "select posting.see_media_origin($1, $2)";
    let is_kept: bool =
        sqlx::query_scalar(query).bind(workspace.uuid()).bind(&blob_ref).fetch_one(&mut *tx).await.map_err(DbError::from)?;
    tx.commit().await.map_err(DbError::from)?;
    if is_kept {
        return Ok(blob_ref);
    }
    // A new address each time: an old object of this name may be being deleted right now.
    let key = format!("media/{sha256}/{}", Uuid::new_v4().simple());
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    objects.put(workspace, &key, bytes).await?;
    let mut tx = db.begin(workspace).await?;
    sqlx::query("select posting.put_media_origin($1, $2, $3, $4, $5, $6)")
        .bind(workspace.uuid())
        .bind(&blob_ref)
        .bind(format!("{ORIGIN_SCHEME}{key}"))
        .bind(sha256)
        .bind(content_type)
        .bind(size)
        .execute(&mut *tx)
        .await
        .map_err(DbError::from)?;
    tx.commit().await.map_err(DbError::from)?;
    Ok(blob_ref)
}

/// Where an item of media is to be fetched from, if it is known by nothing but its address.
fn address(item: &Value) -> Option<&str> {
    let is_kept =
        ["blob_ref", "file_id", "attachment_token"].iter().any(|key| item.get(*key).is_some_and(|name| !name.is_null()));
    item.get("url").and_then(Value::as_str).filter(|_| !is_kept)
}

/// Whether a post has media that is to be fetched.
pub(crate) fn has_addresses(payload: &Value) -> bool {
    payload.get("media").and_then(Value::as_array).is_some_and(|items| items.iter().any(|item| address(item).is_some()))
}

/// Brings the media of a post that is known by its address into our storage, and names it by what it is from then on.
pub async fn keep_all(
    db: &Db,
    objects: &Objects,
    fetcher: &Fetcher,
    workspace: WorkspaceId,
    payload: &mut Value,
) -> Result<(), Problem> {
    let Some(items) = payload.get_mut("media").and_then(Value::as_array_mut) else { return Ok(()) };
    for item in items {
        let Some(url) = address(item).map(ToOwned::to_owned) else { continue };
        let request = FetchRequest { body_bytes_max: FETCH_BYTES_MAX, ..FetchRequest::default() };
        let file = fetcher
            .fetch(&url, &request)
            .await
            .map_err(|error| Problem::validation("media", format!("the media at this address cannot be had: {error}")))?;
        let content_type = file.content_type.as_deref().unwrap_or("application/octet-stream");
        let blob_ref = keep(db, objects, workspace, file.body, content_type).await?;
        item["blob_ref"] = blob_ref.into();
    }
    Ok(())
}

/// The key in object storage that an origin stands for.
pub(crate) fn key(origin_url: &str) -> &str {
    origin_url.strip_prefix(ORIGIN_SCHEME).unwrap_or(origin_url)
}

/// A name for a provider to show, with an extension that fits: Telegram judges pictures by it.
pub(crate) fn file_name(blob_ref: &str, content_type: &str) -> String {
    let extension = match content_type.split(';').next().unwrap_or_default().trim() {
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "video/mp4" => "mp4",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        _ => "bin",
    };
    let short: String = blob_ref.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    format!("{short}.{extension}")
}
