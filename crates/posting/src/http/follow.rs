//! `POST /api/posts/{message_id}/edit` and `/delete`: a change follows its post to every channel where it was delivered.

use axum::http::StatusCode;
use kernel::Problem;
use platform::{
    DbError,
    http::{Answer, Ctx, Failure, Json, Path},
    wake::Topic,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::scopes;

/// The new text of a post. Its media stays; its links do too, unless others are given.
#[derive(Debug, Deserialize, Serialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    text: String,
    /// `HTML`, `Markdown` or `None`; the post's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    parse_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    buttons: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_preview: Option<bool>,
}

/// What became of an edit or a deletion.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(super) struct Followed {
    /// The edit or deletion itself; its deliveries can be read like those of a post.
    message_id: Uuid,
    of_message_id: Uuid,
    /// How many deliveries there are of each status.
    #[schema(value_type = Object)]
    deliveries: Map<String, Value>,
    /// How many deliveries of the post will not be sent any more.
    withdrawn: i64,
    trace_id: String,
}

/// Edit a post everywhere.
#[utoipa::path(post, path = "/api/posts/{message_id}/edit", params(("message_id" = Uuid, Path)), request_body = Edit,
    responses((status = 202, body = kernel::Envelope<Followed>), (status = 404), (status = 422)), security(("token" = [])))]
pub(super) async fn edit_post(
    ctx: Ctx,
    Path(message_id): Path<Uuid>,
    Json(body): Json<Edit>,
) -> Result<Answer<Followed>, Failure> {
    let raw = serde_json::to_value(&body).map_err(|_| Problem::internal())?;
    follow(&ctx, message_id, "edit", &raw).await
}

/// Delete a post everywhere, and withdraw what of it was not sent yet.
#[utoipa::path(post, path = "/api/posts/{message_id}/delete", params(("message_id" = Uuid, Path)),
    responses((status = 202, body = kernel::Envelope<Followed>), (status = 404)), security(("token" = [])))]
pub(super) async fn delete_post(ctx: Ctx, Path(message_id): Path<Uuid>) -> Result<Answer<Followed>, Failure> {
    follow(&ctx, message_id, "delete", &json!({})).await
}

async fn follow(ctx: &Ctx, message_id: Uuid, operation: &str, raw: &Value) -> Result<Answer<Followed>, Failure> {
    ctx.require(scopes::WRITE)?;
    let mut tx = ctx.begin().await?;
    let done: Result<Value, DbError> = sqlx::query_scalar("select posting.follow_post($1, $2, $3, $4, $5, $6)")
        .bind(ctx.principal.workspace_id.uuid())
        .bind(message_id)
        .bind(operation)
        .bind(raw)
        .bind(ctx.trace_id.as_str())
        .bind(&ctx.principal.token_name)
        .fetch_one(&mut *tx)
        .await
        .map_err(DbError::from);
    let done = done.map_err(|error| if error.is_refusal("ZD003") { Problem::not_found("post") } else { error.into() })?;
    tx.commit().await.map_err(DbError::from)?;
    ctx.app.db.wake().tell(crate::DELIVERIES);
    ctx.app.db.wake().tell(Topic::BUS);
    let followed = serde_json::from_value(done).map_err(|_| Problem::internal())?;
    Ok(Answer(StatusCode::ACCEPTED, followed))
}
