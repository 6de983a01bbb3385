//! Pages that stand alone.

use askama::Template;

/// The way in.
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

/// A page that could not be shown.
#[derive(Debug, Template)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// The HTTP status.
    pub status: u16,
    /// What it is, in a few words: `No such page`.
    pub title: String,
    /// What happened.
    pub message: String,
    /// What to do now.
    pub advice: String,
    /// What to give to whoever looks into it.
    pub trace_id: Option<String>,
}
