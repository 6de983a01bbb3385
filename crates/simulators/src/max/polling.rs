//! GET /updates: markers, types, and silence while a subscription exists.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use tokio::time::Instant;

use crate::http;
use crate::params::Params;
use crate::sync::lock;

use super::call::Call;
use super::inbox::Inbox;
use super::problem::Problem;

const TIMEOUT_SECONDS_MAX: i64 = 90;
const TIMEOUT_SECONDS_DEFAULT: i64 = 30;
const LIMIT_MAX: i64 = 1000;
const LIMIT_DEFAULT: i64 = 100;

pub(super) async fn updates(call: &Call) -> Result<Response, Problem> {
    let timeout = bounded(&call.query, "timeout", (0, TIMEOUT_SECONDS_MAX), TIMEOUT_SECONDS_DEFAULT)?;
    let limit = bounded(&call.query, "limit", (1, LIMIT_MAX), LIMIT_DEFAULT)?;
    let limit = usize::try_from(limit).unwrap_or(1);
    let types = call.query.text("types").filter(|types| !types.is_empty());
    let types: Option<Vec<&str>> = types.as_deref().map(|types| types.split(',').map(str::trim).collect());
    let marker = call.query.int("marker");
    let bot = Arc::clone(call.bot()?);
    let deadline = Instant::now() + Duration::from_secs(timeout.unsigned_abs());
    if let Some(marker) = marker {
        // Passing a marker marks everything earlier as read.
        let mut inbox = lock(&bot.inbox);
        inbox.kept = inbox.kept.split_off(&marker);
    }
    loop {
        let mut news = std::pin::pin!(bot.news.notified());
        news.as_mut().enable();
        {
            let mut inbox = lock(&bot.inbox);
            let page = page(&mut inbox, marker, limit, types.as_deref());
            if page.found || Instant::now() >= deadline {
                return Ok(http::bytes(200, "application/json", page.body));
            }
        }
        let _ = tokio::time::timeout_at(deadline, news).await;
    }
}

struct Page {
    body: Vec<u8>,
    found: bool,
}

fn page(inbox: &mut Inbox, marker: Option<i64>, limit: usize, types: Option<&[&str]>) -> Page {
    let start = marker.unwrap_or(inbox.unread);
    let mut body = br#"{"updates":["#.to_vec();
    let mut found = 0;
    let mut next = start.max(inbox.next_marker());
    if inbox.subscriptions.is_empty() {
        for (marker, kept) in inbox.kept.range(start..) {
            if types.is_some_and(|types| !types.contains(&kept.kind.as_str())) {
                continue;
            }
            if found == limit {
                next = *marker;
                break;
            }
            if found > 0 {
                body.push(b',');
            }
            body.extend_from_slice(&kept.body);
            found += 1;
        }
        if found > 0 {
            inbox.unread = next;
        }
    }
    body.extend_from_slice(format!("],\"marker\":{next}}}").as_bytes());
    Page { body, found: found > 0 }
}

fn bounded(query: &Params, name: &str, (min, max): (i64, i64), default: i64) -> Result<i64, Problem> {
    let value = match query.text(name) {
        None => return Ok(default),
        Some(text) => text.parse().map_err(|_| Problem::payload(format!("Invalid {name}: {text}")))?,
    };
    if value > max {
        return Err(Problem::payload(format!("Field '{name}' value ({value}) must be at most {max}")));
    }
    if value < min {
        return Err(Problem::payload(format!("Field '{name}' value ({value}) must be at least {min}")));
    }
    Ok(value)
}
