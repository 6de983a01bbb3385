//! MAX takes the raw token in `Authorization`, and nothing else.

use serde_json::{Value, json};

use crate::harness::{MAX_TOKEN, Sim, answer};

#[tokio::test]
async fn a_missing_a_bearer_and_a_revoked_token_are_refused() {
    let sim = Sim::start().await;
    let me = |token: Option<&str>| {
        let request = sim.client.get(format!("{}/max/me?access_token=abc", sim.base));
        answer(match token {
            Some(token) => request.header("authorization", token),
            None => request,
        })
    };
    let refused = |message: &str| (401, json!({"code": "verify.token", "message": message}));
    assert_eq!(me(None).await, refused("No access token"));
    assert_eq!(me(Some("Bearer max-test-token")).await, refused("Malformed access token"));
    assert_eq!(me(Some(MAX_TOKEN)).await.0, 200);
    sim.control("tokens", json!({"provider": "max", "token": MAX_TOKEN, "valid": false})).await;
    assert_eq!(me(Some(MAX_TOKEN)).await, refused("Invalid access_token"));
}

#[tokio::test]
async fn the_bot_tells_about_itself_and_its_commands() {
    let sim = Sim::start().await;
    let (_, me) = sim.max("GET", "/me", None).await;
    assert_eq!((me["is_bot"].clone(), me.get("commands")), (json!(true), None));
    let commands = json!([{"name": "start", "description": "begin"}]);
    sim.max("PATCH", "/me/commands", Some(json!({"commands": commands}))).await;
    assert_eq!(sim.max("GET", "/me", None).await.1["commands"], commands);
    let many: Vec<Value> = (0..33).map(|number| json!({"name": format!("c{number}")})).collect();
    let refusal = sim.max_refusal("PATCH", "/me/commands", json!({"commands": many})).await;
    assert_eq!(refusal.2, "Field 'commands' size (33) must be at most 32");
}

#[tokio::test]
async fn an_unknown_path_and_a_wrong_verb_are_told_apart() {
    let sim = Sim::start().await;
    assert_eq!(sim.max("GET", "/nowhere", None).await.0, 404);
    assert_eq!(sim.max("PATCH", "/messages", None).await.0, 405);
}
