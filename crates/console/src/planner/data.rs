//! From rows to words: what the page of a person shows.

use jiff::{Timestamp, civil::Date};
use planner::glance::{COUNT_MAX, CallRead, Figures, GoalRead, HabitRead, MARK_DAYS, PersonRead, PreviewRead, StepRead};
use serde_json::Value;

use super::words;
use crate::{
    posting::beginning,
    views::{
        Badge, CallRow, Count, Counter, DayCell, GoalRow, HabitRow, Moment, PreviewRow, StepRow, Tone, grouped, query_value, took,
    },
};

const DESCRIPTION_CHARS: usize = 400;
/// How many lines of a diff a list shows.
const DIFF_LINES: usize = 5;

pub(super) fn plan_href(person_id: i64) -> String {
    format!("/console/planner?person={person_id}")
}

pub(super) fn previews_href(person_id: i64, status: &str) -> String {
    format!("/console/planner/previews?person={person_id}&status={}", query_value(status))
}

pub(super) fn counters(person: &PersonRead, figures: &Figures) -> Vec<Counter> {
    let plan = plan_href(person.person_id);
    let counter = |label: &str, count: Count, href: String| Counter { label: label.to_owned(), count, href, is_bad: false };
    vec![
        counter("XP", Count::exact(figures.xp), "#xp-title".to_owned()),
        counter("open goals", Count::capped(figures.open_goals, COUNT_MAX), format!("{plan}&state=open")),
        counter("completed", Count::capped(figures.completed_goals, COUNT_MAX), format!("{plan}&state=completed")),
        counter("habits", Count::capped(figures.habits, COUNT_MAX), "#habits-title".to_owned()),
        counter("previews that wait", Count::capped(figures.pending, COUNT_MAX), previews_href(person.person_id, "pending")),
    ]
}

pub(super) fn goal_row(row: &GoalRead, today: Option<Date>, now: Timestamp) -> GoalRow {
    let is_done = row.completed_at.is_some();
    let steps: Vec<StepRow> = row.steps.0.iter().map(|step| step_row(step, today)).collect();
    let total = Count::capped(row.steps_count, COUNT_MAX);
    let progress = if total.is_zero() { String::new() } else { format!("{} of {} steps", grouped(row.steps_done), total.text) };
    GoalRow {
        key: format!("{}-{}-{}-{}", row.goal_id, row.version, row.steps_version, row.steps_done),
        id: row.goal_id,
        title: row.title.clone(),
        description: beginning(row.description.as_deref().unwrap_or_default(), false, DESCRIPTION_CHARS),
        category: row.category.clone().unwrap_or_default(),
        state: if is_done { Badge::new("completed", Tone::Good) } else { Badge::new("open", Tone::Busy) },
        priority: words::priority(&row.priority),
        due: words::due(row.due_date.as_deref(), today, is_done),
        completed: row.completed_at.map(|at| Moment::new(at.to_jiff(), now)),
        xp: words::xp(i64::from(row.xp)),
        progress,
        done: row.steps_done,
        total: row.steps_count,
        has_more: row.steps_count > i64::try_from(steps.len()).unwrap_or(0),
        steps,
    }
}

fn step_row(step: &StepRead, today: Option<Date>) -> StepRow {
    StepRow {
        title: step.title.clone(),
        is_done: step.is_done,
        priority: (step.priority != "medium").then(|| words::priority(&step.priority)),
        due: words::due(step.due_date.as_deref(), today, step.is_done),
        xp: words::xp(i64::from(step.xp)),
    }
}

pub(super) fn habit_row(row: &HabitRead, today: Option<Date>) -> HabitRow {
    let strip = today.map(|today| strip(row, today)).unwrap_or_default();
    let count = |states: &[&str]| strip.iter().filter(|cell| states.contains(&cell.state)).count();
    let told = format!("Last four weeks: done on {} of {} days", count(&["done"]), count(&["done", "missed", "due"]));
    let streak = format!("{}\u{a0}in a row", grouped(i64::from(row.current_streak)));
    let current = match (row.is_archived, row.current_streak) {
        (true, _) => Badge::new("archived", Tone::Quiet),
        (false, 1..) => Badge::new(streak, Tone::Good),
        (false, _) => Badge::new(streak, Tone::Quiet),
    };
    HabitRow {
        key: format!("{}-{}-{}", row.habit_id, row.version, row.marks.0.join(" ")),
        id: row.habit_id,
        title: row.title.clone(),
        category: row.category.clone().unwrap_or_default(),
        days: words::days(&row.days),
        is_archived: row.is_archived,
        current,
        longest: format!("{}\u{a0}at best", grouped(i64::from(row.longest_streak))),
        strip,
        told,
    }
}

/// Four weeks up to today. Days that the habit is not for, and days before it began, are days of rest; today may still be done.
fn strip(row: &HabitRead, today: Date) -> Vec<DayCell> {
    let marks: Vec<Date> = row.marks.0.iter().filter_map(|day| words::day(day)).collect();
    let created = words::day(&row.created_day);
    let cell = |back: i32| {
        let day = today.checked_sub(jiff::Span::new().days(back)).ok()?;
        let is_asked =
            row.days.contains(&i16::from(day.weekday().to_monday_one_offset())) && created.is_none_or(|from| day >= from);
        let (state, word) = if marks.contains(&day) {
            ("done", "done")
        } else if !is_asked || row.is_archived {
            ("rest", "nothing to do")
        } else if day == today {
            ("due", "not yet")
        } else {
            ("missed", "missed")
        };
        Some(DayCell { words: format!("{}: {word}", day.strftime("%a %-d %b")), state })
    };
    (0..MARK_DAYS).rev().filter_map(cell).collect()
}

pub(super) fn preview_row(row: &PreviewRead, now: Timestamp) -> PreviewRow {
    let id = row.preview_id.to_string();
    let (state, _) = words::standing(row);
    let mut lines = row.diff.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let mut diff: Vec<&str> = lines.by_ref().take(DIFF_LINES).collect();
    diff.extend(lines.next().map(|_| "…"));
    PreviewRow {
        key: format!("{id}-{}", state.label),
        short: id.chars().skip(id.len().saturating_sub(8)).collect(),
        href: format!("/console/planner/previews/{id}"),
        id,
        state,
        created: Moment::new(row.created_at.to_jiff(), now),
        expires: (row.status == "pending").then(|| Moment::new(row.expires_at.to_jiff(), now)),
        applied: row.applied_at.map(|at| Moment::new(at.to_jiff(), now)),
        count: words::counted(i64::from(row.action_count), "action"),
        xp: words::xp(i64::from(row.xp)),
        diff: diff.join("\n"),
    }
}

pub(super) fn call_row(row: &CallRead, now: Timestamp) -> CallRow {
    let state = match (row.execution_time_ms, &row.error_message) {
        (None, _) => Badge::new("no answer yet", Tone::Busy),
        (Some(_), Some(_)) => Badge::new("refused", Tone::Warn),
        (Some(_), None) => Badge::new("done", Tone::Good),
    };
    let pretty = |body: Option<&Value>| body.and_then(|body| serde_json::to_string_pretty(body).ok()).unwrap_or_default();
    CallRow {
        key: format!("{}-{}", row.request_id, state.label),
        id: row.request_id.to_string(),
        tool: row.tool_name.clone(),
        at: Moment::new(row.created_at.to_jiff(), now),
        took: row.execution_time_ms.map(|ms| took(u64::try_from(ms).unwrap_or(0))).unwrap_or_default(),
        error: row.error_message.clone().unwrap_or_default(),
        state,
        request: pretty(row.request_body.as_ref()),
        response: pretty(row.response_body.as_ref()),
    }
}
