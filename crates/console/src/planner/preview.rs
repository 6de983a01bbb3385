//! From rows to words: what the page of one preview shows.

use jiff::Timestamp;
use planner::glance::{CallRead, PersonRead, WholePreview};
use serde_json::Value;
use uuid::Uuid;

use super::{data, words};
use crate::views::{Fact, FieldChange, PageLink, PreviewActionRow, PreviewDetails};

pub(super) fn details(whole: &WholePreview, person: Option<&PersonRead>, calls: &[CallRead], now: Timestamp) -> PreviewDetails {
    let row = &whole.row;
    let result: Option<Value> = whole.result.as_deref().and_then(|result| serde_json::from_str(result).ok());
    let (_, summary) = words::standing(row);
    let name = person.map_or_else(|| row.person_id.to_string(), |person| person.name.clone());
    let mut facts = vec![
        Fact::new("Actions", row.action_count.to_string()),
        Fact::new("XP", words::xp(i64::from(row.xp))),
        Fact::new("Idempotency key", whole.idempotency_key.clone().unwrap_or_default()),
    ];
    if row.status == "applied" && whole.result.is_none() {
        facts.push(Fact::new("Result", "no longer kept; a repeated call is told that the preview is applied"));
    }
    facts.retain(|fact| !fact.value.is_empty());
    PreviewDetails {
        row: data::preview_row(row, now),
        person: PageLink::new(data::plan_href(row.person_id), name),
        summary: summary.to_owned(),
        would_fail: row.would_fail.clone().filter(|_| row.status == "pending").unwrap_or_default(),
        facts,
        undoes: row.undoes.map(link),
        undone_by: row.undone_by.map(link),
        actions: actions(&whole.body, result.as_ref()),
        diff: row.diff.clone(),
        result: whole.result.clone().unwrap_or_default(),
        calls: calls.iter().map(|call| data::call_row(call, now)).collect(),
    }
}

fn link(id: Uuid) -> PageLink {
    PageLink::new(format!("/console/planner/previews/{id}"), id.to_string())
}

/// What was previewed, beside what became of it.
fn actions(body: &Value, result: Option<&Value>) -> Vec<PreviewActionRow> {
    let results = result.and_then(|result| result["results"].as_array());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |(place, action): (usize, &Value)| {
        let result = results.and_then(|results| results.get(place));
        let changes = action["changes"].as_array().into_iter().flatten().map(|change| FieldChange {
            field: text(&change["field"]).replace('_', " "),
            before: words::value(&change["before"]),
            after: words::value(&change["after"]),
        });
        PreviewActionRow {
            number: place + 1,
            action: text(&action["action"]),
            client_action_id: text(&action["client_action_id"]),
            summary: text(&action["summary"]),
            changes: changes.filter(|change| change.before != change.after).collect(),
            xp: words::xp(action["xp"].as_i64().unwrap_or(0)),
            outcome: result.map(words::outcome),
            created_id: result.and_then(|result| result["created_id"].as_i64()).map(|id| id.to_string()).unwrap_or_default(),
        }
    };
    body["actions"].as_array().into_iter().flatten().enumerate().map(row).collect()
}
