//! The pages of chats, and the API that the page of a chat calls.

use actions::glance::{self, ChatFilter};
use axum::{
    Router,
    extract::{Path, Query},
    http::{StatusCode, Uri},
    middleware,
    response::Response,
    routing::get,
};
use kernel::{Problem, Scope};
use platform::http::App;
use serde::Deserialize;

use super::data;
use crate::{
    pages::{PAGE, address, asked, given, options, pager, shell},
    session::{PageError, Visitor, cookie_as_token, page},
    views::{ChatPage, ChatRoom, Chats, ChatsFragment, ChatsPage, Empty, Pager},
};

/// As a filter: chats in which a bot is at work.
const AT_WORK: &str = "at_work";

/// `api` is the router of the module itself. Pages of ours reach it with their cookie; everybody else brings a token.
pub(crate) fn router(api: Router<App>) -> Router<App> {
    Router::new()
        .route("/console/chats", get(chats))
        .route("/console/chats/{chat_id}", get(chat))
        .nest("/console/chat", api.layer(middleware::from_fn(cookie_as_token)))
}

/// The region `chats`, with the query of the page that it stands on; none for another name.
pub(crate) async fn fragment(visitor: &Visitor, name: &str, uri: &Uri) -> Result<Option<Response>, PageError> {
    if name != "chats" {
        return Ok(None);
    }
    let (chats, pager) = list_chats(visitor, &asked(uri)?).await?;
    Ok(Some(page(StatusCode::OK, &ChatsFragment { chats, pager })))
}

#[derive(Deserialize)]
struct ChatsQuery {
    state: Option<String>,
    before: Option<String>,
}

async fn list_chats(visitor: &Visitor, query: &ChatsQuery) -> Result<(Chats, Pager), PageError> {
    let state = given(query.state.clone());
    let before = given(query.before.clone()).as_deref().map(str::parse).transpose()?;
    let is_at_work = state.as_deref() == Some(AT_WORK);
    let base = address("chats", &[("state", state.as_ref())]);
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let mut rows = glance::chats(&mut tx, &ChatFilter { is_at_work, before, limit: PAGE + 1 }).await?;
    let pager = pager(&mut rows, &base, before.is_some(), "chats", |row| row.cursor().to_string());
    let words = if is_at_work {
        "No bot is at work."
    } else if before.is_some() {
        "Nothing further back."
    } else {
        "Nobody has talked yet. A chat begins with its first message or action: POST /api/chats/{chatId}/messages."
    };
    let empty = Empty { words: words.to_owned(), command: String::new() };
    Ok((Chats { rows: rows.iter().map(|row| data::chat_row(row, now)).collect(), empty }, pager))
}

async fn chats(visitor: Visitor, Query(query): Query<ChatsQuery>) -> Result<Response, PageError> {
    let (chats, pager) = list_chats(&visitor, &query).await?;
    let states = [(AT_WORK.to_owned(), "bots at work".to_owned())];
    let states = options(states, given(query.state).as_deref());
    Ok(page(StatusCode::OK, &ChatsPage { shell: shell(&visitor, "/console/chats"), states, chats, pager }))
}

/// A chat that nobody has talked in is shown too: writing there begins it.
async fn chat(visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageError> {
    if !actions::contract::is_id(&id) {
        return Err(PageError(Problem::not_found("chat")));
    }
    let can_write = visitor.ctx.principal.scopes.contains(Scope::Write);
    let view = ChatPage { shell: shell(&visitor, "/console/chats"), chat: ChatRoom { id, can_write } };
    Ok(page(StatusCode::OK, &view))
}
