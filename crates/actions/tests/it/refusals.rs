//! What is refused, with which status, code and words.

use kernel::Bundle;
use serde_json::{Value, json};

use crate::world::World;

async fn refused(world: &World, path: &str, body: Value, status: u16, code: &str) -> Value {
    let (found, answer) = world.post(path, body.clone()).await;
    assert_eq!((found, &answer["error"]["details"]["code"]), (status, &json!(code)), "{body}: {answer}");
    answer["error"].clone()
}

#[tokio::test]
async fn the_same_id_for_another_chat_or_another_type_is_a_conflict_and_not_a_merge() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    for path in ["/api/chat/actions/start", "/api/no-code/callback/actions/start"] {
        let other = json!({ "chatId": "d", "actionId": "a", "actionType": "transcribe_audio" });
        let error = refused(&world, path, other, 409, "actions.other_chat").await;
        assert_eq!(error["message"], "Действие с actionId 'a' уже начато в другом чате.");
        let other = json!({ "chatId": "c", "actionId": "a", "actionType": "summarize" });
        let error = refused(&world, path, other, 409, "actions.other_type").await;
        assert_eq!(error["message"], "Действие с actionId 'a' уже начато с другим actionType.");
    }
    let update = json!({ "chatId": "d", "actionId": "a", "status": "done" });
    refused(&world, "/api/chat/actions/update", update, 409, "actions.other_chat").await;
    world.update("a", "done", json!({})).await;
    let late = json!({ "chatId": "d", "actionId": "a", "actionType": "transcribe_audio" });
    refused(&world, "/api/chat/actions/start", late, 409, "actions.other_chat").await;
    assert_eq!(world.published("c").await.len(), 2);
    assert!(world.published("d").await.is_empty());
}

#[tokio::test]
async fn an_id_is_unique_in_its_workspace_and_means_nothing_in_another() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    let theirs = world.test.workspace("theirs").await;
    let token = world.token_in(theirs, None, &[Bundle::Read, Bundle::Write]).await;
    let update = Some(json!({ "actionId": "a", "status": "done" }));
    let (status, answer) = world.here.ask(&token, "POST", "/api/chat/actions/update", update, &[]).await;
    assert_eq!((status, &answer["error"]["details"]["code"]), (404, &json!("actions.unknown_action")));
    let start = Some(json!({ "chatId": "theirs", "actionId": "a", "actionType": "summarize" }));
    let (status, answer) = world.here.ask(&token, "POST", "/api/chat/actions/start", start, &[]).await;
    assert_eq!((status, &answer["data"]["outcome"]), (200, &json!("created")));
    let (_, list) = world.here.ask(&token, "GET", "/api/chat/actions?chatId=c&recent=60", None, &[]).await;
    assert_eq!((&list["data"]["actions"], &list["data"]["recent"]), (&json!([]), &json!([])));
    let (_, list) = world.here.ask(&token, "GET", "/api/chats", None, &[]).await;
    assert_eq!(list["data"]["chats"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_workspace_that_is_not_the_tokens_is_answered_like_one_that_does_not_exist() {
    let world = World::new().await;
    let theirs = world.test.workspace("theirs").await;
    for id in [json!(theirs), json!("00000000-0000-0000-0000-000000000009"), json!("no uuid")] {
        let body = json!({ "workspaceId": id, "chatId": "c", "actionId": "a", "actionType": "x" });
        let error = refused(&world, "/api/chat/actions/start", body, 404, "not_found").await;
        assert_eq!(error["message"], "Рабочее пространство не найдено.");
    }
    let path = format!("/api/chat/actions?workspaceId={theirs}&chatId=c");
    assert_eq!(world.here.ask(&world.token, "GET", &path, None, &[]).await.0, 404);
    let path = format!("/api/chats/c/events?workspaceId={theirs}");
    assert_eq!(world.here.ask(&world.token, "GET", &path, None, &[]).await.0, 404);
    let path = format!("/api/chat/actions?workspaceId={}&chatId=c", world.workspace);
    assert_eq!(world.get(&path).await["actions"], json!([]));
}

#[tokio::test]
async fn what_can_be_no_action_or_message_is_refused_with_its_field_and_changes_nothing() {
    let world = World::new().await;
    let whole = json!({ "chatId": "c", "actionId": "a", "actionType": "x" });
    let many = json!({ "n": (0..8000).collect::<Vec<_>>() });
    // Short as it comes, and three hundred digits each as everybody would be told.
    let long = json!({ "n": vec![1e300; 500] });
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({ "n": inner }));
    let deep = nested(33);
    for (field, value) in [
        ("chatId", json!("")),
        ("chatId", json!("x".repeat(129))),
        ("chatId", json!("a\nb")),
        ("chatId", json!("..")),
        ("actionId", json!("  ")),
        ("actionId", json!("x".repeat(129))),
        ("actionType", json!("")),
        ("actionType", json!("x".repeat(65))),
        ("payload", json!({ "text": "x".repeat(40_000) })),
        ("payload", many),
        ("payload", long.clone()),
        ("payload", deep.clone()),
    ] {
        let mut body = whole.clone();
        body[field] = value;
        let error = refused(&world, "/api/chat/actions/start", body, 422, "request.invalid").await;
        assert_eq!(error["details"]["field"], field);
        assert!(error["message"].as_str().unwrap().starts_with("Поле"), "{error}");
    }
    for field in ["chatId", "actionId", "actionType"] {
        let mut body = whole.clone();
        body.as_object_mut().unwrap().remove(field);
        let error = refused(&world, "/api/chat/actions/start", body, 422, "request.invalid").await;
        assert_eq!(error["details"]["field"], field);
        assert!(error["message"].as_str().unwrap().starts_with("Поле"), "{error}");
    }
    let mut list = whole;
    list["payload"] = json!([1]);
    refused(&world, "/api/chat/actions/start", list, 422, "request.invalid").await;
    for update in [json!({ "actionId": "a", "status": "started" }), json!({ "actionId": "a" })] {
        let error = refused(&world, "/api/chat/actions/update", update, 422, "request.invalid").await;
        assert_eq!(error["message"], "Поле `status`: нужно processing, done или error.");
    }
    for (field, update) in [
        ("actionId", json!({ "status": "done" })),
        ("actionId", json!({ "actionId": "", "status": "done" })),
        ("chatId", json!({ "actionId": "a", "chatId": "", "status": "done" })),
        ("actionType", json!({ "actionId": "a", "actionType": "", "status": "done" })),
    ] {
        for path in ["/api/chat/actions/update", "/api/no-code/callback/actions/update"] {
            let error = refused(&world, path, update.clone(), 422, "request.invalid").await;
            assert_eq!(error["details"]["field"], field, "an empty field of a template is no id");
        }
    }
    let error = refused(&world, "/api/chats/c/messages", json!({ "text": "x", "role": "admin" }), 422, "request.invalid").await;
    assert_eq!(error["message"], "Поле `role`: нужно user, bot или system.");
    for (field, body) in [
        ("text", json!({ "text": "" })),
        ("text", json!({ "text": "x".repeat(8001) })),
        ("messageId", json!({ "text": "x", "messageId": " " })),
        ("metadata", json!({ "text": "x", "metadata": { "a": "x".repeat(20_000) } })),
        ("metadata", json!({ "text": "x", "metadata": long })),
        ("metadata", json!({ "text": "x", "metadata": deep })),
    ] {
        let error = refused(&world, "/api/chats/c/messages", body, 422, "request.invalid").await;
        assert_eq!(error["details"]["field"], field);
    }
    for path in ["/api/chat/actions", "/api/chat/actions?chatId=c&recent=0", "/api/chat/actions?chatId=c&recent=61"] {
        assert_eq!(world.here.ask(&world.token, "GET", path, None, &[]).await.0, 422, "{path}");
    }
    assert!(world.rows("select from actions.chats").await.is_empty(), "nothing was stored");
    world.start("deep", json!({ "payload": nested(32) })).await;
    assert_eq!(world.get("/api/chat/actions?chatId=c").await["actions"][0]["payload"], nested(32));
}

#[tokio::test]
async fn errors_are_in_russian_and_in_english_for_those_who_prefer_it() {
    let world = World::new().await;
    let body = || Some(json!({ "actionId": "x", "status": "done" }));
    for (language, message) in [
        (None, "Действие с actionId 'x' не найдено. Сначала вызовите start."),
        (Some("ru"), "Действие с actionId 'x' не найдено. Сначала вызовите start."),
        (Some("en"), "Unknown actionId 'x'. Call start first."),
        (Some("en-GB,en;q=0.9,ru;q=0.8"), "Unknown actionId 'x'. Call start first."),
        (Some("de"), "Действие с actionId 'x' не найдено. Сначала вызовите start."),
    ] {
        let headers: Vec<(&str, &str)> = language.map(|language| ("accept-language", language)).into_iter().collect();
        let (_, answer) = world.here.ask(&world.token, "POST", "/api/chat/actions/update", body(), &headers).await;
        assert_eq!(answer["error"]["message"], message, "{language:?}");
    }
}

#[tokio::test]
async fn a_token_that_may_not_is_refused() {
    let world = World::new().await;
    let reader = world.token(&[Bundle::Read]).await;
    let writer = world.token(&[Bundle::Write]).await;
    let console = world.token(&[Bundle::Console]).await;
    let start = || Some(json!({ "chatId": "c", "actionId": "a", "actionType": "x" }));
    for token in [&reader, &console] {
        assert_eq!(world.here.ask(token, "POST", "/api/chat/actions/start", start(), &[]).await.0, 403);
        assert_eq!(world.here.ask(token, "GET", "/api/chat/actions?chatId=c", None, &[]).await.0, 200);
    }
    assert_eq!(world.here.ask(&writer, "POST", "/api/chat/actions/start", start(), &[]).await.0, 200);
    for path in ["/api/chat/actions?chatId=c", "/api/chats", "/api/chats/c/messages", "/api/chats/c/events"] {
        assert_eq!(world.here.ask(&writer, "GET", path, None, &[]).await.0, 403, "{path}");
        assert_eq!(world.here.ask(&kernel::Secret::new("brs_wrong"), "GET", path, None, &[]).await.0, 401, "{path}");
    }
}

#[tokio::test]
async fn a_query_that_cannot_be_is_refused_with_its_field_in_the_callers_language() {
    let world = World::new().await;
    for (path, field) in [
        ("/api/chat/actions", "chatId"),
        ("/api/chat/actions?chatId=.", "chatId"),
        ("/api/chat/actions?chatId=c&recent=abc", "recent"),
        ("/api/chat/actions?chatId=c&recent=61", "recent"),
        ("/api/chats/c/messages?limit=500", "limit"),
        ("/api/chats/c/messages?limit=many", "limit"),
        ("/api/chats/c/messages?before=x", "before"),
        ("/api/chats?limit=0", "limit"),
        ("/api/chats?before=x", "before"),
    ] {
        let (status, answer) = world.here.ask(&world.token, "GET", path, None, &[]).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (422, &json!(field)), "{path}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(&format!("Поле `{field}`: нужно ")), "{answer}");
    }
}

#[tokio::test]
async fn a_field_of_another_type_is_named() {
    let world = World::new().await;
    let number = json!({ "chatId": 42, "actionId": "a", "actionType": "x" });
    let error = refused(&world, "/api/chat/actions/start", number, 422, "request.invalid").await;
    assert_eq!(error["details"]["field"], "chatId", "{error}");
}

#[tokio::test]
async fn what_can_be_an_id_is_the_same_in_the_program_and_in_the_database() {
    let world = World::new().await;
    let long = "x".repeat(129);
    for (id, can_be) in [
        ("c", true),
        ("42", true),
        ("-1001234567890", true),
        ("чат №1", true),
        ("a/b?c", true),
        ("...", true),
        (&long[1..], true),
        ("", false),
        (" ", false),
        (".", false),
        ("..", false),
        ("a\nb", false),
        ("\u{200b}", false),
        ("a\u{202e}gpj", false),
        ("\u{feff}a", false),
        ("a\u{2066}b", false),
        (&long, false),
    ] {
        let kept: bool = sqlx::query_scalar("select actions.is_id($1)").bind(id).fetch_one(world.test.db.pool()).await.unwrap();
        assert_eq!((actions::contract::is_id(id), kept), (can_be, can_be), "{id:?}");
    }
}

#[tokio::test]
async fn every_refusal_is_said_in_english_too() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.post("/api/chats/c/messages", json!({ "text": "x", "messageId": "m" })).await;
    for (path, body, message) in [
        (
            "/api/chat/actions/start",
            json!({ "chatId": "d", "actionId": "a", "actionType": "transcribe_audio" }),
            "The action with actionId 'a' was started in another chat.",
        ),
        (
            "/api/chat/actions/update",
            json!({ "actionId": "a", "actionType": "summarize", "status": "done" }),
            "The action with actionId 'a' was started with another actionType.",
        ),
        (
            "/api/chats/c/messages",
            json!({ "text": "y", "messageId": "m" }),
            "The message with messageId 'm' exists and says something else.",
        ),
        (
            "/api/chat/actions/update",
            json!({ "actionId": "a", "status": "over" }),
            "`status` has to be processing, done or error.",
        ),
        (
            "/api/chat/actions/update",
            json!({ "workspaceId": "another", "actionId": "a", "status": "done" }),
            "There is no such workspace.",
        ),
    ] {
        let (_, answer) = world.here.ask(&world.token, "POST", path, Some(body), &[("accept-language", "en")]).await;
        assert_eq!(answer["error"]["message"], message);
    }
}
