//! The webhooks of the workspace, and a page of the log of their deliveries.

use std::fmt::Write;

use platform::console::{Cell, Tone, escape, table};
use uuid::Uuid;

use super::{ADDRESS, command, delivery_address, delivery_tone, exact, short_id};
use crate::reads::{STATUSES, SubscriptionRead, WebhookDeliveryFilter, WebhookDeliveryPage, WebhookDeliveryRead};

/// How much of an answer or an error a row shows; the page of the delivery has the rest.
const BEGINNING: usize = 120;

pub(super) fn region(
    subscriptions: &[SubscriptionRead],
    filter: &WebhookDeliveryFilter,
    page: &WebhookDeliveryPage,
    workspace: &str,
) -> String {
    let mut html = webhooks(subscriptions, workspace);
    html.push_str(&head(subscriptions, filter));
    if page.deliveries.is_empty() {
        html.push_str(r#"<section class="panel"><p class="empty">No delivery here.</p></section>"#);
    } else {
        let columns = ["Event", "Webhook", "Status", "Attempt", "HTTP", "ms", "Answer or error", "Created", "Resend of"];
        html.push_str(&table("Deliveries, newest first", columns, page.deliveries.iter().map(delivery)));
    }
    html + &pager(filter, page)
}

fn webhooks(subscriptions: &[SubscriptionRead], workspace: &str) -> String {
    if subscriptions.is_empty() {
        let add = command("add --name crm --url https://crm.example.org/beresta --event 'post.*'", None, workspace);
        return format!(r#"<section class="panel"><p class="empty">No webhook yet.</p>{add}</section>"#);
    }
    let columns = ["Webhook", "Address", "Events", "Status", "Failures", "Reason", "Delivered"];
    let mut html = table("Webhooks, by name", columns, subscriptions.iter().map(webhook));
    let stopped: Vec<_> = subscriptions.iter().filter(|subscription| subscription.status != "active").collect();
    if !stopped.is_empty() {
        html.push_str(r#"<section class="panel"><header class="section-head"><h2>Enable a stopped webhook</h2></header>"#);
        for subscription in stopped {
            html.push_str(&command("enable", Some(&subscription.name), workspace));
        }
        html.push_str("</section>");
    }
    html
}

fn webhook(subscription: &SubscriptionRead) -> [Cell; 7] {
    let tone = match subscription.status.as_str() {
        "active" if subscription.failures == 0 => Tone::Good,
        "active" | "paused" => Tone::Warn,
        _ => Tone::Bad,
    };
    let stopped = subscription.stopped_at.zip(subscription.stopped_why.as_ref());
    let stopped = stopped.map(|(at, why)| format!("{why} (since {})", exact(at)));
    let closed = subscription.closed_until.map(|until| format!("nothing is sent before {}", exact(until)));
    let failing = subscription.failing_since.map(|since| format!("every attempt since {} failed", exact(since)));
    [
        Cell::link(&address(Some(subscription.subscription_id), None, None), &subscription.name),
        subscription.url.clone().into(),
        subscription.events.join(", ").into(),
        Cell::badge(&subscription.status, tone),
        subscription.failures.to_string().into(),
        Cell::maybe(stopped.or(closed).or(failing)),
        subscription.delivered.to_string().into(),
    ]
}

/// What the list below is filtered by, and the links that change it.
fn head(subscriptions: &[SubscriptionRead], filter: &WebhookDeliveryFilter) -> String {
    let mut html = r#"<header class="section-head"><h2>Deliveries"#.to_owned();
    if let Some(id) = filter.subscription_id {
        let known = subscriptions.iter().find(|subscription| subscription.subscription_id == id);
        let name = known.map_or_else(|| id.to_string(), |subscription| subscription.name.clone());
        let all = escape(&address(None, filter.status.as_deref(), None));
        let _ = write!(html, r#" to {}</h2><a class="more" href="{all}">deliveries to all webhooks</a>"#, escape(&name));
    } else {
        html.push_str("</h2>");
    }
    html.push_str(r#"</header><nav class="pager" aria-label="Filter by status"><span class="quiet">Status</span>"#);
    for status in std::iter::once(None).chain(STATUSES.map(Some)) {
        let href = escape(&address(filter.subscription_id, status, None));
        let current = if filter.status.as_deref() == status { r#" aria-current="true""# } else { "" };
        let _ = write!(html, r#"<a href="{href}"{current}>{}</a>"#, status.unwrap_or("any"));
    }
    html + "</nav>"
}

fn delivery(row: &WebhookDeliveryRead) -> [Cell; 9] {
    let said = row.last_error.as_deref().or(row.last_answer.as_deref()).filter(|text| !text.is_empty());
    let name = row.subscription.clone().unwrap_or_else(|| format!("removed, {}", short_id(row.subscription_id)));
    [
        Cell::link(&delivery_address(row.delivery_id), &row.event_type),
        Cell::link(&address(Some(row.subscription_id), None, None), &name),
        Cell::badge(&row.status, delivery_tone(&row.status)),
        row.attempt.to_string().into(),
        Cell::maybe(row.last_status),
        Cell::maybe(row.last_ms),
        Cell::maybe(said.map(beginning)),
        Cell::time(row.created_at.to_jiff()),
        row.resend_of.map_or_else(Cell::none, |id| Cell::link(&delivery_address(id), &short_id(id))),
    ]
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(BEGINNING) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn pager(filter: &WebhookDeliveryFilter, page: &WebhookDeliveryPage) -> String {
    let to = |before| escape(&address(filter.subscription_id, filter.status.as_deref(), before));
    let mut html = r#"<nav class="pager" aria-label="Pages">"#.to_owned();
    if filter.before.is_some() {
        let _ = write!(html, r#"<a class="button" href="{}">Newest</a>"#, to(None));
    }
    let _ = write!(html, r#"<span class="quiet">Deliveries on this page: {}</span>"#, page.deliveries.len());
    if page.next.is_some() {
        let _ = write!(html, r#"<a class="button" rel="next" href="{}">Older</a>"#, to(page.next));
    }
    html + "</nav>"
}

/// The address of the list with these filters. Ids and statuses need no encoding.
fn address(subscription_id: Option<Uuid>, status: Option<&str>, before: Option<Uuid>) -> String {
    let given = [
        subscription_id.map(|id| format!("subscription={id}")),
        status.map(|status| format!("status={status}")),
        before.map(|id| format!("before={id}")),
    ];
    let query = given.into_iter().flatten().collect::<Vec<_>>().join("&");
    if query.is_empty() { ADDRESS.to_owned() } else { format!("{ADDRESS}?{query}") }
}
