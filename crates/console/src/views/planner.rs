//! Goals, habits, XP and previews of a person.

use askama::Template;

use super::{
    parts::{Badge, Counter, Fact, Moment, PageLink, Pager, html_safe},
    rules::FieldChange,
};

html_safe!(DueDay, PreviewsTable);

/// The plan of a person, or how a person gets one.
#[derive(Debug, Template)]
#[template(path = "planner.html")]
pub struct PlannerRegion {
    /// None where no assistant has come yet.
    pub plan: Option<PersonPlan>,
    /// How to connect one: what to do, and the command that does it.
    pub connect: Vec<ConnectStep>,
    /// Through the goals.
    pub pager: Pager,
    pub announce: String,
}

/// One thing to do before an assistant can call.
#[derive(Debug, Clone)]
pub struct ConnectStep {
    pub words: String,
    /// What to type or to copy.
    pub command: String,
}

#[derive(Debug, Clone)]
pub struct PersonPlan {
    /// Whose.
    pub name: String,
    /// The time zone and what day it is there.
    pub zone: String,
    pub counters: Vec<Counter>,
    /// Newest first.
    pub goals: Vec<GoalRow>,
    /// What to say when there are none.
    pub no_goals: String,
    /// Those that go on first.
    pub habits: Vec<HabitRow>,
    pub xp: XpChart,
    /// The last ones.
    pub previews: PreviewsTable,
    pub previews_href: String,
    /// The last ones.
    pub calls: Vec<CallRow>,
}

#[derive(Debug, Clone)]
pub struct GoalRow {
    /// Names the row; another one after each change.
    pub key: String,
    pub id: i64,
    pub title: String,
    /// How its description begins; empty for none.
    pub description: String,
    pub category: String,
    pub state: Badge,
    pub priority: Badge,
    pub due: Option<DueDay>,
    pub completed: Option<Moment>,
    /// `+100 XP`; empty for nothing.
    pub xp: String,
    /// `2 of 5 steps`; empty without steps.
    pub progress: String,
    /// The same as numbers.
    pub done: i64,
    pub total: i64,
    /// The first steps, in their order.
    pub steps: Vec<StepRow>,
    /// Whether there are more than these.
    pub has_more: bool,
}

#[derive(Debug, Clone)]
pub struct StepRow {
    pub title: String,
    pub is_done: bool,
    /// None where it matters as much as most things.
    pub priority: Option<Badge>,
    pub due: Option<DueDay>,
    /// `+25 XP`; empty for nothing.
    pub xp: String,
}

/// A day by which something should be done.
#[derive(Debug, Clone, Template)]
#[template(
    source = r#"<time class="{% if is_late %}bad{% else %}quiet{% endif %}" datetime="{{ iso }}">{{ words }}</time>"#,
    ext = "html"
)]
pub struct DueDay {
    /// `YYYY-MM-DD`.
    pub iso: String,
    /// `due 3 Oct 2026`, `was due 3 Oct 2026`.
    pub words: String,
    /// Whether the day is over and the thing is not done.
    pub is_late: bool,
}

#[derive(Debug, Clone)]
pub struct HabitRow {
    /// Names the row; another one after each change.
    pub key: String,
    pub id: i64,
    pub title: String,
    pub category: String,
    /// `every day`, `Mon, Wed, Fri`.
    pub days: String,
    pub is_archived: bool,
    /// `5 in a row`, with the tone of a streak.
    pub current: Badge,
    /// `12 at best`.
    pub longest: String,
    /// The last four weeks, oldest first.
    pub strip: Vec<DayCell>,
    /// The strip in words.
    pub told: String,
}

#[derive(Debug, Clone)]
pub struct DayCell {
    /// `Mon 3 Oct: done`.
    pub words: String,
    /// `done`, `missed`, `due` or `rest`: the name of a class.
    pub state: &'static str,
}

/// XP by day, as bars in a box of 300 by 60.
#[derive(Debug, Clone)]
pub struct XpChart {
    /// The sum of the ledger: `1 250 XP`.
    pub total: String,
    /// What the days of the chart came to: `+125 in 30 days`.
    pub lately: String,
    /// Where the ground is: what was earned stands on it, what was taken back hangs from it.
    pub ground: String,
    /// One for each day, oldest first.
    pub bars: Vec<XpBar>,
    /// The days on which something happened, newest first, as numbers.
    pub days: Vec<XpDayRow>,
    /// The first day and the last one.
    pub span: (String, String),
    /// What came from goals, steps and habits.
    pub kinds: Vec<Fact>,
}

/// One day of the chart; a height of `0` is no bar.
#[derive(Debug, Clone)]
pub struct XpBar {
    pub x: String,
    /// The top of what was earned.
    pub top: String,
    pub earned: String,
    pub taken_back: String,
    /// `3 Oct: 125 XP earned`.
    pub words: String,
}

#[derive(Debug, Clone)]
pub struct XpDayRow {
    pub day: String,
    pub earned: String,
    pub taken_back: String,
}

#[derive(Debug, Template)]
#[template(path = "previews.html")]
pub struct PreviewsRegion {
    pub previews: PreviewsTable,
    pub pager: Pager,
}

/// Newest first.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/previews_table.html")]
pub struct PreviewsTable {
    pub rows: Vec<PreviewRow>,
}

#[derive(Debug, Clone)]
pub struct PreviewRow {
    /// Names the row; another one after each change.
    pub key: String,
    pub id: String,
    /// The end of its id.
    pub short: String,
    pub href: String,
    pub state: Badge,
    pub created: Moment,
    /// Until when it may be applied, while it may.
    pub expires: Option<Moment>,
    pub applied: Option<Moment>,
    /// `3 actions`.
    pub count: String,
    /// `+25 XP`; empty for nothing.
    pub xp: String,
    /// How its diff begins.
    pub diff: String,
}

#[derive(Debug, Template)]
#[template(path = "preview.html")]
pub struct PreviewDetails {
    pub row: PreviewRow,
    /// Whose it is.
    pub person: PageLink,
    /// Its state in a sentence.
    pub summary: String,
    /// Why it cannot be applied as it stands; empty for nothing.
    pub would_fail: String,
    pub facts: Vec<Fact>,
    /// The batch that it undoes.
    pub undoes: Option<PageLink>,
    /// The batch that undid it.
    pub undone_by: Option<PageLink>,
    /// What it does, in order.
    pub actions: Vec<PreviewActionRow>,
    /// The same as a person reads it.
    pub diff: String,
    /// The answer when it was applied, byte for byte; empty for none.
    pub result: String,
    /// The calls that concern it, oldest first.
    pub calls: Vec<CallRow>,
}

#[derive(Debug, Clone)]
pub struct PreviewActionRow {
    /// Its place, from 1.
    pub number: usize,
    /// `step.complete`.
    pub action: String,
    /// What the client calls it; empty for nothing.
    pub client_action_id: String,
    /// What it does, in a sentence.
    pub summary: String,
    pub changes: Vec<FieldChange>,
    /// `+25 XP`; empty for nothing.
    pub xp: String,
    /// What became of it, once it was tried.
    pub outcome: Option<Badge>,
    /// The id of what it made; empty for nothing.
    pub created_id: String,
}

/// One line of the request log.
#[derive(Debug, Clone)]
pub struct CallRow {
    /// Names the row; another one when it is answered.
    pub key: String,
    pub id: String,
    pub tool: String,
    pub at: Moment,
    pub state: Badge,
    /// `12 ms`; empty until it is answered.
    pub took: String,
    /// Why it was refused; empty for nothing.
    pub error: String,
    /// Indented JSON, redacted; empty in a list.
    pub request: String,
    pub response: String,
}
