//! `GET /api/posts` and `GET /api/posts/{message_id}`.

use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Page, Path, Query};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    reads::{self, DeliveryRead, MessageFilter, MessageRead, MessageWhole},
    scopes,
};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPosts {
    /// Only posts with this tag.
    tag: Option<String>,
    /// Only posts that came in under this reference.
    source_ref: Option<String>,
    /// Only older posts: `next` of the page before.
    before: Option<Uuid>,
    /// How many at most, 1 to 200.
    #[serde(default = "Page::default_limit")]
    limit: i64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct PostList {
    pub posts: Vec<MessageRead>,
    /// Give it as `before` to get the next page; absent on the last one. With a filter a page may be short and have it.
    pub next: Option<Uuid>,
}

/// Posts and where their copies stand, newest first.
#[utoipa::path(get, path = "/api/posts", params(ListPosts), responses((status = 200, body = kernel::Envelope<PostList>), (status = 401), (status = 422)), security(("token" = [])))]
pub(super) async fn list_posts(ctx: Ctx, Query(query): Query<ListPosts>) -> Result<Answer<PostList>, Failure> {
    ctx.require(scopes::READ)?;
    let limit = Page::checked(query.limit)?;
    let filter = MessageFilter { tag: query.tag, source_ref: query.source_ref, before: query.before, limit };
    let page = reads::messages(&mut *ctx.begin().await?, &filter).await?;
    Ok(Answer::ok(PostList { posts: page.rows, next: page.next }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct PostWithDeliveries {
    pub post: MessageWhole,
    /// By channel, at most 1000; the others are at `/api/deliveries?message_id=`.
    pub deliveries: Vec<DeliveryRead>,
    /// The edits and deletions that follow it, newest first.
    pub following: Vec<MessageRead>,
}

/// One post, its deliveries with what each waits for, and what follows it.
#[utoipa::path(get, path = "/api/posts/{message_id}", params(("message_id" = Uuid, Path)), responses((status = 200, body = kernel::Envelope<PostWithDeliveries>), (status = 404)), security(("token" = [])))]
pub(super) async fn get_post(ctx: Ctx, Path(id): Path<Uuid>) -> Result<Answer<PostWithDeliveries>, Failure> {
    ctx.require(scopes::READ)?;
    let mut tx = ctx.begin().await?;
    let post = reads::message(&mut tx, id).await?.ok_or_else(|| Problem::not_found("post"))?;
    let deliveries = reads::deliveries_of(&mut tx, id).await?;
    let following = reads::following(&mut tx, id).await?;
    Ok(Answer::ok(PostWithDeliveries { post, deliveries, following }))
}
