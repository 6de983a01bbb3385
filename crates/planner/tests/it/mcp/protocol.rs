//! What is asked of any MCP server: lists that stay as they are, schemas that answers keep to, and errors of the protocol for what is no call.

use serde_json::{Value, json};

use super::{
    client::{Era, http, read},
    in_both_eras,
    stage::Stage,
};

const TOOLS: [&str; 12] = [
    "preview_actions",
    "apply_actions",
    "undo_actions",
    "set_time_zone",
    "list_goals",
    "get_goal",
    "list_steps",
    "get_step",
    "list_habits",
    "get_habit",
    "get_history",
    "get_xp",
];

#[tokio::test]
async fn the_tools_are_listed_in_their_order_with_everything_a_client_needs() {
    in_both_eras(async |_stage, client| {
        let first = client.ask("tools/list", json!({})).await;
        let tools = first["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS);
        for tool in tools {
            assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
            assert!(tool["inputSchema"]["type"] == "object" && tool["outputSchema"]["type"] == "object", "{tool}");
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{hint} of {tool}");
            }
        }
        assert!(tools[0]["description"].as_str().unwrap().contains("5 minutes"));
        assert!(!first.to_string().contains("\"format\""), "JavaScript validators know too few of them");
        assert_eq!(client.ask("tools/list", json!({})).await, first);
        let other_page = client.request("tools/list", json!({ "cursor": "x" })).await;
        assert_eq!(other_page.message["error"]["code"], -32602);
    })
    .await;
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol_that_names_the_nearest() {
    in_both_eras(async |_stage, client| {
        let reply = client.request("tools/call", json!({ "name": "apply_action", "arguments": {} })).await;
        assert_eq!(reply.message["error"]["code"], -32602, "{reply:?}");
        assert!(reply.message["error"]["message"].as_str().unwrap().contains("apply_actions"), "{reply:?}");
    })
    .await;
}

#[tokio::test]
async fn resources_are_listed_and_read_and_unknown_ones_are_errors_of_the_protocol() {
    in_both_eras(async |_stage, client| {
        let (goal, steps) = client.goal(1).await;
        let applied = client.apply(json!([{ "action": "habit.create", "params": { "title": "Walk" } }])).await;
        let habit = &applied["results"][0]["created_id"];
        let list = client.ask("resources/list", json!({})).await;
        let uris: Vec<&str> =
            list["resources"].as_array().unwrap().iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
        assert_eq!(uris, ["planner://goals", "planner://steps", "planner://habits", "planner://history", "planner://xp"]);
        let templates = client.ask("resources/templates/list", json!({})).await;
        assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 7);
        let by_id =
            [format!("planner://goals/{goal}"), format!("planner://steps/{}", steps[0]), format!("planner://habits/{habit}")];
        for uri in uris.into_iter().map(ToOwned::to_owned).chain(by_id) {
            let read = client.ask("resources/read", json!({ "uri": uri })).await;
            let contents = &read["contents"][0];
            assert_eq!((contents["uri"].as_str(), contents["mimeType"].as_str()), (Some(uri.as_str()), Some("application/json")));
            let body: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
            assert!(body.is_object(), "{uri}: {body}");
        }
        let code = if client.era == Era::Modern { -32602 } else { -32002 };
        for uri in ["planner://nothing", "planner://goals/999999", "planner://goals/x", "file:///etc/passwd"] {
            let reply = client.request("resources/read", json!({ "uri": uri })).await;
            assert_eq!(
                (&reply.message["error"]["code"], &reply.message["error"]["data"]["uri"]),
                (&json!(code), &json!(uri)),
                "{reply:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_list_that_is_longer_than_a_page_is_read_to_its_end() {
    in_both_eras(async |_stage, client| {
        let create = |n: usize| json!({ "action": "goal.create", "params": { "title": format!("goal {n}") } });
        for batch in 0..3 {
            client.apply((batch * 50..batch * 50 + 50).map(create).collect()).await;
        }
        let read = async |uri: String| -> Value {
            let read = client.ask("resources/read", json!({ "uri": uri })).await;
            serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
        };
        let first = read("planner://goals".to_owned()).await;
        let second = read(format!("planner://goals?after={}", first["next"])).await;
        let goals = |page: &Value| page["goals"].as_array().unwrap().len();
        assert_eq!((goals(&first), goals(&second), &second["next"]), (100, 50, &Value::Null));
    })
    .await;
}

#[tokio::test]
async fn reads_cover_goals_steps_habits_history_and_xp() {
    in_both_eras(async |_stage, client| {
        let (goal, steps) = client.goal(2).await;
        client.apply(json!([{ "action": "step.complete", "params": { "step_id": steps[0] } }, { "action": "habit.create", "client_action_id": "h", "params": { "title": "Walk" } }, { "action": "habit.mark_completed", "params": { "habit_id": "$ref:h" } }])).await;
        let open = client.done("list_steps", json!({ "goal_id": goal })).await;
        assert_eq!(open["steps"].as_array().unwrap().len(), 1, "{open}");
        let page = client.done("list_steps", json!({ "status": "all", "limit": 1 })).await;
        assert!(page["steps"].as_array().unwrap().len() == 1 && page["next"].is_number(), "{page}");
        let habits = client.done("list_habits", json!({})).await;
        assert!(habits["habits"][0]["title"] == "Walk" && habits.to_string().contains("\"current\":1"), "{habits}");
        assert_eq!(client.xp().await, 35);
        let history = client.done("get_history", json!({ "limit": 1 })).await;
        assert!(history.to_string().contains("preview_id"), "{history}");
        client.refused("list_goals", json!({ "limit": 101 })).await;
        client.refused("list_goals", json!({ "status": "lost" })).await;
        client.refused("get_goal", json!({})).await;
    })
    .await;
}

#[tokio::test]
async fn the_persons_day_begins_in_their_time_zone() {
    in_both_eras(async |stage, client| {
        // 09:00 in London is already tomorrow in Kiritimati only from 10:00 on; an hour and a half later it is.
        client.done("set_time_zone", json!({ "time_zone": "Pacific/Kiritimati" })).await;
        let unknown = client.refused("set_time_zone", json!({ "time_zone": "Mars/Olympus" })).await;
        assert!(unknown["error"].is_string(), "{unknown}");
        stage.advance(90 * 60);
        client.apply(json!([{ "action": "habit.create", "client_action_id": "h", "params": { "title": "Walk" } }, { "action": "habit.mark_completed", "params": { "habit_id": "$ref:h" } }])).await;
        assert_eq!(stage.rows("select day from planner.marks").await, [json!({ "day": "2026-03-03" })]);
    })
    .await;
}

#[tokio::test]
async fn what_is_no_request_of_the_protocol_is_refused() {
    in_both_eras(async |_stage, client| {
        let unknown = client.request("no/such/method", json!({})).await;
        assert_eq!(unknown.message["error"]["code"], -32601, "{unknown:?}");
        assert_eq!(unknown.status, if client.era == Era::Modern { 404 } else { 200 });
        let nonsense =
            client.bare(reqwest::Method::POST).header("content-type", "application/json").body("{").send().await.unwrap();
        assert!(nonsense.status().is_client_error(), "{nonsense:?}");
        let form = client.bare(reqwest::Method::POST).body("a=b").send().await.unwrap();
        assert_eq!(form.status(), 415);
        assert_eq!(client.bare(reqwest::Method::PUT).send().await.unwrap().status(), 405);
    })
    .await;
}

#[tokio::test]
async fn a_database_that_fails_is_said_to_be_safe_to_ask_again() {
    in_both_eras(async |stage, client| {
        // The first thing that a call needs is its row in the log: without it nothing is done.
        stage.run("alter table planner.mcp_requests rename to lost").await;
        let create = json!({ "actions": [{ "action": "goal.create", "params": { "title": "T" } }] });
        let refused = client.refused("preview_actions", create.clone()).await;
        assert!(refused["hint"].is_string(), "{refused}");
        assert_eq!(stage.count("planner.previews").await, 0, "what cannot be logged is not done");
        stage.run("alter table planner.lost rename to mcp_requests").await;
        client.done("preview_actions", create).await;
    })
    .await;
}

#[tokio::test]
async fn every_older_version_is_spoken_with_and_without_its_header() {
    let stage = Stage::new().await;
    for (version, has_header) in [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), ("2025-11-25", true)] {
        let post = |message: Value, session: Option<&str>| {
            let mut request = http().post(&stage.url).bearer_auth(stage.token.expose()).json(&message);
            request = request.header("accept", "application/json, text/event-stream");
            if has_header && session.is_some() {
                request = request.header("mcp-protocol-version", version);
            }
            session.into_iter().fold(request, |request, id| request.header("mcp-session-id", id)).send()
        };
        let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } });
        let hello = post(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }), None).await.unwrap();
        let session = hello.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let told = read(hello, 1).await.message;
        assert_eq!(told["result"]["protocolVersion"], version, "{told}");
        let ready = post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), Some(&session)).await.unwrap();
        assert_eq!(ready.status(), 202, "{version}");
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "get_xp", "arguments": {} } });
        let answer = read(post(call, Some(&session)).await.unwrap(), 2).await.message;
        assert_eq!(answer["result"]["content"][0]["type"], "text", "{version}: {answer}");
    }
}
