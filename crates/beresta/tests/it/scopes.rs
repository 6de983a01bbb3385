//! A token with a scope of one module, through a running server: that right and no other.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Serving, client, data_dir, database, run, stderr, stdout};

/// What a command prints.
fn json_of(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[tokio::test]
async fn a_token_with_the_scope_of_one_module_changes_that_module_and_nothing_else() {
    let (db, dir) = (database().await, data_dir());
    let dir = dir.path().to_string_lossy();
    let place = ["--database-url", &db.url, "--data-dir", &dir, "--json"];
    let seeded = json_of(&[&["seed"], &place[..]].concat());
    let token_with = |scope: &str| {
        json_of(&[&["token", "create", "--workspace", "demo", "--scope", scope], &place[..]].concat())["token"].clone()
    };
    let (narrow, wide) = (token_with("posting:write"), token_with("read,write"));
    // Only the API: nothing is sent while this goes on.
    let serving = Serving::on_database(&db.url, &["--roles", "api"]);
    let ask = async |token: &Value, method: Method, path: &str, body: &Value| -> (u16, Value) {
        let request = client().request(method, format!("{}{path}", serving.base)).bearer_auth(token.as_str().unwrap());
        let response = request.json(body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    };
    let push = client().post(format!("{}/hooks/push", serving.base)).json(&json!({ "text": "hello", "tags": ["news"] }));
    let pushed: Value =
        push.header("x-beresta-secret", seeded["push_secret"].as_str().unwrap()).send().await.unwrap().json().await.unwrap();
    let post = format!("/api/posts/{}", pushed["data"]["message_id"].as_str().unwrap());

    let (status, edited) = ask(&narrow, Method::POST, &format!("{post}/edit"), &json!({ "text": "hello again" })).await;
    assert_eq!(status, 202, "{edited}");
    let (status, deleted) = ask(&narrow, Method::POST, &format!("{post}/delete"), &json!({})).await;
    assert_eq!(status, 202, "{deleted}");

    let chat = json!({ "chatId": "c", "actionId": "a", "actionType": "x" });
    let webhook = json!({ "name": "w", "url": "https://example.org/hook", "events": ["*"] });
    let (nothing, reason) = (json!({}), json!({ "reason": "x" }));
    for (method, path, body, scope) in [
        (Method::GET, &*post, &nothing, "posting:read"),
        (Method::GET, "/api/deliveries", &nothing, "posting:read"),
        (Method::GET, "/api/jobs", &nothing, "platform:read"),
        (Method::POST, "/api/jobs/1/retry", &reason, "platform:write"),
        (Method::GET, "/api/bots/rules", &nothing, "shopbot:read"),
        (Method::GET, "/api/chats", &nothing, "chat:watch"),
        (Method::POST, "/api/chat/actions/start", &chat, "chat:write"),
        (Method::GET, "/api/webhooks", &nothing, "webhooks:read"),
        (Method::POST, "/api/webhooks", &webhook, "webhooks:write"),
    ] {
        let (status, refused) = ask(&narrow, method.clone(), path, body).await;
        assert_eq!((status, &refused["error"]["details"]["required_scope"]), (403, &json!(scope)), "{path}: {refused}");
        let (status, answer) = ask(&wide, method, path, body).await;
        assert_ne!(status, 403, "the bundles have {scope}: {answer}");
    }
    assert_eq!(ask(&narrow, Method::GET, "/api/me", &nothing).await.1["data"]["scopes"], json!(["posting:write"]));
    let sign_in = client().post(format!("{}/console/sign-in", serving.base)).header("origin", &serving.base);
    assert_eq!(sign_in.form(&[("token", narrow.as_str().unwrap())]).send().await.unwrap().status(), 403);

    let described = serving.get("/openapi.json").await.1["components"]["securitySchemes"]["token"]["description"].clone();
    assert!(described.as_str().unwrap().contains("- `posting:write`: edit and delete posts"), "{described}");
}

#[test]
fn the_help_lists_the_scopes_and_what_the_bundles_have() {
    let help = stdout(&run(&["token", "create", "--help"]));
    for words in ["`posting:write`: edit and delete posts", "`console`, a bundle: console:view, chat:watch"] {
        assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(words), "{words}: {help}");
    }
}
