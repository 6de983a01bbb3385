//! The engine: what tools do, without the protocol around them. Every refusal by the rules is an [`ToolAnswer`] with `is_error`; an error of
//! the database is an error, and says whether the same call may be made again.

mod answer;
mod apply;
mod plan;
mod preview;
mod reads;
mod run;
mod texts;
mod undo;

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kernel::{Problem, Scopes, TraceId, WorkspaceId};
use platform::{
    Db, DbError,
    assistant::{McpCall, McpTool},
    tokens::Principal,
};
use serde_json::{Map, Value};
use uuid::Uuid;

pub use reads::ReadTool;

use crate::{calls::Calls, scopes, store, turns::Turns};

/// How long the answer of an apply is kept for retries with its key (`BERESTA_PLANNER_RESULTS_HOURS`).
pub const RESULTS_KEPT: Duration = Duration::from_hours(7 * 24);
/// A client that lost its answer may come back a day later.
pub const RESULTS_KEPT_MIN: Duration = Duration::from_hours(24);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    pub results_kept: Duration,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self { results_kept: RESULTS_KEPT }
    }
}

/// Who calls: one person of one workspace, and what the token allows.
#[derive(Clone, Debug)]
pub struct Caller {
    pub workspace: WorkspaceId,
    pub person: i64,
    /// The same by the name that the token has.
    pub person_name: String,
    pub token_id: Uuid,
    pub scopes: Scopes,
    pub trace_id: TraceId,
}

/// What a tool answers: one JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// JSON, and for a repeated apply the same bytes as the first time.
    pub body: String,
    pub is_error: bool,
}

/// How an apply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    Answered(ToolAnswer),
    /// The client went away before the commit: nothing was done.
    Cancelled,
}

/// Who waits for an apply. Neither may block.
pub trait Watch: Send + Sync {
    fn progress(&self, done: usize, total: usize, message: &str);
    fn is_cancelled(&self) -> bool;
    /// Completes when the one who waits has gone away.
    fn cancelled(&self) -> BoxFuture<'_, ()>;
}

/// Nobody watches, and nobody goes away.
impl Watch for () {
    fn progress(&self, _done: usize, _total: usize, _message: &str) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

#[derive(Clone, Debug)]
pub struct Planner {
    db: Db,
    turns: Arc<Turns>,
    calls: Arc<Calls>,
    tools: Arc<[McpTool]>,
}

impl Planner {
    pub fn new(db: Db) -> Self {
        Self { db, turns: Arc::default(), calls: Arc::default(), tools: Arc::default() }
    }

    /// The same with the tools that other modules bring.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<McpTool>) -> Self {
        self.tools = tools.into();
        self
    }

    pub(crate) fn tools(&self) -> &[McpTool] {
        &self.tools
    }

    pub fn db(&self) -> &Db {
        &self.db
    }

    pub(crate) fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// Waits until calls that are under way have come to their end. Called after the word to stop, and before the database is let go.
    pub async fn ended(&self) {
        self.calls.ended().await;
    }

    /// The person that a token names; 403 when it names none.
    pub async fn caller(&self, principal: &Principal, trace_id: TraceId) -> Result<Caller, Problem> {
        let name = principal.person.as_deref().ok_or_else(|| {
            let message =
                "this token names no person, and goals belong to one; create one with `beresta token create --person NAME`";
            Problem::forbidden(message)
        })?;
        let workspace = principal.workspace_id;
        let (db, person_name) = (self.db.clone(), name.to_owned());
        let name = person_name.clone();
        let find = async move {
            let mut tx = db.begin(workspace).await?;
            let person = store::find_person(&mut tx, workspace, &name).await?;
            tx.commit().await?;
            Ok(person)
        };
        let person = self.db.at_the_door(find).await?;
        let (token_id, scopes) = (principal.token_id, principal.scopes.clone());
        Ok(Caller { workspace, person, person_name, token_id, scopes, trace_id })
    }

    /// `preview_actions`: checks a batch, tries it, takes it back, and keeps what it would do for five minutes.
    pub async fn preview(&self, caller: &Caller, arguments: &Map<String, Value>) -> Result<ToolAnswer, DbError> {
        match answer::lacks(caller, scopes::WRITE) {
            Some(refused) => Ok(refused),
            None => preview::preview(self, caller, arguments).await,
        }
    }

    /// `apply_actions`: carries a preview out in one transaction, once for its key.
    pub async fn apply(&self, caller: &Caller, arguments: &Map<String, Value>, watch: &dyn Watch) -> Result<Applied, DbError> {
        match answer::lacks(caller, scopes::WRITE) {
            Some(refused) => Ok(Applied::Answered(refused)),
            None => apply::apply(self, caller, arguments, watch).await,
        }
    }

    /// `undo_actions`: a preview that exactly reverses an applied batch, or what stands in its way.
    pub async fn undo(&self, caller: &Caller, arguments: &Map<String, Value>) -> Result<ToolAnswer, DbError> {
        match answer::lacks(caller, scopes::WRITE) {
            Some(refused) => Ok(refused),
            None => undo::undo(self, caller, arguments).await,
        }
    }

    /// The tools that only read.
    pub async fn read(&self, caller: &Caller, tool: ReadTool, arguments: &Map<String, Value>) -> Result<ToolAnswer, DbError> {
        match answer::lacks(caller, scopes::READ) {
            Some(refused) => Ok(refused),
            None => reads::read(self, caller, tool, arguments).await,
        }
    }

    /// `set_time_zone`: where the person's day begins.
    pub async fn set_time_zone(&self, caller: &Caller, arguments: &Map<String, Value>) -> Result<ToolAnswer, DbError> {
        match answer::lacks(caller, scopes::WRITE) {
            Some(refused) => Ok(refused),
            None => reads::set_time_zone(self, caller, arguments).await,
        }
    }

    /// A tool of another module. Returns its answer, and what the request log keeps of it.
    pub(crate) async fn call_tool(
        &self,
        caller: &Caller,
        tool: &McpTool,
        arguments: &Map<String, Value>,
    ) -> (ToolAnswer, Option<Value>) {
        match answer::lacks(caller, tool.scope) {
            Some(refused) => (refused, None),
            None => answer::of_tool(
                tool.call(McpCall {
                    workspace: caller.workspace,
                    person: caller.person_name.clone(),
                    trace_id: caller.trace_id.clone(),
                    arguments: arguments.clone(),
                })
                .await,
            ),
        }
    }
}
