//! Webhook subscriptions: several may coexist, one per address.

use std::sync::Arc;

use axum::response::Response;
use serde_json::json;
use url::Url;

use crate::http;
use crate::sync::lock;

use super::call::Call;
use super::done;
use super::problem::Problem;
use super::pusher::Subscription;

const SUBSCRIPTIONS_MAX: usize = 100;

pub(super) fn subscribe(call: &Call) -> Result<Response, Problem> {
    let body = call.json()?;
    let url = body.text("url").filter(|url| !url.is_empty()).ok_or_else(|| Problem::missing("url"))?;
    check_url(&url)?;
    let secret = body.text("secret").map(String::from);
    if secret.as_deref().is_some_and(|secret| !is_secret(secret)) {
        return Err(Problem::payload("Field 'secret' does not match required pattern"));
    }
    let types = match body.get("update_types") {
        None => None,
        Some(types) => {
            let types: Vec<String> = serde_json::from_value(types.clone()).map_err(|_| Problem::undeserializable())?;
            (!types.is_empty()).then_some(types)
        }
    };
    let mut inbox = lock(&call.bot()?.inbox);
    // The same address again replaces its settings.
    drop_subscription(&mut inbox.subscriptions, &url);
    if inbox.subscriptions.len() >= SUBSCRIPTIONS_MAX {
        return Err(Problem::payload("Too many subscriptions"));
    }
    inbox.subscriptions.push(Arc::new(Subscription::new(url.into_owned(), secret, types)));
    Ok(done())
}

pub(super) fn list(call: &Call) -> Result<Response, Problem> {
    let inbox = lock(&call.bot()?.inbox);
    let subscriptions: Vec<_> = inbox
        .subscriptions
        .iter()
        .map(|subscription| {
            let mut shown = json!({"url": subscription.url, "time": subscription.time});
            if let Some(types) = &subscription.types {
                shown["update_types"] = json!(types);
            }
            shown
        })
        .collect();
    Ok(http::json(200, &json!({"subscriptions": subscriptions})))
}

pub(super) fn unsubscribe(call: &Call) -> Result<Response, Problem> {
    let url = call.query.text("url").ok_or_else(|| Problem::missing("url"))?;
    drop_subscription(&mut lock(&call.bot()?.inbox).subscriptions, &url);
    Ok(done())
}

pub(super) fn drop_subscription(subscriptions: &mut Vec<Arc<Subscription>>, url: &str) {
    subscriptions.retain(|subscription| {
        let keep = subscription.url != url;
        if !keep {
            subscription.stop.cancel();
        }
        keep
    });
}

/// https and port 443, but for this machine anything: a test's webhook has no certificate.
fn check_url(url: &str) -> Result<(), Problem> {
    let refused = || Problem::payload("Field 'url' does not match required pattern");
    let url = Url::parse(url).map_err(|_| refused())?;
    let local = http::is_loopback(&url) && matches!(url.scheme(), "http" | "https");
    let public = url.scheme() == "https" && url.port_or_known_default() == Some(443);
    if local || public { Ok(()) } else { Err(refused()) }
}

fn is_secret(secret: &str) -> bool {
    (5..=256).contains(&secret.len()) && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
