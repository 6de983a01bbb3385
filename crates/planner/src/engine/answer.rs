//! Answers as they are written: the fields in this order, what is absent left out.

use std::cmp::Ordering;

use kernel::Scope;
use platform::assistant::{McpAnswer, McpRefusal};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Caller, ToolAnswer};
use crate::{
    error::SqlRefusal,
    model::{
        FailedAction, Mistake, PlannedAction,
        spec::{self, ActionSpec},
    },
    store::ActionOutcome,
};

/// What a preview tells.
#[derive(Serialize)]
pub(super) struct Previewed<'a> {
    pub(super) success: bool,
    pub(super) preview_id: String,
    pub(super) expires_at: &'a str,
    pub(super) actions: Vec<PreviewedAction<'a>>,
    pub(super) diff: String,
    pub(super) xp: XpEffect,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_fail: Option<WouldFail<'a>>,
}

#[derive(Serialize)]
pub(super) struct PreviewedAction<'a> {
    pub(super) action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client_action_id: Option<&'a str>,
    pub(super) entity: &'a str,
    /// A number; a reference, or null, for what does not exist yet.
    pub(super) id: Value,
    pub(super) summary: String,
    pub(super) changes: Vec<Change>,
    pub(super) xp: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Change {
    pub(super) field: &'static str,
    pub(super) before: Value,
    pub(super) after: Value,
}

#[derive(Serialize)]
pub(super) struct XpEffect {
    pub(super) before: i64,
    pub(super) change: i64,
    pub(super) after: i64,
}

#[derive(Serialize)]
pub(super) struct WouldFail<'a> {
    pub(super) action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client_action_id: Option<&'a str>,
    pub(super) index: usize,
    pub(super) error: &'a str,
}

/// What an apply tells.
#[derive(Serialize)]
pub(super) struct AppliedBody<'a> {
    pub(super) success: bool,
    pub(super) preview_id: String,
    pub(super) results: Vec<ActionResult<'a>>,
    pub(super) summary: Summary,
    pub(super) xp: XpTotal,
}

/// What became of one action.
#[derive(Default, Serialize)]
pub(super) struct ActionResult<'a> {
    action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_action_id: Option<&'a str>,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xp: Option<i64>,
    /// Always true where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    rollback: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_reached: Option<bool>,
}

impl<'a> ActionResult<'a> {
    fn of(planned: &'a PlannedAction) -> Self {
        Self { action: &planned.action, client_action_id: planned.client_action_id.as_deref(), ..Self::default() }
    }

    pub(super) fn done(planned: &'a PlannedAction, outcome: &ActionOutcome) -> Self {
        let is_create = planned.action.ends_with(".create") && !planned.action.contains(' ');
        let created_id = (is_create && outcome.created).then_some(outcome.id);
        Self { success: true, created_id, xp: Some(outcome.xp).filter(|xp| *xp != 0), ..Self::of(planned) }
    }
}

/// Nothing of a failed batch is left, so nothing of it is successful.
#[derive(Serialize)]
pub(super) struct Summary {
    pub(super) total: usize,
    pub(super) successful: usize,
    pub(super) failed: usize,
}

#[derive(Serialize)]
pub(super) struct XpTotal {
    pub(super) change: i64,
    pub(super) total: i64,
}

/// What a refusal tells.
#[derive(Default, Serialize)]
struct Refused<'a> {
    success: bool,
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_action: Option<FailedAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ActionResult<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prevented_by: Option<&'a Value>,
}

/// What a read tells: `success` before what was read.
#[derive(Serialize)]
struct Read {
    success: bool,
    #[serde(flatten)]
    found: Map<String, Value>,
}

pub(super) fn good(body: &impl Serialize) -> ToolAnswer {
    ToolAnswer { body: written(body), is_error: false }
}

pub(super) fn read(found: Map<String, Value>) -> ToolAnswer {
    good(&Read { success: true, found })
}

fn bad(body: &Refused<'_>) -> ToolAnswer {
    ToolAnswer { body: written(body), is_error: true }
}

fn written(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("answers are plain structures with names for keys")
}

/// The refusal of a token that may not do this; nothing when it may.
pub(super) fn lacks(caller: &Caller, scope: Scope) -> Option<ToolAnswer> {
    let problem = caller.scopes.require(scope).err()?;
    let hint = format!("ask the person for a token with the scope `{scope}`");
    Some(bad(&Refused { error: &problem.message, hint: Some(&hint), ..Refused::default() }))
}

/// What a tool of another module says, and what may be kept of it.
pub(super) fn of_tool(answered: Result<McpAnswer, McpRefusal>) -> (ToolAnswer, Option<Value>) {
    match answered {
        Ok(McpAnswer { mut fields, logged }) => {
            fields.insert("success".to_owned(), true.into());
            (ToolAnswer { body: written(&fields), is_error: false }, Some(logged))
        }
        Err(McpRefusal { error, hint }) => (bad(&Refused { error: &error, hint: Some(&hint), ..Refused::default() }), None),
    }
}

pub(super) fn mistake(mistake: &Mistake) -> ToolAnswer {
    let failed_action = mistake.at.as_deref().cloned();
    bad(&Refused { error: &mistake.error, failed_action, hint: mistake.hint.as_deref(), ..Refused::default() })
}

/// A refusal that is about no action.
pub(super) fn refusal(refusal: &SqlRefusal) -> ToolAnswer {
    let stale = refusal.detail.as_ref().filter(|_| refusal.is_stale());
    let prevented_by = refusal.detail.as_ref().filter(|_| refusal.is_prevented());
    bad(&Refused { error: &refusal.message, hint: refusal.hint.as_deref(), stale, prevented_by, ..Refused::default() })
}

/// A preview that is refused, because an action cannot be done.
pub(super) fn refused_action(plan: &[PlannedAction], index: usize, refusal: &SqlRefusal) -> ToolAnswer {
    let failed_action = plan.get(index).map(|planned| failed_action(planned, index, refusal));
    bad(&Refused { error: &refusal.message, failed_action, hint: refusal.hint.as_deref(), ..Refused::default() })
}

/// An apply that came to nothing: of each action, what became of it. Those before `index` were done and taken back; of a stale preview none
/// was.
pub(super) fn failed_apply(plan: &[PlannedAction], index: usize, refusal: &SqlRefusal) -> ToolAnswer {
    let results = plan.iter().enumerate().map(|(at, planned)| match at.cmp(&index) {
        Ordering::Less if refusal.is_stale() => ActionResult { not_reached: Some(true), ..ActionResult::of(planned) },
        Ordering::Less => ActionResult { success: true, rollback: Some(true), ..ActionResult::of(planned) },
        Ordering::Equal => ActionResult { error: Some(&refusal.message), ..ActionResult::of(planned) },
        Ordering::Greater => ActionResult { not_reached: Some(true), ..ActionResult::of(planned) },
    });
    bad(&Refused {
        error: &refusal.message,
        failed_action: plan.get(index).map(|planned| failed_action(planned, index, refusal)),
        hint: refusal.hint.as_deref(),
        results: Some(results.collect()),
        summary: Some(Summary { total: plan.len(), successful: 0, failed: 1 }),
        stale: refusal.detail.as_ref().filter(|_| refusal.is_stale()),
        ..Refused::default()
    })
}

fn failed_action(planned: &PlannedAction, index: usize, refusal: &SqlRefusal) -> FailedAction {
    // What is not there was named by its id.
    let named = spec::find(&planned.action).and_then(ActionSpec::names);
    let field = named.filter(|_| refusal.message.ends_with("not found")).map(|(param, _)| param.name.to_owned());
    FailedAction { action: planned.action.clone(), client_action_id: planned.client_action_id.clone(), index, field }
}
