//! The console: what a person sees of a workspace, rendered on the server.
//!
//! A page is one struct with the data of its region and one template (`views`); `page.rs` puts the region into the layout, or
//! sends it alone when the script fetches it anew. The menu and what makes a page live are a list (`sections.rs`), which modules
//! bring. A module adds a page of its own by a [`ConsolePage`], without a change in this crate.

mod actions;
mod assets;
mod live;
mod operations;
mod page;
mod planner;
mod posting;
mod sections;
mod session;
mod shopbot;
pub mod views;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::RawQuery,
    response::Redirect,
    routing::{MethodRouter, get},
};
use jiff::Timestamp;
use platform::{
    console::{ConsolePage, MenuEntry},
    http::App,
    module::Module,
};

use page::Shown;
use sections::Menu;
use session::Visitor;
use views::{ModuleRegion, PageHead};

/// What the console shows of the process that it runs in.
#[derive(Debug)]
pub struct Info {
    pub version: &'static str,
    pub started_at: Timestamp,
    /// `embedded, in the data directory`, or where else.
    pub database_place: String,
    pub modules: &'static [Module],
    /// Whether browsers reach it over https: then the cookie is sent over https only.
    pub is_https: bool,
}

/// `chat_api` is the router of the module `actions`, which the page of a chat calls; entries of the menu and `pages` are those that modules bring.
pub fn router(info: Arc<Info>, chat_api: Router<App>, menu: &[MenuEntry], pages: &[ConsolePage]) -> Router<App> {
    Router::new()
        .route("/", get(async || Redirect::to("/console")))
        .nest("/console", all_pages(pages).merge(session::router()).merge(live::router()).merge(operations::changes()))
        .nest("/console/fragments", all_pages(pages))
        .nest("/console/chat", actions::api(chat_api))
        .layer(axum::middleware::map_response(session::protect))
        .merge(assets::router())
        .layer(Extension(Arc::new(Menu::new(menu))))
        .layer(Extension(info))
}

/// Every page, for its own address and for that of its region.
fn all_pages(brought: &[ConsolePage]) -> Router<App> {
    let own = Router::new()
        .merge(operations::router())
        .merge(posting::router())
        .merge(shopbot::router())
        .merge(actions::router())
        .merge(planner::router());
    brought.iter().fold(own, |router, page| router.route(&format!("/{}", page.path), module_page(*page)))
}

fn module_page(page: ConsolePage) -> MethodRouter<App> {
    get(async move |visitor: Visitor, RawQuery(query): RawQuery| -> Shown {
        let html = (page.render)(&visitor.ctx, query.as_deref().unwrap_or_default()).await?;
        visitor.show(PageHead::new(page.title, page.lead), &ModuleRegion { name: page.path, html })
    })
}
