//! The workflows of the specification, each a function from its request to its data. HTTP and the job runner call the same ones.

mod chunk;
mod context;
mod errors;
mod ingest;
mod process;
mod prune;
mod run_jobs;

pub use errors::handle as handle_error;
pub(crate) use ingest::take;

use kernel::{Problem, WorkspaceId};
use serde_json::Value;

use crate::Knowledge;

/// A request to a workflow, for a workspace that the caller may act for.
#[derive(Clone, Debug)]
pub struct Request {
    pub workspace: WorkspaceId,
    /// What stands under `req`.
    pub req: Value,
    pub trace: Option<String>,
}

/// The workflows that take `{"req": …}`, by name.
pub const NAMES: [&str; 6] = ["WF00c", "WF10", "WF20", "WF40", "WF60", "WF90"];

/// Runs a workflow and returns its data.
pub async fn run(knowledge: &Knowledge, name: &str, request: Request) -> Result<Value, Problem> {
    match name {
        "WF00c" => context::run(knowledge, request).await,
        "WF10" => ingest::run(knowledge, request).await,
        "WF20" => process::run(knowledge, request).await,
        "WF40" => chunk::run(knowledge, request).await,
        "WF60" => prune::run(knowledge, request).await,
        "WF90" => run_jobs::run(knowledge, request).await,
        _ => Err(Problem::not_found("workflow")),
    }
}

impl Request {
    /// A number that must be there. Telegram's ids have 64 bits, so a text of digits is a number too.
    fn number(&self, field: &str) -> Result<i64, Problem> {
        self.optional_number(field)?.ok_or_else(|| Problem::validation(field, format!("`{field}` is missing")))
    }

    fn optional_number(&self, field: &str) -> Result<Option<i64>, Problem> {
        number(&self.req[field]).ok_or_else(|| Problem::validation(field, format!("`{field}` is a whole number of 64 bits")))
    }

    fn text(&self, field: &str) -> Result<&str, Problem> {
        self.req[field].as_str().ok_or_else(|| Problem::validation(field, format!("`{field}` is a text and must be there")))
    }

    fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }
}

/// Nothing at all if it is not a number; nothing inside if it is null or missing.
#[expect(clippy::option_option, reason = "a wrong value and an absent one are different things")]
pub(crate) fn number(value: &Value) -> Option<Option<i64>> {
    match value {
        Value::Null => Some(None),
        Value::Number(number) => number.as_i64().map(Some),
        Value::String(text) => text.parse().ok().map(Some),
        _ => None,
    }
}
