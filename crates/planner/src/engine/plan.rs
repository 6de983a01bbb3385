//! What a preview has to know about a plan: the days that were left open, and what to look at.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde_json::{Value, json};

use crate::model::{
    Mistake, PlannedAction, check_date, reference_of,
    spec::{self, EntityKind, With},
};

/// A mark of longer ago is a slip of the pen.
const MARKED_FROM: Date = Date::constant(2000, 1, 1);

/// Writes today into marks that say no day, and refuses days that are yet to come or too long ago.
pub(super) fn fill_dates(plan: &mut [PlannedAction], today: &str) -> Result<(), Mistake> {
    for (index, planned) in plan.iter_mut().enumerate() {
        if spec::find(&planned.action).and_then(|spec| spec.param("date")).is_none() {
            continue;
        }
        let Some(given) = planned.params.get("date") else {
            planned.params.insert("date".to_owned(), today.into());
            continue;
        };
        let days: Option<(Date, Date)> = check_date("date", given).ok().zip(today.parse().ok());
        let mistake = match days {
            Some((given, today)) if given > today => {
                Mistake::of("date", "date is in the future").hint(format!("today is {today} where the person is"))
            }
            Some((given, _)) if given < MARKED_FROM => {
                Mistake::of("date", "date is too long ago").hint(format!("a day can be marked from {MARKED_FROM} on"))
            }
            _ => continue,
        };
        return Err(mistake.at(&planned.action, planned.client_action_id.as_deref(), index));
    }
    Ok(())
}

/// The looks of a plan, each thing once: what the actions name by its id, and the days that they mark.
pub(super) fn looks(plan: &[PlannedAction]) -> Value {
    let mut looks: BTreeMap<(EntityKind, i64), With> = BTreeMap::new();
    let mut marks: BTreeSet<(i64, &str)> = BTreeSet::new();
    for planned in plan {
        let Some(spec) = spec::find(&planned.action) else { continue };
        let Some((param, kind)) = spec.names() else { continue };
        let says_no_place = spec.with == With::Order && !planned.params.contains_key("order");
        let with = if says_no_place { With::Nothing } else { spec.with };
        let named = planned.params.get(param.name);
        let look = match named.and_then(Value::as_i64) {
            Some(id) => Some((kind, id)),
            // A step of this very list is placed among those that its goal has already.
            None if with == With::Order && kind == EntityKind::Step => {
                goal_of_new_step(plan, named).map(|goal| (EntityKind::Goal, goal))
            }
            None => None,
        };
        let Some((kind, id)) = look else { continue };
        let most = looks.entry((kind, id)).or_insert(with);
        *most = with.max(*most);
        marks.extend(planned.params.get("date").and_then(Value::as_str).map(|date| (id, date)));
    }
    let look = |((kind, id), with): ((EntityKind, i64), With)| {
        let with = match with {
            With::Nothing => None,
            With::Order => Some("order"),
            With::Steps => Some("steps"),
        };
        json!({ "entity": kind.as_str(), "id": id, "with": with })
    };
    let mark = |(id, date)| json!({ "entity": "mark", "id": id, "date": date });
    looks.into_iter().map(look).chain(marks.into_iter().map(mark)).collect()
}

/// The goal, if it exists already, of the step that a reference stands for.
fn goal_of_new_step(plan: &[PlannedAction], reference: Option<&Value>) -> Option<i64> {
    let name = reference.and_then(Value::as_str).and_then(reference_of)?;
    let made = plan.iter().find(|planned| planned.client_action_id.as_deref() == Some(name))?;
    made.params.get("goal_id").and_then(Value::as_i64)
}

/// The place of the action that names a thing by its id, and a day of it if one is meant, for what a stale preview has to answer.
pub(super) fn place_of(plan: &[PlannedAction], entity: &str, id: i64, date: Option<&Value>) -> Option<usize> {
    plan.iter().position(|planned| {
        // An action that undoes names what it touches.
        if let Some(touches) = planned.params.get("touches").and_then(Value::as_array) {
            return touches.contains(&json!({ "entity": entity, "id": id }));
        }
        let named = spec::find(&planned.action).and_then(spec::ActionSpec::names);
        let is_named = named.is_some_and(|(param, kind)| {
            kind.as_str() == entity && planned.params.get(param.name).and_then(Value::as_i64) == Some(id)
        });
        is_named && date.is_none_or(|date| planned.params.get("date") == Some(date))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parse_batch;

    #[expect(clippy::needless_pass_by_value, reason = "cases read better without a sign before each")]
    fn plan(actions: Value) -> Vec<PlannedAction> {
        parse_batch(json!({ "actions": actions }).as_object().unwrap()).unwrap()
    }

    #[test]
    fn each_thing_is_looked_at_once_and_as_closely_as_anybody_needs() {
        let plan = plan(json!([
            { "action": "goal.update", "params": { "goal_id": 1, "title": "T" } },
            { "action": "step.create", "params": { "goal_id": 1, "title": "at the end" } },
            { "action": "step.create", "params": { "goal_id": 2, "title": "first", "order": 0 } },
            { "action": "step.create", "client_action_id": "s", "params": { "goal_id": 2, "title": "last" } },
            { "action": "step.complete", "params": { "step_id": "$ref:s" } },
            { "action": "step.reorder", "params": { "step_id": 5, "order": 1 } },
            { "action": "goal.delete", "params": { "goal_id": 3 } },
            { "action": "step.create", "client_action_id": "t", "params": { "goal_id": 4, "title": "to be moved" } },
            { "action": "step.reorder", "params": { "step_id": "$ref:t", "order": 0 } },
            { "action": "habit.unmark", "params": { "habit_id": 6, "date": "2026-03-01" } },
            { "action": "habit.mark_completed", "params": { "habit_id": 6, "date": "2026-03-01" } },
        ]));
        let expected = json!([
            { "entity": "goal", "id": 1, "with": null },
            { "entity": "goal", "id": 2, "with": "order" },
            { "entity": "goal", "id": 3, "with": "steps" },
            { "entity": "goal", "id": 4, "with": "order" },
            { "entity": "step", "id": 5, "with": "order" },
            { "entity": "habit", "id": 6, "with": null },
            { "entity": "mark", "id": 6, "date": "2026-03-01" },
        ]);
        assert_eq!(looks(&plan), expected);
        assert_eq!((place_of(&plan, "goal", 2, None), place_of(&plan, "goal", 9, None)), (Some(2), None));
        let date = |date: &str| place_of(&plan, "habit", 6, Some(&json!(date)));
        assert_eq!((date("2026-03-01"), date("2026-03-02")), (Some(9), None));
    }

    #[test]
    fn a_mark_without_a_day_is_for_today_and_none_is_for_tomorrow() {
        let mut marks = plan(json!([
            { "action": "habit.mark_completed", "params": { "habit_id": 1 } },
            { "action": "habit.unmark", "params": { "habit_id": 1, "date": "2026-03-01" } },
        ]));
        fill_dates(&mut marks, "2026-03-02").unwrap();
        assert_eq!((&marks[0].params["date"], &marks[1].params["date"]), (&json!("2026-03-02"), &json!("2026-03-01")));
        let mistake = fill_dates(&mut marks, "2026-03-01").unwrap_err();
        assert_eq!((mistake.error.as_str(), mistake.at.unwrap().index), ("date is in the future", 0));
        let mut slip = plan(json!([{ "action": "habit.mark_completed", "params": { "habit_id": 1, "date": "0026-03-02" } }]));
        assert_eq!(fill_dates(&mut slip, "2026-03-02").unwrap_err().error, "date is too long ago");
    }
}
