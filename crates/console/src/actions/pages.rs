//! The pages of chats, and the API that the page of a chat calls.

use actions::glance::{self, ChatAtAGlance, ChatFilter};
use axum::{Router, extract::Path, middleware, routing::get};
use kernel::Problem;
use platform::http::App;

use super::data;
use crate::{
    page::{ROWS, Shown},
    session::{Visitor, cookie_as_token},
    views::{ChatRoom, ChatsRegion, EmptyNote, PageHead},
};

/// As a filter: chats in which a bot is at work.
const AT_WORK: &str = "at_work";

pub(crate) fn router() -> Router<App> {
    Router::new().route("/chats", get(chats)).route("/chats/{chat_id}", get(chat))
}

/// The API of the module for our own pages, which show a cookie. Everyone else brings a token to the API itself.
pub(crate) fn api(api: Router<App>) -> Router<App> {
    api.layer(middleware::from_fn(cookie_as_token))
}

async fn chats(visitor: Visitor) -> Shown {
    let filters = visitor.filters().choice("state", "Bots", [(AT_WORK, "bots at work")]);
    let before = visitor.place()?;
    let is_at_work = visitor.text("state").as_deref() == Some(AT_WORK);
    let mut tx = visitor.ctx.begin().await?;
    let mut rows = glance::chats(&mut tx, &ChatFilter { is_at_work, before, limit: ROWS + 1 }).await?;
    let pager = filters.pager(&mut rows, "chats", ChatAtAGlance::cursor);
    let empty = EmptyNote::new(if is_at_work {
        "No bot is at work."
    } else if before.is_some() {
        "Nothing further back."
    } else {
        "Nobody has talked yet. A chat begins with its first message or action: POST /api/chats/{chatId}/messages."
    });
    let rows = rows.iter().map(|row| data::chat_row(row, visitor.now())).collect();
    let lead = "Where people and bots talk, and what the bots are doing there right now.";
    visitor.show(PageHead::new("Chats", lead).with(filters), &ChatsRegion { rows, empty, pager })
}

/// A chat without a message is shown too: writing there begins it.
async fn chat(visitor: Visitor, Path(id): Path<String>) -> Shown {
    if !actions::contract::is_id(&id) {
        return Err(Problem::not_found("chat").into());
    }
    let can_write = visitor.ctx.principal.scopes.contains(actions::scopes::WRITE);
    visitor.show(PageHead::only_title(format!("Chat {id}")), &ChatRoom { id, can_write })
}
