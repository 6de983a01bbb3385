//! The JSON Schemas of what tools take and answer.
//!
//! An answer is an object whose fields may be missing but for `success`, because a refusal has others: it tells them apart.
//! No `format` is used, since clients differ in which of them they know.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::tools::ToolCall;
use crate::{engine::ReadTool, model};

pub(super) fn input(call: ToolCall) -> JsonObject {
    match call {
        ToolCall::Preview => model::schema::preview_input(),
        ToolCall::Apply => closed(
            json!({
                "preview_id": preview_id("What preview_actions or undo_actions returned."),
                "idempotency_key": {
                    "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$",
                    "description": "Your own random text for this preview, such as a UUID, in ASCII. The same key again returns the stored result."
                },
            }),
            &["preview_id", "idempotency_key"],
        ),
        ToolCall::Undo => {
            closed(json!({ "preview_id": preview_id("The preview that was applied and is to be reversed.") }), &["preview_id"])
        }
        ToolCall::SetTimeZone => closed(
            json!({ "time_zone": { "type": "string", "minLength": 1, "maxLength": 64, "description": "An IANA name, such as Europe/Moscow." } }),
            &["time_zone"],
        ),
        ToolCall::Read(tool) => read_input(tool),
    }
}

fn preview_id(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 64, "description": description })
}

fn read_input(tool: ReadTool) -> JsonObject {
    let page = json!({
        "limit": { "type": "integer", "minimum": 1, "maximum": 100, "description": "How many at most." },
        "after": { "type": "integer", "description": "Where the page before ended: its `next`." },
    });
    let status = json!({ "type": "string", "enum": ["open", "completed", "all"], "description": "Default: open." });
    let id = |what: &str| json!({ "type": "integer", "minimum": 1, "description": format!("The id of the {what}.") });
    match tool {
        ReadTool::ListGoals => closed(
            with(
                page,
                json!({ "status": status, "category": { "type": "string", "maxLength": model::spec::CATEGORY_CHARS_MAX, "description": "Only goals of this category." } }),
            ),
            &[],
        ),
        ReadTool::ListSteps => closed(with(page, json!({ "goal_id": id("goal"), "status": status })), &[]),
        ReadTool::ListHabits => {
            let archived = json!({ "type": "boolean", "description": "Also those that are archived. Default: false." });
            closed(with(page, json!({ "include_archived": archived })), &[])
        }
        ReadTool::GetGoal => closed(json!({ "goal_id": id("goal") }), &["goal_id"]),
        ReadTool::GetStep => closed(json!({ "step_id": id("step") }), &["step_id"]),
        ReadTool::GetHabit => closed(json!({ "habit_id": id("habit") }), &["habit_id"]),
        ReadTool::GetHistory => closed(page, &[]),
        ReadTool::GetXp => closed(json!({}), &[]),
    }
}

pub(super) fn output(call: ToolCall) -> JsonObject {
    match call {
        ToolCall::Preview | ToolCall::Undo => preview_output(),
        ToolCall::Apply => apply_output(),
        ToolCall::SetTimeZone => answer(json!({ "time_zone": text("The time zone from now on.") })),
        ToolCall::Read(tool) => read_output(tool),
    }
}

fn preview_output() -> JsonObject {
    let change = open(json!({ "field": text("What changes."), "before": {}, "after": {} }));
    let action = open(json!({
        "action": text("Such as goal.create."),
        "client_action_id": text("As it was given."),
        "entity": text("goal, step or habit."),
        "id": any_of(&["integer", "string", "null"], "The id, or $ref:<client_action_id> of what does not exist yet."),
        "summary": text("What it would do, in one line."),
        "changes": list(change),
        "xp": whole("What it would add to XP, or take away."),
    }));
    answer(json!({
        "preview_id": text("What apply_actions takes."),
        "expires_at": text("Until when."),
        "actions": list(action),
        "diff": text("Everything that would change, to show to the person."),
        "xp": open(json!({ "before": whole("XP now."), "change": whole("The effect."), "after": whole("XP then.") })),
        "would_fail": failed_action("Present when applying will fail and change nothing."),
        "prevented_by": list(open(json!({}))),
    }))
}

fn apply_output() -> JsonObject {
    let result = open(json!({
        "action": text("Such as goal.create."),
        "client_action_id": text("As it was given."),
        "success": { "type": "boolean" },
        "created_id": whole("The id of what it created."),
        "xp": whole("What it added to XP, or took away."),
        "rollback": { "type": "boolean", "description": "It was done and taken back, because a later one failed." },
        "not_reached": { "type": "boolean", "description": "An earlier one failed." },
        "error": text("Why it failed."),
    }));
    answer(json!({
        "preview_id": text("What was applied; undo_actions takes it."),
        "results": list(result),
        "summary": open(json!({ "total": whole("Actions."), "successful": whole("Done."), "failed": whole("Failed.") })),
        "xp": open(json!({ "change": whole("The effect."), "total": whole("XP now.") })),
        "stale": list(open(json!({}))),
        "prevented_by": list(open(json!({}))),
    }))
}

fn read_output(tool: ReadTool) -> JsonObject {
    let next = any_of(&["integer", "null"], "Give it as `after` to read on; null at the end.");
    match tool {
        ReadTool::ListGoals => answer(json!({ "goals": list(open(goal())), "next": next })),
        ReadTool::GetGoal => answer(json!({ "goal": open(with(goal(), json!({ "steps": list(open(step())) }))) })),
        ReadTool::ListSteps => answer(json!({ "steps": list(open(step())), "next": next })),
        ReadTool::GetStep => answer(json!({ "step": open(step()) })),
        ReadTool::ListHabits => answer(json!({ "habits": list(open(habit())), "next": next })),
        ReadTool::GetHabit => answer(json!({ "habit": open(habit()) })),
        ReadTool::GetHistory => {
            let batch = json!({ "preview_id": text("What undo_actions takes."), "applied_at": text("When."), "actions": list(open(json!({}))) });
            answer(json!({ "batches": list(open(batch)), "next": next }))
        }
        ReadTool::GetXp => {
            let day = json!({ "date": text("The day."), "xp": whole("What came of it.") });
            let kinds = json!({ "goal": whole("From goals."), "step": whole("From steps."), "habit": whole("From habits.") });
            answer(json!({ "total": whole("The sum of all entries."), "by_kind": open(kinds), "by_day": list(open(day)) }))
        }
    }
}

fn goal() -> Value {
    let times = json!({ "completed_at": any_of(&["string", "null"], "When it was completed.") });
    with(
        json!({ "goal_id": whole("Its id."), "title": text("Its title."), "priority": text("low, medium, high or critical.") }),
        times,
    )
}

fn step() -> Value {
    json!({
        "step_id": whole("Its id."), "goal_id": whole("Its goal."), "title": text("Its title."), "order": whole("Its place, from 0."),
        "completed_at": any_of(&["string", "null"], "When it was completed."),
    })
}

fn habit() -> Value {
    let streak = open(
        json!({ "current": whole("Due days in a row until now."), "longest": whole("The most there ever were, by the days that the habit is for now.") }),
    );
    json!({ "habit_id": whole("Its id."), "title": text("Its title."), "streak": streak })
}

/// An answer or a refusal: the fields of the one and of the other.
pub(super) fn answer(fields: Value) -> JsonObject {
    let refusal = json!({
        "success": { "type": "boolean", "description": "False: nothing was changed, and `error` says why." },
        "error": text("What is wrong."),
        "hint": text("How to correct the call."),
        "failed_action": failed_action("Which action it was."),
    });
    let mut schema = open(with(fields, refusal));
    schema["required"] = json!(["success"]);
    into_object(schema)
}

fn failed_action(description: &str) -> Value {
    let mut schema = open(json!({
        "action": text("Such as goal.create."),
        "client_action_id": text("As it was given."),
        "index": whole("Its place in the list, from 0."),
        "field": text("What to correct in it."),
        "error": text("Why it fails."),
    }));
    schema["description"] = description.into();
    schema
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn whole(description: &str) -> Value {
    json!({ "type": "integer", "description": description })
}

/// Branches instead of a list of types, which fewer clients understand.
fn any_of(types: &[&str], description: &str) -> Value {
    let branches: Vec<Value> = types.iter().map(|name| json!({ "type": name })).collect();
    json!({ "anyOf": branches, "description": description })
}

fn list(of: Value) -> Value {
    let mut schema = json!({ "type": "array" });
    schema["items"] = of;
    schema
}

/// An object with these fields and perhaps others.
fn open(properties: Value) -> Value {
    let mut schema = json!({ "type": "object" });
    schema["properties"] = properties;
    schema
}

/// An object with these fields and no others.
pub(super) fn closed(properties: Value, required: &[&str]) -> JsonObject {
    let mut schema = open(properties);
    schema["additionalProperties"] = false.into();
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    into_object(schema)
}

fn with(one: Value, other: Value) -> Value {
    let fields = [one, other].into_iter().flat_map(into_object);
    Value::Object(fields.collect())
}

fn into_object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}
