//! Tools that another module brings: the same door, limits, scopes and request log, and no content in the log.

use kernel::{Bundle, Scope};
use planner::mcp::McpSettings;
use platform::assistant::{McpAnswer, McpCall, McpRefusal, McpTool};
use serde_json::{Value, json};

use super::{
    client::{Client, Era},
    stage::{Auth, Stage},
};

const SCOPE: Scope = Scope::new("notes:read", "read notes", &[Bundle::Write]);

fn notes() -> McpTool {
    let tool = McpTool::new("find_note", "Find a note", "Finds a note.", SCOPE, |call: McpCall| async move {
        let words = call.arguments.get("words").and_then(Value::as_str).unwrap_or_default().to_owned();
        assert_ne!(words, "panic", "as asked");
        if words.is_empty() {
            return Err(McpRefusal { error: "words must be there".to_owned(), hint: "Give words.".to_owned() });
        }
        let fields = json!({ "note": format!("{}: {words}", call.person) });
        Ok(McpAnswer { fields: fields.as_object().cloned().unwrap_or_default(), logged: json!({ "found": 1 }) })
    });
    let text = json!({ "type": "string" });
    tool.input(json!({ "words": text }), &["words"]).output(json!({ "note": text }))
}

async fn stage() -> Stage {
    Stage::open_with(McpSettings::default(), Auth::Asked, vec![notes()], |handler| handler).await
}

#[tokio::test]
async fn a_tool_of_another_module_is_listed_and_called_for_the_person_of_the_token_in_both_eras() {
    for era in Era::BOTH {
        let stage = stage().await;
        let client = Client::open(&stage, era).await;
        let tools = client.ask("tools/list", json!({})).await["tools"].clone();
        let tools = tools.as_array().unwrap();
        assert_eq!(tools.len(), 13);
        assert_eq!((&tools[12]["name"], &tools[12]["annotations"]["readOnlyHint"]), (&json!("find_note"), &json!(true)));
        assert_eq!(tools[12]["inputSchema"]["additionalProperties"], false);
        let found = client.done("find_note", json!({ "words": "price" })).await;
        assert_eq!((&found["success"], &found["note"]), (&json!(true), &json!("ann: price")));
    }
}

#[tokio::test]
async fn its_calls_are_logged_without_what_was_asked_and_answered() {
    let stage = stage().await;
    let client = Client::open(&stage, Era::Modern).await;
    client.done("find_note", json!({ "words": "canary" })).await;
    client.refused("find_note", json!({ "words": "" })).await;
    client.refused("find_note", json!({ "wrods": "canary" })).await;
    client.refused("find_note", json!({ "words": "panic" })).await;
    let log = stage.rows("select * from planner.mcp_request_log order by created_at, request_id").await;
    assert_eq!(log.len(), 4);
    assert_eq!(log[0]["request_body"], json!({ "name": "find_note", "arguments": { "words": "[6 characters]" } }));
    assert_eq!(log[0]["response_body"], json!({ "found": 1 }));
    assert_eq!(log[1]["error_message"], "words must be there");
    assert!(!json!(log).to_string().contains("canary"), "{log:?}");
}

#[tokio::test]
async fn a_token_without_its_scope_is_told_which_one_it_needs() {
    let stage = stage().await;
    let token = stage.token_of(Some("ann"), &[Bundle::Read]).await;
    let client = Client::open_as(&stage, Era::Modern, &token).await;
    let refused = client.refused("find_note", json!({ "words": "price" })).await;
    assert!(refused.to_string().contains("notes:read"), "{refused}");
}
