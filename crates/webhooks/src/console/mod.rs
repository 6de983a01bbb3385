//! `/console/webhooks`: the webhooks of the workspace and the log of their deliveries; with `?delivery=ID`, one delivery.
//!
//! The query of the address names the filters (`subscription`, by id or name, and `status`) and the page (`before`). Filters are links
//! and no form: the console replaces the region after every change, and a choice that was not sent yet would be lost.

mod delivery;
mod list;

use futures::future::BoxFuture;
use kernel::Problem;
use platform::{
    console::{ConsolePage, Tone, escape, parse_query, shell_word},
    http::{Ctx, Failure},
    reads::Time,
};
use serde::Deserialize;
use uuid::Uuid;

use crate::reads::{self, STATUSES, SubscriptionRead, WebhookDeliveryFilter};

pub(crate) const PAGE: ConsolePage = ConsolePage {
    path: "webhooks",
    title: "Webhooks",
    lead: "Programs that are told of events, and what was sent to them.",
    topics: &["webhooks"],
    render,
};

const ADDRESS: &str = "/console/webhooks";
/// How many deliveries a page has.
const ROWS: i64 = 50;

/// The query of the address.
#[derive(Debug, Deserialize)]
struct Asked {
    #[serde(default)]
    subscription: String,
    #[serde(default)]
    status: String,
    before: Option<Uuid>,
    delivery: Option<Uuid>,
}

impl Asked {
    fn filter(&self, subscriptions: &[SubscriptionRead]) -> Result<WebhookDeliveryFilter, Problem> {
        let status = Some(self.status.clone()).filter(|status| !status.is_empty());
        if status.as_ref().is_some_and(|status| !STATUSES.contains(&status.as_str())) {
            return Err(Problem::validation("status", format!("`status` is one of: {}", STATUSES.join(", "))));
        }
        let subscription_id = match self.subscription.as_str() {
            "" => None,
            wanted => Some(match subscriptions.iter().find(|subscription| subscription.name == wanted) {
                Some(subscription) => subscription.subscription_id,
                // The log of a removed webhook is found by its id.
                None => wanted.parse().map_err(|_| Problem::not_found("webhook"))?,
            }),
        };
        Ok(WebhookDeliveryFilter { subscription_id, status, event_type: None, before: self.before, limit: ROWS })
    }
}

fn render<'a>(ctx: &'a Ctx, query: &'a str) -> BoxFuture<'a, Result<String, Failure>> {
    Box::pin(async move {
        let asked: Asked = parse_query(query)?;
        let workspace = &ctx.principal.workspace_name;
        let mut tx = ctx.begin().await?;
        if let Some(id) = asked.delivery {
            let found = reads::delivery(&mut tx, id).await?;
            let (found, attempts) = found.ok_or_else(|| Problem::not_found("webhook delivery"))?;
            let subscription = reads::subscription(&mut tx, found.subscription_id).await?;
            return Ok(delivery::region(&found, &attempts, subscription.as_ref(), workspace));
        }
        let subscriptions = reads::subscriptions(&mut tx).await?;
        let filter = asked.filter(&subscriptions)?;
        let page = reads::deliveries(&mut tx, &filter).await?;
        Ok(list::region(&subscriptions, &filter, &page, workspace))
    })
}

fn delivery_address(delivery_id: Uuid) -> String {
    format!("{ADDRESS}?delivery={delivery_id}")
}

/// The end of an id: the first characters of ids by time are alike.
fn short_id(id: Uuid) -> String {
    let id = id.to_string();
    format!("…{}", &id[id.len() - 8..])
}

fn delivery_tone(status: &str) -> Tone {
    match status {
        "delivered" => Tone::Good,
        "sending" => Tone::Busy,
        "retry" => Tone::Warn,
        "failed" | "dead" => Tone::Bad,
        _ => Tone::Quiet,
    }
}

fn exact(at: Time) -> String {
    at.to_jiff().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// A command for the terminal: the console has no forms for the pages of modules.
fn command(words: &str, subject: Option<&str>, workspace: &str) -> String {
    let subject = subject.map(|subject| format!(" {}", shell_word(subject))).unwrap_or_default();
    let command = format!("beresta webhook {words}{subject} --workspace {}", shell_word(workspace));
    format!(r#"<pre class="command"><code>{}</code></pre>"#, escape(&command))
}
