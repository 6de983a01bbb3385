//! The words of the shop bot: outcomes, statuses, reasons and alerts as the pages print them.

use jiff::Timestamp;
use serde_json::Value;

use crate::views::{Badge, Count, Tone, grouped, shell_word};

/// What became of a message.
pub(super) fn outcome(outcome: &str) -> Badge {
    let (words, tone) = match outcome {
        "answered" => ("answered", Tone::Good),
        "greeted" => ("greeted", Tone::Good),
        "re_asked" => ("asked again", Tone::Quiet),
        "fallback" => ("not understood", Tone::Warn),
        "escalated" => ("operator called", Tone::Bad),
        "unsupported" => ("not in words", Tone::Quiet),
        "muted" => ("kept silent", Tone::Quiet),
        other => return Badge::new(other.replace('_', " "), Tone::Quiet),
    };
    Badge::new(words, tone)
}

/// Where an answer stands.
pub(super) fn status(status: &str) -> Badge {
    let (words, tone) = match status {
        "queued" => ("waiting", Tone::Quiet),
        "sending" => ("being sent", Tone::Busy),
        "retry" => ("will retry", Tone::Warn),
        "sent" => ("sent", Tone::Good),
        "failed" => ("failed", Tone::Bad),
        "dead" => ("given up", Tone::Bad),
        other => (other, Tone::Quiet),
    };
    Badge::new(words, tone)
}

/// Whether a scenario is under way, and what that means.
pub(super) fn standing(state: &str, is_muted: bool) -> (Badge, &'static str) {
    if is_muted {
        return (Badge::new("silent", Tone::Warn), "An operator was called; the bot says nothing here and goes on");
    }
    match state {
        "default" => (Badge::new("no scenario", Tone::Quiet), "The next message is answered by whichever rule fits."),
        _ => (Badge::new("in a scenario", Tone::Busy), "The bot has asked for something and waits for it."),
    }
}

/// How a message came, where it was not simply written.
pub(super) fn how(meta: &Value) -> String {
    let kind = match meta["kind"].as_str().unwrap_or_default() {
        "button" => Some("pressed a button"),
        "start" => Some("opened the chat"),
        "other" => Some("sent something without words"),
        _ => None,
    };
    let bot = (meta["is_from_bot"] == true).then_some("is a bot");
    [kind, bot].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Why this rule spoke, or none: the keyword, how a tie was decided, or the guard that stopped the conversation.
pub(super) fn why(why: &Value) -> String {
    let text = |key: &str| why[key].as_str();
    let mut words: Vec<String> = Vec::new();
    let keyword = text("keyword").map(|keyword| format!("the keyword “{keyword}”"));
    match (text("step"), keyword) {
        (Some("re_ask"), _) => words.push("what was written does not pass the check of this step".to_owned()),
        (Some("state"), Some(keyword)) => words.push(format!("{keyword} of this step")),
        (Some("capture"), None) => words.push("this step takes whatever is written".to_owned()),
        (_, Some(keyword)) => words.push(keyword),
        (_, None) => {}
    }
    let over = text("over").unwrap_or("another rule");
    match text("decided_by") {
        Some("only_match") => words.push("no other rule fits as well".to_owned()),
        Some("priority") => words.push(format!("over {over} by its priority")),
        Some("longest_keyword") => words.push(format!("over {over} by its longer keyword")),
        Some("rule_id") => words.push(format!("over {over} by its id, all else being equal")),
        _ => {}
    }
    match why["fallbacks"].as_i64() {
        Some(1) => words.push("no rule fits".to_owned()),
        Some(n) => words.push(format!("no rule fits, for the {} time in a row", nth(n))),
        None => {}
    }
    let limit = why["limit"].as_i64().unwrap_or(0);
    match text("guard") {
        Some("turns") => words.push(format!("{limit} messages without a pause: the bot is silent for a while")),
        Some("scenario") => words.push(format!("{limit} messages did not end the scenario")),
        _ => {}
    }
    if let Some(until) = text("muted_until").and_then(|at| at.parse::<Timestamp>().ok()) {
        words.push(format!("an operator was called; the bot is silent until {}", until.strftime("%Y-%m-%d %H:%M:%S UTC")));
    }
    if why["expired"] == true {
        words.push("the conversation had run out and began anew".to_owned());
    }
    words.join("; ")
}

fn nth(n: i64) -> String {
    let ending = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// What is wrong with a bot.
pub(super) fn alert(alert: &str) -> String {
    match alert {
        "error_rate" => "too many errors".to_owned(),
        "late_answers" => "answers are late".to_owned(),
        other => other.replace('_', " "),
    }
}

/// A share as people write it: `3.5 %`.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{}\u{a0}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// A number whose query stops at `cap`.
pub(super) fn up_to(value: i64, cap: i64) -> Count {
    if value >= cap { Count { value, text: format!("{}+", grouped(cap)) } } else { Count::exact(value) }
}

/// `once`, `3 times`.
pub(super) fn times(count: i64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{}\u{a0}times", grouped(count)) }
}

/// The command that talks to the bot.
pub(super) fn try_command(workspace: &str, provider: &str) -> String {
    let provider = if provider == "max" { String::new() } else { format!(" --provider {provider}") };
    format!("beresta shopbot try --workspace {}{provider}", shell_word(workspace))
}
