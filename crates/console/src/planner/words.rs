//! The words of the planner: days, priorities, standings and outcomes as the pages print them.

use jiff::civil::Date;
use planner::glance::PreviewRead;
use serde_json::Value;

use crate::views::{Badge, ConnectStep, DueDay, Tone, grouped, shell_word};

/// A day as the database writes it.
pub(super) fn day(text: &str) -> Option<Date> {
    text.parse().ok()
}

/// `3 Oct 2026`.
pub(super) fn date(day: Date) -> String {
    day.strftime("%-d %b %Y").to_string()
}

/// `3 Oct`.
pub(super) fn short_date(day: Date) -> String {
    day.strftime("%-d %b").to_string()
}

/// By when something should be done. What is done is never late.
pub(super) fn due(text: Option<&str>, today: Option<Date>, is_done: bool) -> Option<DueDay> {
    let day = day(text?)?;
    let is_late = !is_done && today.is_some_and(|today| day < today);
    let words = if is_late { format!("was due {}", date(day)) } else { format!("due {}", date(day)) };
    Some(DueDay { iso: day.to_string(), words, is_late })
}

/// How much something matters.
pub(super) fn priority(priority: &str) -> Badge {
    let tone = match priority {
        "critical" => Tone::Bad,
        "high" => Tone::Warn,
        _ => Tone::Quiet,
    };
    Badge::new(priority, tone)
}

/// `+25 XP`, `−25 XP`; empty for nothing.
pub(super) fn xp(amount: i64) -> String {
    match amount {
        0 => String::new(),
        1.. => format!("+{}\u{a0}XP", grouped(amount)),
        _ => format!("{}\u{a0}XP", grouped(amount)),
    }
}

/// `1 action`, `3 actions`.
pub(super) fn counted(count: i64, what: &str) -> String {
    format!("{}\u{a0}{what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// On which days of the week.
pub(super) fn days(days: &[i16]) -> String {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    match days {
        [1, 2, 3, 4, 5, 6, 7] => "every day".to_owned(),
        [1, 2, 3, 4, 5] => "on weekdays".to_owned(),
        [6, 7] => "at weekends".to_owned(),
        days => {
            let names = days.iter().filter_map(|day| NAMES.get(usize::try_from(day - 1).ok()?).copied());
            names.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Where a preview stands, in a word and in a sentence.
pub(super) fn standing(row: &PreviewRead) -> (Badge, &'static str) {
    match (row.status.as_str(), row.undone_by.is_some(), row.would_fail.is_some()) {
        ("pending", _, true) => (Badge::new("would fail", Tone::Warn), "If it is applied now, nothing is done. It runs out"),
        ("pending", _, false) => (Badge::new("waits", Tone::Busy), "Nothing is done yet. It may be applied until it runs out,"),
        ("applied", true, _) => (Badge::new("undone", Tone::Quiet), "It was applied, and then undone."),
        ("applied", false, _) => (Badge::new("applied", Tone::Good), "Everything in it was done, at once."),
        _ => (Badge::new("expired", Tone::Quiet), "Nobody applied it in time. Nothing was done."),
    }
}

/// What became of one action of a batch.
pub(super) fn outcome(result: &Value) -> Badge {
    if result["rollback"] == true {
        Badge::new("rolled back", Tone::Warn)
    } else if result["not_reached"] == true {
        Badge::new("not reached", Tone::Quiet)
    } else if result["success"] == true {
        Badge::new("done", Tone::Good)
    } else {
        Badge::new(result["error"].as_str().unwrap_or("failed"), Tone::Bad)
    }
}

/// A value of a field as people read it: a text as it is, nothing as nothing.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(self::value).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What to do before an assistant can call.
pub(super) fn connect(workspace: &str, person: Option<&str>) -> Vec<ConnectStep> {
    let step = |words: &str, command: String| ConnectStep { words: words.to_owned(), command };
    vec![
        step(
            "Make a token that names a person. It is shown once:",
            format!(
                "beresta token create --workspace {} --scope read,write --person {}",
                shell_word(workspace),
                shell_word(person.unwrap_or("anna"))
            ),
        ),
        step(
            "An assistant that speaks streamable HTTP calls /mcp at the address of this console, with the header",
            "Authorization: Bearer <the token>".to_owned(),
        ),
        step(
            "An assistant that starts programs on its own machine gets",
            r#"{"mcpServers": {"beresta": {"command": "beresta", "args": ["mcp"], "env": {"BERESTA_TOKEN": "<the token>"}}}}"#
                .to_owned(),
        ),
    ]
}
