//! `GET /api/bots/conversations` and `GET /api/bots/conversations/{provider}/{chat_id}`.

use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Page, Path, Query};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::check_provider;
use crate::{
    reads::{self, ConversationFilter, ConversationRead, TurnRead},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListConversations {
    /// `max` or `telegram`.
    provider: Option<String>,
    /// Only conversations with this bot.
    bot_id: Option<Uuid>,
    /// Only conversations before this place: `next` of the page before.
    before: Option<String>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ConversationList {
    pub conversations: Vec<ConversationRead>,
    /// Give it as `before` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// Conversations by their last message, newest first.
#[utoipa::path(get, path = "/api/bots/conversations", params(ListConversations), responses((status = 200, body = kernel::Envelope<ConversationList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_conversations(
    ctx: Ctx,
    Query(query): Query<ListConversations>,
) -> Result<Answer<ConversationList>, Failure> {
    ctx.require(scopes::READ)?;
    check_provider(query.provider.as_deref())?;
    let limit = Page::checked(query.limit)?;
    let before = query.before.as_deref().map(str::parse).transpose()?;
    let filter =
        ConversationFilter { provider: query.provider, bot_id: query.bot_id, before, limit, ..ConversationFilter::default() };
    let page = reads::conversations(&mut *ctx.begin().await?, &filter).await?;
    Ok(Answer::ok(ConversationList { conversations: page.rows, next: page.next.map(|next| next.to_string()) }))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct GetConversation {
    /// The bot, where the workspace has several in this messenger; without it, the one that the customer wrote to last.
    bot_id: Option<Uuid>,
    /// Only messages before this place: `next` of the page before.
    before: Option<String>,
    /// How many messages at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ConversationWithMessages {
    pub conversation: ConversationRead,
    /// What was said, newest first, with the rule and its version that answered and where the answer stands.
    pub messages: Vec<TurnRead>,
    /// Give it as `before` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// One conversation: its state, and what was said.
#[utoipa::path(get, path = "/api/bots/conversations/{provider}/{chat_id}",
    params(("provider" = String, Path), ("chat_id" = String, Path), GetConversation),
    responses((status = 200, body = kernel::Envelope<ConversationWithMessages>), (status = 404)), security(("token" = [])))]
pub(super) async fn get_conversation(
    ctx: Ctx,
    Path((provider, chat_id)): Path<(String, String)>,
    Query(query): Query<GetConversation>,
) -> Result<Answer<ConversationWithMessages>, Failure> {
    ctx.require(scopes::READ)?;
    let limit = Page::checked(query.limit)?;
    let before = query.before.as_deref().map(str::parse).transpose()?;
    let mut tx = ctx.begin().await?;
    let conversation = reads::conversation(&mut tx, &provider, &chat_id, query.bot_id).await?;
    let conversation = conversation.ok_or_else(|| Problem::not_found("conversation"))?;
    let messages = reads::messages(&mut tx, &conversation, before, limit).await?;
    let is_full = i64::try_from(messages.len()) == Ok(limit);
    let next = is_full.then(|| messages.last().map(|row| row.cursor().to_string())).flatten();
    Ok(Answer::ok(ConversationWithMessages { conversation, messages, next }))
}
