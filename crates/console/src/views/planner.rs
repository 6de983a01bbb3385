//! Goals, habits, XP and previews of a person.

use askama::Template;

use super::{
    lists::Fact,
    posting::{Counter, Link},
    words::{Badge, FilterOption, Moment, Pager, Shell},
};

/// Everything of one person.
#[derive(Debug, Template)]
#[template(path = "planner.html")]
pub struct PlannerPage {
    /// The frame.
    pub shell: Shell,
    /// Whose goals.
    pub people: Vec<FilterOption>,
    /// The filter of goals by whether they are completed.
    pub states: Vec<FilterOption>,
    /// What there is.
    pub planner: Planner,
    /// The way on through the goals.
    pub pager: Pager,
}

/// The region `planner` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/planner.html")]
pub struct PlannerFragment {
    /// What there is.
    pub planner: Planner,
    /// The way on through the goals.
    pub pager: Pager,
}

/// The plan of somebody, or how somebody gets one.
#[derive(Debug, Clone)]
pub struct Planner {
    /// None where no assistant has come yet.
    pub plan: Option<Plan>,
    /// How to connect one: what to do, and the command that does it.
    pub connect: Vec<ConnectStep>,
    /// What to read out when it changes; empty for nothing.
    pub announce: String,
}

/// One thing to do before an assistant can call.
#[derive(Debug, Clone)]
pub struct ConnectStep {
    /// What.
    pub words: String,
    /// What to type or to copy.
    pub command: String,
}

/// The plan of one person.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Whose.
    pub name: String,
    /// The time zone and what day it is there.
    pub zone: String,
    /// The numbers that matter.
    pub counters: Vec<Counter>,
    /// The goals of this page, newest first.
    pub goals: Vec<GoalRow>,
    /// What to say when there are none.
    pub no_goals: String,
    /// The habits, those that go on first.
    pub habits: Vec<HabitRow>,
    /// XP over time.
    pub xp: XpChart,
    /// The last previews.
    pub previews: Vec<PreviewRow>,
    /// All of them.
    pub previews_href: String,
    /// The last calls.
    pub calls: Vec<CallRow>,
}

/// A goal with its steps.
#[derive(Debug, Clone)]
pub struct GoalRow {
    /// Names the row; another one after each change.
    pub key: String,
    /// Its id, as assistants call it.
    pub id: i64,
    /// Its title.
    pub title: String,
    /// How its description begins; empty for none.
    pub description: String,
    /// Its category; empty for none.
    pub category: String,
    /// Open or completed.
    pub state: Badge,
    /// How much it matters.
    pub priority: Badge,
    /// When it should be done.
    pub due: Option<Due>,
    /// When it was done.
    pub completed: Option<Moment>,
    /// What that gave: `+100 XP`; empty for nothing.
    pub xp: String,
    /// `2 of 5 steps`; empty without steps.
    pub progress: String,
    /// The same as numbers.
    pub done: i64,
    /// How many steps there are.
    pub total: i64,
    /// The first steps, in their order.
    pub steps: Vec<StepRow>,
    /// Whether there are more than these.
    pub has_more: bool,
}

/// A step of a goal.
#[derive(Debug, Clone)]
pub struct StepRow {
    /// Its title.
    pub title: String,
    /// Whether it is done.
    pub is_done: bool,
    /// How much it matters; none where it matters as much as most things.
    pub priority: Option<Badge>,
    /// When it should be done.
    pub due: Option<Due>,
    /// What it gave: `+25 XP`; empty for nothing.
    pub xp: String,
}

/// A day by which something should be done.
#[derive(Debug, Clone)]
pub struct Due {
    /// `YYYY-MM-DD`.
    pub iso: String,
    /// `due 3 Oct 2026`, `was due 3 Oct 2026`.
    pub words: String,
    /// Whether the day is over and the thing is not done.
    pub is_late: bool,
}

/// A habit with its last four weeks.
#[derive(Debug, Clone)]
pub struct HabitRow {
    /// Names the row; another one after each change.
    pub key: String,
    /// Its id, as assistants call it.
    pub id: i64,
    /// Its title.
    pub title: String,
    /// Its category; empty for none.
    pub category: String,
    /// `every day`, `Mon, Wed, Fri`.
    pub days: String,
    /// Whether it goes on.
    pub is_archived: bool,
    /// `5 in a row`.
    pub current: String,
    /// `12 at best`.
    pub longest: String,
    /// Whether there is a streak at all.
    pub is_running: bool,
    /// The last four weeks, oldest first.
    pub strip: Vec<DayCell>,
    /// The strip in words.
    pub told: String,
}

/// One day of a habit.
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
    /// The days on which something happened, newest first, for whoever reads numbers.
    pub days: Vec<XpDayRow>,
    /// The first day and the last one.
    pub span: (String, String),
    /// What came from goals, steps and habits.
    pub kinds: Vec<Fact>,
}

/// One day of the chart; a height of `0` is no bar.
#[derive(Debug, Clone)]
pub struct XpBar {
    /// Its left side.
    pub x: String,
    /// The top of what was earned.
    pub top: String,
    /// How high that is.
    pub earned: String,
    /// How far down what was taken back reaches.
    pub taken_back: String,
    /// `3 Oct: 125 XP earned`.
    pub words: String,
}

/// One day in numbers.
#[derive(Debug, Clone)]
pub struct XpDayRow {
    /// `3 Oct`.
    pub day: String,
    /// What was earned.
    pub earned: String,
    /// What was taken back.
    pub taken_back: String,
}

/// The list of previews.
#[derive(Debug, Template)]
#[template(path = "previews.html")]
pub struct PreviewsPage {
    /// The frame.
    pub shell: Shell,
    /// Whose previews.
    pub people: Vec<FilterOption>,
    /// The filter by status.
    pub statuses: Vec<FilterOption>,
    /// The previews of this page.
    pub previews: Vec<PreviewRow>,
    /// The way on.
    pub pager: Pager,
}

/// The region `previews` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/previews.html")]
pub struct PreviewsFragment {
    /// The previews of this page.
    pub previews: Vec<PreviewRow>,
    /// The way on.
    pub pager: Pager,
}

/// One preview in a list.
#[derive(Debug, Clone)]
pub struct PreviewRow {
    /// Names the row; another one after each change.
    pub key: String,
    /// Its whole id.
    pub id: String,
    /// The end of its id.
    pub short: String,
    /// Its page.
    pub href: String,
    /// Where it stands.
    pub state: Badge,
    /// When it was made.
    pub created: Moment,
    /// Until when it may be applied, while it may.
    pub expires: Option<Moment>,
    /// When it was applied.
    pub applied: Option<Moment>,
    /// `3 actions`.
    pub count: String,
    /// `+25 XP`; empty for nothing.
    pub xp: String,
    /// How its diff begins.
    pub diff: String,
}

/// One preview.
#[derive(Debug, Template)]
#[template(path = "preview.html")]
pub struct PreviewPage {
    /// The frame.
    pub shell: Shell,
    /// The preview.
    pub preview: PreviewDetails,
}

/// The region of one preview alone.
#[derive(Debug, Template)]
#[template(path = "fragments/preview.html")]
pub struct PreviewFragment {
    /// The preview.
    pub preview: PreviewDetails,
}

/// Everything about a preview.
#[derive(Debug, Clone)]
pub struct PreviewDetails {
    /// What the list says of it.
    pub row: PreviewRow,
    /// Whose it is.
    pub person: Link,
    /// Where it stands, in a sentence.
    pub summary: String,
    /// Why it cannot be applied as it stands; empty for nothing.
    pub would_fail: String,
    /// Whatever else is known.
    pub facts: Vec<Fact>,
    /// The batch that it undoes.
    pub undoes: Option<Link>,
    /// The batch that undid it.
    pub undone_by: Option<Link>,
    /// What it does, in order.
    pub actions: Vec<ActionRow>,
    /// The same as a person reads it.
    pub diff: String,
    /// The answer when it was applied, byte for byte; empty for none.
    pub result: String,
    /// The calls that concern it, oldest first.
    pub calls: Vec<CallRow>,
}

/// One action of a preview.
#[derive(Debug, Clone)]
pub struct ActionRow {
    /// Its place, from 1.
    pub number: usize,
    /// `step.complete`.
    pub action: String,
    /// What the client calls it; empty for nothing.
    pub client_action_id: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// What it changes.
    pub changes: Vec<FieldChange>,
    /// `+25 XP`; empty for nothing.
    pub xp: String,
    /// What became of it, once it was tried.
    pub outcome: Option<Badge>,
    /// The id of what it made; empty for nothing.
    pub created_id: String,
}

/// One field before and after.
#[derive(Debug, Clone)]
pub struct FieldChange {
    /// Its name.
    pub field: String,
    /// What it was; empty for nothing.
    pub before: String,
    /// What it is; empty for nothing.
    pub after: String,
}

/// One line of the request log.
#[derive(Debug, Clone)]
pub struct CallRow {
    /// Names the row; another one when it is answered.
    pub key: String,
    /// Its id.
    pub id: String,
    /// Which tool was called.
    pub tool: String,
    /// When.
    pub at: Moment,
    /// How it went.
    pub state: Badge,
    /// How long it took: `12 ms`; empty while nobody knows.
    pub took: String,
    /// Why it was refused; empty for nothing.
    pub error: String,
    /// What was sent, redacted: indented JSON; empty in a list.
    pub request: String,
    /// What was answered, redacted: indented JSON; empty in a list.
    pub response: String,
}
