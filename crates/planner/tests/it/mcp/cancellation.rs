//! Progress on the way, and callers that go away: before the commit nothing happens, after it everything did.

use std::sync::Arc;

use planner::mcp::McpHandler;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerConfig},
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    PATIENCE,
    client::{Client, Era},
    in_both_eras,
    stage::{Auth, Stage},
    until,
};

/// The planner's handler, and a bell that rings when a call has been cancelled.
struct Listening {
    planner: McpHandler,
    cancelled: Arc<Notify>,
}

impl ServerHandler for Listening {
    fn get_info(&self) -> ServerConfig {
        self.planner.get_info()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.planner.list_tools(request, context).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "apply_actions" {
            let (ct, cancelled) = (context.ct.clone(), Arc::clone(&self.cancelled));
            tokio::spawn(async move {
                ct.cancelled().await;
                cancelled.notify_one();
            });
        }
        self.planner.call_tool(request, context).await
    }
}

async fn is_heard(cancelled: &Notify) {
    tokio::time::timeout(PATIENCE, cancelled.notified()).await.expect("the cancellation is heard");
}

async fn listening() -> (Stage, Arc<Notify>) {
    let cancelled = Arc::new(Notify::new());
    let bell = Arc::clone(&cancelled);
    let stage = Stage::with(Auth::Asked, move |planner| Listening { planner, cancelled: Arc::clone(&bell) }).await;
    (stage, cancelled)
}

fn create() -> Value {
    json!([{ "action": "goal.create", "params": { "title": "Perhaps" } }])
}

/// The last line of the log for apply, once it has its answer.
async fn last_apply(stage: &Stage) -> Value {
    let query = "select error_message, execution_time_ms from planner.mcp_request_log where tool_name = 'apply_actions' order by created_at desc, request_id desc limit 1";
    until("the call is answered", async || stage.rows(query).await.pop().filter(|row| row["execution_time_ms"].is_number())).await
}

#[tokio::test]
async fn progress_comes_for_each_action_and_grows_to_the_total() {
    in_both_eras(async |_stage, client| {
        let goals: Vec<Value> =
            (0..5).map(|n| json!({ "action": "goal.create", "params": { "title": format!("Goal {n}") } })).collect();
        let preview_id = client.preview(json!(goals)).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        let params = json!({ "name": "apply_actions", "arguments": arguments, "_meta": { "progressToken": "mine" } });
        let reply = client.request("tools/call", params).await;
        assert_eq!(reply.message["result"]["isError"], false, "{:?}", reply.message);
        let told: Vec<&Value> = reply
            .notifications
            .iter()
            .filter(|note| note["method"] == "notifications/progress")
            .map(|note| &note["params"])
            .collect();
        assert!(
            told.iter().all(|step| step["progressToken"] == "mine" && step["total"] == 5.0 && step["message"].is_string()),
            "{told:?}"
        );
        let steps: Vec<f64> = told.iter().map(|step| step["progress"].as_f64().unwrap()).collect();
        assert_eq!(steps, [1.0, 2.0, 3.0, 4.0, 5.0]);
        let again = client.request("tools/call", json!({ "name": "apply_actions", "arguments": arguments })).await;
        assert!(again.notifications.iter().all(|note| note["method"] != "notifications/progress"), "nobody asked");
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_goes_away_before_the_commit_changes_nothing() {
    // With one whose progress is told, the answer has begun when the caller goes.
    for meta in [json!({}), json!({ "progressToken": "mine" })] {
        let (stage, cancelled) = listening().await;
        let client = Client::open(&stage, Era::Modern).await;
        let preview_id = client.preview(create()).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        let mut held = stage.run("begin; lock table planner.goals in access exclusive mode").await;
        let params = json!({ "name": "apply_actions", "arguments": arguments, "_meta": meta });
        let call = tokio::spawn(client.send(90, "tools/call", params).send());
        stage.test.until_waiting(1).await;
        call.abort();
        drop(call);
        is_heard(&cancelled).await;
        sqlx::raw_sql("rollback").execute(&mut held).await.unwrap();
        assert_eq!(last_apply(&stage).await["error_message"], "The call was cancelled");
        assert_eq!(stage.count("planner.goals").await, 0);
        assert_eq!(stage.count("planner.previews where status = 'pending'").await, 1);
        client.done("apply_actions", arguments).await;
        assert_eq!(stage.count("planner.goals").await, 1);
    }
}

/// In the legacy era a lost connection is no cancellation: the client says so if it means it.
#[tokio::test]
async fn a_legacy_call_is_cancelled_by_the_word_of_its_client() {
    let (stage, cancelled) = listening().await;
    let client = Client::open(&stage, Era::Legacy).await;
    let preview_id = client.preview(create()).await;
    let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
    let mut held = stage.run("begin; lock table planner.goals in access exclusive mode").await;
    let call = client.send(90, "tools/call", json!({ "name": "apply_actions", "arguments": arguments })).send().await.unwrap();
    stage.test.until_waiting(1).await;
    let word = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 90, "reason": "changed my mind" } });
    assert_eq!(client.post(&word).send().await.unwrap().status(), 202);
    is_heard(&cancelled).await;
    sqlx::raw_sql("rollback").execute(&mut held).await.unwrap();
    assert_eq!(last_apply(&stage).await["error_message"], "The call was cancelled");
    assert_eq!(stage.count("planner.goals").await, 0);
    drop(call);
    client.done("apply_actions", arguments).await;
}

#[tokio::test]
async fn a_legacy_call_goes_on_without_its_connection() {
    let stage = Stage::new().await;
    let client = Client::open(&stage, Era::Legacy).await;
    let preview_id = client.preview(create()).await;
    let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
    let mut held = stage.run("begin; lock table planner.goals in access exclusive mode").await;
    let call = client.send(90, "tools/call", json!({ "name": "apply_actions", "arguments": arguments })).send().await.unwrap();
    stage.test.until_waiting(1).await;
    drop(call);
    sqlx::raw_sql("rollback").execute(&mut held).await.unwrap();
    assert_eq!(last_apply(&stage).await["error_message"], Value::Null);
    assert_eq!(stage.count("planner.goals").await, 1);
}

/// The commit is done, only the answer is not: whoever goes away now gets it with the next call.
#[tokio::test]
async fn a_caller_that_goes_away_after_the_commit_finds_everything_done() {
    let (stage, cancelled) = listening().await;
    let client = Client::open(&stage, Era::Modern).await;
    let preview_id = client.preview(create()).await;
    let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
    // The answer is written into the log before it is given, and here it has to wait for that.
    let mut held = stage.run("begin; lock table planner.mcp_responses in access exclusive mode").await;
    let call = tokio::spawn(client.send(90, "tools/call", json!({ "name": "apply_actions", "arguments": arguments })).send());
    until("the batch is committed", async || (stage.count("planner.goals").await == 1).then_some(())).await;
    call.abort();
    is_heard(&cancelled).await;
    sqlx::raw_sql("rollback").execute(&mut held).await.unwrap();
    assert_eq!(last_apply(&stage).await["error_message"], Value::Null);
    let retried = client.done("apply_actions", arguments).await;
    assert_eq!(retried["summary"]["successful"], 1);
    assert_eq!(stage.count("planner.goals").await, 1);
}
