//! `POST` and `GET /api/chats/{chatId}/messages`, and the first for no-code tools.

use axum::http::StatusCode;
use platform::{
    DbError,
    http::{Answer, Failure, Json, Page, Path, Query},
};
use serde::Deserialize;

use super::{caller::ChatCaller, check_chat_id, number};
use crate::{
    contract::{MessageAnswer, MessageList, NewMessage, NewMessageInChat, Outcome},
    store,
};

/// Say something in a chat. With a `messageId` a repeat is safe.
#[utoipa::path(post, path = "/api/chats/{chatId}/messages", params(("chatId" = String, Path)), request_body = NewMessage,
    responses((status = 201, body = kernel::Envelope<MessageAnswer>), (status = 200, body = kernel::Envelope<MessageAnswer>, description = "a repeat"),
        (status = 401), (status = 403), (status = 409, description = "the id stands for another message"), (status = 422)), security(("token" = [])))]
pub(super) async fn send_message(
    caller: ChatCaller,
    Path(chat_id): Path<String>,
    Json(body): Json<NewMessage>,
) -> Result<Answer<MessageAnswer>, Failure> {
    send(&caller, &chat_id, &body).await
}

/// The same as `/api/chats/{chatId}/messages`, for no-code tools.
#[utoipa::path(post, path = "/api/no-code/callback/messages", request_body = NewMessageInChat,
    responses((status = 201, body = kernel::Envelope<MessageAnswer>), (status = 200, body = kernel::Envelope<MessageAnswer>, description = "a repeat"),
        (status = 401), (status = 403), (status = 409), (status = 422)), security(("token" = [])))]
pub(super) async fn send_message_by_callback(
    caller: ChatCaller,
    Json(body): Json<NewMessageInChat>,
) -> Result<Answer<MessageAnswer>, Failure> {
    send(&caller, &body.chat_id, &body.message).await
}

async fn send(caller: &ChatCaller, chat_id: &str, body: &NewMessage) -> Result<Answer<MessageAnswer>, Failure> {
    caller.may_write()?;
    caller.check_workspace(body.workspace_id.as_deref())?;
    let mut tx = caller.ctx.begin().await?;
    let answer = store::add_message(&mut tx, caller.workspace(), chat_id, body)
        .await
        .map_err(|error| caller.explain(error, body.message_id.as_deref().unwrap_or_default()))?;
    tx.commit().await.map_err(DbError::from)?;
    caller.tell(answer.outcome);
    let status = if answer.outcome == Outcome::Created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer(status, answer))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListMessages {
    /// The workspace of the token, if it is given at all.
    workspace_id: Option<String>,
    /// Only messages before this number: `next` of the page before.
    #[param(value_type = Option<i64>)]
    before: Option<String>,
    /// How many at most, 1 to 200; 50 unless it is said.
    #[param(value_type = Option<i64>)]
    limit: Option<String>,
}

/// What was said in a chat, newest first, and a cursor to watch the chat from.
#[utoipa::path(get, path = "/api/chats/{chatId}/messages", params(("chatId" = String, Path), ListMessages),
    responses((status = 200, body = kernel::Envelope<MessageList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_messages(
    caller: ChatCaller,
    Path(chat_id): Path<String>,
    Query(query): Query<ListMessages>,
) -> Result<Answer<MessageList>, Failure> {
    caller.may_read()?;
    caller.check_workspace(query.workspace_id.as_deref())?;
    let refuse = |refusal| caller.refuse(&refusal);
    check_chat_id(&chat_id).map_err(refuse)?;
    let limit = number("limit", query.limit.as_deref(), Page::LIMITS).map_err(refuse)?.unwrap_or_else(Page::default_limit);
    let before = number("before", query.before.as_deref(), i64::MIN..=i64::MAX).map_err(refuse)?;
    let mut tx = caller.ctx.begin().await?;
    let mut list = store::read_messages(&mut tx, caller.workspace(), &chat_id, before, limit).await?;
    let is_full = i64::try_from(list.messages.len()) == Ok(limit);
    // The first message of a chat has nothing before it.
    list.next = list.messages.last().map(|message| message.seq).filter(|seq| is_full && *seq > 1);
    Ok(Answer::ok(list))
}
