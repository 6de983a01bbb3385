//! The envelopes over HTTP, and the workflows that are not about one message.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use testkit::http::ask;
use uuid::Uuid;

use crate::world::{Archive, GROUP, MEMBER, WAITS, message};

#[tokio::test]
async fn a_success_has_the_envelope_of_the_contract() {
    let archive = Archive::new().await;
    let trace = "trace-1";
    let (status, body) = archive.call("WF20", json!({"update": message(1, 45, "текст"), "trace_id": trace})).await;
    assert_eq!((status, &body["status_code"], &body["error"]), (200, &json!(200), &Value::Null), "{body}");
    let correlation = &body["meta"]["correlation"];
    assert_eq!(correlation["trace_id"], trace);
    assert_eq!(correlation["tenant_id"], json!(archive.workspace.uuid()));
    assert_eq!((&correlation["chat_id"], &correlation["message_id"]), (&json!(GROUP), &json!(45)));
    correlation["correlation_id"].as_str().unwrap().parse::<Uuid>().unwrap();
    let data = &body["data"];
    assert_eq!((&data["chat_id"], &data["message_id"]), (&json!(GROUP), &json!(45)));
    assert!(data["message_fk"].is_i64() && data["message_version_id"].is_i64(), "{data}");
    assert!(data["created_jobs"]["url_jobs"].is_array() && data["created_jobs"]["file_jobs"].is_array());
}

#[tokio::test]
async fn a_tenant_that_is_not_the_tokens_does_not_exist() {
    let archive = Archive::new().await;
    let body = json!({"req": {"tenant_id": Uuid::new_v4(), "update": message(1, 1, "x")}});
    let (status, answer) = ask(&archive.router, Some(&archive.token), "POST", "/api/workflows/WF20", Some(&body)).await;
    assert_eq!((status, &answer["ok"], &answer["status_code"]), (404, &json!(false), &json!(404)));
    assert_eq!(archive.count("tg.messages").await, 0);
}

#[tokio::test]
async fn a_token_without_the_scope_workflows_is_refused() {
    let archive = Archive::new().await;
    let token = archive.token(&["read", "write", "console"]).await;
    let body = json!({"req": {"tenant_id": archive.workspace.uuid(), "chat_id": GROUP}});
    let (status, _) = ask(&archive.router, Some(&token), "POST", "/api/workflows/WF60", Some(&body)).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn a_workflow_that_is_not_there_is_a_404() {
    let archive = Archive::new().await;
    let (status, body) = archive.call("WF77", json!({})).await;
    assert_eq!((status, &body["meta"]["source"], &body["error"]["kind"]), (404, &json!("WF77"), &json!("unknown")), "{body}");
}

#[tokio::test]
async fn what_is_refused_before_the_workflow_runs_has_its_envelope_too() {
    let archive = Archive::new().await;
    let token = archive.token.expose();
    let send = async |content_type: &str, body: String| {
        let request = Request::post("/api/workflows/WF40")
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", content_type)
            .body(Body::from(body));
        let reply = testkit::http::send(&archive.router, request.unwrap()).await;
        (reply.status, reply.json())
    };
    let large = json!({"req": {"tenant_id": archive.workspace.uuid(), "text": "a".repeat(2 << 20)}}).to_string();
    for (content_type, sent, expected) in
        [("application/json", "{".to_owned(), 400), ("text/plain", "{}".to_owned(), 415), ("application/json", large, 413)]
    {
        let (status, body) = send(content_type, sent).await;
        assert_eq!((status, &body["meta"]["source"]), (expected, &json!("WF40")), "{body}");
        let kind = body["error"]["kind"].as_str().unwrap();
        assert!(["db", "upstream", "auth", "rate_limit", "unknown"].contains(&kind), "{body}");
    }
}

#[tokio::test]
async fn the_loaded_context_has_the_correlation_id_of_its_envelope_and_a_text_that_is_none_is_refused() {
    let archive = Archive::new().await;
    let asked = json!({"tg_user_id": MEMBER, "channel": "dm"});
    let (_, body) = archive.call("WF00c", asked.clone()).await;
    let correlation = &body["meta"]["correlation"]["correlation_id"];
    assert_eq!(&body["data"]["ctx"]["correlation_id"], correlation, "{body}");
    let mut given = asked.clone();
    given["correlation_id"] = json!("6f1f8a5e-7a4c-4d53-9a53-5a3f6f0d7a11");
    let (_, body) = archive.call("WF00c", given.clone()).await;
    assert_eq!(body["data"]["ctx"]["correlation_id"], given["correlation_id"]);
    assert_eq!(body["meta"]["correlation"]["correlation_id"], given["correlation_id"]);
    for odd in [json!("no uuid"), json!(5)] {
        given["correlation_id"] = odd;
        let (status, body) = archive.call("WF00c", given.clone()).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (422, &json!("correlation_id")), "{body}");
    }
}

#[tokio::test]
async fn an_error_has_one_of_the_five_kinds_of_the_contract() {
    let archive = Archive::new().await;
    for (workflow, req) in [
        ("WF00c", json!({"tg_user_id": 1, "channel": "dm"})),
        ("WF00c", json!({"tg_user_id": 1, "channel": "else"})),
        ("WF20", json!({"update": 5})),
        ("WF40", json!({"document_id": 77})),
        ("WF90", json!({"limit": 0})),
    ] {
        let (status, body) = archive.call(workflow, req).await;
        assert!(status >= 400 && body["ok"] == false && body["data"].is_null(), "{body}");
        let kind = body["error"]["kind"].as_str().unwrap();
        assert!(["db", "upstream", "auth", "rate_limit", "unknown"].contains(&kind), "{body}");
        assert!(body["error"]["retryable"].is_boolean() && body["error"]["details"].is_object());
    }
}

#[tokio::test]
async fn wf90_counts_what_it_picked_and_what_became_of_it() {
    let archive = Archive::new().await;
    for n in 1..=3 {
        archive.data("WF10", json!({"bot_id": archive.bot, "update": message(n, n, "текст")})).await;
    }
    let ran = archive.data("WF90", json!({"limit": 2, "worker_id": "by hand"})).await;
    assert_eq!(ran, json!({"picked": 2, "succeeded": 2, "failed": 0}));
    archive.work().await;
    assert_eq!(archive.count("ops.jobs").await, 0);
    assert_eq!(archive.ask("(select count(*) from ops.job_runs where worker_id = 'by hand')").await, 2);
    assert_eq!(archive.texts().await.len(), 3);
}

#[tokio::test]
async fn wf99_always_answers_with_the_error_and_records_it() {
    let archive = Archive::new().await;
    let taken = archive.data("WF10", json!({"bot_id": archive.bot, "update": message(1, 1, "x")})).await;
    let body = json!({"ctx": {"tenant_id": archive.workspace.uuid(), "workflow": "WF31", "node": "fetch", "op": "get",
        "job_id": taken["job_id"], "trace_id": null}, "errorMessage": "too many, token 123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "statusCode": 429, "error": {}});
    let (status, answer) = ask(&archive.router, Some(&archive.token), "POST", "/api/workflows/WF99", Some(&body)).await;
    assert_eq!((status, &answer["ok"], &answer["error"]["kind"]), (429, &json!(false), &json!("rate_limit")), "{answer}");
    assert_eq!((&answer["error"]["retryable"], &answer["meta"]["source"]), (&json!(true), &json!("WF99")));
    assert!(!answer.to_string().contains("AAHdqTcv"), "{answer}");
    assert_eq!(archive.ask("(select source || ' ' || status_code from ops.errors)").await, "WF31 429");
    assert_eq!(archive.ask("(select status from ops.jobs)").await, "failed");
    assert_eq!(archive.ask("(select outcome from ops.job_runs)").await, "failed");
}

#[tokio::test]
async fn wf60_forgets_raw_and_documents_by_their_own_clocks() {
    let archive = Archive::new().await;
    let id = archive.workspace.uuid();
    archive
        .run(&format!(
            "insert into core.chat_policies (workspace_id, chat_id, retention_days_raw, retention_days_documents)
                          values ('{id}', {GROUP}, 30, 60)"
        ))
        .await;
    archive.data("WF10", json!({"bot_id": archive.bot, "update": message(1, 1, "старое")})).await;
    archive.work().await;
    archive.run("update tg.messages set date = platform.now()").await;
    archive.advance(31 * 86_400);
    let counts = archive.data("WF60", json!({"chat_id": GROUP})).await;
    assert_eq!((&counts["raw_updates"], &counts["messages"]), (&json!(1), &json!(0)), "{counts}");
    assert_eq!(archive.texts().await, ["старое"]);
    archive.advance(31 * 86_400);
    let counts = archive.data("WF60", json!({"chat_id": GROUP})).await;
    assert_eq!((&counts["raw_updates"], &counts["messages"]), (&json!(0), &json!(1)), "{counts}");
    for table in ["tg.messages", "tg.message_versions", "content.documents", "kg.chunks"] {
        assert_eq!(archive.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn wf60_takes_pages_and_files_along_in_as_many_batches_as_it_needs() {
    let archive = Archive::new().await;
    let url = archive.page("a", json!({ "body": "<p>Страница о берестяных коробах и лукошках для ягод.</p>" })).await;
    archive.process(&message(1, 1, &url)).await;
    archive.work().await;
    // A page without a message goes by its own age.
    let lone = archive.page("b", json!({ "body": "<p>Ещё одна страница о берестяных коробах и лукошках.</p>" })).await;
    let ctx = json!({ "chat_id": GROUP, "visibility": "group" });
    let taken = archive.data("WF30", json!({ "url": lone, "ctx": ctx })).await;
    archive.data("WF31", json!({ "url_id": taken["url_id"], "ctx": ctx })).await;
    archive.run("update content.documents set created_at = platform.now() - interval '3651 days'").await;
    archive
        .run(&format!(
            "insert into tg.messages (workspace_id, chat_id, message_id, kind, date)
             select '{}', {GROUP}, n, 'message', platform.now() from generate_series(1000, 2200) n",
            archive.workspace.uuid()
        ))
        .await;
    archive.run("update tg.messages set date = platform.now() - interval '3651 days'").await;
    let counts = archive.data("WF60", json!({ "chat_id": GROUP })).await;
    assert_eq!((&counts["messages"], &counts["lone_documents"]), (&json!(1202), &json!(1)), "{counts}");
    for table in ["tg.messages", "content.documents", "content.urls", "content.blob_objects"] {
        assert_eq!(archive.count(table).await, 0, "{table}");
    }
}

#[tokio::test]
async fn wf40_refuses_a_document_without_a_text_and_sizes_that_cannot_be() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "слова")).await;
    let document = archive.ask("(select id from content.documents)").await;
    assert_eq!(archive.call("WF40", json!({ "document_id": 999 })).await.0, 404);
    for chunking in [
        json!({ "max_chars": 99 }),
        json!({ "max_chars": 8001 }),
        json!({ "max_chars": 200, "overlap": 100 }),
        json!({ "max_chars": "many" }),
        json!({ "overlap": -1 }),
    ] {
        let (status, body) = archive.call("WF40", json!({ "document_id": document, "chunking": chunking })).await;
        assert_eq!((status, &body["error"]["details"]["field"]), (422, &json!("chunking")), "{body}");
    }
    archive.run("update content.documents set status = 'pending', text = null").await;
    assert_eq!(archive.call("WF40", json!({ "document_id": document })).await.0, 409);
}

#[tokio::test]
async fn wf90_counts_a_job_that_failed_and_refuses_a_limit_that_cannot_be() {
    let archive = Archive::new().await;
    let url = archive.page("shaky", json!({ "status": 503, "times": 1 })).await;
    archive.process(&message(1, 1, &url)).await;
    let ran = archive.work().await;
    assert_eq!(ran["failed"], 1, "{ran}");
    assert_eq!(ran["picked"].as_i64(), ran["succeeded"].as_i64().map(|succeeded| succeeded + 1), "{ran}");
    assert_eq!(archive.ask("(select count(*) from ops.job_runs where outcome <> 'succeeded')").await, 1);
    for odd in [json!({ "limit": 0 }), json!({ "limit": 1001 }), json!({ "limit": "x" }), json!({ "worker_id": "" })] {
        assert_eq!(archive.call("WF90", odd.clone()).await.0, 422, "{odd}");
    }
}

#[tokio::test]
async fn wf99_has_the_status_that_it_is_given_and_nothing_of_another_tenant() {
    let archive = Archive::new().await;
    let tenant = archive.workspace.uuid();
    let handle = async |tenant: Uuid, status: Value| {
        let body = json!({ "ctx": { "tenant_id": tenant, "workflow": "WF31" }, "errorMessage": "no", "statusCode": status });
        ask(&archive.router, Some(&archive.token), "POST", "/api/workflows/WF99", Some(&body)).await
    };
    for (given, status, kind, is_retryable) in [
        (json!(401), 401, "auth", false),
        (json!(403), 403, "auth", false),
        (json!(404), 404, "unknown", false),
        (json!(408), 408, "upstream", true),
        (json!(429), 429, "rate_limit", true),
        (json!(503), 503, "upstream", true),
        (json!(200), 500, "unknown", false),
        (Value::Null, 500, "unknown", false),
    ] {
        let (answered, body) = handle(tenant, given).await;
        let error = &body["error"];
        assert_eq!((answered, &error["kind"], &error["retryable"]), (status, &json!(kind), &json!(is_retryable)), "{body}");
    }
    let recorded = archive.count("ops.errors").await;
    assert_eq!(recorded, 8);
    assert_eq!(handle(Uuid::new_v4(), json!(429)).await.0, 404);
    assert_eq!(archive.count("ops.errors").await, recorded);
}

#[tokio::test]
async fn a_workflow_ends_also_if_its_caller_goes_away() {
    let archive = Archive::new().await;
    let mut held = archive.test.db.pool().begin().await.unwrap();
    let lock = format!("select pg_advisory_xact_lock(hashtextextended('{}', 12))", archive.workspace.uuid());
    sqlx::query(sqlx::AssertSqlSafe(lock)).execute(&mut *held).await.unwrap();
    tokio::select! {
        _ = archive.call("WF20", json!({"update": message(1, 1, "текст")})) => panic!("it waits for the lock"),
        () = async { while archive.ask(WAITS).await == false { tokio::task::yield_now().await; } } => {}
    }
    held.commit().await.unwrap();
    while archive.count("tg.messages").await == 0 {
        tokio::task::yield_now().await;
    }
}
