//! Static files, compiled in.

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use platform::http::App;

const FILES: &[(&str, &str, &str)] = &[
    ("console.css", "text/css; charset=utf-8", include_str!("../static/console.css")),
    ("console.js", "text/javascript; charset=utf-8", include_str!("../static/console.js")),
    ("theme.js", "text/javascript; charset=utf-8", include_str!("../static/theme.js")),
    ("logo.svg", "image/svg+xml", include_str!("../static/logo.svg")),
    ("favicon.svg", "image/svg+xml", include_str!("../static/favicon.svg")),
    ("bark.svg", "image/svg+xml", include_str!("../static/bark.svg")),
];

pub(crate) fn router() -> Router<App> {
    Router::new().route("/console/static/{name}", get(file))
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some((_, content_type, body)) = FILES.iter().find(|(known, _, _)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // A new build has new files; asking each time costs an answer without a body.
    let tag = format!("\"{}-{}\"", env!("CARGO_PKG_VERSION"), body.len());
    let common = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    (common, [(header::CONTENT_TYPE, *content_type)], *body).into_response()
}
