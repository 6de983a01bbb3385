//! The workflows of the specification, each a function from its request to its data. HTTP and the job runner call the same ones.

mod answer;
mod chunk;
mod context;
mod download;
mod embed;
mod errors;
mod extract;
mod fetch;
mod ingest;
mod process;
mod prune;
mod run_jobs;
mod session;
mod transport;
mod url;

pub(crate) use embed::{embed_missing, fill_model, put_model, vector_text};
pub use errors::handle as handle_error;
pub(crate) use extract::takes_up_to;
pub(crate) use ingest::take;
pub(crate) use process::read_facts;
pub(crate) use transport::bot_access;

use std::time::Duration;

use kernel::{Kind, Problem, WorkspaceId};
use platform::DbError;
use serde_json::{Value, json};

use crate::Knowledge;

/// A request to a workflow, for a workspace that the caller may act for.
#[derive(Clone, Debug)]
pub struct Request {
    pub workspace: WorkspaceId,
    /// What stands under `req`.
    pub req: Value,
    pub trace: Option<String>,
    /// Whether nobody tries again after this: then a document that waits ends with its reason.
    pub is_last_attempt: bool,
}

/// The workflows that take `{"req": …}`, by name.
pub const NAMES: [&str; 14] =
    ["WF00c", "WF10", "WF11", "WF20", "WF30", "WF31", "WF32", "WF33", "WF40", "WF41", "WF50", "WF51", "WF60", "WF90"];

/// Runs a workflow and returns its data.
pub async fn run(knowledge: &Knowledge, name: &str, request: Request) -> Result<Value, Problem> {
    match name {
        "WF00c" => context::run(knowledge, request).await,
        "WF10" => ingest::run(knowledge, request).await,
        "WF11" => transport::run(knowledge, request).await,
        "WF30" => url::run(knowledge, request).await,
        "WF31" => fetch::run(knowledge, request).await,
        "WF32" => download::run(knowledge, request).await,
        "WF33" => extract::run(knowledge, request).await,
        "WF41" => embed::run(knowledge, request).await,
        "WF20" => process::run(knowledge, request).await,
        "WF40" => chunk::run(knowledge, request).await,
        "WF50" => session::run(knowledge, request).await,
        "WF51" => answer::run(knowledge, request).await,
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

    /// The `ctx` of WF30, WF31 and WF32: whose the content is. `knowledge.given_audience` judges whether it can be.
    fn ctx(&self) -> Result<Value, Problem> {
        let ctx = &self.req["ctx"];
        let visibility = ctx["visibility"].as_str().filter(|word| matches!(*word, "group" | "dm"));
        let visibility = visibility.ok_or_else(|| Problem::validation("ctx", "`ctx.visibility` is `group` or `dm`"))?;
        let mut given = json!({ "visibility": visibility });
        for field in ["chat_id", "dm_owner_user_id", "message_version_id"] {
            let value = number(&ctx[field]);
            let value = value.ok_or_else(|| Problem::validation("ctx", format!("`ctx.{field}` is a whole number of 64 bits")))?;
            given[field] = json!(value);
        }
        let needed = if visibility == "dm" { "dm_owner_user_id" } else { "chat_id" };
        if given[needed].is_null() {
            return Err(Problem::validation("ctx", format!("`ctx.{needed}` must be there for `{visibility}`")));
        }
        Ok(given)
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

/// Refuses what the policy of the chat does not allow, also to a job that was made before the policy was.
async fn allow(knowledge: &Knowledge, request: &Request, ctx: &Value, policy: &str, words: &str) -> Result<(), Problem> {
    // A private chat has the id of its person, whatever chat the caller names beside it.
    let chat = if ctx["visibility"] == "dm" { &ctx["dm_owner_user_id"] } else { &ctx["chat_id"] };
    let query = "select coalesce((to_jsonb(knowledge.policy_of($1, knowledge.chat_now($1, $2))) ->> $3)::boolean, false)";
    let query = sqlx::query_scalar(query).bind(request.workspace.uuid()).bind(chat.as_i64()).bind(policy);
    let is_allowed: bool = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
    if is_allowed { Ok(()) } else { Err(Problem::new(403, Kind::Auth, "knowledge.policy", words)) }
}

/// Another worker is at it: come again soon.
fn busy(words: &str) -> Problem {
    let mut problem = Problem::new(409, Kind::Unavailable, "knowledge.busy", format!("{words} by another worker; come again"));
    problem.retryable = true;
    problem.retry_after = Some(Duration::from_secs(3));
    problem
}

/// What the functions of the database refuse, in the words of the contracts.
fn refused(error: DbError) -> Problem {
    if error.is_refusal("ZK003") {
        Problem::not_found("document, file or page")
    } else if error.is_refusal("ZK004") {
        let words = "this chat is not registered, or this person is not on the allowlist";
        Problem::new(404, Kind::NotFound, "knowledge.chat_not_registered", words)
    } else {
        error.into()
    }
}
