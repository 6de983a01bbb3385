//! `GET /control/sent` and `GET /control/calls`: pages of the ledgers.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;

use crate::faults::Provider;
use crate::http;
use crate::ledger::{Page, Turned};
use crate::simulators::World;

use super::respond;

const LIMIT_DEFAULT: usize = 1_000;
const LIMIT_MAX: usize = 10_000;

#[derive(Serialize)]
struct SentPage<'a, T> {
    sent: &'a [Arc<T>],
    #[serde(flatten)]
    page: &'a Turned<T>,
}

#[derive(Serialize)]
struct CallsPage<'a, T> {
    calls: &'a [Arc<T>],
    counts: Vec<Value>,
    #[serde(flatten)]
    page: &'a Turned<T>,
}

pub(super) async fn sent(State(world): State<Arc<World>>, RawQuery(query): RawQuery) -> Response {
    match read(query.as_deref()) {
        Ok(page) => {
            let page = world.ledger.sent(&page);
            http::json(200, &SentPage { sent: &page.entries, page: &page })
        }
        Err(error) => respond(Err(error)),
    }
}

pub(super) async fn calls(State(world): State<Arc<World>>, RawQuery(query): RawQuery) -> Response {
    match read(query.as_deref()) {
        Ok(page) => {
            let page = world.ledger.calls(&page);
            http::json(200, &CallsPage { calls: &page.entries, counts: world.ledger.counts(), page: &page })
        }
        Err(error) => respond(Err(error)),
    }
}

fn read(query: Option<&str>) -> Result<Page, String> {
    let mut page = Page { limit: LIMIT_DEFAULT, ..Page::default() };
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let number = || value.parse::<u64>().map_err(|_| format!("{name}: must be a number"));
        match name.as_ref() {
            // An empty filter is no filter.
            "provider" | "target" | "method" if value.is_empty() => {}
            "provider" => page.provider = Some(provider(&value)?),
            "target" => page.target = Some(value.into_owned()),
            "method" => page.method = Some(value.into_owned()),
            "after" => page.after = number()?,
            "limit" => {
                page.limit = usize::try_from(number()?).unwrap_or(LIMIT_MAX);
                if !(1..=LIMIT_MAX).contains(&page.limit) {
                    return Err(format!("limit: must be between 1 and {LIMIT_MAX}"));
                }
            }
            _ => return Err(format!("{name}: unknown field")),
        }
    }
    Ok(page)
}

fn provider(name: &str) -> Result<Provider, String> {
    serde_json::from_value(Value::from(name)).map_err(|_| "provider: must be telegram, max, gemini, openai or web".to_owned())
}
