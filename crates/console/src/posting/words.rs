//! The words of posting: statuses, reasons, actions and errors as the pages print them.

use jiff::Timestamp;
use serde_json::Value;

use crate::views::{Badge, Moment, Tone, Waits, grouped};

/// Every status with how it is said, in the order of reading: what needs a person comes first.
const STATUSES: [(&str, &str, Tone); 8] = [
    ("dead", "given up", Tone::Bad),
    ("failed_permanent", "failed", Tone::Bad),
    ("retry", "will retry", Tone::Warn),
    ("sending", "being sent", Tone::Busy),
    ("claimed", "next in line", Tone::Busy),
    ("queued", "waiting", Tone::Quiet),
    ("sent", "sent", Tone::Good),
    ("deduped", "repeat, not sent", Tone::Quiet),
];

/// One delivery's status. A withdrawn delivery has not failed: its post was deleted first.
pub(super) fn status(status: &str, operation: &str, error: Option<&Value>) -> Badge {
    if status == "failed_permanent" && error.is_some_and(is_withdrawn) {
        return Badge::new("withdrawn", Tone::Quiet);
    }
    let known = STATUSES.iter().find(|(name, ..)| *name == status);
    let (words, tone) = known.map_or((status, Tone::Quiet), |&(_, words, tone)| (words, tone));
    Badge::new(if status == "sent" && operation != "send" { "done" } else { words }, tone)
}

pub(super) fn is_withdrawn(error: &Value) -> bool {
    error["code"] == "withdrawn"
}

/// How many deliveries there are of each status: `38 sent`, `2 failed`.
pub(super) fn copies(counts: &Value, withdrawn: i64) -> Vec<Badge> {
    let badge = |count: i64, words: &str, tone| (count > 0).then(|| Badge::new(format!("{}\u{a0}{words}", grouped(count)), tone));
    let of_status = |&(name, words, tone): &(&str, &str, Tone)| {
        let not_these = if name == "failed_permanent" { withdrawn } else { 0 };
        badge(counts[name].as_i64().unwrap_or(0) - not_these, words, tone)
    };
    STATUSES.iter().filter_map(of_status).chain(badge(withdrawn, "withdrawn", Tone::Quiet)).collect()
}

/// Why a delivery waits, from the reason that the database gives.
pub(super) fn waits(waiting_for: &Value, now: Timestamp) -> Waits {
    let reason = waiting_for["reason"].as_str().unwrap_or_default();
    let why = match reason {
        "slot" => "Its turn comes",
        "scheduled" => "It was asked for later: it is due",
        "window" => "The channel takes posts at certain hours: the next begin",
        "channel_disabled" => "Its channel is switched off",
        "channel_paused" => "Its channel is paused after errors and goes on",
        "probe" => "Another copy goes first, to see whether the channel works again",
        "channel_closed" => "The channel has had as many posts as its limit allows: the next may go",
        "platform_closed" => "All channels of this bot share a limit: the next may go",
        "next_retry" => "It is tried again",
        "parallel" => "Others are being sent to this channel",
        "lease" => "A worker is sending it",
        "follows" => "It comes after what it changes, which is not done yet",
        "workspace_paused" => "The workspace is paused",
        "dispatcher" => "It is due and waits for a free worker",
        other => return Waits { why: other.replace('_', " "), until: None },
    };
    Waits { why: why.to_owned(), until: moment(&waiting_for["until"], now) }
}

/// Why a delivery that has ended was not sent, where that is no failure.
pub(super) fn unsent(status: &str, error: Option<&Value>) -> Option<Waits> {
    let why = match status {
        "deduped" => "The channel has this post already",
        "failed_permanent" if error.is_some_and(is_withdrawn) => "The post was deleted first",
        _ => return None,
    };
    Some(Waits { why: why.to_owned(), until: None })
}

fn moment(at: &Value, now: Timestamp) -> Option<Moment> {
    at.as_str().and_then(|at| at.parse().ok()).map(|at| Moment::new(at, now))
}

/// The action of an event.
pub(super) fn action(action: &str, is_error: bool) -> Badge {
    let (words, tone) = match action {
        "enqueue" => ("taken into the queue", Tone::Quiet),
        "validation_failed" => ("cannot be sent there", Tone::Bad),
        "send_attempt" if is_error => ("attempt failed", Tone::Warn),
        "send_attempt" => ("attempt begun", Tone::Busy),
        "sent" => ("sent", Tone::Good),
        "retry_scheduled" => ("to be tried again", Tone::Warn),
        "dedup_suppressed" => ("repeat, not sent", Tone::Quiet),
        "failed_permanent" => ("failed for good", Tone::Bad),
        "dead_letter" => ("given up after all attempts", Tone::Bad),
        "channel_paused" => ("channel paused", Tone::Warn),
        "channel_disabled" => ("channel switched off", Tone::Bad),
        "channel_enabled" => ("channel switched on", Tone::Good),
        "message_tag_mismatch" => ("came again with other tags", Tone::Warn),
        "sending_lease_expired" => ("worker fell silent while sending", Tone::Warn),
        "claimed_lease_expired" => ("worker fell silent before sending", Tone::Warn),
        "manual_requeue" => ("put back by hand", Tone::Quiet),
        "auth_rotated" => ("credential changed", Tone::Quiet),
        "ingress_rate_limited" => ("push refused: too many", Tone::Warn),
        "ingress_payload_rejected" => ("push refused: not a post", Tone::Warn),
        "ingress_dedup_dropped" => ("push repeated, taken once", Tone::Quiet),
        "possible_duplicate" => ("may have been sent twice", Tone::Warn),
        "manual_settle" => ("settled by hand", Tone::Quiet),
        "key_closed" => ("messenger asked to slow down", Tone::Warn),
        "channel_migrated" => ("chat moved, channel follows", Tone::Quiet),
        "withdrawn" => ("withdrawn before sending", Tone::Quiet),
        "raw_read" => ("raw answer was read", Tone::Quiet),
        other => return Badge::new(other.replace('_', " "), if is_error { Tone::Warn } else { Tone::Quiet }),
    };
    Badge::new(words, tone)
}

/// The state of a channel, and what it means in a sentence.
pub(super) fn state(state: &str) -> (Badge, &'static str) {
    match state {
        "disabled" => (Badge::new("switched off", Tone::Bad), "Nothing is sent here until somebody switches it on again."),
        "paused" => (Badge::new("paused", Tone::Warn), "It failed for good, so everything waits and goes on"),
        "probing" => {
            (Badge::new("on probation", Tone::Warn), "It failed lately; one post at a time goes first until one arrives.")
        }
        _ => (Badge::new("open", Tone::Good), "Posts go through."),
    }
}

pub(crate) fn platform(platform: &str) -> String {
    match platform {
        "telegram" => "Telegram",
        "max" => "MAX",
        other => other,
    }
    .to_owned()
}

/// An error as a line: what was said, and the code if it says more.
pub(crate) fn error(error: &Value) -> String {
    let code = error["code"].as_str().unwrap_or_default();
    match error["message"].as_str().filter(|message| !message.is_empty()) {
        Some(message) if code.is_empty() || message.contains(code) => message.to_owned(),
        Some(message) => format!("{message} ({})", code.replace('_', " ")),
        None => code.replace('_', " "),
    }
}

/// Numbers and words of a JSON object in one line: `new 3 · seen 20`.
pub(super) fn describe(data: &Value, without: &[&str]) -> String {
    let mut words = Vec::new();
    for (key, value) in data.as_object().into_iter().flatten().filter(|(key, _)| !without.contains(&key.as_str())) {
        let key = match key.as_str() {
            "dedup_dropped" | "deduped" => "repeats".to_owned(),
            "payload_rejected" => "refused".to_owned(),
            "provider_message_id" => "message id".to_owned(),
            key => key.replace('_', " "),
        };
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => words.push(key),
            Value::Object(inner) if inner.is_empty() => {}
            Value::Object(_) => words.push(format!("{key}: {}", describe(value, &[]).replace(" · ", ", "))),
            Value::Number(number) => words.push(format!("{key}\u{a0}{number}")),
            Value::String(text) => words.push(match text.parse::<Timestamp>() {
                Ok(at) => format!("{key}\u{a0}{}", at.strftime("%Y-%m-%d %H:%M:%S UTC")),
                Err(_) => format!("{key}: {}", kernel::redact::snippet(text, 120)),
            }),
            Value::Array(items) => {
                let items: Vec<String> =
                    items.iter().map(|item| item.as_str().map_or_else(|| describe(item, &[]), ToOwned::to_owned)).collect();
                words.push(format!("{key}: {}", kernel::redact::snippet(&items.join(", "), 200)));
            }
        }
    }
    words.join(" · ")
}

/// How a text begins, on one line and without its markup.
pub(crate) fn beginning(text: &str, is_html: bool, chars_max: usize) -> String {
    let bare = if is_html { without_tags(text) } else { text.to_owned() };
    let line = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= chars_max {
        return line;
    }
    line.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect()
}

fn without_tags(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        bare.push_str(&rest[..open]);
        // A tag without an end was cut off there.
        rest = rest[open..].split_once('>').map_or("", |(_, after)| after);
    }
    bare.push_str(rest);
    bare.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
