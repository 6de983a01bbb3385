//! The table of actions: the one place that says which there are, what they take and what they make. Parsing, hints, the JSON Schema and the
//! looks of a preview follow from it.

/// What an action is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntityKind {
    Goal,
    Step,
    Habit,
}

impl EntityKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Step => "step",
            Self::Habit => "habit",
        }
    }
}

/// What a parameter looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A positive integer, or `$ref:<client_action_id>` of an action that creates one of these.
    Id(EntityKind),
    /// 1 to so many characters on one line, trimmed.
    Title {
        chars_max: usize,
    },
    /// At most so many characters on one line; blank is nothing.
    Line {
        chars_max: usize,
    },
    /// At most so many characters; blank is nothing.
    Text {
        chars_max: usize,
    },
    Choice(&'static [&'static str]),
    /// `YYYY-MM-DD`.
    Date,
    /// A list of `mon` to `sun`.
    Days,
    /// A place in a list, from 0.
    Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    pub name: &'static str,
    pub about: &'static str,
    pub shape: Shape,
    pub is_required: bool,
    /// Null takes the value away.
    pub is_nullable: bool,
}

impl ParamSpec {
    const fn new(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, about, shape, is_required: false, is_nullable: false }
    }

    const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    const fn nullable(mut self) -> Self {
        self.is_nullable = true;
        self
    }
}

/// How much of what an action names a preview has to remember, beside the thing itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum With {
    Nothing,
    /// The order of the steps, if the action says a place in it.
    Order,
    /// The steps of the goal.
    Steps,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionSpec {
    pub name: &'static str,
    pub about: &'static str,
    /// The id of what it names, if it names something, comes first.
    pub params: &'static [ParamSpec],
    pub creates: Option<EntityKind>,
    /// At least one parameter beside the id.
    pub is_update: bool,
    pub with: With,
}

impl ActionSpec {
    /// The parameter with the id of what it names.
    pub fn names(&self) -> Option<(&'static ParamSpec, EntityKind)> {
        self.params.first().and_then(|param| match param.shape {
            Shape::Id(kind) => Some((param, kind)),
            _ => None,
        })
    }

    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|param| param.name == name)
    }

    pub fn param_names(&self) -> Vec<&'static str> {
        self.params.iter().map(|param| param.name).collect()
    }
}

pub fn find(name: &str) -> Option<&'static ActionSpec> {
    ACTIONS.iter().find(|spec| spec.name == name)
}

pub const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
pub const PRIORITIES: [&str; 4] = ["low", "medium", "high", "critical"];
pub const TITLE_CHARS_MAX: usize = 200;
pub const DESCRIPTION_CHARS_MAX: usize = 4000;
pub const CATEGORY_CHARS_MAX: usize = 50;

const GOAL_ID: ParamSpec = ParamSpec::new("goal_id", Shape::Id(EntityKind::Goal), "The goal.").required();
const STEP_ID: ParamSpec = ParamSpec::new("step_id", Shape::Id(EntityKind::Step), "The step.").required();
const HABIT_ID: ParamSpec = ParamSpec::new("habit_id", Shape::Id(EntityKind::Habit), "The habit.").required();
const TITLE: ParamSpec = ParamSpec::new("title", Shape::Title { chars_max: TITLE_CHARS_MAX }, "What it is called.");
const NEW_TITLE: ParamSpec = TITLE.required();
const DESCRIPTION: ParamSpec =
    ParamSpec::new("description", Shape::Text { chars_max: DESCRIPTION_CHARS_MAX }, "More about it; null for nothing.")
        .nullable();
const CATEGORY: ParamSpec =
    ParamSpec::new("category", Shape::Line { chars_max: CATEGORY_CHARS_MAX }, "Such as work or health; null for none.")
        .nullable();
const PRIORITY: ParamSpec = ParamSpec::new("priority", Shape::Choice(&PRIORITIES), "How much it matters; medium at first.");
const DUE_DATE: ParamSpec = ParamSpec::new("due_date", Shape::Date, "When it should be done; null for no date.").nullable();
const DAYS_OF_WEEK: ParamSpec =
    ParamSpec::new("days", Shape::Days, "The days of the week on which it is due; all seven at first.");
const DATE: ParamSpec = ParamSpec::new("date", Shape::Date, "The day, not after today; without it today, where the person is.");
const ORDER: ParamSpec = ParamSpec::new(
    "order",
    Shape::Order,
    "The place among the steps of the goal, 0 for the first; those after it move on. Beyond the end is the end.",
);
const NEW_ORDER: ParamSpec = ORDER.required();

const fn action(name: &'static str, params: &'static [ParamSpec], about: &'static str) -> ActionSpec {
    ActionSpec { name, about, params, creates: None, is_update: false, with: With::Nothing }
}

const fn create(kind: EntityKind, spec: ActionSpec) -> ActionSpec {
    ActionSpec { creates: Some(kind), ..spec }
}

const fn update(spec: ActionSpec) -> ActionSpec {
    ActionSpec { is_update: true, ..spec }
}

const fn with(with: With, spec: ActionSpec) -> ActionSpec {
    ActionSpec { with, ..spec }
}

/// Every action there is.
pub const ACTIONS: &[ActionSpec] = &[
    create(EntityKind::Goal, action("goal.create", &[NEW_TITLE, DESCRIPTION, CATEGORY, PRIORITY, DUE_DATE], "Makes a goal.")),
    update(action(
        "goal.update",
        &[GOAL_ID, TITLE, DESCRIPTION, CATEGORY, PRIORITY, DUE_DATE],
        "Changes a goal; what is not named stays.",
    )),
    action("goal.complete", &[GOAL_ID], "A goal is reached: 100 XP."),
    action("goal.reopen", &[GOAL_ID], "A goal is not reached after all; its XP is taken back."),
    with(With::Steps, action("goal.delete", &[GOAL_ID], "Deletes a goal with its steps; XP stays.")),
    create(
        EntityKind::Step,
        with(
            With::Order,
            action(
                "step.create",
                &[GOAL_ID, NEW_TITLE, DESCRIPTION, PRIORITY, DUE_DATE, ORDER],
                "Makes a step of a goal, at the end unless `order` says otherwise.",
            ),
        ),
    ),
    update(action("step.update", &[STEP_ID, TITLE, DESCRIPTION, PRIORITY, DUE_DATE], "Changes a step; what is not named stays.")),
    action("step.complete", &[STEP_ID], "A step is done: 25 XP."),
    action("step.reopen", &[STEP_ID], "A step is not done after all; its XP is taken back."),
    action("step.delete", &[STEP_ID], "Deletes a step; XP stays."),
    with(With::Order, action("step.reorder", &[STEP_ID, NEW_ORDER], "Moves a step to another place in its goal.")),
    create(EntityKind::Habit, action("habit.create", &[NEW_TITLE, DESCRIPTION, CATEGORY, DAYS_OF_WEEK], "Makes a habit.")),
    update(action(
        "habit.update",
        &[HABIT_ID, TITLE, DESCRIPTION, CATEGORY, DAYS_OF_WEEK],
        "Changes a habit; what is not named stays.",
    )),
    action("habit.mark_completed", &[HABIT_ID, DATE], "A habit was done on a day: 10 XP."),
    action("habit.unmark", &[HABIT_ID, DATE], "A habit was not done on a day after all; its XP is taken back."),
    action("habit.archive", &[HABIT_ID], "A habit is over; its days and XP stay."),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_has_every_action_of_the_specification_once() {
        let names: BTreeSet<&str> = ACTIONS.iter().map(|spec| spec.name).collect();
        assert_eq!((names.len(), ACTIONS.len()), (16, 16));
    }

    #[test]
    fn only_the_first_parameter_is_an_id_and_it_is_required() {
        for spec in ACTIONS {
            for (place, param) in spec.params.iter().enumerate() {
                let is_id = matches!(param.shape, Shape::Id(_));
                assert!(!is_id || (place == 0 && param.is_required), "{}", spec.name);
            }
            assert_eq!(spec.names().is_none(), matches!(spec.name, "goal.create" | "habit.create"), "{}", spec.name);
        }
    }

    #[test]
    fn what_an_action_creates_is_what_its_name_says() {
        for spec in ACTIONS {
            let created = spec.creates.map(|kind| format!("{}.create", kind.as_str()));
            assert_eq!(created.is_some(), spec.name.ends_with(".create"));
            assert!(created.is_none_or(|created| created == spec.name));
        }
    }
}
