//! `undo_actions`: a preview that exactly reverses an applied batch, XP included. It is applied as any other, and can be undone in turn.

use platform::{DbError, wake::Topic};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Caller, Planner, ToolAnswer, answer, preview::Draft};
use crate::{
    error::Stop,
    model::{Arguments, Mistake, check_uuid},
    store,
};

const TOOL: &str = "undo_actions";

pub(super) async fn undo(planner: &Planner, caller: &Caller, arguments: &Map<String, Value>) -> Result<ToolAnswer, DbError> {
    let undoes = match check(arguments) {
        Ok(undoes) => undoes,
        Err(mistake) => return Ok(answer::mistake(&mistake)),
    };
    let make = async {
        let mut tx = planner.db.begin(caller.workspace).await?;
        let opening = store::begin_preview(&mut tx, caller).await?;
        let plan = match store::plan_undo(&mut tx, caller, undoes).await {
            Ok(plan) => plan,
            Err(Stop::Refused(refusal)) => return Ok(answer::refusal(&refusal)),
            Err(Stop::Db(error)) => return Err(error),
        };
        let draft = Draft { opening, looks: plan.looks, plan: plan.actions, undoes: Some(undoes) };
        let answer = draft.try_and_keep(&mut tx, caller).await?;
        if !answer.is_error {
            tx.commit().await?;
            planner.db.wake().tell(Topic::BUS);
        }
        Ok(answer)
    };
    planner.turns.take(caller.person).await.during(make).await
}

fn check(arguments: &Map<String, Value>) -> Result<Uuid, Mistake> {
    let arguments = Arguments::check(TOOL, &["preview_id"], arguments)?;
    let hint = "give the preview_id of what was applied; get_history has them";
    let preview_id = arguments.required_text("preview_id").map_err(|mistake| mistake.hint(hint))?;
    check_uuid(preview_id).ok_or_else(|| Mistake::of("preview_id", "Preview not found").hint(hint))
}
