//! `POST /api/knowledge/forget`: a message, everything of a chat, or everything of a person.

use axum::{Extension, response::IntoResponse};
use kernel::Problem;
use platform::{
    http::{Answer, Ctx, Failure, Json},
    wake::Topic,
};
use serde::Deserialize;

use crate::{
    Knowledge, scopes,
    store::{self, Forgetting},
};

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub(super) enum ForgetRequest {
    Message { chat_id: i64, message_id: i32 },
    Chat { chat_id: i64 },
    Person { tg_user_id: i64 },
}

/// Forget for good: texts, chunks and raw updates. What comes late does not bring it back.
#[utoipa::path(post, path = "/api/knowledge/forget", request_body = ForgetRequest,
    responses((status = 200, description = "how much was forgotten"), (status = 404, description = "no such message")))]
pub(super) async fn forget_knowledge(
    ctx: Ctx,
    Extension(knowledge): Extension<Knowledge>,
    Json(request): Json<ForgetRequest>,
) -> Result<impl IntoResponse, Failure> {
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
    };
    let counts = store::forget(&knowledge.db, ctx.principal.workspace_id, forgetting, "api").await?;
    knowledge.db.wake().tell(Topic::BUS);
    if forgetting.kind == "message" && counts["messages"] == 0 && counts["raw_updates"] == 0 {
        return Err(Problem::not_found("message").into());
    }
    Ok(Answer::ok(counts))
}
