//! A session that is being opened when its client goes away is counted all the same.

use std::sync::Arc;

use kernel::Bundle;
use planner::mcp::{McpHandler, McpSettings};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{InitializeRequestParams, InitializeResult, ServerConfig},
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    client::{Client, Era},
    stage::{Auth, Stage},
    until,
};

/// The planner's handler, which greets nobody before it is told to.
struct Slow {
    planner: McpHandler,
    came: Arc<Semaphore>,
    may_go_on: Arc<Semaphore>,
}

impl ServerHandler for Slow {
    fn get_info(&self) -> ServerConfig {
        self.planner.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.came.add_permits(1);
        self.may_go_on.acquire().await.unwrap().forget();
        self.planner.initialize(request, context).await
    }
}

fn hello() -> Value {
    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } })
}

#[tokio::test]
async fn whoever_goes_away_while_a_session_is_opened_has_one_that_counts() {
    let (came, may_go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (arrived, let_go) = (Arc::clone(&came), Arc::clone(&may_go_on));
    let settings = McpSettings { sessions_max: 1, ..McpSettings::default() };
    let slow = move |planner| Slow { planner, came: Arc::clone(&came), may_go_on: Arc::clone(&may_go_on) };
    let stage = Stage::open(settings, Auth::Asked, slow).await;
    let ann = Client::unopened(&stage, Era::Legacy, &stage.token);
    let opening = tokio::spawn(ann.send(1, "initialize", hello()).send());
    arrived.acquire().await.unwrap().forget();
    opening.abort();
    assert!(opening.await.unwrap_err().is_cancelled());
    let_go.add_permits(1000);
    let bob = Client::unopened(&stage, Era::Legacy, &stage.token_of(Some("bob"), &[Bundle::Read]).await);
    until("there is no room for another", async || {
        let answer = bob.send(1, "initialize", hello()).send().await.unwrap();
        let Some(session) = answer.headers().get("mcp-session-id").cloned() else {
            return (answer.status() == 503).then_some(());
        };
        // Ann's was not counted yet: this one ends, and the next try tells.
        bob.bare(reqwest::Method::DELETE).header("mcp-session-id", session).send().await.unwrap();
        None
    })
    .await;
}
