//! `GET /api/chats`.

use kernel::Problem;
use platform::http::{Answer, Failure, Page, Query};
use serde::Deserialize;

use super::{caller::ChatCaller, number};
use crate::{
    contract::{ChatList, Refusal},
    reads,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListChats {
    /// The workspace of the token, if it is given at all.
    workspace_id: Option<String>,
    /// Only chats before this place: `next` of the page before.
    before: Option<String>,
    /// How many at most, 1 to 200; 50 unless it is said.
    #[param(value_type = Option<i64>)]
    limit: Option<String>,
}

/// The chats of the workspace, those with the newest message first.
#[utoipa::path(get, path = "/api/chats", params(ListChats),
    responses((status = 200, body = kernel::Envelope<ChatList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_chats(caller: ChatCaller, Query(query): Query<ListChats>) -> Result<Answer<ChatList>, Failure> {
    caller.may_read()?;
    caller.check_workspace(query.workspace_id.as_deref())?;
    let refuse = |refusal| caller.refuse(&refusal);
    let limit = number("limit", query.limit.as_deref(), Page::LIMITS).map_err(refuse)?.unwrap_or_else(Page::default_limit);
    let before = query.before.as_deref().map(str::parse).transpose().map_err(|_: Problem| refuse(Refusal::field("before")))?;
    let (chats, next) = reads::chats(&mut *caller.ctx.begin().await?, before, limit).await?;
    Ok(Answer::ok(ChatList { chats, next: next.map(|next| next.to_string()) }))
}
