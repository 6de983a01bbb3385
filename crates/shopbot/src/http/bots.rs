//! `GET /api/bots`.

use platform::http::{Answer, Ctx, Failure};
use serde::Serialize;

use crate::{
    reads::{self, BotRead},
    scopes,
};

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct BotList {
    pub bots: Vec<BotRead>,
}

/// The bots of the workspace, how they do, and what is wrong right now.
#[utoipa::path(get, path = "/api/bots", responses((status = 200, body = kernel::Envelope<BotList>), (status = 401)), security(("token" = [])))]
pub(super) async fn list_bots(ctx: Ctx) -> Result<Answer<BotList>, Failure> {
    ctx.require(scopes::READ)?;
    let bots = reads::bots(&mut *ctx.begin().await?).await?;
    Ok(Answer::ok(BotList { bots }))
}
