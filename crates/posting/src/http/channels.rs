//! `GET /api/channels`, `GET /api/channels/{channel_id}` and `GET /api/posting/health`.

use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Page, Path, Query};
use serde::{Deserialize, Serialize};

use super::one_of;
use crate::{
    reads::{self, CHANNEL_STATES, ChannelFilter, ChannelRead, Health},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListChannels {
    /// `disabled`, `paused`, `probing` or `open`.
    state: Option<String>,
    /// `telegram` or `max`.
    platform: Option<String>,
    /// Only channels after this one: `next` of the page before.
    after: Option<String>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ChannelList {
    pub channels: Vec<ChannelRead>,
    /// Give it as `after` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// Channels and their health, by id.
#[utoipa::path(get, path = "/api/channels", params(ListChannels), responses((status = 200, body = kernel::Envelope<ChannelList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_channels(ctx: Ctx, Query(query): Query<ListChannels>) -> Result<Answer<ChannelList>, Failure> {
    ctx.require(scopes::READ)?;
    one_of("state", query.state.as_deref(), &CHANNEL_STATES)?;
    one_of("platform", query.platform.as_deref(), &messengers::PROVIDERS)?;
    let limit = Page::checked(query.limit)?;
    let filter = ChannelFilter { state: query.state, platform: query.platform, after: query.after, channel_id: None, limit };
    let channels = reads::channels(&mut *ctx.begin().await?, &filter).await?;
    let next = (i64::try_from(channels.len()) == Ok(limit)).then(|| channels.last().map(|row| row.channel_id.clone())).flatten();
    Ok(Answer::ok(ChannelList { channels, next }))
}

/// One channel.
#[utoipa::path(get, path = "/api/channels/{channel_id}", params(("channel_id" = String, Path)), responses((status = 200, body = kernel::Envelope<ChannelRead>), (status = 404)), security(("token" = [])))]
pub(super) async fn get_channel(ctx: Ctx, Path(id): Path<String>) -> Result<Answer<ChannelRead>, Failure> {
    ctx.require(scopes::READ)?;
    let channel = reads::channel(&mut *ctx.begin().await?, &id).await?;
    Ok(Answer::ok(channel.ok_or_else(|| Problem::not_found("channel"))?))
}

/// Posting at a glance: what is under way, what failed, and which channels stand still.
#[utoipa::path(get, path = "/api/posting/health", responses((status = 200, body = kernel::Envelope<Health>), (status = 401)), security(("token" = [])))]
pub(super) async fn get_health(ctx: Ctx) -> Result<Answer<Health>, Failure> {
    ctx.require(scopes::READ)?;
    Ok(Answer::ok(reads::health(&mut *ctx.begin().await?).await?))
}
