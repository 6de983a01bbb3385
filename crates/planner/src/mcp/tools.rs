//! The tools, in the order in which they are listed. What a model reads about them stands here and nowhere else.

use std::sync::LazyLock;

use platform::assistant::McpTool;
use rmcp::model::{Tool, ToolAnnotations};

use super::schemas;
use crate::{engine::ReadTool, model::nearest};

/// What a tool does.
#[derive(Clone, Copy, Debug)]
pub(super) enum ToolCall {
    Preview,
    Apply,
    Undo,
    SetTimeZone,
    Read(ReadTool),
}

impl ToolCall {
    /// What clients may conclude before they ask the person. A preview changes nothing that the person has and expires by itself, so it
    /// needs no confirmation: the apply does, and says what is lost. Repeating an apply with its key changes nothing more.
    fn annotations(self, title: &str) -> ToolAnnotations {
        let (is_read_only, is_destructive) = match self {
            Self::Preview | Self::Undo | Self::Read(_) => (true, false),
            Self::Apply => (false, true),
            Self::SetTimeZone => (false, false),
        };
        let hints = ToolAnnotations::with_title(title).read_only(is_read_only).destructive(is_destructive);
        hints.idempotent(true).open_world(false)
    }
}

pub(super) struct Spec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    pub(super) call: ToolCall,
}

static SPECS: [Spec; 12] = [
    Spec {
        name: "preview_actions",
        title: "Preview changes",
        description: "Checks a list of 1 to 50 actions on goals, steps and habits and says what they would change, without changing anything. \
            Returns a preview_id, which apply_actions takes and which lives for 5 minutes, a readable diff, and the effect on XP. Show the \
            diff to the person before you apply it. \
            Actions run strictly in the order of the list, all or none, so put what belongs together into one list and nothing else. \
            To use what an earlier action of the list creates, give that action a client_action_id and write \"$ref:<client_action_id>\" \
            where the id goes, for example {\"action\":\"goal.create\",\"client_action_id\":\"g\",\"params\":{\"title\":\"Learn Python\"}} and then \
            {\"action\":\"step.create\",\"params\":{\"goal_id\":\"$ref:g\",\"title\":\"The basics\"}}. \
            If would_fail is present, applying will fail and change nothing: correct the list and preview again.",
        call: ToolCall::Preview,
    },
    Spec {
        name: "apply_actions",
        title: "Apply a preview",
        description: "Carries out a preview of preview_actions or undo_actions in one transaction, all or nothing, strictly in the order of its list. \
            preview_id is what the preview returned; it lives for 5 minutes and can be applied once. idempotency_key is a text of 1 to 255 \
            ASCII characters that you choose, a new random UUID for each preview: a call that is repeated with the same key returns the stored \
            result of the first one and does nothing twice, so repeat it when you do not know whether the first call came through. \
            A failed apply changes nothing and says of each action whether it was rolled back, failed, or was not reached; the preview stays \
            usable until it expires. \"Preview stale\" means that something changed since the preview: make a new one.",
        call: ToolCall::Apply,
    },
    Spec {
        name: "undo_actions",
        title: "Preview an undo",
        description: "Makes a preview that exactly reverses an applied one, XP included. Changes nothing by itself: apply the preview_id that it returns with \
            apply_actions within 5 minutes. preview_id here is the one that was applied; get_history lists them. If a later change prevents \
            the undo, the answer names it: undo that one first.",
        call: ToolCall::Undo,
    },
    Spec {
        name: "set_time_zone",
        title: "Set the time zone",
        description: "Sets the time zone of the person, by its IANA name such as Europe/Moscow. It decides which day today is: for habits that are \
            marked without a date, and for streaks.",
        call: ToolCall::SetTimeZone,
    },
    Spec {
        name: "list_goals",
        title: "List goals",
        description: "Lists the goals of the person. Without arguments: those that are open.",
        call: ToolCall::Read(ReadTool::ListGoals),
    },
    Spec {
        name: "get_goal",
        title: "Get a goal",
        description: "Returns one goal with its steps in their order.",
        call: ToolCall::Read(ReadTool::GetGoal),
    },
    Spec {
        name: "list_steps",
        title: "List steps",
        description: "Lists steps, of one goal or of all. Without arguments: those that are open.",
        call: ToolCall::Read(ReadTool::ListSteps),
    },
    Spec { name: "get_step", title: "Get a step", description: "Returns one step.", call: ToolCall::Read(ReadTool::GetStep) },
    Spec {
        name: "list_habits",
        title: "List habits",
        description: "Lists the habits of the person with their streaks. Without arguments: those that are not archived.",
        call: ToolCall::Read(ReadTool::ListHabits),
    },
    Spec {
        name: "get_habit",
        title: "Get a habit",
        description: "Returns one habit with its current and longest streak and its last marks.",
        call: ToolCall::Read(ReadTool::GetHabit),
    },
    Spec {
        name: "get_history",
        title: "Get the history",
        description: "Lists the applied batches of actions, newest first, with what each of them changed. Their preview_id is what undo_actions takes.",
        call: ToolCall::Read(ReadTool::GetHistory),
    },
    Spec {
        name: "get_xp",
        title: "Get XP",
        description: "Returns the total of XP, where it came from, how it grew by day over the last 30 days, and the last entries.",
        call: ToolCall::Read(ReadTool::GetXp),
    },
];

pub(super) fn find(name: &str) -> Option<&'static Spec> {
    SPECS.iter().find(|spec| spec.name == name)
}

/// Says of a name that nobody has which one was probably meant.
pub(super) fn unknown(name: &str, others: &[McpTool]) -> String {
    let shown = kernel::redact::snippet(name, 100);
    match nearest(name, SPECS.iter().map(|spec| spec.name).chain(others.iter().map(|tool| tool.name))) {
        Some(near) => format!("Unknown tool: {shown}; did you mean {near}?"),
        None => format!("Unknown tool: {shown}"),
    }
}

pub(super) fn list() -> &'static [Tool] {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| SPECS.iter().map(tool).collect());
    &TOOLS
}

fn tool(spec: &Spec) -> Tool {
    Tool::new(spec.name, spec.description, schemas::input(spec.call))
        .with_title(spec.title)
        .with_raw_output_schema(schemas::output(spec.call).into())
        .with_annotations(spec.call.annotations(spec.title))
}

/// A tool that another module brings.
pub(super) fn of_module(tool: &McpTool) -> Tool {
    let hints = ToolAnnotations::with_title(tool.title).read_only(true).destructive(false).idempotent(true).open_world(false);
    Tool::new(tool.name, tool.description, schemas::closed(tool.input.clone(), tool.required))
        .with_title(tool.title)
        .with_raw_output_schema(schemas::answer(tool.output.clone()).into())
        .with_annotations(hints)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_tool_has_a_name_of_its_own_a_title_schemas_and_all_hints() {
        let names: BTreeSet<&str> = list().iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names.len(), SPECS.len());
        for tool in list() {
            let hints = tool.annotations.as_ref().unwrap();
            let set = [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint];
            assert!(set.iter().all(Option::is_some) && hints.title.is_some() && tool.title.is_some(), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
            assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{}", tool.name);
        }
    }

    #[test]
    fn only_an_apply_asks_for_care() {
        let careful: Vec<_> =
            list().iter().filter(|tool| tool.annotations.as_ref().is_some_and(ToolAnnotations::is_destructive)).collect();
        assert_eq!(careful.len(), 1);
        assert_eq!(careful[0].name, "apply_actions");
    }

    #[test]
    fn a_wrong_name_is_told_the_nearest() {
        assert_eq!(unknown("apply_action", &[]), "Unknown tool: apply_action; did you mean apply_actions?");
        assert_eq!(unknown("weather", &[]), "Unknown tool: weather");
    }
}
