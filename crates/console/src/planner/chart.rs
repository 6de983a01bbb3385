//! XP by day, drawn: what was earned stands on the ground, what was taken back hangs from it.

use planner::glance::{Figures, XpDay};

use super::words;
use crate::views::{Fact, XpBar, XpChart, XpDayRow, grouped};

/// The box of the drawing, in tenths of its units: 300 by 60, with a little air above and below.
const HEIGHT: i64 = 600;
const AIR: i64 = 20;
const DAY_WIDTH: i64 = 100;
const GAP: i64 = 10;

fn tenths(n: i64) -> String {
    format!("{}.{}", n / 10, n % 10)
}

pub(super) fn chart(figures: &Figures, days: &[XpDay]) -> XpChart {
    let most = |read: fn(&XpDay) -> i64| days.iter().map(read).max().unwrap_or(0).max(0);
    let (up, down) = (most(|day| day.earned), most(|day| day.taken_back));
    let room = HEIGHT - 2 * AIR;
    let scale = |amount: i64| amount.max(0).saturating_mul(room) / (up + down).max(1);
    // Without anything taken back the ground is the bottom, and so it is without anything at all.
    let ground = if up + down == 0 { HEIGHT - AIR } else { AIR + scale(up) };
    let bars = (0..).zip(days).map(|(place, day)| XpBar {
        x: tenths(place * DAY_WIDTH + GAP),
        top: tenths(ground - scale(day.earned)),
        earned: tenths(scale(day.earned)),
        taken_back: tenths(scale(day.taken_back)),
        words: told(day),
    });
    let busy = days.iter().rev().filter(|day| day.earned > 0 || day.taken_back > 0);
    let name = |day: Option<&XpDay>| day.map(|day| short(&day.day)).unwrap_or_default();
    let lately: i64 = days.iter().map(|day| day.earned - day.taken_back).sum();
    let lately = if lately == 0 { "nothing".to_owned() } else { words::xp(lately) };
    let kinds = [("from goals", figures.xp_goals), ("from steps", figures.xp_steps), ("from habits", figures.xp_habits)];
    let kinds = kinds.map(|(label, amount)| Fact::new(label, grouped(amount)));
    XpChart {
        total: format!("{}\u{a0}XP", grouped(figures.xp)),
        lately: format!("{lately} in {} days", days.len()),
        ground: tenths(ground),
        bars: bars.collect(),
        days: busy
            .map(|day| XpDayRow { day: short(&day.day), earned: grouped(day.earned), taken_back: grouped(day.taken_back) })
            .collect(),
        span: (name(days.first()), name(days.last())),
        kinds: kinds.into(),
    }
}

fn short(day: &str) -> String {
    words::day(day).map_or_else(|| day.to_owned(), words::short_date)
}

fn told(day: &XpDay) -> String {
    let back = if day.taken_back > 0 { format!(", {} taken back", grouped(day.taken_back)) } else { String::new() };
    format!("{}: {}\u{a0}XP earned{back}", short(&day.day), grouped(day.earned))
}
