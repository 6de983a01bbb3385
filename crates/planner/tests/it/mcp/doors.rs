//! Who gets in: tokens, persons, scopes, hosts, origins, and sessions that belong to somebody.

use std::time::Duration;

use futures::StreamExt;
use kernel::{Bundle, Secret};
use planner::mcp::McpSettings;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    PATIENCE,
    client::{Client, Era, http},
    in_both_eras,
    stage::{Auth, Stage},
};

#[tokio::test]
async fn a_call_without_a_token_or_with_a_wrong_one_is_told_how_to_show_one() {
    let stage = Stage::new().await;
    for era in Era::BOTH {
        let wrong = Client::unopened(&stage, era, &Secret::new("brs_wrong"));
        let response = wrong.send(1, "tools/list", json!({})).send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.headers()["www-authenticate"].to_str().unwrap()), (401, "Bearer"));
    }
    let bare = http().post(&stage.url).json(&json!({})).send().await.unwrap();
    assert_eq!((bare.status().as_u16(), bare.headers()["www-authenticate"].to_str().unwrap()), (401, "Bearer"));
    let words: Value = bare.json().await.unwrap();
    assert!(words["error"]["message"].as_str().unwrap().contains("Authorization: Bearer"), "{words}");
    let query = http().post(format!("{}?token={}", stage.url, stage.token.expose())).json(&json!({})).send().await.unwrap();
    assert_eq!(query.status(), 401, "nothing in the address is a token");
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(http().request(method, &stage.url).send().await.unwrap().status(), 401);
    }
}

#[tokio::test]
async fn a_token_that_was_revoked_is_over_at_the_next_call_of_its_session() {
    let stage = Stage::new().await;
    for era in Era::BOTH {
        let token = stage.token_of(Some("bob"), &[Bundle::Read]).await;
        let client = Client::open_as(&stage, era, &token).await;
        client.done("get_xp", json!({})).await;
        let found = platform::tokens::authenticate(stage.test.db.pool(), &token).await.unwrap().unwrap();
        assert!(platform::tokens::revoke(stage.test.db.pool(), stage.workspace, found.token_id).await.unwrap());
        assert_eq!(client.request("tools/call", json!({ "name": "get_xp", "arguments": {} })).await.status, 401);
    }
}

#[tokio::test]
async fn a_token_that_names_no_person_has_no_goals() {
    let stage = Stage::new().await;
    let token = stage.token_of(None, &[Bundle::Read, Bundle::Write]).await;
    for era in Era::BOTH {
        let reply = Client::unopened(&stage, era, &token).request("tools/list", json!({})).await;
        assert_eq!(reply.status, 403, "{reply:?}");
        assert!(reply.message["error"]["message"].as_str().unwrap().contains("person"), "{reply:?}");
    }
}

#[tokio::test]
async fn a_token_that_may_not_is_refused_by_the_tool_and_told_the_scope() {
    for era in Era::BOTH {
        let stage = Stage::new().await;
        let reader = Client::open_as(&stage, era, &stage.token_of(Some("ann"), &[Bundle::Read]).await).await;
        let writer = Client::open_as(&stage, era, &stage.token_of(Some("ann"), &[Bundle::Write]).await).await;
        let create = json!({ "actions": [{ "action": "goal.create", "params": { "title": "T" } }] });
        assert!(reader.refused("preview_actions", create.clone()).await["error"].as_str().unwrap().contains("`planner:write`"));
        assert!(writer.refused("list_goals", json!({})).await["error"].as_str().unwrap().contains("`planner:read`"));
        let preview = writer.done("preview_actions", create).await;
        let arguments = json!({ "preview_id": preview["preview_id"], "idempotency_key": "k" });
        assert!(reader.refused("apply_actions", arguments.clone()).await["error"].as_str().unwrap().contains("`planner:write`"));
        assert_eq!(stage.count("planner.goals").await, 0);
        writer.done("apply_actions", arguments).await;
        assert!(reader.done("list_goals", json!({})).await.to_string().contains("\"T\""));
        let unread = writer.request("resources/read", json!({ "uri": "planner://goals" })).await;
        assert!(unread.message["error"]["message"].as_str().unwrap().contains("`planner:read`"), "{unread:?}");
    }
}

#[tokio::test]
async fn nobody_sees_or_changes_what_belongs_to_another_person() {
    in_both_eras(async |stage, ann| {
        let (goal, steps) = ann.goal(1).await;
        let preview_id = ann.preview(json!([{ "action": "goal.complete", "params": { "goal_id": goal } }])).await;
        let bob = Client::open_as(&stage, ann.era, &stage.token_of(Some("bob"), &[Bundle::Read, Bundle::Write]).await).await;
        let key = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        assert_eq!(bob.refused("apply_actions", key.clone()).await["error"], "Preview not found");
        assert_eq!(bob.refused("undo_actions", json!({ "preview_id": preview_id })).await["error"], "Preview not found");
        assert_eq!(bob.refused("get_goal", json!({ "goal_id": goal })).await["error"], "Goal not found");
        assert_eq!(bob.refused("get_step", json!({ "step_id": steps[0] })).await["error"], "Step not found");
        let touch = json!({ "actions": [{ "action": "goal.complete", "params": { "goal_id": goal } }] });
        assert_eq!(bob.refused("preview_actions", touch).await["error"], "Goal not found");
        assert_eq!(bob.done("list_goals", json!({ "status": "all" })).await["goals"], json!([]));
        let resource = bob.request("resources/read", json!({ "uri": format!("planner://goals/{goal}") })).await;
        assert!(resource.message["error"].is_object(), "{resource:?}");
        // The key of one person is not the key of another.
        let own = bob.preview(json!([{ "action": "goal.create", "params": { "title": "Bob's" } }])).await;
        bob.done("apply_actions", json!({ "preview_id": own, "idempotency_key": "k" })).await;
        ann.done("apply_actions", key).await;
    })
    .await;
}

#[tokio::test]
async fn the_person_of_the_same_name_in_another_workspace_is_another() {
    in_both_eras(async |stage, ann| {
        let (goal, _) = ann.goal(1).await;
        let preview_id = ann.preview(json!([{ "action": "goal.complete", "params": { "goal_id": goal } }])).await;
        let token = stage.token_elsewhere("ann").await;
        let other = Client::open_as(&stage, ann.era, &token).await;
        assert_eq!(other.done("list_goals", json!({ "status": "all" })).await["goals"], json!([]));
        assert_eq!(other.refused("get_goal", json!({ "goal_id": goal })).await["error"], "Goal not found");
        let key = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        assert_eq!(other.refused("apply_actions", key.clone()).await["error"], "Preview not found");
        if let Some(session) = &ann.session {
            let mut thief = Client::unopened(&stage, ann.era, &token);
            thief.session = Some(session.clone());
            assert_eq!(thief.request("tools/list", json!({})).await.status, 404, "nor is her session theirs");
        }
        ann.done("apply_actions", key).await;
    })
    .await;
}

#[tokio::test]
async fn a_page_from_elsewhere_and_a_name_that_is_not_ours_are_turned_away() {
    let stage = Stage::new().await;
    let host = stage.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    for era in Era::BOTH {
        let client = Client::unopened(&stage, era, &stage.token);
        let hello = || match era {
            Era::Modern => client.send(1, "server/discover", json!({})),
            Era::Legacy => {
                let info = json!({ "name": "test", "version": "1" });
                client.send(1, "initialize", json!({ "protocolVersion": era.version(), "capabilities": {}, "clientInfo": info }))
            }
        };
        let status = async |header: &str, value: &str| hello().header(header, value).send().await.unwrap().status().as_u16();
        assert_eq!(status("origin", "https://evil.example.com").await, 403);
        assert_eq!(status("origin", "null").await, 403);
        assert_eq!(status("host", "evil.example.com").await, 403);
        assert_eq!(status("origin", &format!("http://{host}")).await, 200);
        assert_eq!(status("host", "localhost").await, 200);
        assert_eq!(hello().send().await.unwrap().status(), 200, "no page, no origin");
    }
}

#[tokio::test]
async fn the_names_and_origins_of_the_settings_are_let_in() {
    let settings = McpSettings {
        hosts: vec!["planner.example.org".to_owned()],
        origins: vec!["https://app.example.org:443".to_owned()],
        ..McpSettings::default()
    };
    let stage = Stage::open(settings, Auth::Asked, |handler| handler).await;
    let client = Client::unopened(&stage, Era::Modern, &stage.token);
    let status = async |host: &str, origin: &str| {
        let request = client.send(1, "server/discover", json!({})).header("host", host).header("origin", origin);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("planner.example.org", "https://app.example.org").await, 200);
    assert_eq!(status("planner.example.org", "http://app.example.org").await, 403);
    assert_eq!(status("localhost", "https://app.example.org").await, 403);
}

#[tokio::test]
async fn a_session_belongs_to_the_person_who_opened_it() {
    let stage = Stage::new().await;
    let ann = Client::open(&stage, Era::Legacy).await;
    let mut bob = Client::unopened(&stage, Era::Legacy, &stage.token_of(Some("bob"), &[Bundle::Read]).await);
    bob.session.clone_from(&ann.session);
    assert_eq!(bob.request("tools/list", json!({})).await.status, 404);
    assert_eq!(bob.bare(Method::GET).send().await.unwrap().status(), 404);
    assert_eq!(bob.bare(Method::DELETE).send().await.unwrap().status(), 404);
    let hijack = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "b", "version": "1" } });
    assert_eq!(bob.request("initialize", hijack).await.status, 404);
    // Another token of the same person may go on with it.
    let mut same = Client::unopened(&stage, Era::Legacy, &stage.token_of(Some("ann"), &[Bundle::Read]).await);
    same.session.clone_from(&ann.session);
    same.done("list_goals", json!({})).await;
    ann.done("list_goals", json!({})).await;
}

#[tokio::test]
async fn a_session_that_was_ended_or_never_was_is_not_found() {
    let stage = Stage::new().await;
    let mut client = Client::open(&stage, Era::Legacy).await;
    assert!(client.bare(Method::DELETE).send().await.unwrap().status().is_success());
    assert_eq!(client.request("tools/list", json!({})).await.status, 404);
    client.session = Some("00000000-0000-4000-8000-000000000000".to_owned());
    assert_eq!(client.request("tools/list", json!({})).await.status, 404);
    client.session = None;
    assert_eq!(client.request("tools/list", json!({})).await.status, 400, "a legacy request names its session");
}

#[tokio::test]
async fn sessions_are_bounded_for_a_person_and_in_all() {
    let settings = McpSettings { sessions_max: 3, sessions_per_person_max: 2, ..McpSettings::default() };
    let stage = Stage::open(settings, Auth::Asked, |handler| handler).await;
    let oldest = Client::open(&stage, Era::Legacy).await;
    let middle = Client::open(&stage, Era::Legacy).await;
    let newest = Client::open(&stage, Era::Legacy).await;
    assert_eq!(oldest.request("tools/list", json!({})).await.status, 404, "it made room for the third");
    middle.done("get_xp", json!({})).await;
    newest.done("get_xp", json!({})).await;
    let bob = stage.token_of(Some("bob"), &[Bundle::Read]).await;
    let _third = Client::open_as(&stage, Era::Legacy, &bob).await;
    let carol = Client::unopened(&stage, Era::Legacy, &stage.token_of(Some("carol"), &[Bundle::Read]).await);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let response = carol.send(1, "initialize", hello).send().await.unwrap();
    assert_eq!(response.status(), 503);
    assert!(response.headers().contains_key("retry-after") && !response.headers().contains_key("mcp-session-id"));
    let modern = Client::open_as(&stage, Era::Modern, &stage.token_of(Some("carol"), &[Bundle::Read]).await).await;
    modern.done("get_xp", json!({})).await;
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends() {
    let settings = McpSettings { session_idle: Duration::from_secs(3), ..McpSettings::default() };
    let stage = Stage::open(settings, Auth::Asked, |handler| handler).await;
    let client = Client::open(&stage, Era::Legacy).await;
    // Asking would be using it, so the standing stream tells: it ends with its session.
    let mut stream = client.bare(Method::GET).send().await.unwrap().bytes_stream();
    let ended = async { while stream.next().await.is_some() {} };
    tokio::time::timeout(PATIENCE, ended).await.expect("the stream ends with its session");
    assert_eq!(client.request("tools/list", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_standing_stream_ends_when_the_server_stops() {
    // Calls that have begun may go on for as long as they like.
    let settings = McpSettings { grace: Duration::from_hours(1), ..McpSettings::default() };
    let stage = Stage::open(settings, Auth::Asked, |handler| handler).await;
    let client = Client::open(&stage, Era::Legacy).await;
    let mut stream = client.bare(Method::GET).send().await.unwrap().bytes_stream();
    stage.stop.cancel();
    let ended = async { while stream.next().await.is_some() {} };
    tokio::time::timeout(PATIENCE, ended).await.expect("nobody waits for a stream that has no end");
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused() {
    in_both_eras(async |_stage, client| {
        let huge = json!({ "name": "preview_actions", "arguments": { "actions": [{ "action": "goal.create", "params": { "title": "x".repeat((3 << 20) + 1024) } }] } });
        assert_eq!(client.request("tools/call", huge).await.status, 413);
    })
    .await;
}

#[tokio::test]
async fn fifty_actions_with_every_text_as_long_as_it_may_be_come_through() {
    in_both_eras(async |_stage, client| {
        let params = json!({ "title": "щ".repeat(200), "description": "щ".repeat(4000), "category": "щ".repeat(50) });
        let actions = vec![json!({ "action": "goal.create", "params": params }); 50];
        assert!(json!(actions).to_string().len() > 400_000);
        client.apply(json!(actions)).await;
    })
    .await;
}

#[tokio::test]
async fn a_page_of_an_origin_that_may_call_is_let_in_by_its_browser_and_another_is_refused() {
    let stage = Stage::new().await;
    let ask = |origin: &str| {
        let request = http().request(Method::OPTIONS, &stage.url).header("origin", origin);
        request
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,mcp-method")
    };
    let page = "http://localhost:3000";
    let asked = ask(page).send().await.unwrap();
    assert_eq!((asked.status().as_u16(), &asked.headers()["access-control-allow-origin"]), (200, &page.parse().unwrap()));
    assert_eq!(asked.headers()["access-control-allow-headers"], "authorization,mcp-method");
    assert!(asked.headers().get("access-control-allow-credentials").is_none(), "no cookie is ever meant");
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "page", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let call = |origin: &str| {
        let request = http().post(&stage.url).bearer_auth(stage.token.expose()).header("origin", origin).json(&hello);
        request.header("accept", "application/json, text/event-stream").send()
    };
    let opened = call(page).await.unwrap();
    assert_eq!((opened.status().as_u16(), &opened.headers()["access-control-allow-origin"]), (200, &page.parse().unwrap()));
    assert!(opened.headers()["access-control-expose-headers"].to_str().unwrap().contains("mcp-session-id"));
    let evil = call("https://evil.example").await.unwrap();
    assert_eq!((evil.status().as_u16(), evil.headers().get("access-control-allow-origin")), (403, None));
    let asked = ask("https://evil.example").send().await.unwrap();
    assert!(asked.headers().get("access-control-allow-origin").is_none(), "its browser keeps it from calling");
}
