//! The console: what a person sees of a workspace, rendered on the server.
//!
//! Modules add pages through the router of their own and an entry of the navigation; they extend `layout.html`.

mod actions;
mod assets;
mod data;
mod live;
mod pages;
mod planner;
mod posting;
mod session;
mod shopbot;
pub mod views;

use std::sync::Arc;

use axum::{Extension, Router, routing::get};
use jiff::Timestamp;
use platform::{Module, http::App};

/// What the console tells about the process it runs in.
#[derive(Debug)]
pub struct Info {
    pub version: &'static str,
    pub started_at: Timestamp,
    /// `embedded, in the data directory`, or where else.
    pub database_place: String,
    pub modules: &'static [Module],
    /// Whether people reach it over https: then the cookie is sent over nothing else.
    pub is_https: bool,
}

/// `chat_api` is the router of the module `actions`: the pages of chats call it too.
pub fn router(info: Arc<Info>, chat_api: Router<App>) -> Router<App> {
    Router::new()
        .route("/", get(pages::home))
        .merge(pages::router())
        .merge(posting::router())
        .merge(shopbot::router())
        .merge(actions::router(chat_api))
        .merge(planner::router())
        .merge(session::router())
        .merge(live::router())
        .layer(axum::middleware::map_response(session::protect))
        .merge(assets::router())
        .layer(Extension(info))
}
