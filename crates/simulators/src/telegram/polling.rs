//! getUpdates: offsets, long polling, and the conflicts with a webhook or another poll.

use std::sync::Arc;
use std::time::Duration;

use crate::sync::lock;

use super::call::{Call, Outcome};
use super::errors::Refusal;
use super::inbox::Inbox;
use super::webhook;

const TIMEOUT_SECONDS_MAX: i64 = 50;
const LIMIT_MAX: i64 = 100;

pub(super) async fn get_updates(call: &Call) -> Outcome {
    let offset = call.params.int("offset").unwrap_or(0);
    let limit = call.params.int("limit").filter(|limit| (1..=LIMIT_MAX).contains(limit)).unwrap_or(LIMIT_MAX);
    let limit = usize::try_from(limit).unwrap_or(1);
    let timeout = call.params.int("timeout").unwrap_or(0).clamp(0, TIMEOUT_SECONDS_MAX).unsigned_abs();
    let bot = Arc::clone(&call.bot);
    let own_poll = {
        let mut inbox = lock(&bot.inbox);
        if inbox.webhook.is_some() {
            return Err(Refusal::conflict(
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            ));
        }
        if let Some(allowed) = webhook::allowed_updates(&call.params)? {
            inbox.allowed = allowed;
        }
        confirm(&mut inbox, offset);
        inbox.poll += 1;
        inbox.poll
    };
    bot.news.notify_waiters();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(timeout);
    loop {
        // Armed before looking: an update that comes in between is not missed.
        let mut news = std::pin::pin!(bot.news.notified());
        news.as_mut().enable();
        {
            let inbox = lock(&bot.inbox);
            if inbox.webhook.is_some() {
                return Err(Refusal::conflict("terminated by setWebhook request"));
            }
            if inbox.poll != own_poll {
                return Err(Refusal::conflict(
                    "terminated by other getUpdates request; make sure that only one bot instance is running",
                ));
            }
            if !inbox.pending.is_empty() || tokio::time::Instant::now() >= deadline {
                return Ok(list(&inbox, limit));
            }
        }
        // Time out or news: the loop looks either way.
        let _ = tokio::time::timeout_at(deadline, news).await;
    }
}

/// Updates below the offset are confirmed; a negative offset keeps only that many of the last.
fn confirm(inbox: &mut Inbox, offset: i64) {
    if offset > 0 {
        inbox.pending = inbox.pending.split_off(&offset);
    } else if offset < 0 {
        let keep = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        while inbox.pending.len() > keep {
            inbox.pending.pop_first();
        }
    }
}

/// The updates were serialized when they came; here they are only joined.
fn list(inbox: &Inbox, limit: usize) -> Vec<u8> {
    let mut body = br#"{"ok":true,"result":["#.to_vec();
    for (index, pending) in inbox.pending.values().take(limit).enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(&pending.body);
    }
    body.extend_from_slice(b"]}");
    body
}
