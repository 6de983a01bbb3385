//! The HTTP surface of shopbot.

mod bots;
mod conversations;
mod poison;
mod rules;

use axum::{
    Router,
    routing::{get, post},
};
use kernel::Problem;
use platform::http::App;
use utoipa::OpenApi;

/// The API of shopbot.
pub fn router() -> Router<App> {
    Router::new()
        .route("/api/bots", get(bots::list_bots))
        .route("/api/bots/conversations", get(conversations::list_conversations))
        .route("/api/bots/conversations/{provider}/{chat_id}", get(conversations::get_conversation))
        .route("/api/bots/rules", get(rules::list_rules).post(rules::save_rules))
        .route("/api/bots/rules/{rule_id}", get(rules::get_rule))
        .route("/api/bots/rules/{rule_id}/enable", post(rules::enable_rule))
        .route("/api/bots/poison", get(poison::list_poison))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(paths(
    bots::list_bots,
    conversations::list_conversations,
    conversations::get_conversation,
    rules::list_rules,
    rules::save_rules,
    rules::get_rule,
    rules::enable_rule,
    poison::list_poison
))]
pub struct Docs;

/// Refuses a messenger that there is not.
fn check_provider(provider: Option<&str>) -> Result<(), Problem> {
    match provider {
        Some(provider) if !messengers::PROVIDERS.contains(&provider) => {
            Err(Problem::validation("provider", format!("`provider` is one of: {}", messengers::PROVIDERS.join(", "))))
        }
        _ => Ok(()),
    }
}
