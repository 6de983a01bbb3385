//! `POST /api/chat/actions/start`, `POST /api/chat/actions/update` and `GET /api/chat/actions`, and the first two for no-code tools.

use std::sync::Arc;

use axum::Extension;
use platform::{
    DbError,
    http::{Answer, Failure, Json, Query},
};
use serde::Deserialize;

use super::{Surface, caller::ChatCaller, check_chat_id, number};
use crate::{
    clean::display_text,
    contract::{ACTIONS_LISTED_MAX, ActionAnswer, ActionList, RECENT_MINUTES_MAX, StartAction, UpdateAction},
    store,
};

/// Say that a bot has begun to do something. Once is enough; a repeat is safe, and an action that has ended stays so.
#[utoipa::path(post, path = "/api/chat/actions/start", request_body = StartAction,
    responses((status = 200, body = kernel::Envelope<ActionAnswer>), (status = 401), (status = 403),
        (status = 409, description = "the id stands for an action in another chat or of another type"), (status = 422)), security(("token" = [])))]
pub(super) async fn start_action(
    caller: ChatCaller,
    Extension(surface): Extension<Arc<Surface>>,
    Json(body): Json<StartAction>,
) -> Result<Answer<ActionAnswer>, Failure> {
    start(&caller, &surface, body).await
}

/// Say how an action goes on (`processing`) or that it has ended (`done`, `error`). The first ending wins.
#[utoipa::path(post, path = "/api/chat/actions/update", request_body = UpdateAction,
    responses((status = 200, body = kernel::Envelope<ActionAnswer>), (status = 401), (status = 403),
        (status = 404, description = "unknown actionId: start comes first"),
        (status = 409, description = "the action is in another chat or of another type"), (status = 422)), security(("token" = [])))]
pub(super) async fn update_action(caller: ChatCaller, Json(body): Json<UpdateAction>) -> Result<Answer<ActionAnswer>, Failure> {
    update(&caller, body).await
}

/// The same as `/api/chat/actions/start`, for no-code tools.
#[utoipa::path(post, path = "/api/no-code/callback/actions/start", request_body = StartAction,
    responses((status = 200, body = kernel::Envelope<ActionAnswer>), (status = 401), (status = 403), (status = 409), (status = 422)),
    security(("token" = [])))]
pub(super) async fn start_action_by_callback(
    caller: ChatCaller,
    Extension(surface): Extension<Arc<Surface>>,
    Json(body): Json<StartAction>,
) -> Result<Answer<ActionAnswer>, Failure> {
    start(&caller, &surface, body).await
}

/// The same as `/api/chat/actions/update`, for no-code tools.
#[utoipa::path(post, path = "/api/no-code/callback/actions/update", request_body = UpdateAction,
    responses((status = 200, body = kernel::Envelope<ActionAnswer>), (status = 401), (status = 403), (status = 404), (status = 409), (status = 422)),
    security(("token" = [])))]
pub(super) async fn update_action_by_callback(
    caller: ChatCaller,
    Json(body): Json<UpdateAction>,
) -> Result<Answer<ActionAnswer>, Failure> {
    update(&caller, body).await
}

async fn start(caller: &ChatCaller, surface: &Surface, mut body: StartAction) -> Result<Answer<ActionAnswer>, Failure> {
    caller.may_write()?;
    caller.check_workspace(body.workspace_id.as_deref())?;
    body.display_text = body.display_text.as_deref().and_then(display_text);
    let mut tx = caller.ctx.begin().await?;
    let answer = store::start_action(&mut tx, caller.workspace(), &body, surface.processing_max, &caller.ctx.trace_id)
        .await
        .map_err(|error| caller.explain(error, &body.action_id))?;
    tx.commit().await.map_err(DbError::from)?;
    caller.tell(answer.outcome);
    Ok(Answer::ok(answer))
}

async fn update(caller: &ChatCaller, mut body: UpdateAction) -> Result<Answer<ActionAnswer>, Failure> {
    caller.may_write()?;
    caller.check_workspace(body.workspace_id.as_deref())?;
    body.display_text = body.display_text.as_deref().and_then(display_text);
    let mut tx = caller.ctx.begin().await?;
    let answer = store::update_action(&mut tx, caller.workspace(), &body, &caller.ctx.trace_id)
        .await
        .map_err(|error| caller.explain(error, &body.action_id))?;
    tx.commit().await.map_err(DbError::from)?;
    caller.tell(answer.outcome);
    Ok(Answer::ok(answer))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListActions {
    /// The workspace of the token, if it is given at all.
    workspace_id: Option<String>,
    #[param(required, value_type = String)]
    chat_id: Option<String>,
    /// Also those that ended in the last minutes, 1 to 60.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 60)]
    recent: Option<String>,
}

/// The active actions of a chat, those that changed last first, and a cursor to watch the chat from.
#[utoipa::path(get, path = "/api/chat/actions", params(ListActions),
    responses((status = 200, body = kernel::Envelope<ActionList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_actions(caller: ChatCaller, Query(query): Query<ListActions>) -> Result<Answer<ActionList>, Failure> {
    caller.may_read()?;
    caller.check_workspace(query.workspace_id.as_deref())?;
    let chat_id = query.chat_id.unwrap_or_default();
    let recent = check_chat_id(&chat_id).and_then(|()| number("recent", query.recent.as_deref(), 1..=RECENT_MINUTES_MAX.into()));
    let recent = recent.map_err(|refusal| caller.refuse(&refusal))?.and_then(|minutes| u32::try_from(minutes).ok());
    let mut tx = caller.ctx.begin().await?;
    Ok(Answer::ok(store::read_actions(&mut tx, caller.workspace(), &chat_id, recent, ACTIONS_LISTED_MAX).await?))
}
