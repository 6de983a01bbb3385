//! What can be read without calling a tool: `planner://…`, each as JSON, the same as the read tool of its kind answers.

use rmcp::{
    ErrorData,
    model::{JsonObject, Resource, ResourceTemplate},
};
use serde_json::Value;

use crate::{engine::ReadTool, model::LIMIT_MAX};

pub(super) const MIME_TYPE: &str = "application/json";
const SCHEME: &str = "planner://";

/// A list: its name, its title, what it has, and the tool that gives it with what it is asked for.
type List = (&'static str, &'static str, &'static str, ReadTool, &'static [(&'static str, &'static str)]);

const LISTS: [List; 4] = [
    ("goals", "Goals", "All goals of the person, open and completed", ReadTool::ListGoals, &[("status", "all")]),
    ("steps", "Steps", "All steps of the person's goals, open and completed", ReadTool::ListSteps, &[("status", "all")]),
    ("habits", "Habits", "The habits of the person that are not archived, with their streaks", ReadTool::ListHabits, &[]),
    ("history", "History", "The applied batches, newest first, with what each changed", ReadTool::GetHistory, &[]),
];
const ONE_PAGE: &str = "up to 100 at once; while `next` is not null, there are more at `?after=` and that number";

pub(super) fn list() -> Vec<Resource> {
    let resource = |name: &str, title: &str, description: String| {
        Resource::new(format!("{SCHEME}{name}"), name).with_title(title).with_description(description).with_mime_type(MIME_TYPE)
    };
    let lists = LISTS.iter().map(|(name, title, what, ..)| resource(name, title, format!("{what}; {ONE_PAGE}.")));
    let xp = "The total of XP, where it came from, and how it grew over the last 30 days.".to_owned();
    lists.chain([resource("xp", "XP", xp)]).collect()
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |path: String, name: String, title: String, description: &str| {
        let template = ResourceTemplate::new(format!("{SCHEME}{path}"), name);
        template.with_title(title).with_description(description).with_mime_type(MIME_TYPE)
    };
    let one = [
        ("goals/{goal_id}", "goal", "Goal", "One goal with its steps in order."),
        ("steps/{step_id}", "step", "Step", "One step of a goal."),
        ("habits/{habit_id}", "habit", "Habit", "One habit with its streak and its last marks."),
    ];
    let one =
        one.map(|(path, name, title, description)| template(path.to_owned(), name.to_owned(), title.to_owned(), description));
    let next = LISTS.iter().map(|(name, title, ..)| {
        let description = "The next page of the list: `after` is the `next` of the page before.";
        template(format!("{name}{{?after}}"), format!("{name}-after"), format!("{title}, next page"), description)
    });
    one.into_iter().chain(next).collect()
}

/// The read tool that gives a resource, and what it is asked for.
pub(super) fn find(uri: &str) -> Option<(ReadTool, JsonObject)> {
    let path = uri.strip_prefix(SCHEME)?;
    let (path, after) = match path.split_once('?') {
        None => (path, None),
        Some((path, query)) => (path, Some(number(query.strip_prefix("after=")?)?)),
    };
    if let Some((.., tool, arguments)) = LISTS.iter().find(|(name, ..)| *name == path) {
        let mut arguments: JsonObject = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        arguments.insert("limit".to_owned(), LIMIT_MAX.into());
        arguments.extend(after.map(|after| ("after".to_owned(), after)));
        return Some((*tool, arguments));
    }
    let one = |tool, field: &str, id| Some((tool, JsonObject::from_iter([(field.to_owned(), number(id)?)])));
    match path.split_once('/') {
        _ if after.is_some() => None,
        None if path == "xp" => Some((ReadTool::GetXp, JsonObject::new())),
        Some(("goals", id)) => one(ReadTool::GetGoal, "goal_id", id),
        Some(("steps", id)) => one(ReadTool::GetStep, "step_id", id),
        Some(("habits", id)) => one(ReadTool::GetHabit, "habit_id", id),
        _ => None,
    }
}

/// An id in the one way in which it is written, so that a resource has one address.
fn number(text: &str) -> Option<Value> {
    let id: i64 = text.parse().ok()?;
    (id > 0 && id.to_string() == text).then(|| id.into())
}

pub(super) fn not_found(uri: &str) -> ErrorData {
    let data = serde_json::json!({ "uri": uri });
    let words = "there is no such resource; resources/list and resources/templates/list say what there is";
    ErrorData::resource_not_found(words, Some(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_resource_and_every_template_can_be_found() {
        for resource in list() {
            assert!(find(&resource.uri).is_some(), "{}", resource.uri);
        }
        for template in templates() {
            let (before, name) = template.uri_template.split_once('{').unwrap();
            let value = if name.starts_with('?') { "?after=12" } else { "12" };
            assert!(find(&format!("{before}{value}")).is_some(), "{}", template.uri_template);
        }
    }

    #[test]
    fn whatever_else_is_asked_for_is_not_there() {
        for uri in [
            "planner://",
            "planner://goals/",
            "planner://goals/0",
            "planner://goals/-1",
            "planner://goals/+1",
            "planner://goals/01",
        ] {
            assert!(find(uri).is_none(), "{uri}");
        }
        for uri in [
            "planner://goals/1/steps",
            "planner://people",
            "planner://goals/1?after=1",
            "planner://goals?limit=1",
            "file:///etc/passwd",
            "goals",
            "planner://xp/1",
        ] {
            assert!(find(uri).is_none(), "{uri}");
        }
    }
}
