//! `preview_actions`: a batch is checked, tried, and taken back; what it would do is kept for five minutes.
//!
//! The trial is the real thing inside a savepoint, so that a preview promises what an apply does, and not what somebody wrote about it
//! a second time.

use platform::{DbError, wake::Topic};
use serde_json::{Map, Value, json};
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::{
    Caller, Planner, ToolAnswer,
    answer::{self, Previewed, WouldFail, XpEffect},
    plan,
    run::{ActionFailure, BatchRun},
    texts,
};
use crate::{
    model::{self, PlannedAction},
    store::{self, Opening},
};

pub(super) async fn preview(planner: &Planner, caller: &Caller, arguments: &Map<String, Value>) -> Result<ToolAnswer, DbError> {
    let mut batch = match model::parse_batch(arguments) {
        Ok(batch) => batch,
        Err(mistake) => return Ok(answer::mistake(&mistake)),
    };
    let make = async {
        let mut tx = planner.db.begin(caller.workspace).await?;
        let opening = store::begin_preview(&mut tx, caller).await?;
        if let Err(mistake) = plan::fill_dates(&mut batch, &opening.today) {
            return Ok(answer::mistake(&mistake));
        }
        let draft = Draft { opening, looks: plan::looks(&batch), plan: batch, undoes: None };
        let answer = draft.try_and_keep(&mut tx, caller).await?;
        if !answer.is_error {
            tx.commit().await?;
            planner.db.wake().tell(Topic::BUS);
        }
        Ok(answer)
    };
    planner.turns.take(caller.person).await.during(make).await
}

/// A preview that is being made, in the turn of its person.
pub(super) struct Draft {
    pub(super) opening: Opening,
    pub(super) plan: Vec<PlannedAction>,
    pub(super) looks: Value,
    pub(super) undoes: Option<Uuid>,
}

impl Draft {
    /// Tries the plan, and keeps it unless it is refused. The caller commits.
    pub(super) async fn try_and_keep(self, tx: &mut PgConnection, caller: &Caller) -> Result<ToolAnswer, DbError> {
        let seen = store::look_at(tx, caller, &self.looks).await?;
        let mut run = BatchRun::new(caller, self.opening.preview_id, &self.plan);
        let failure = try_out(&mut run, tx).await?;
        let failure = match failure {
            Some(failure) if !failure.is_own_doing => {
                return Ok(answer::refused_action(&self.plan, run.done.len(), &failure.refusal));
            }
            failure => failure,
        };
        let (answer, xp) = self.told(&run, failure.as_ref());
        let kept = json!({
            "preview_id": self.opening.preview_id,
            "expires_at": self.opening.expires_at,
            "undoes": self.undoes,
            "actions": self.plan,
            "seen": seen,
            "body": answer.body,
            "xp": xp,
            "would_fail": failure.map(|failure| failure.refusal.message),
        });
        store::save_preview(tx, caller, &kept).await?;
        Ok(answer)
    }

    /// The answer, and the XP that the batch would give. One that would fail gives none.
    fn told(&self, run: &BatchRun<'_>, failure: Option<&ActionFailure>) -> (ToolAnswer, i64) {
        let error = failure.map(|failure| failure.refusal.message.as_str());
        let actions = texts::actions(run, error);
        let change = if failure.is_some() { 0 } else { run.xp() };
        let xp = XpEffect { before: self.opening.xp, change, after: self.opening.xp + change };
        let would_fail = error.zip(self.plan.get(run.done.len())).map(|(error, planned)| WouldFail {
            action: &planned.action,
            client_action_id: planned.client_action_id.as_deref(),
            index: run.done.len(),
            error,
        });
        let answer = answer::good(&Previewed {
            success: true,
            preview_id: self.opening.preview_id.to_string(),
            expires_at: &self.opening.expires_at,
            diff: texts::diff(&actions, &xp),
            actions,
            xp,
            would_fail,
        });
        (answer, change)
    }
}

/// Carries the plan out and takes it back; the failure that ended it, if one did.
async fn try_out(run: &mut BatchRun<'_>, tx: &mut PgConnection) -> Result<Option<ActionFailure>, DbError> {
    let mut trial = tx.begin().await?;
    let mut failure = None;
    while failure.is_none() && run.done.len() < run.plan.len() {
        failure = run.next_action(&mut trial).await?.err();
    }
    trial.rollback().await?;
    Ok(failure)
}
