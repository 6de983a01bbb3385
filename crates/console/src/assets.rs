//! Static files, compiled in. The JavaScript client of the chat API is among them: the page of a chat uses it.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use platform::http::App;

const SCRIPT: &str = "text/javascript; charset=utf-8";
pub(crate) const FILES: &[(&str, &str, &str)] = &[
    ("console.css", "text/css; charset=utf-8", include_str!("../static/console.css")),
    ("console.js", SCRIPT, include_str!("../static/console.js")),
    ("chat.js", SCRIPT, include_str!("../static/chat.js")),
    ("theme.js", SCRIPT, include_str!("../static/theme.js")),
    ("client/src/api.js", SCRIPT, include_str!("../../../clients/javascript/src/api.js")),
    ("client/src/index.js", SCRIPT, include_str!("../../../clients/javascript/src/index.js")),
    ("client/src/sse.js", SCRIPT, include_str!("../../../clients/javascript/src/sse.js")),
    ("client/src/state.js", SCRIPT, include_str!("../../../clients/javascript/src/state.js")),
    ("client/src/texts.js", SCRIPT, include_str!("../../../clients/javascript/src/texts.js")),
    ("client/src/watch.js", SCRIPT, include_str!("../../../clients/javascript/src/watch.js")),
    ("client/types.js", SCRIPT, include_str!("../../../clients/javascript/types.js")),
    ("logo.svg", "image/svg+xml", include_str!("../static/logo.svg")),
    ("favicon.svg", "image/svg+xml", include_str!("../static/favicon.svg")),
    ("bark.svg", "image/svg+xml", include_str!("../static/bark.svg")),
];

pub(crate) fn router() -> Router<App> {
    Router::new().route("/console/static/{*name}", get(file))
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some((_, content_type, body)) = FILES.iter().find(|(known, _, _)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // A new build has new files; asking each time costs an answer without a body. By content and not by length: scripts that
    // import each other have to be of one build.
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
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
