//! The planner's handler with what the suite asks for added to it: tools, prompts and resources that no product has, behind the same door.

#![expect(deprecated, reason = "the suite asks older revisions for logging")]

use planner::mcp::McpHandler;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
        ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::json;
use tokio::sync::broadcast;

use super::{prompts, resources, rounds, tools};

/// What changed while somebody listened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Tools,
    Prompts,
}

pub(super) struct Fixtures {
    planner: McpHandler,
    /// One for the whole server: a listener and whoever causes the change come with different requests.
    pub(super) changes: broadcast::Sender<Change>,
}

impl Fixtures {
    pub(super) fn new(planner: McpHandler, changes: broadcast::Sender<Change>) -> Self {
        Self { planner, changes }
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.planner.get_info();
        let capabilities = json!({
            "completions": {}, "logging": {}, "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true }, "tools": { "listChanged": true },
        });
        info.capabilities = serde_json::from_value(capabilities).unwrap();
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.planner.list_tools(request, context).await?;
        list.tools.extend(tools::list());
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.planner.get_tool(name).or_else(|| tools::list().into_iter().find(|tool| tool.name == name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name.starts_with("test_input_required_result_") || request.name == "test_streaming_elicitation" {
            return rounds::call(&request, &context);
        }
        if tools::list().iter().any(|tool| tool.name == request.name) {
            return tools::call(self, &request, &context).await;
        }
        self.planner.call_tool(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.planner.list_resources(request, context).await?;
        list.resources.extend(resources::list());
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.planner.list_resource_templates(request, context).await?;
        list.resource_templates.push(resources::template());
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match resources::read(&request.uri) {
            Some(result) => Ok(result.into()),
            None => self.planner.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn set_level(&self, _request: SetLevelRequestParams, _context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, _request: SubscribeRequestParams, _context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // The sink refuses what this listener did not ask for.
            let _ = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }
}
