//! A planner on a fresh database, asked directly: nothing of MCP in between.

use jiff::Timestamp;
use kernel::{Clock, Scopes, TraceId, WorkspaceId};
use planner::{Answer, Applied, Caller, Planner};
use platform::tokens::Principal;
use serde_json::{Map, Value, json};
use testkit::TestDb;
use uuid::Uuid;

pub(crate) struct Desk {
    pub(crate) test: TestDb,
    pub(crate) planner: Planner,
    workspace: WorkspaceId,
}

impl Desk {
    pub(crate) async fn new() -> Self {
        let start: Timestamp = "2026-03-02T09:00:00Z".parse().unwrap();
        let test = TestDb::with(&[platform::SQL, planner::SQL], Clock::frozen(start)).await;
        let workspace = test.workspace("team").await;
        let planner = Planner::new(test.db.clone());
        Self { test, planner, workspace }
    }

    /// Another process on the same database: a pool and turns of its own.
    pub(crate) fn another_planner(&self) -> Planner {
        Planner::new(self.test.another())
    }

    /// Somebody of this name, who begins here.
    pub(crate) async fn caller(&self, name: &str) -> Caller {
        let principal = Principal {
            workspace_id: self.workspace,
            workspace_name: "team".to_owned(),
            token_id: Uuid::nil(),
            token_name: name.to_owned(),
            scopes: Scopes::all(),
            person: Some(name.to_owned()),
        };
        self.planner.caller(&principal, TraceId::new()).await.expect("a person")
    }

    /// Previews these actions and applies them.
    pub(crate) async fn change(&self, caller: &Caller, actions: &Value) -> Value {
        let answer = self.planner.preview(caller, &arguments(json!({ "actions": actions }))).await.expect("an answer");
        let preview: Value = serde_json::from_str(&answer.body).expect("JSON");
        let preview_id = preview["preview_id"].as_str().unwrap_or_else(|| panic!("{preview}"));
        let answer = apply(&self.planner, caller, preview_id, preview_id).await;
        assert!(!answer.is_error, "{}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }
}

pub(crate) fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(arguments) => arguments,
        other => panic!("not arguments: {other}"),
    }
}

pub(crate) async fn apply(planner: &Planner, caller: &Caller, preview_id: &str, key: &str) -> Answer {
    let arguments = arguments(json!({ "preview_id": preview_id, "idempotency_key": key }));
    match planner.apply(caller, &arguments, &()).await.expect("an answer") {
        Applied::Answered(answer) => answer,
        Applied::Cancelled => panic!("nobody went away"),
    }
}
