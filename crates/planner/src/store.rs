//! One function per SQL function, with its name. Nothing here decides anything.

use std::time::Duration;

use kernel::WorkspaceId;
use platform::DbError;
use serde::Deserialize;
use serde_json::{Map, Value};
use sqlx::{PgConnection, PgExecutor, types::Json};
use uuid::Uuid;

use crate::{Caller, error::Stop, model::PlannedAction};

/// What an action did.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ActionOutcome {
    /// `goal`, `step`, `habit`, or `order` among those that changed as well.
    pub(crate) entity: String,
    pub(crate) id: i64,
    pub(crate) title: Option<String>,
    pub(crate) created: bool,
    pub(crate) before: Option<Value>,
    pub(crate) after: Option<Value>,
    pub(crate) xp: i64,
    pub(crate) also: Vec<ActionOutcome>,
}

/// What a preview has to know before it begins.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Opening {
    pub(crate) preview_id: Uuid,
    pub(crate) expires_at: String,
    /// By the calendar of the person, `YYYY-MM-DD`.
    pub(crate) today: String,
    /// The XP that there is.
    pub(crate) xp: i64,
}

/// How an apply begins: with the plan, or with the answer that was given before.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Beginning {
    Replay { replay: String },
    Plan { actions: Vec<PlannedAction>, xp: i64 },
}

/// How a batch is undone.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct UndoPlan {
    pub(crate) actions: Vec<PlannedAction>,
    pub(crate) looks: Value,
}

pub(crate) async fn find_person(tx: &mut PgConnection, workspace: WorkspaceId, name: &str) -> Result<i64, DbError> {
    Ok(sqlx::query_scalar("select planner.find_person($1, $2)").bind(workspace.uuid()).bind(name).fetch_one(tx).await?)
}

pub(crate) async fn set_time_zone(tx: &mut PgConnection, caller: &Caller, time_zone: &str) -> Result<Value, Stop> {
    let answer = sqlx::query_scalar("select planner.set_time_zone($1, $2, $3, $4)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(time_zone)
        .bind(caller.trace_id.as_str())
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

pub(crate) async fn begin_preview(tx: &mut PgConnection, caller: &Caller) -> Result<Opening, DbError> {
    let query = "select planner.begin_preview($1, $2)";
    let Json(opening) = sqlx::query_scalar(query).bind(caller.workspace.uuid()).bind(caller.person).fetch_one(tx).await?;
    Ok(opening)
}

pub(crate) async fn look_at(tx: &mut PgConnection, caller: &Caller, looks: &Value) -> Result<Value, DbError> {
    let query = "select planner.look_at($1, $2, $3)";
    Ok(sqlx::query_scalar(query).bind(caller.workspace.uuid()).bind(caller.person).bind(looks).fetch_one(tx).await?)
}

pub(crate) async fn run_action(
    tx: &mut PgConnection,
    caller: &Caller,
    preview_id: Uuid,
    index: usize,
    action: &str,
    params: &Map<String, Value>,
) -> Result<ActionOutcome, Stop> {
    let Json(outcome) = sqlx::query_scalar("select planner.run_action($1, $2, $3, $4, $5, $6)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(preview_id)
        .bind(i32::try_from(index).unwrap_or(i32::MAX))
        .bind(action)
        .bind(Json(params))
        .fetch_one(tx)
        .await?;
    Ok(outcome)
}

pub(crate) async fn save_preview(tx: &mut PgConnection, caller: &Caller, preview: &Value) -> Result<(), DbError> {
    sqlx::query("select planner.save_preview($1, $2, $3, $4)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(preview)
        .bind(caller.trace_id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

pub(crate) async fn begin_apply(tx: &mut PgConnection, caller: &Caller, preview_id: Uuid, key: &str) -> Result<Beginning, Stop> {
    let Json(beginning) = sqlx::query_scalar("select planner.begin_apply($1, $2, $3, $4)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(preview_id)
        .bind(key)
        .fetch_one(tx)
        .await?;
    Ok(beginning)
}

/// The plan of a preview, if there is one.
pub(crate) async fn read_plan(
    tx: &mut PgConnection,
    caller: &Caller,
    preview_id: Uuid,
) -> Result<Option<Vec<PlannedAction>>, DbError> {
    let plan: Option<Json<Vec<PlannedAction>>> = sqlx::query_scalar("select planner.read_plan($1, $2, $3)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(preview_id)
        .fetch_one(tx)
        .await?;
    Ok(plan.map(|Json(plan)| plan))
}

pub(crate) async fn finish_apply(
    tx: &mut PgConnection,
    caller: &Caller,
    preview_id: Uuid,
    key: &str,
    result: &str,
) -> Result<(), DbError> {
    sqlx::query("select planner.finish_apply($1, $2, $3, $4, $5, $6)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(preview_id)
        .bind(key)
        .bind(result)
        .bind(caller.trace_id.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

pub(crate) async fn plan_undo(tx: &mut PgConnection, caller: &Caller, preview_id: Uuid) -> Result<UndoPlan, Stop> {
    let query = "select planner.plan_undo($1, $2, $3)";
    let Json(plan) =
        sqlx::query_scalar(query).bind(caller.workspace.uuid()).bind(caller.person).bind(preview_id).fetch_one(tx).await?;
    Ok(plan)
}

/// Marks previews whose time is over, of one workspace or of all; how many there were.
pub(crate) async fn expire_previews(db: impl PgExecutor<'_>, workspace: Option<WorkspaceId>, limit: i32) -> Result<i32, DbError> {
    let query = "select planner.expire_previews($1, $2)";
    Ok(sqlx::query_scalar(query).bind(workspace.map(WorkspaceId::uuid)).bind(limit).fetch_one(db).await?)
}

/// Forgets what is past its time; how many rows that touched.
pub(crate) async fn forget(db: impl PgExecutor<'_>, limit: i32, results_kept: Duration) -> Result<i32, DbError> {
    let query = "select planner.forget($1, $2 * interval '1 second')";
    Ok(sqlx::query_scalar(query).bind(limit).bind(results_kept.as_secs_f64()).fetch_one(db).await?)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GoalPage {
    pub(crate) limit: i32,
    pub(crate) after: Option<i64>,
}

pub(crate) async fn list_goals(
    tx: &mut PgConnection,
    caller: &Caller,
    status: &str,
    category: Option<&str>,
    page: GoalPage,
) -> Result<Value, DbError> {
    let answer = sqlx::query_scalar("select planner.list_goals($1, $2, $3, $4, $5, $6)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(status)
        .bind(category)
        .bind(page.limit)
        .bind(page.after)
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

/// Nothing when the person has no such goal.
pub(crate) async fn list_steps(
    tx: &mut PgConnection,
    caller: &Caller,
    goal_id: Option<i64>,
    status: &str,
    page: GoalPage,
) -> Result<Option<Value>, DbError> {
    let answer = sqlx::query_scalar("select planner.list_steps($1, $2, $3, $4, $5, $6)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(goal_id)
        .bind(status)
        .bind(page.limit)
        .bind(page.after)
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

pub(crate) async fn list_habits(
    tx: &mut PgConnection,
    caller: &Caller,
    include_archived: bool,
    page: GoalPage,
) -> Result<Value, DbError> {
    let answer = sqlx::query_scalar("select planner.list_habits($1, $2, $3, $4, $5)")
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(include_archived)
        .bind(page.limit)
        .bind(page.after)
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

pub(crate) async fn read_goal(tx: &mut PgConnection, caller: &Caller, id: i64) -> Result<Option<Value>, DbError> {
    read_one(tx, "select planner.read_goal($1, $2, $3)", caller, id).await
}

pub(crate) async fn read_step(tx: &mut PgConnection, caller: &Caller, id: i64) -> Result<Option<Value>, DbError> {
    read_one(tx, "select planner.read_step($1, $2, $3)", caller, id).await
}

pub(crate) async fn read_habit(tx: &mut PgConnection, caller: &Caller, id: i64) -> Result<Option<Value>, DbError> {
    read_one(tx, "select planner.read_habit($1, $2, $3)", caller, id).await
}

async fn read_one(tx: &mut PgConnection, query: &'static str, caller: &Caller, id: i64) -> Result<Option<Value>, DbError> {
    Ok(sqlx::query_scalar(query).bind(caller.workspace.uuid()).bind(caller.person).bind(id).fetch_one(tx).await?)
}

pub(crate) async fn read_history(tx: &mut PgConnection, caller: &Caller, page: GoalPage) -> Result<Value, DbError> {
    let query = "select planner.read_history($1, $2, $3, $4)";
    let answer = sqlx::query_scalar(query)
        .bind(caller.workspace.uuid())
        .bind(caller.person)
        .bind(page.limit)
        .bind(page.after)
        .fetch_one(tx)
        .await?;
    Ok(answer)
}

pub(crate) async fn read_xp(tx: &mut PgConnection, caller: &Caller) -> Result<Value, DbError> {
    let query = "select planner.read_xp($1, $2)";
    Ok(sqlx::query_scalar(query).bind(caller.workspace.uuid()).bind(caller.person).fetch_one(tx).await?)
}

/// What was answered to a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedResponse<'a> {
    pub(crate) body: &'a Value,
    pub(crate) execution_time_ms: i32,
    pub(crate) error_message: Option<&'a str>,
}

pub(crate) async fn log_request(
    db: impl PgExecutor<'_>,
    caller: &Caller,
    request_id: Uuid,
    tool: &str,
    body: &Value,
) -> Result<(), DbError> {
    sqlx::query("select planner.log_request($1, $2, $3, $4, $5, $6)")
        .bind(caller.workspace.uuid())
        .bind(request_id)
        .bind(caller.person)
        .bind(caller.token_id)
        .bind(tool)
        .bind(body)
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn log_response(
    db: impl PgExecutor<'_>,
    workspace: WorkspaceId,
    request_id: Uuid,
    response: LoggedResponse<'_>,
) -> Result<(), DbError> {
    sqlx::query("select planner.log_response($1, $2, $3, $4, $5)")
        .bind(workspace.uuid())
        .bind(request_id)
        .bind(response.body)
        .bind(response.execution_time_ms)
        .bind(response.error_message)
        .execute(db)
        .await?;
    Ok(())
}
