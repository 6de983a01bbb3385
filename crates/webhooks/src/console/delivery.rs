//! One delivery: what is known of it, every attempt, and the body as it is signed and sent.

use std::fmt::Write;

use platform::console::{Cell, Tone, escape, table};

use super::{ADDRESS, command, delivery_address, delivery_tone};
use crate::reads::{SubscriptionRead, WebhookAttemptRead, WebhookDeliveryRead};

pub(super) fn region(
    delivery: &WebhookDeliveryRead,
    attempts: &[WebhookAttemptRead],
    subscription: Option<&SubscriptionRead>,
    workspace: &str,
) -> String {
    let mut html = format!(
        r#"<p><a href="{ADDRESS}">All webhooks and deliveries</a></p><section class="panel"><header class="section-head"><h2>{}</h2></header><dl class="facts">"#,
        escape(&delivery.event_type)
    );
    for (label, cell) in facts(delivery) {
        let _ = write!(html, "<dt>{label}</dt><dd>{}</dd>", cell.html());
    }
    html.push_str("</dl></section>");
    html.push_str(r#"<header class="section-head"><h2>Attempts</h2></header>"#);
    if attempts.is_empty() {
        html.push_str(r#"<section class="panel"><p class="empty">No attempt in the last 30 days.</p></section>"#);
    } else {
        let columns = ["Attempt", "Outcome", "HTTP", "ms", "Answer", "Error", "When"];
        html.push_str(&table("Attempts, oldest first", columns, attempts.iter().map(attempt)));
    }
    let body = escape(&delivery.body);
    let _ = write!(
        html,
        r#"<section class="panel"><header class="section-head"><h2>Body</h2></header><pre class="payload" tabindex="0"><code>{body}</code></pre></section>"#
    );
    html + &resend(delivery, subscription, workspace)
}

fn facts(delivery: &WebhookDeliveryRead) -> Vec<(&'static str, Cell)> {
    let name = delivery.subscription.clone().unwrap_or_else(|| format!("{}, removed", delivery.subscription_id));
    let filtered = format!("{ADDRESS}?subscription={}", delivery.subscription_id);
    let mut facts = vec![
        ("Webhook", Cell::link(&filtered, &name)),
        ("Status", Cell::badge(&delivery.status, delivery_tone(&delivery.status))),
        ("Attempt", delivery.attempt.to_string().into()),
        ("Delivery", delivery.delivery_id.to_string().into()),
        ("webhook-id", delivery.event_id.to_string().into()),
        ("Created", Cell::time(delivery.created_at.to_jiff())),
    ];
    facts.extend(delivery.next_attempt_at.map(|at| ("Next attempt", Cell::time(at.to_jiff()))));
    facts.extend(delivery.ended_at.map(|at| ("Ended", Cell::time(at.to_jiff()))));
    facts.extend(delivery.last_error.clone().map(|error| ("Last error", error.into())));
    if delivery.unknown_outcomes > 0 {
        facts.push(("Unknown outcomes", delivery.unknown_outcomes.to_string().into()));
    }
    facts.extend(delivery.resend_of.map(|id| ("Resend of", Cell::link(&delivery_address(id), &id.to_string()))));
    facts
}

fn attempt(attempt: &WebhookAttemptRead) -> [Cell; 7] {
    let tone = match attempt.outcome.as_str() {
        "delivered" | "late" => Tone::Good,
        "dead" | "failed" => Tone::Bad,
        _ => Tone::Warn,
    };
    [
        attempt.attempt.to_string().into(),
        Cell::badge(&attempt.outcome, tone),
        Cell::maybe(attempt.status),
        Cell::maybe(attempt.ms),
        Cell::maybe(attempt.answer.as_deref().filter(|answer| !answer.is_empty())),
        Cell::maybe(attempt.error.as_deref()),
        Cell::time(attempt.ts.to_jiff()),
    ]
}

/// How to send it again, as far as `webhooks.resend_delivery` allows it.
fn resend(delivery: &WebhookDeliveryRead, subscription: Option<&SubscriptionRead>, workspace: &str) -> String {
    let resend = || command("resend", Some(&delivery.delivery_id.to_string()), workspace);
    let how = match subscription {
        _ if delivery.ended_at.is_none() => return String::new(),
        None => r#"<p class="quiet">Its webhook was removed: it cannot be sent again.</p>"#.to_owned(),
        Some(subscription) if subscription.status != "active" => {
            let enable = command("enable", Some(&subscription.name), workspace);
            format!(
                r#"<p class="quiet">Its webhook is {}: enable it first.</p>{enable}{}"#,
                escape(&subscription.status),
                resend()
            )
        }
        Some(_) => resend(),
    };
    format!(r#"<section class="panel"><header class="section-head"><h2>Send it again</h2></header>{how}</section>"#)
}
