//! MCPRequestLog: every call with what came of it, outside of its transaction, redacted.

use serde_json::{Value, json};

use super::{
    client::{Client, Era},
    in_both_eras,
    stage::Stage,
};

const LOG: &str = "select * from planner.mcp_request_log order by created_at, request_id";

#[tokio::test]
async fn every_call_has_its_line_with_every_field() {
    in_both_eras(async |stage, client| {
        let actions = json!([{ "action": "goal.create", "client_action_id": "a", "params": { "title": "Logged" } }]);
        let preview = client.done("preview_actions", json!({ "actions": actions })).await;
        let arguments = json!({ "preview_id": preview["preview_id"], "idempotency_key": "k" });
        let applied = client.done("apply_actions", arguments.clone()).await;
        client.done("get_xp", json!({})).await;
        let log = stage.rows(LOG).await;
        let names: Vec<&str> = log.iter().map(|line| line["tool_name"].as_str().unwrap()).collect();
        assert_eq!(names, ["preview_actions", "apply_actions", "get_xp"]);
        let told = "select 1 as one from bus.messages where topic = 'planner' and payload->>'type' in ('called', 'answered')";
        assert_eq!(stage.rows(told).await.len(), 6, "pages hear of every call and of its answer");
        assert_eq!(log[0]["request_body"]["arguments"]["actions"], actions);
        assert_eq!(log[1]["request_body"], json!({ "name": "apply_actions", "arguments": arguments }));
        assert_eq!(log[1]["response_body"], applied);
        for line in &log {
            assert!(line["request_id"].is_string() && line["person_id"].is_number() && line["token_id"].is_string(), "{line}");
            assert!(line["execution_time_ms"].as_i64().unwrap() >= 0, "{line}");
            assert_eq!(line["error_message"], Value::Null, "{line}");
            assert_eq!(line["workspace_id"], stage.workspace.to_string(), "{line}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_read_as_a_resource_has_its_line_too() {
    in_both_eras(async |stage, client| {
        client.ask("resources/read", json!({ "uri": "planner://goals" })).await;
        let missing = client.request("resources/read", json!({ "uri": "planner://goals/4711" })).await;
        assert!(!missing.message["error"].is_null(), "{missing:?}");
        let log = stage.rows(LOG).await;
        assert_eq!(log.len(), 2);
        assert_eq!((&log[0]["tool_name"], &log[0]["response_body"]["goals"]), (&json!("resources/read"), &json!([])));
        assert_eq!(log[1]["request_body"]["arguments"], json!({ "uri": "planner://goals/4711" }));
        assert_eq!(log[1]["error_message"], missing.message["error"]["message"]);
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_is_written_again_stands_there_once() {
    let stage = Stage::new().await;
    let client = Client::open(&stage, Era::Modern).await;
    client.done("get_xp", json!({})).await;
    let again = "select planner.log_response(workspace_id, request_id, response_body, 7, 'again') from planner.mcp_responses";
    sqlx::query(again).execute(stage.test.db.pool()).await.unwrap();
    let log = stage.rows(LOG).await;
    assert_eq!((log.len(), &log[0]["error_message"]), (1, &Value::Null));
}

#[tokio::test]
async fn a_refusal_a_failure_and_an_unknown_tool_are_logged_with_their_error() {
    in_both_eras(async |stage, client| {
        client.refused("preview_actions", json!({ "actions": [{ "action": "goal.create", "params": {} }] })).await;
        let (_, steps) = client.goal(1).await;
        let complete = || json!({ "action": "step.complete", "params": { "step_id": steps[0] } });
        let preview_id = client.preview(json!([complete(), complete()])).await;
        client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
        client.request("tools/call", json!({ "name": "no_such_tool", "arguments": { "a": 1 } })).await;
        let log = stage.rows(LOG).await;
        let error = |tool: &str| {
            let line = log.iter().rev().find(|line| line["tool_name"] == tool && !line["error_message"].is_null()).unwrap();
            (line["error_message"].as_str().unwrap().to_owned(), line["response_body"].clone())
        };
        assert_eq!(error("preview_actions").0, "title is required");
        let (failed, body) = error("apply_actions");
        assert_eq!(failed, "Step already completed");
        assert_eq!(body["results"][0]["rollback"], true);
        assert!(error("no_such_tool").0.contains("Unknown tool"));
    })
    .await;
}

#[tokio::test]
async fn secrets_and_people_are_not_kept_in_the_log() {
    in_both_eras(async |stage, client| {
        let title = format!("Write to ann@example.org with {}", stage.token.expose());
        client.apply(json!([{ "action": "goal.create", "params": { "title": title } }])).await;
        let log = stage.rows(LOG).await.iter().map(ToString::to_string).collect::<String>();
        assert!(log.contains("[email]") && log.contains("[secret]"), "{log}");
        assert!(!log.contains("ann@example.org") && !log.contains(stage.token.expose()));
        let goals = stage.rows("select title from planner.goals").await;
        assert_eq!(goals[0]["title"], title.as_str(), "the goal itself is the person's own");
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_under_way_has_its_request_and_no_response_yet() {
    in_both_eras(async |stage, client| {
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "Slow" } }])).await;
        let mut held = stage.run("begin; lock table planner.goals in access exclusive mode").await;
        let call = client.call("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" }));
        let look = async {
            stage.test.until_waiting(1).await;
            let line = stage.rows(LOG).await.pop().unwrap();
            sqlx::raw_sql("rollback").execute(&mut held).await.unwrap();
            line
        };
        let ((is_error, _), line) = tokio::join!(call, look);
        assert!(!is_error);
        assert_eq!(
            (&line["tool_name"], &line["response_body"], &line["execution_time_ms"]),
            (&json!("apply_actions"), &Value::Null, &Value::Null)
        );
    })
    .await;
}

#[tokio::test]
async fn what_postgresql_cannot_hold_is_logged_without_it_and_refused_with_words() {
    in_both_eras(async |stage, client| {
        client
            .refused("preview_actions", json!({ "actions": [{ "action": "goal.create", "params": { "title": "a\u{0}b" } }] }))
            .await;
        let line = stage.rows(LOG).await.pop().unwrap();
        assert_eq!(line["request_body"]["arguments"]["actions"][0]["params"]["title"], "a\u{fffd}b");
    })
    .await;
}
