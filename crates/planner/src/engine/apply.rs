//! `apply_actions`: a preview is carried out in one transaction, once for its key.
//!
//! Nothing here is tried again: a commit whose answer was lost may have happened, and only the caller's retry with the same key can tell.

use platform::{DbError, failpoint, wake::Topic};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    Applied, Caller, Planner, ToolAnswer, Watch,
    answer::{self, ActionResult, AppliedBody, Summary, XpTotal},
    plan,
    run::BatchRun,
};
use crate::{
    error::{SqlRefusal, Stop},
    model::{Arguments, Mistake, PlannedAction, check_uuid},
    store::{self, Beginning},
};

const TOOL: &str = "apply_actions";
const FIELDS: [&str; 2] = ["preview_id", "idempotency_key"];
/// Previews that are marked as expired in one transaction.
const EXPIRE_MAX: i32 = 1000;

pub(super) async fn apply(
    planner: &Planner,
    caller: &Caller,
    arguments: &Map<String, Value>,
    watch: &dyn Watch,
) -> Result<Applied, DbError> {
    let (preview_id, key) = match check(arguments) {
        Ok(checked) => checked,
        Err(mistake) => return Ok(Applied::Answered(answer::mistake(&mistake))),
    };
    // Nothing has begun yet, so whoever gives up waiting costs nobody a turn.
    let turn = tokio::select! {
        turn = planner.turns.take(caller.person) => turn,
        () = watch.cancelled() => return Ok(Applied::Cancelled),
    };
    match turn.during(in_turn(planner, caller, preview_id, key, watch)).await {
        Ok(applied) => Ok(applied),
        Err(Stop::Refused(refusal)) => refuse(planner, caller, preview_id, &refusal).await.map(Applied::Answered),
        Err(Stop::Db(error)) => Err(error),
    }
}

fn check(arguments: &Map<String, Value>) -> Result<(Uuid, &str), Mistake> {
    let arguments = Arguments::check(TOOL, &FIELDS, arguments)?;
    let hint = "give the preview_id that preview_actions or undo_actions returned";
    let preview_id = arguments.required_text("preview_id").map_err(|mistake| mistake.hint(hint))?;
    let key = arguments.idempotency_key()?;
    let preview_id = check_uuid(preview_id).ok_or_else(|| Mistake::of("preview_id", "Preview not found").hint(hint))?;
    Ok((preview_id, key))
}

/// One transaction, from the look at the key to the commit.
async fn in_turn(planner: &Planner, caller: &Caller, preview_id: Uuid, key: &str, watch: &dyn Watch) -> Result<Applied, Stop> {
    let mut tx = planner.db.begin(caller.workspace).await?;
    let (plan, xp) = match store::begin_apply(&mut tx, caller, preview_id, key).await {
        Ok(Beginning::Replay { replay }) => return Ok(Applied::Answered(ToolAnswer { body: replay, is_error: false })),
        Ok(Beginning::Plan { actions, xp }) => (actions, xp),
        Err(stop) => {
            // Whoever marks it as expired next has to find it free.
            tx.rollback().await?;
            return Err(stop);
        }
    };
    let mut run = BatchRun::new(caller, preview_id, &plan);
    for (index, planned) in plan.iter().enumerate() {
        if watch.is_cancelled() {
            return Ok(Applied::Cancelled);
        }
        failpoint::hit("planner.apply.action");
        if let Err(failure) = run.next_action(&mut tx).await? {
            tx.rollback().await?;
            return Ok(Applied::Answered(answer::failed_apply(&plan, index, &failure.refusal)));
        }
        watch.progress(index + 1, plan.len(), &planned.action);
    }
    let told = told(&run, xp);
    store::finish_apply(&mut tx, caller, preview_id, key, &told.body).await?;
    failpoint::hit("planner.apply.before_commit");
    // The last look: whoever is gone by now gets nothing done, and whoever goes from here on finds it done.
    if watch.is_cancelled() {
        tx.rollback().await?;
        return Ok(Applied::Cancelled);
    }
    tx.commit().await?;
    failpoint::hit("planner.apply.after_commit");
    planner.db.wake().tell(Topic::BUS);
    metrics::counter!("planner_batches_total").increment(1);
    Ok(Applied::Answered(told))
}

fn told(run: &BatchRun<'_>, xp_before: i64) -> ToolAnswer {
    let total = run.plan.len();
    answer::good(&AppliedBody {
        success: true,
        preview_id: run.preview_id.to_string(),
        results: run.plan.iter().zip(&run.done).map(|(planned, outcome)| ActionResult::done(planned, outcome)).collect(),
        summary: Summary { total, successful: total, failed: 0 },
        xp: XpTotal { change: run.xp(), total: xp_before + run.xp() },
    })
}

/// The transaction is gone; what is left is to say why.
async fn refuse(planner: &Planner, caller: &Caller, preview_id: Uuid, refusal: &SqlRefusal) -> Result<ToolAnswer, DbError> {
    if refusal.is_expired() {
        // Outside of what was refused, so that it stays. If it cannot be done now, upkeep will.
        if let Err(error) = expire(planner, caller).await {
            tracing::warn!(%error, "planner.expire");
        }
    }
    if !refusal.is_stale() {
        return Ok(answer::refusal(refusal));
    }
    let mut tx = planner.db.begin(caller.workspace).await?;
    let plan = store::read_plan(&mut tx, caller, preview_id).await?.unwrap_or_default();
    Ok(answer::failed_apply(&plan, place_of_stale(&plan, refusal), refusal))
}

/// All whose time is over, the one that was asked for among them.
async fn expire(planner: &Planner, caller: &Caller) -> Result<(), DbError> {
    loop {
        let mut tx = planner.db.begin(caller.workspace).await?;
        let count = store::expire_previews(&mut *tx, Some(caller.workspace), EXPIRE_MAX).await?;
        tx.commit().await?;
        if count < EXPIRE_MAX {
            return Ok(());
        }
    }
}

/// The first action that names something stale, or through which it was seen: a step by its goal, the steps of a goal by one of them.
fn place_of_stale(plan: &[PlannedAction], refusal: &SqlRefusal) -> usize {
    let stale = refusal.detail.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let named = stale.iter().flat_map(|one| {
        let place = |entity: &str, field: &str, date: Option<&Value>| {
            one.get(field).and_then(Value::as_i64).and_then(|id| plan::place_of(plan, entity, id, date))
        };
        let entity = one.get("entity").and_then(Value::as_str).unwrap_or_default();
        [place(entity, "id", one.get("date")), place("step", "step_id", None), place("goal", "goal_id", None)]
            .into_iter()
            .flatten()
    });
    named.min().unwrap_or_default()
}
