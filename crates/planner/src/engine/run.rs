//! Actions carried out one after another, in one transaction: for a preview, which takes them back, and for an apply, which does not.

use std::collections::BTreeSet;

use platform::DbError;
use serde_json::{Map, Value};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Caller;
use crate::{
    error::{SqlRefusal, Stop},
    model::{
        PlannedAction, References,
        spec::{self, EntityKind},
    },
    store::{self, ActionOutcome},
};

/// A batch on its way.
pub(super) struct BatchRun<'a> {
    pub(super) caller: &'a Caller,
    pub(super) preview_id: Uuid,
    pub(super) plan: &'a [PlannedAction],
    pub(super) done: Vec<ActionOutcome>,
    pub(super) references: References,
    touched: BTreeSet<Touched>,
}

/// What an action changed: the entity, its id, and of a mark the day.
type Touched = (String, i64, Option<String>);

/// The action that could not be done, which is the one after those that were.
pub(super) struct ActionFailure {
    pub(super) refusal: SqlRefusal,
    /// An earlier action of the same batch made, ended or deleted what it names.
    pub(super) is_own_doing: bool,
}

impl<'a> BatchRun<'a> {
    pub(super) fn new(caller: &'a Caller, preview_id: Uuid, plan: &'a [PlannedAction]) -> Self {
        let (references, touched) = (References::default(), BTreeSet::new());
        Self { caller, preview_id, plan, done: Vec::new(), references, touched }
    }

    /// Carries out the next action. After a failure the transaction, or its savepoint, is good for nothing but going back.
    pub(super) async fn next_action(&mut self, tx: &mut PgConnection) -> Result<Result<(), ActionFailure>, DbError> {
        let index = self.done.len();
        let planned = &self.plan[index];
        let params = self.references.resolve(planned);
        match store::run_action(tx, self.caller, self.preview_id, index, &planned.action, &params).await {
            Ok(outcome) => {
                self.remember(planned, outcome);
                Ok(Ok(()))
            }
            Err(Stop::Refused(refusal)) => Ok(Err(ActionFailure { is_own_doing: self.is_touched(planned, &params), refusal })),
            Err(Stop::Db(error)) => Err(error),
        }
    }

    /// What the batch has done to the total so far.
    pub(super) fn xp(&self) -> i64 {
        self.done.iter().map(|outcome| outcome.xp).sum()
    }

    fn remember(&mut self, planned: &PlannedAction, outcome: ActionOutcome) {
        if let Some(kind) = spec::find(&planned.action).and_then(|spec| spec.creates) {
            self.references.created(kind, outcome.id, planned.client_action_id.as_deref());
        }
        // Whether something is there and completed is what a later action can fail by; what it is called and where it stands is not.
        let is_about_state = spec::find(&planned.action).is_none_or(|spec| !spec.is_update && spec.name != "step.reorder");
        if is_about_state {
            for changed in std::iter::once(&outcome).chain(&outcome.also) {
                self.touched.insert((changed.entity.clone(), changed.id, day_of(changed)));
            }
        }
        self.done.push(outcome);
    }

    fn is_touched(&self, planned: &PlannedAction, params: &Map<String, Value>) -> bool {
        let Some((param, kind)) = spec::find(&planned.action).and_then(spec::ActionSpec::names) else { return false };
        let Some(id) = params.get(param.name).and_then(Value::as_i64) else { return false };
        let entity = kind.as_str().to_owned();
        let day = params.get("date").and_then(Value::as_str).map(ToOwned::to_owned);
        let is_marked = kind == EntityKind::Habit && day.is_some() && self.touched.contains(&(entity.clone(), id, day));
        is_marked || self.touched.contains(&(entity, id, None))
    }
}

/// The day of a mark; marks alone have one.
fn day_of(outcome: &ActionOutcome) -> Option<String> {
    outcome.after.as_ref().and_then(|after| after.get("date")).and_then(Value::as_str).map(ToOwned::to_owned)
}
