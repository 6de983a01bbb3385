//! What the pages of the planner say.

use askama::Template;
use jiff::{SignedDuration, Timestamp, civil::date};
use planner::glance::{CallRead, Figures, GoalRead, HabitRead, PreviewPlace, PreviewRead, StepRead, WholePreview, XpDay};
use serde_json::json;
use sqlx::types::Json;
use uuid::Uuid;

use super::{chart, data, preview, words};
use crate::views::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const EVIL: &str = "<script>alert(1)</script>";

fn later(seconds: i64) -> platform::reads::Time {
    (NOW + SignedDuration::from_secs(seconds)).into()
}

fn goal() -> GoalRead {
    let step = |title: &str, is_done: bool| StepRead {
        step_id: 1,
        title: title.to_owned(),
        priority: "critical".to_owned(),
        due_date: Some("1969-12-30".to_owned()),
        is_done,
        xp: if is_done { 25 } else { 0 },
    };
    GoalRead {
        goal_id: 7,
        title: EVIL.to_owned(),
        description: Some("why".to_owned()),
        category: Some("work".to_owned()),
        priority: "high".to_owned(),
        due_date: Some("1970-01-02".to_owned()),
        version: 3,
        steps_version: 2,
        created_at: later(-60),
        completed_at: None,
        xp: 0,
        steps_count: 40,
        steps_done: 1,
        steps: Json(vec![step("Read the basics", true), step("Write a project", false)]),
    }
}

fn habit() -> HabitRead {
    HabitRead {
        habit_id: 5,
        title: "Walk".to_owned(),
        category: None,
        days: vec![1, 2, 3, 4, 5],
        version: 1,
        created_day: "1969-12-29".to_owned(),
        is_archived: false,
        current_streak: 2,
        longest_streak: 12,
        marks: Json(vec!["1969-12-29".to_owned(), "1969-12-31".to_owned()]),
    }
}

fn applied() -> PreviewRead {
    PreviewRead {
        preview_id: Uuid::from_u128(0xABCD_EF01),
        person_id: 1,
        status: "applied".to_owned(),
        undoes: None,
        undone_by: None,
        xp: 25,
        would_fail: None,
        created_at: later(-120),
        expires_at: later(180),
        applied_at: Some(later(-60)),
        action_count: 2,
        diff: format!("+ Goal {EVIL}\n\n+ Step 1\n+ Step 2\n+ Step 3\n+ Step 4\n+ Step 5"),
    }
}

fn call(ms: Option<i32>, error: Option<&str>) -> CallRead {
    CallRead {
        request_id: Uuid::nil(),
        tool_name: "apply_actions".to_owned(),
        created_at: later(-60),
        execution_time_ms: ms,
        error_message: error.map(ToOwned::to_owned),
        request_body: Some(json!({ "title": EVIL })),
        response_body: None,
    }
}

fn figures() -> Figures {
    Figures { xp: 1250, xp_goals: 100, xp_steps: 50, xp_habits: 1100, open_goals: 1, completed_goals: 0, habits: 1, pending: 0 }
}

fn pager() -> Pager {
    Pager { first_href: None, next_href: None, shown: "1 goals".to_owned(), labels: ("Newest", "Older") }
}

fn whole_page() -> String {
    let today = Some(date(1970, 1, 1));
    let days = [("1969-12-31", 125, 0), ("1970-01-01", 0, 25)];
    let days = days.map(|(day, earned, taken_back)| XpDay { day: day.to_owned(), earned, taken_back });
    let plan = PersonPlan {
        name: "Анна".to_owned(),
        zone: "Europe/Moscow, 1 Jan 1970".to_owned(),
        counters: Vec::new(),
        goals: vec![data::goal_row(&goal(), today, NOW)],
        no_goals: String::new(),
        habits: vec![data::habit_row(&habit(), today)],
        xp: chart::chart(&figures(), &days),
        previews: PreviewsTable { rows: vec![data::preview_row(&applied(), NOW)] },
        previews_href: "/console/planner/previews?person=1&status=".to_owned(),
        calls: vec![data::call_row(&call(Some(12), Some("Preview expired")), NOW)],
    };
    PlannerRegion { plan: Some(plan), connect: Vec::new(), pager: pager(), announce: String::new() }.render().unwrap()
}

#[test]
fn the_page_shows_goals_habits_xp_previews_and_calls_and_what_was_written_stays_text() {
    let html = whole_page();
    assert!(html.contains(r#"data-fragment="planner""#));
    for words in [
        "Анна",
        "1 of 40 steps",
        "done: </span>Read the basics",
        "open: </span>Write a project",
        "was due 30 Dec 1969",
        "due 2 Jan 1970",
        "and more",
        "+25\u{a0}XP",
        "2\u{a0}in a row",
        "12\u{a0}at best",
        "on weekdays",
        "1\u{202f}250\u{a0}XP",
        "1 Jan: 0\u{a0}XP earned, 25 taken back",
        "Preview expired",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    assert!(!html.contains("<script") && !html.contains("style=") && !html.contains("onclick"));
}

#[test]
fn a_done_step_is_never_late() {
    let row = data::goal_row(&goal(), Some(date(1970, 1, 1)), NOW);
    let late: Vec<bool> = row.steps.iter().map(|step| step.due.as_ref().unwrap().is_late).collect();
    assert_eq!(late, [false, true]);
    assert!(row.has_more && row.key == "7-3-2-1");
}

#[test]
fn the_strip_of_a_habit_has_four_weeks_and_tells_rest_from_missed() {
    // 1 January 1970 was a Thursday; the habit began on the Monday before.
    let row = data::habit_row(&habit(), Some(date(1970, 1, 1)));
    let states: Vec<&str> = row.strip.iter().map(|cell| cell.state).collect();
    assert_eq!(states.len(), 28);
    assert_eq!(states[24..], ["done", "missed", "done", "due"]);
    assert!(states[..24].iter().all(|state| *state == "rest"), "there was no habit then");
    assert_eq!(row.told, "Last four weeks: done on 2 of 4 days");
    assert_eq!(row.strip[24].words, "Mon 29 Dec: done");
    let archived = data::habit_row(&HabitRead { is_archived: true, ..habit() }, Some(date(1970, 1, 1)));
    assert!(archived.strip.iter().all(|cell| cell.state == "rest" || cell.state == "done"));
}

#[test]
fn bars_stand_on_the_ground_and_what_was_taken_back_hangs_from_it() {
    let day = |earned, taken_back| XpDay { day: "1970-01-01".to_owned(), earned, taken_back };
    let drawn = chart::chart(&figures(), &[day(100, 0), day(50, 0), day(0, 100)]);
    assert_eq!(drawn.ground, "30.0");
    let bars: Vec<_> =
        drawn.bars.iter().map(|bar| (bar.x.as_str(), bar.top.as_str(), bar.earned.as_str(), bar.taken_back.as_str())).collect();
    assert_eq!(bars, [("1.0", "2.0", "28.0", "0.0"), ("11.0", "16.0", "14.0", "0.0"), ("21.0", "30.0", "0.0", "28.0")]);
    let quiet = chart::chart(&figures(), &[day(0, 0)]);
    assert_eq!((quiet.ground.as_str(), quiet.lately.as_str()), ("58.0", "nothing in 1 days"));
    assert!(quiet.days.is_empty());
}

#[test]
fn a_list_shows_how_a_diff_begins() {
    let row = data::preview_row(&applied(), NOW);
    assert_eq!(row.diff, format!("+ Goal {EVIL}\n+ Step 1\n+ Step 2\n+ Step 3\n+ Step 4\n…"));
    assert_eq!((row.short.as_str(), row.count.as_str(), row.state.label.as_str()), ("abcdef01", "2\u{a0}actions", "applied"));
    assert!(row.expires.is_none());
}

#[test]
fn every_standing_has_its_word() {
    let said = |change: fn(&mut PreviewRead)| {
        let mut row = applied();
        change(&mut row);
        words::standing(&row).0.label
    };
    assert_eq!(said(|row| row.status = "pending".to_owned()), "waits");
    assert_eq!(
        said(|row| {
            row.status = "pending".to_owned();
            row.would_fail = Some("Step not found".to_owned());
        }),
        "would fail"
    );
    assert_eq!(said(|row| row.undone_by = Some(Uuid::nil())), "undone");
    assert_eq!(said(|row| row.status = "expired".to_owned()), "expired");
}

#[test]
fn the_page_of_a_preview_sets_what_was_planned_beside_what_became_of_it() {
    let whole = WholePreview {
        row: PreviewRead { undoes: Some(Uuid::from_u128(1)), ..applied() },
        body: json!({ "actions": [
            { "action": "goal.create", "client_action_id": "g", "entity": "goal", "id": "$ref:g", "summary": format!("Create {EVIL}"),
              "changes": [{ "field": "due_date", "before": null, "after": "2026-10-01" }], "xp": 0 },
            { "action": "step.complete", "entity": "step", "id": 4, "summary": "Complete", "changes": [], "xp": 25 }] }),
        idempotency_key: Some("k-1".to_owned()),
        result: Some(
            r#"{"success":true,"results":[{"action":"goal.create","success":true,"created_id":789},
                {"action":"step.complete","success":true,"xp":25}]}"#
                .to_owned(),
        ),
    };
    let details = preview::details(&whole, None, &[call(None, None)], NOW);
    let html = details.render().unwrap();
    for words in ["due date", "2026-10-01", "789", "k-1", "goal.create", "no answer yet", "Undoes", "+25\u{a0}XP"] {
        assert!(html.contains(words), "{words}: {html}");
    }
    assert!(!html.contains("<script") && !html.contains("style="));
}

#[test]
fn what_became_of_an_action_is_said_in_a_word() {
    let said = |result| words::outcome(&result).label;
    assert_eq!(said(json!({ "success": true })), "done");
    assert_eq!(said(json!({ "success": true, "rollback": true })), "rolled back");
    assert_eq!(said(json!({ "success": false, "not_reached": true })), "not reached");
    assert_eq!(said(json!({ "success": false, "error": "Step not found" })), "Step not found");
}

#[test]
fn where_nobody_has_come_the_page_says_how_to_connect_an_assistant() {
    let connect = words::connect("my shop", Some("o'neil"));
    assert!(
        connect[0].command.contains(r"--workspace 'my shop' --scope read,write --person 'o'\''neil'"),
        "{}",
        connect[0].command
    );
    let html = PlannerRegion { plan: None, connect, pager: pager(), announce: String::new() }.render().unwrap();
    for words in ["No assistant has come yet", "/mcp", "BERESTA_TOKEN", "Authorization: Bearer"] {
        assert!(html.contains(words), "{words}: {html}");
    }
}

#[test]
fn a_place_in_the_list_is_read_back_as_it_was_written() {
    let place = applied().place();
    assert_eq!(place.to_string().parse::<PreviewPlace>().unwrap(), place);
    assert!("yesterday".parse::<PreviewPlace>().is_err());
}

#[test]
fn days_are_said_as_people_say_them() {
    assert_eq!(words::days(&[1, 2, 3, 4, 5, 6, 7]), "every day");
    assert_eq!(words::days(&[6, 7]), "at weekends");
    assert_eq!(words::days(&[1, 3, 5]), "Mon, Wed, Fri");
}
