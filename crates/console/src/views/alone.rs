//! Whole documents: the layout around a page, and the two that have no layout.

use std::fmt::Display;

use askama::Template;

use super::parts::{FilterForm, PageLink};

/// A page in its layout.
#[derive(Debug, Template)]
#[template(path = "layout.html")]
pub struct WholePage<'a, R: Display> {
    /// The workspace that the token belongs to.
    pub workspace: &'a str,
    pub menu: Vec<MenuItem>,
    /// The topics of the bus after whose messages the page fetches its regions anew.
    pub topics: String,
    /// The server's time, RFC 3339; the script corrects the browser's clock by it.
    pub now: String,
    /// The token that every form of the console sends back.
    pub csrf: &'a str,
    pub head: PageHead,
    pub region: &'a R,
}

#[derive(Debug, Clone)]
pub struct MenuItem {
    pub href: String,
    pub title: &'static str,
    /// Whether the current page belongs to it.
    pub is_active: bool,
}

/// What stands above the region of a page.
#[derive(Debug, Clone)]
pub struct PageHead {
    pub title: String,
    /// A sentence under the title. Without one the region has a heading of its own.
    pub lead: &'static str,
    /// The page that this one belongs to.
    pub crumb: Option<PageLink>,
    pub filters: Option<FilterForm>,
}

/// The region of a page that a module brings. The module has escaped it.
#[derive(Debug, Template)]
#[template(path = "module_page.html")]
pub struct ModuleRegion {
    pub name: &'static str,
    pub html: String,
}

#[derive(Debug, Template)]
#[template(path = "sign_in.html")]
pub struct SignInPage {
    /// The path to show afterwards; the server accepts only its own.
    pub next: String,
    /// Why the last try failed, and what to do.
    pub error: Option<String>,
    /// The command that makes a token.
    pub command: String,
}

#[derive(Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// The HTTP status.
    pub status: u16,
    /// `No such page`.
    pub title: String,
    pub message: String,
    /// What to do now.
    pub advice: String,
    pub trace_id: Option<String>,
}
