//! The HTTP surface of posting.

mod push;

use axum::{Router, routing::post};
use outbound::Fetcher;
use platform::http::App;
use utoipa::OpenApi;

/// Everything under `/hooks/push` and the API of posting. Media that a post names by address is fetched with `fetcher`.
pub fn router(fetcher: Fetcher) -> Router<App> {
    Router::new()
        .route("/hooks/push", post(push::push))
        .route("/hooks/push/{secret}", post(push::push_with_secret))
        .layer(axum::Extension(fetcher))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(paths(push::push, push::push_with_secret))]
pub struct Docs;
