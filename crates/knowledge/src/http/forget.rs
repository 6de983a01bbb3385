//! `POST /api/knowledge/forget`: a message, everything of a chat or of a person, or a page.

use axum::{
    Extension,
    response::{IntoResponse, Response},
};
use kernel::Problem;
use platform::{
    DbError,
    http::{Answer, Ctx, Failure, Json},
    wake::Topic,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    Knowledge,
    model::urls,
    scopes,
    store::{self, Forgetting},
};

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub(super) enum ForgetRequest {
    Message { chat_id: i64, message_id: i32 },
    Chat { chat_id: i64 },
    Person { tg_user_id: i64 },
    Url { url: String },
}

/// Forget for good: texts, chunks and raw updates. What comes late does not bring it back.
#[utoipa::path(post, path = "/api/knowledge/forget", request_body = ForgetRequest,
    responses((status = 200, description = "how much was forgotten"), (status = 404, description = "no such message")))]
pub(super) async fn forget_knowledge(
    ctx: Ctx,
    Extension(knowledge): Extension<Knowledge>,
    Json(request): Json<ForgetRequest>,
) -> Result<Response, Failure> {
    ctx.require(scopes::WRITE)?;
    let forgetting = match request {
        ForgetRequest::Message { chat_id, message_id } => {
            Forgetting { kind: "message", chat_id: Some(chat_id), message_id: Some(message_id), tg_user_id: None }
        }
        ForgetRequest::Chat { chat_id } => {
            Forgetting { kind: "chat", chat_id: Some(chat_id), message_id: None, tg_user_id: None }
        }
        ForgetRequest::Person { tg_user_id } => {
            Forgetting { kind: "person", chat_id: None, message_id: None, tg_user_id: Some(tg_user_id) }
        }
        ForgetRequest::Url { url } => return forget_page(&ctx, &knowledge, &url).await,
    };
    let counts = store::forget(&knowledge.db, ctx.principal.workspace_id, forgetting, "api").await?;
    knowledge.db.wake().tell(Topic::BUS);
    if forgetting.kind == "message" && counts["messages"] == 0 && counts["raw_updates"] == 0 {
        return Err(Problem::not_found("message").into());
    }
    Ok(Answer::ok(counts).into_response())
}

async fn forget_page(ctx: &Ctx, knowledge: &Knowledge, url: &str) -> Result<Response, Failure> {
    let url = urls::normalize(url).map_err(|reason| Problem::validation("url", reason.to_string()))?;
    let query =
        sqlx::query_scalar("select knowledge.forget_url($1, $2, 'api')").bind(ctx.principal.workspace_id.uuid()).bind(url);
    let counts: Value = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
    knowledge.db.wake().tell(Topic::BUS);
    knowledge.db.wake().tell(Topic::JOBS);
    if counts["documents"] == 0 { Err(Problem::not_found("page").into()) } else { Ok(Answer::ok(counts).into_response()) }
}
