//! The tools that only read, and the one setting that a person has. Each checks its arguments and asks one function.

use platform::DbError;
use serde_json::{Map, Value};
use sqlx::PgConnection;

use super::{Caller, Planner, ToolAnswer, answer};
use crate::{
    error::Stop,
    model::{Arguments, Mistake},
    store::{self, GoalPage},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadTool {
    ListGoals,
    GetGoal,
    ListSteps,
    GetStep,
    ListHabits,
    GetHabit,
    GetHistory,
    GetXp,
}

/// The first one is what a call without it gets.
const STATUSES: [&str; 3] = ["open", "completed", "all"];

impl ReadTool {
    pub const ALL: [Self; 8] = [
        Self::ListGoals,
        Self::GetGoal,
        Self::ListSteps,
        Self::GetStep,
        Self::ListHabits,
        Self::GetHabit,
        Self::GetHistory,
        Self::GetXp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::ListGoals => "list_goals",
            Self::GetGoal => "get_goal",
            Self::ListSteps => "list_steps",
            Self::GetStep => "get_step",
            Self::ListHabits => "list_habits",
            Self::GetHabit => "get_habit",
            Self::GetHistory => "get_history",
            Self::GetXp => "get_xp",
        }
    }

    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::ListGoals => &["status", "category", "limit", "after"],
            Self::GetGoal => &["goal_id"],
            Self::ListSteps => &["goal_id", "status", "limit", "after"],
            Self::GetStep => &["step_id"],
            Self::ListHabits => &["include_archived", "limit", "after"],
            Self::GetHabit => &["habit_id"],
            Self::GetHistory => &["limit", "after"],
            Self::GetXp => &[],
        }
    }
}

/// What to ask for, with its arguments checked.
enum Question<'a> {
    Goals { status: &'static str, category: Option<&'a str>, page: GoalPage },
    Goal(i64),
    Steps { goal_id: Option<i64>, status: &'static str, page: GoalPage },
    Step(i64),
    Habits { include_archived: bool, page: GoalPage },
    Habit(i64),
    History(GoalPage),
    Xp,
}

pub(super) async fn read(
    planner: &Planner,
    caller: &Caller,
    tool: ReadTool,
    arguments: &Map<String, Value>,
) -> Result<ToolAnswer, DbError> {
    let question = match check(tool, arguments) {
        Ok(question) => question,
        Err(mistake) => return Ok(answer::mistake(&mistake)),
    };
    let mut tx = planner.db.begin(caller.workspace).await?;
    Ok(match ask(&mut tx, caller, question).await? {
        Some(found) => answer::read(found),
        None => answer::mistake(&missing(tool)),
    })
}

fn check(tool: ReadTool, arguments: &Map<String, Value>) -> Result<Question<'_>, Mistake> {
    let arguments = Arguments::check(tool.name(), tool.fields(), arguments)?;
    let page = || -> Result<GoalPage, Mistake> { Ok(GoalPage { limit: arguments.limit()?, after: arguments.after()? }) };
    Ok(match tool {
        ReadTool::ListGoals => Question::Goals {
            status: arguments.choice("status", &STATUSES)?,
            category: arguments.text("category")?,
            page: page()?,
        },
        ReadTool::GetGoal => Question::Goal(arguments.required_id("goal_id")?),
        ReadTool::ListSteps => {
            Question::Steps { goal_id: arguments.id("goal_id")?, status: arguments.choice("status", &STATUSES)?, page: page()? }
        }
        ReadTool::GetStep => Question::Step(arguments.required_id("step_id")?),
        ReadTool::ListHabits => Question::Habits { include_archived: arguments.flag("include_archived")?, page: page()? },
        ReadTool::GetHabit => Question::Habit(arguments.required_id("habit_id")?),
        ReadTool::GetHistory => Question::History(page()?),
        ReadTool::GetXp => Question::Xp,
    })
}

/// What was found; nothing when there is no such thing.
async fn ask(tx: &mut PgConnection, caller: &Caller, question: Question<'_>) -> Result<Option<Map<String, Value>>, DbError> {
    Ok(match question {
        Question::Goals { status, category, page } => fields(store::list_goals(tx, caller, status, category, page).await?),
        Question::Goal(id) => named("goal", store::read_goal(tx, caller, id).await?),
        Question::Steps { goal_id, status, page } => store::list_steps(tx, caller, goal_id, status, page).await?.and_then(fields),
        Question::Step(id) => named("step", store::read_step(tx, caller, id).await?),
        Question::Habits { include_archived, page } => fields(store::list_habits(tx, caller, include_archived, page).await?),
        Question::Habit(id) => named("habit", store::read_habit(tx, caller, id).await?),
        Question::History(page) => fields(store::read_history(tx, caller, page).await?),
        Question::Xp => fields(store::read_xp(tx, caller).await?),
    })
}

fn fields(found: Value) -> Option<Map<String, Value>> {
    match found {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn named(name: &str, found: Option<Value>) -> Option<Map<String, Value>> {
    found.map(|found| Map::from_iter([(name.to_owned(), found)]))
}

/// How to say that there is no such thing, which for a list of steps is its goal.
fn missing(tool: ReadTool) -> Mistake {
    let (field, what, list) = match tool {
        ReadTool::GetStep => ("step_id", "Step", ReadTool::ListSteps),
        ReadTool::GetHabit => ("habit_id", "Habit", ReadTool::ListHabits),
        _ => ("goal_id", "Goal", ReadTool::ListGoals),
    };
    Mistake::of(field, format!("{what} not found")).hint(format!("{} tells which there are", list.name()))
}

pub(super) async fn set_time_zone(
    planner: &Planner,
    caller: &Caller,
    arguments: &Map<String, Value>,
) -> Result<ToolAnswer, DbError> {
    let checked = Arguments::check("set_time_zone", &["time_zone"], arguments).and_then(|arguments| {
        arguments.required_text("time_zone").map_err(|mistake| mistake.hint("write an IANA name such as Europe/Moscow"))
    });
    let time_zone = match checked {
        Ok(time_zone) => time_zone,
        Err(mistake) => return Ok(answer::mistake(&mistake)),
    };
    let set = async {
        let mut tx = planner.db.begin(caller.workspace).await?;
        let set = match store::set_time_zone(&mut tx, caller, time_zone.trim()).await {
            Ok(set) => set,
            Err(Stop::Refused(refusal)) => return Ok(answer::refusal(&refusal)),
            Err(Stop::Db(error)) => return Err(error),
        };
        tx.commit().await?;
        planner.db.wake().tell(platform::wake::Topic::BUS);
        Ok(answer::read(fields(set).unwrap_or_default()))
    };
    planner.turns.take(caller.person).await.during(set).await
}
