//! The handler of MCP requests: the same for every transport and both eras of the protocol.

use std::panic::AssertUnwindSafe;

use axum::http::request::Parts;
use futures::FutureExt;
use kernel::{Problem, Secret, TraceId};
use platform::{assistant::McpTool, tokens};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, Implementation, JsonObject, ListResourceTemplatesResult,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;
use tracing::Instrument;

use super::{
    resources,
    result::{TOO_MANY, cancelled, error_of, failure, into_result, refuse, too_many, trouble},
    tools::{self, ToolCall},
    watch,
};
use crate::{
    engine::{Applied, Caller, Planner, ToolAnswer},
    log::LoggedCall,
    scopes,
};

/// For so long a client may keep the lists of tools and resources, which only a new version changes.
const LISTS_FRESH_MS: u64 = 5 * 60 * 1000;

const INSTRUCTIONS: &str = "\
Goals, steps and habits of one person, with XP. Read with the list_ and get_ tools or the planner:// resources. Change in two calls: \
preview_actions checks a list of up to 50 actions and says what would change, without changing anything; apply_actions carries out a preview \
as a whole, all or nothing, strictly in the order of the list. A preview lives 5 minutes. Show the person the diff of the preview before \
you apply it. Choose a new random idempotency_key for each preview that you apply, and repeat it if you are not sure that the call came \
through: nothing is done twice. undo_actions makes a preview that reverses an applied one. A refusal has `error` and often a `hint` that says how \
to correct the call.";

#[derive(Clone)]
pub struct McpHandler {
    planner: Planner,
    who: Who,
}

/// Who calls.
#[derive(Clone)]
enum Who {
    /// Whom the door has let in: it comes with each request.
    Request,
    /// The holder of this token, who is asked for it anew at each call, so that a revoked one is over at once.
    Token(Secret),
}

impl McpHandler {
    /// For requests that carry their caller.
    pub(super) fn new(planner: Planner) -> Self {
        Self { planner, who: Who::Request }
    }

    /// For a connection that belongs to one token.
    pub fn with_token(planner: Planner, token: Secret) -> Self {
        Self { planner, who: Who::Token(token) }
    }

    /// Who sent this request.
    async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, Problem> {
        match &self.who {
            Who::Request => {
                let parts = context.extensions.get::<Parts>();
                let caller = parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned();
                caller.ok_or_else(Problem::internal)
            }
            Who::Token(token) => self.holder(token).await,
        }
    }

    /// The person whom a token names.
    pub(super) async fn holder(&self, token: &Secret) -> Result<Caller, Problem> {
        let principal = tokens::authenticate_at_the_door(self.planner.db(), token).await?;
        let principal =
            principal.ok_or_else(|| Problem::unauthorized("this token is not known, or it was revoked or has expired"))?;
        self.planner.caller(&principal, TraceId::new()).await
    }

    /// One call of a tool, from its row in the request log to the row of its answer.
    async fn answer(
        &self,
        name: &str,
        arguments: &JsonObject,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(place) = self.planner.calls().begin(caller.person) else { return Ok(into_result(too_many()).into()) };
        let of_module = self.of_module(name);
        let kept = of_module.map(|tool| tool.logged_arguments(arguments));
        let entry = match LoggedCall::open(self.planner.db(), caller, place, name, kept.as_ref().unwrap_or(arguments)).await {
            Ok(entry) => entry,
            // What cannot be logged is not done: nothing happens that nobody can look up.
            Err(error) => return Ok(into_result(failure(error)).into()),
        };
        if let Some(tool) = of_module {
            let (answer, logged) = self.run_of_module(tool, arguments, caller).await;
            let error = error_of(&answer);
            let result = into_result(answer);
            let logged = logged.or_else(|| result.structured_content.clone()).unwrap_or_default();
            entry.close(logged, error.as_deref()).await;
            return Ok(result.into());
        }
        let Some(tool) = tools::find(name) else {
            let words = tools::unknown(name, self.planner.tools());
            entry.close(serde_json::json!({ "message": words }), Some(&words)).await;
            return Err(ErrorData::invalid_params(words, None));
        };
        let answer = self.run(tool.call, arguments, caller, context).await;
        let error = error_of(&answer);
        let result = into_result(answer);
        entry.close(result.structured_content.clone().unwrap_or_default(), error.as_deref()).await;
        Ok(result.into())
    }

    /// A tool that another module brings.
    fn of_module(&self, name: &str) -> Option<&McpTool> {
        self.planner.tools().iter().find(|tool| tool.name == name)
    }

    async fn run_of_module(&self, tool: &McpTool, arguments: &JsonObject, caller: &Caller) -> (ToolAnswer, Option<Value>) {
        let answered = AssertUnwindSafe(Box::pin(self.planner.call_tool(caller, tool, arguments))).catch_unwind().await;
        answered.unwrap_or_else(|_panic| {
            tracing::error!("mcp.panic");
            (refuse(&Problem::internal().message, "Call again later."), None)
        })
    }

    /// What a resource says.
    async fn resource(&self, caller: &Caller, uri: &str) -> Result<String, ErrorData> {
        let (tool, arguments) = resources::find(uri).ok_or_else(|| resources::not_found(uri))?;
        caller.scopes.require(scopes::READ).map_err(|problem| refused(&problem))?;
        let answer = self.planner.read(caller, tool, &arguments).await.map_err(|error| refused(&error.into()))?;
        // The address is well formed, so what the engine refuses is what is not there.
        if answer.is_error { Err(resources::not_found(uri)) } else { Ok(answer.body) }
    }

    async fn run(
        &self,
        call: ToolCall,
        arguments: &JsonObject,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> ToolAnswer {
        // The net under panics of the HTTP layers does not reach here: this runs on a task of its own.
        match AssertUnwindSafe(self.dispatch(call, arguments, caller, context)).catch_unwind().await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => failure(error),
            Err(_panic) => {
                tracing::error!("mcp.panic");
                refuse(&Problem::internal().message, "Call again later; for apply_actions with the same idempotency_key.")
            }
        }
    }

    async fn dispatch(
        &self,
        call: ToolCall,
        arguments: &JsonObject,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolAnswer, platform::DbError> {
        let planner = &self.planner;
        // An apply looks for itself whether its caller has gone; the others keep nothing that could be half done, and nobody waits for them.
        let work = Box::pin(async {
            match call {
                ToolCall::Preview => planner.preview(caller, arguments).await,
                ToolCall::Undo => planner.undo(caller, arguments).await,
                ToolCall::SetTimeZone => planner.set_time_zone(caller, arguments).await,
                ToolCall::Read(tool) => planner.read(caller, tool, arguments).await,
                ToolCall::Apply => Ok(match watch::apply(planner, caller, arguments, context).await? {
                    Applied::Answered(answer) => answer,
                    Applied::Cancelled => cancelled(),
                }),
            }
        });
        match call {
            ToolCall::Apply | ToolCall::SetTimeZone => work.await,
            ToolCall::Preview | ToolCall::Undo | ToolCall::Read(_) => {
                context.ct.run_until_cancelled(work).await.unwrap_or_else(|| Ok(cancelled()))
            }
        }
    }
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_resources().enable_tools().build();
        let server = Implementation::new("beresta-planner", env!("CARGO_PKG_VERSION")).with_title("Beresta planner");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request.as_ref())?;
        let list = ListToolsResult::with_all_items(
            tools::list().iter().cloned().chain(self.planner.tools().iter().map(tools::of_module)).collect(),
        );
        Ok(list.with_ttl_ms(LISTS_FRESH_MS).with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let ours = tools::list().iter().find(|tool| tool.name == name).cloned();
        ours.or_else(|| self.of_module(name).map(tools::of_module))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = match self.caller(&context).await {
            Ok(caller) => caller,
            // A database that is away says nothing about the token: the call may be made again.
            Err(problem) if problem.retryable => return Ok(into_result(trouble(&problem)).into()),
            Err(problem) => return Err(refused(&problem)),
        };
        let CallToolRequestParams { name, arguments, .. } = request;
        let known = tools::find(&name).map(|tool| tool.name).or_else(|| self.of_module(&name).map(|tool| tool.name));
        let known = known.unwrap_or("unknown");
        let span = tracing::info_span!("mcp.call", trace_id = %caller.trace_id, tool = known);
        let started = std::time::Instant::now();
        let response = self.answer(&name, &arguments.unwrap_or_default(), &caller, &context).instrument(span).await;
        metrics::histogram!("planner_call_seconds", "tool" => known).record(started.elapsed().as_secs_f64());
        response
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request.as_ref())?;
        let list = ListResourcesResult::with_all_items(resources::list());
        Ok(list.with_ttl_ms(LISTS_FRESH_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(request.as_ref())?;
        let list = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(list.with_ttl_ms(LISTS_FRESH_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context).await.map_err(|problem| refused(&problem))?;
        let place = self.planner.calls().begin(caller.person).ok_or_else(|| ErrorData::internal_error(TOO_MANY, None))?;
        let arguments = JsonObject::from_iter([("uri".to_owned(), Value::from(request.uri.as_str()))]);
        let entry = LoggedCall::open(self.planner.db(), &caller, place, READ_RESOURCE, &arguments).await;
        let entry = entry.map_err(|error| refused(&error.into()))?;
        let body = self.resource(&caller, &request.uri).await;
        let (logged, error) = match &body {
            Ok(body) => (serde_json::from_str(body).unwrap_or_default(), None),
            Err(error) => (serde_json::json!({ "message": error.message }), Some(error.message.as_ref())),
        };
        entry.close(logged, error).await;
        let contents = ResourceContents::text(body?, request.uri).with_mime_type(resources::MIME_TYPE);
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }
}

/// As the request log calls it.
const READ_RESOURCE: &str = "resources/read";

fn refused(problem: &Problem) -> ErrorData {
    let message = problem.message.clone();
    if problem.status >= 500 { ErrorData::internal_error(message, None) } else { ErrorData::invalid_request(message, None) }
}

/// The lists have one page: a cursor can only be somebody else's.
fn first_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_ref()) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("this list has one page; ask for it without a cursor", None)),
    }
}
