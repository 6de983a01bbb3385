//! `POST /api/workflows/{name}`: the contract's input in, its envelope out, and its `status_code` as the status.

use std::time::Duration;

use axum::{
    Extension,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use kernel::{Correlation, Envelope, EnvelopeMeta, Kind, Problem, TraceId, WorkspaceId, new_id, redact};
use platform::http::{Ctx, Failure, Json, Path, take_up_to};
use serde_json::{Value, json};
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    Knowledge, scopes,
    workflows::{self, NAMES, Request, number},
};

/// Run a workflow of knowledge.
#[utoipa::path(post, path = "/api/workflows/{name}", request_body = Object,
    params(("name" = String, Path, description = "WF00c, WF10, WF20, …")),
    responses((status = 200, description = "the workflow's envelope"), (status = 403), (status = 404), (status = 422)))]
pub(super) async fn run_workflow(
    ctx: Ctx,
    Extension(knowledge): Extension<Knowledge>,
    Path(name): Path<String>,
    body: Result<Json<Value>, Failure>,
) -> Response {
    let workspace = ctx.principal.workspace_id;
    let is_handler = name == "WF99";
    let body = body.map(|Json(body)| body).map_err(|Failure(problem)| problem);
    let mut input = body.as_ref().map_or(Value::Null, |body| if is_handler { &body["ctx"] } else { &body["req"] }.clone());
    let meta = meta(&redact::snippet(&name, NAME_CHARS_MAX), &input, &ctx.trace_id, workspace);
    let done = match judge(&ctx, &name, body, &input) {
        Err(problem) => Err(problem),
        Ok(body) if is_handler => Err(workflows::handle_error(&knowledge, workspace, &body).await),
        Ok(_) => {
            let trace = meta.correlation.trace_id.as_ref().map(ToString::to_string);
            input["correlation_id"] = json!(meta.correlation.correlation_id);
            run_to_the_end(knowledge, name, Request { workspace, req: input, trace, is_last_attempt: false }).await
        }
    };
    respond(done, meta)
}

/// Everything that is refused before a workflow runs; the body that may be worked on.
fn judge(ctx: &Ctx, name: &str, body: Result<Value, Problem>, input: &Value) -> Result<Value, Problem> {
    ctx.require(scopes::RUN)?;
    if name == "WF51" {
        // It tells what any person of the workspace may see.
        ctx.require(scopes::SEARCH)?;
    }
    if name != "WF99" && !NAMES.contains(&name) {
        return Err(Problem::not_found("workflow"));
    }
    let body = body?;
    of_workspace(input, ctx.principal.workspace_id)?;
    let correlation = &input["correlation_id"];
    if !correlation.is_null() && correlation.as_str().is_none_or(|text| text.parse::<Uuid>().is_err()) {
        return Err(Problem::validation("correlation_id", "`correlation_id` is a UUID, or is left out"));
    }
    Ok(body)
}

/// A name that is no workflow's comes back in the envelope.
const NAME_CHARS_MAX: usize = 50;

/// A document may take as long as its job may; a caller that waits no longer finds the work done all the same.
const TAKES_UP_TO: Duration = Duration::from_mins(30);

/// Runs on a task of its own: what was begun is not cut off in the middle when the caller goes away.
async fn run_to_the_end(knowledge: Knowledge, name: String, request: Request) -> Result<Value, Problem> {
    take_up_to(TAKES_UP_TO);
    let work = async move { workflows::run(&knowledge, &name, request).await };
    match tokio::spawn(work.in_current_span()).await {
        Ok(done) => done,
        Err(error) => {
            tracing::error!(%error, "knowledge.workflow_panicked");
            Err(Problem::internal())
        }
    }
}

/// A workspace that is not the token's does not exist for its holder.
fn of_workspace(input: &Value, workspace: WorkspaceId) -> Result<(), Problem> {
    if !input.is_object() {
        return Err(Problem::validation("req", "the body is {\"req\": {…}}, or {\"ctx\": {…}, …} for WF99"));
    }
    let tenant = input["tenant_id"].as_str().and_then(|text| text.parse::<Uuid>().ok());
    let tenant = tenant.ok_or_else(|| Problem::validation("tenant_id", "`tenant_id` is a UUID and must be there"))?;
    if tenant == workspace.uuid() { Ok(()) } else { Err(Problem::not_found("tenant")) }
}

pub(crate) fn meta(name: &str, input: &Value, trace: &TraceId, workspace: WorkspaceId) -> EnvelopeMeta {
    let ctx = &input["ctx"];
    let given = |field: &str| number(&input[field]).flatten().or_else(|| number(&ctx[field]).flatten());
    let correlation_id = input["correlation_id"].as_str().or(ctx["correlation_id"].as_str());
    let words = |field: &str| input[field].as_str().map(ToOwned::to_owned);
    EnvelopeMeta {
        source: name.to_owned(),
        ts: jiff::Timestamp::now(),
        correlation: Correlation {
            correlation_id: correlation_id.and_then(|text| text.parse().ok()).unwrap_or_else(new_id),
            trace_id: Some(input["trace_id"].as_str().and_then(TraceId::parse).unwrap_or_else(|| trace.clone())),
            tenant_id: Some(workspace),
            chat_id: given("chat_id"),
            message_id: given("message_id"),
            workflow: words("workflow").or_else(|| Some(name.to_owned())),
            node: words("node"),
        },
    }
}

/// The contract knows five kinds of error; what a kind of ours adds is in `details.code`.
fn contract_kind(kind: Kind) -> Kind {
    match kind {
        Kind::Db | Kind::Upstream | Kind::Auth | Kind::RateLimit | Kind::Unknown => kind,
        Kind::Timeout | Kind::Unavailable => Kind::Upstream,
        Kind::Validation | Kind::NotFound | Kind::Conflict | Kind::TooLarge => Kind::Unknown,
    }
}

pub(crate) fn respond(done: Result<Value, Problem>, mut meta: EnvelopeMeta) -> Response {
    let mut retry_after = None;
    let envelope = match done {
        Ok(data) => {
            let correlation = &mut meta.correlation;
            correlation.chat_id = correlation.chat_id.or_else(|| data["chat_id"].as_i64());
            correlation.message_id = correlation.message_id.or_else(|| data["message_id"].as_i64());
            Envelope::success(200, data, meta)
        }
        Err(mut problem) => {
            problem.kind = contract_kind(problem.kind);
            retry_after = problem.retry_after;
            Envelope::failure(problem, meta)
        }
    };
    let status = StatusCode::from_u16(envelope.status_code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(envelope)).into_response();
    if let Some(after) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs().max(1)));
    }
    response
}
