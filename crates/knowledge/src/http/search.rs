//! `GET /api/knowledge/search`: what a person would find, with the score of each leg.

use axum::{Extension, response::IntoResponse};
use kernel::Problem;
use platform::http::{Answer, Ctx, Failure, Query};
use serde::Deserialize;
use serde_json::json;

use crate::{
    Knowledge, scopes,
    search::{self, Asker, LIMIT_MAX, QuestionChannel, SHARE_MIN, SearchRequest},
};

const LIMIT_DEFAULT: usize = 10;

/// Who asks what, and where.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchQuery {
    /// The question.
    q: String,
    /// As whom: the id of a person in Telegram.
    r#as: i64,
    /// The group in which it is asked; without one it is asked in private.
    chat_id: Option<i64>,
    /// How many at most, 1 to 50.
    limit: Option<usize>,
}

/// Search as a person, in a group or in private: nothing is found that this person could not be answered with there.
#[utoipa::path(get, path = "/api/knowledge/search", params(SearchQuery),
    responses((status = 200, description = "what was found, best first"), (status = 403, description = "the person may not ask"),
              (status = 404, description = "the chat is not registered"), (status = 422)))]
pub(super) async fn search_knowledge(
    ctx: Ctx,
    Extension(knowledge): Extension<Knowledge>,
    Query(asked): Query<SearchQuery>,
) -> Result<impl IntoResponse, Failure> {
    ctx.require(scopes::SEARCH)?;
    let limit = asked.limit.unwrap_or(LIMIT_DEFAULT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::validation("limit", format!("`limit` is a number from 1 to {LIMIT_MAX}")).into());
    }
    let channel = if asked.chat_id.is_some() { QuestionChannel::Group } else { QuestionChannel::Private };
    let request = SearchRequest {
        workspace: ctx.principal.workspace_id,
        asker: Asker { tg_user_id: asked.r#as, channel, chat_id: asked.chat_id },
        question: &asked.q,
        limit,
        but_message: None,
    };
    let found = search::search(&knowledge, &request).await?;
    Ok(Answer::ok(json!({
        "hits": found.hits, "audience": found.audience, "share": found.share, "share_min": SHARE_MIN,
        "is_enough": !found.is_too_little(), "took_ms": found.took_ms,
    })))
}
