//! The HTTP surface of posting.

mod channels;
mod deliveries;
mod events;
mod follow;
mod messages;
mod push;
mod runs;
mod sources;

use axum::{
    Router,
    routing::{get, post},
};
use kernel::Problem;
use outbound::Fetcher;
use platform::http::App;
use utoipa::OpenApi;

/// Everything under `/hooks/push` and the API of posting. Media that a post names by address is fetched with `fetcher`.
pub fn router(fetcher: Fetcher) -> Router<App> {
    Router::new()
        .route("/hooks/push", post(push::push))
        .route("/hooks/push/{secret}", post(push::push_with_secret))
        .route("/api/posts/{message_id}/edit", post(follow::edit_post))
        .route("/api/posts/{message_id}/delete", post(follow::delete_post))
        .route("/api/posts", get(messages::list_posts))
        .route("/api/posts/{message_id}", get(messages::get_post))
        .route("/api/deliveries", get(deliveries::list_deliveries))
        .route("/api/deliveries/{delivery_id}", get(deliveries::get_delivery))
        .route("/api/events", get(events::list_events))
        .route("/api/channels", get(channels::list_channels))
        .route("/api/channels/{channel_id}", get(channels::get_channel))
        .route("/api/sources", get(sources::list_sources))
        .route("/api/ingest-runs", get(runs::list_runs))
        .route("/api/posting/health", get(channels::get_health))
        .layer(axum::Extension(fetcher))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(paths(
    push::push,
    push::push_with_secret,
    follow::edit_post,
    follow::delete_post,
    messages::list_posts,
    messages::get_post,
    deliveries::list_deliveries,
    deliveries::get_delivery,
    events::list_events,
    channels::list_channels,
    channels::get_channel,
    channels::get_health,
    sources::list_sources,
    runs::list_runs
))]
pub struct Docs;

/// Refuses a filter that is none of the words it can be.
fn one_of(field: &str, given: Option<&str>, known: &[&str]) -> Result<(), Problem> {
    match given {
        Some(given) if !known.contains(&given) => {
            Err(Problem::validation(field, format!("`{field}` is one of: {}", known.join(", "))))
        }
        _ => Ok(()),
    }
}
