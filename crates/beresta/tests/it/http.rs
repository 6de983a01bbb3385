//! What comes in wrong is answered with an envelope and words that help, and changes nothing.

use kernel::{Bundle, Scopes, Secret, WorkspaceId};
use platform::{
    jobs::{self, NewJob},
    tokens,
};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgConnection;
use testkit::TestDb;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Serving, beresta, client, database, until};

struct Fixture {
    db: TestDb,
    serving: Serving,
    token: Secret,
    workspace: WorkspaceId,
    http: Client,
}

impl Fixture {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[(&str, &str)]) -> Self {
        let db = database().await;
        let workspace = db.workspace("ours").await;
        let (_, token) = tokens::create(db.db.pool(), workspace, "test", &Scopes::all(), None, None).await.unwrap();
        let mut command =
            beresta(&["serve", "--listen", "127.0.0.1:0", "--database-url", &db.url, "--data-dir", "/tmp/beresta-test-objects"]);
        command.envs(settings.iter().copied());
        let serving = Serving::start(command);
        Self { db, serving, token, workspace, http: client() }
    }

    fn call(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.serving.base)).bearer_auth(self.token.expose())
    }

    /// A job that has failed for good.
    async fn failed_job(&self) -> i64 {
        sqlx::query("select ops.register_job_type('sample', 1, 60000)").execute(self.db.db.pool()).await.unwrap();
        let mut tx = self.db.db.begin(self.workspace).await.unwrap();
        let id = jobs::enqueue(&mut tx, self.workspace, NewJob::new("sample", json!({})), None).await.unwrap();
        tx.commit().await.unwrap();
        let wanted = jobs::store::WantedJobs { job_type: "sample", limit: 1, after: jobs::store::After::START };
        let claimed = jobs::store::claim_jobs(self.db.db.pool(), "w", &[wanted]).await.unwrap();
        let failure = jobs::store::JobFailure { lease: (&claimed[0]).into(), error: json!({"message": "no"}), retry_in: None };
        jobs::store::fail_jobs(self.db.db.pool(), &[failure]).await.unwrap();
        id
    }
}

/// Every failure is an envelope: its parts are there and agree with the HTTP status.
async fn refused(request: reqwest::RequestBuilder, status: u16, kind: &str, words: &str) -> Value {
    let response = request.send().await.unwrap();
    assert_eq!(response.status().as_u16(), status, "{words}");
    let trace = response.headers().get("x-trace-id").expect("a trace id").to_str().unwrap().to_owned();
    let body: Value = response.json().await.unwrap();
    assert_eq!((body["ok"].as_bool(), body["status_code"].as_u64()), (Some(false), Some(u64::from(status))), "{body}");
    assert_eq!(body["error"]["kind"], kind, "{body}");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message:?} should say {words:?}");
    assert_eq!(body["meta"]["correlation"]["trace_id"], trace.as_str());
    body
}

/// The request that was made has come in, and can go no further: before that, another could have come in first.
async fn waits_for_tokens(lock: &mut PgConnection) {
    let waits = "select exists (select from pg_locks where relation = 'core.api_tokens'::regclass and not granted
                    and database = (select oid from pg_database where datname = current_database()))";
    until("the request waits for the tokens", async || {
        sqlx::query_scalar::<_, bool>(waits).fetch_one(&mut *lock).await.unwrap().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_bad_request_of_any_kind_gets_an_envelope_with_words_that_help() {
    let f = Fixture::new().await;
    let id = f.failed_job().await;
    let retry = format!("/api/jobs/{id}/retry");
    let post = |body: &'static str| f.call(Method::POST, &retry).header("content-type", "application/json").body(body);

    refused(f.call(Method::GET, "/api/nowhere"), 404, "not_found", "/openapi.json").await;
    refused(f.call(Method::DELETE, "/api/me"), 405, "validation", "is not for DELETE").await;
    refused(f.call(Method::POST, &retry).body("reason=x"), 415, "validation", "Content-Type: application/json").await;
    refused(post("{"), 400, "validation", "EOF").await;
    refused(post(r#"{"reason": "a", "reason": "b"}"#), 400, "validation", "`reason` stands twice").await;
    refused(post(r#"{"reason": "\u0000"}"#), 400, "validation", "NUL").await;
    refused(post(r#"{"resaon": "x"}"#), 422, "validation", "unknown field `resaon`, expected `reason`").await;
    refused(post(r#"{"reason": 7}"#), 422, "validation", "expected a string").await;
    refused(post(r#"{"reason": " "}"#), 422, "validation", "1 to 500 characters").await;
    refused(f.call(Method::GET, "/api/jobs?limit=0"), 422, "validation", "from 1 to 200").await;
    refused(f.call(Method::GET, "/api/jobs?limit=ten"), 422, "validation", "limit").await;
    refused(f.call(Method::GET, "/api/jobs?colour=red"), 422, "validation", "colour").await;
    refused(f.call(Method::GET, "/api/jobs?status=done"), 422, "validation", "queued, running or failed").await;
    refused(f.call(Method::GET, "/api/jobs/abc"), 404, "not_found", "abc").await;
    refused(f.call(Method::GET, "/api/jobs/999999999"), 404, "not_found", "no such job").await;
    let big = f.call(Method::POST, &retry).header("content-type", "application/json").body("x".repeat((1 << 20) + 1));
    refused(big, 413, "too_large", "larger than this server accepts").await;

    // After all of this the job is as it was, and can still be asked for.
    let job: Value = f.call(Method::GET, &format!("/api/jobs/{id}")).send().await.unwrap().json().await.unwrap();
    assert_eq!(job["data"]["job"]["status"], "failed");
    let answer = f.call(Method::POST, &retry).json(&json!({"reason": "fixed"})).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    refused(f.call(Method::POST, &retry).json(&json!({"reason": "again"})), 409, "conflict", "only a failed one").await;
}

#[tokio::test]
async fn a_missing_wrong_repeated_or_too_weak_token_is_refused() {
    let f = Fixture::new().await;
    let url = format!("{}/api/me", f.serving.base);
    refused(f.http.get(&url), 401, "auth", "Authorization: Bearer <token>").await;
    refused(f.http.get(&url).header("authorization", "Basic abc"), 401, "auth", "Authorization: Bearer <token>").await;
    refused(f.http.get(&url).bearer_auth("brs_wrong"), 401, "auth", "not known").await;
    refused(f.http.get(&url).bearer_auth("a").header("authorization", "Bearer b"), 401, "auth", "more than once").await;
    let (_, reader) =
        tokens::create(f.db.db.pool(), f.workspace, "r", &Scopes::from_iter([Bundle::Read]), None, None).await.unwrap();
    let write =
        f.http.post(format!("{}/api/jobs/1/retry", f.serving.base)).bearer_auth(reader.expose()).json(&json!({"reason": "x"}));
    let body = refused(write, 403, "auth", "lacks the scope `platform:write`").await;
    assert_eq!(body["error"]["details"]["required_scope"], "platform:write");
}

#[tokio::test]
async fn another_workspaces_job_is_answered_like_one_that_does_not_exist() {
    let f = Fixture::new().await;
    let id = f.failed_job().await;
    let theirs = f.db.workspace("theirs").await;
    let (_, token) = tokens::create(f.db.db.pool(), theirs, "t", &Scopes::all(), None, None).await.unwrap();
    let ask = |id: i64| f.http.get(format!("{}/api/jobs/{id}", f.serving.base)).bearer_auth(token.expose());
    let foreign = refused(ask(id), 404, "not_found", "no such job").await;
    let unknown = refused(ask(id + 1000), 404, "not_found", "no such job").await;
    assert_eq!(foreign["error"], unknown["error"]);
    let retry = f.http.post(format!("{}/api/jobs/{id}/retry", f.serving.base)).bearer_auth(token.expose());
    refused(retry.json(&json!({"reason": "x"})), 404, "not_found", "no such job").await;
}

#[tokio::test]
async fn a_trace_id_from_the_caller_is_kept_and_a_forged_one_is_not() {
    let f = Fixture::new().await;
    let ask = async |name: &'static str, value: &'static str| {
        let response = f.call(Method::GET, "/api/me").header(name, value).send().await.unwrap();
        response.headers()["x-trace-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(ask("x-trace-id", "order-17").await, "order-17");
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    assert_eq!(ask("traceparent", parent).await, "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_ne!(ask("x-trace-id", "a b=\"c\"").await, "a b=\"c\"");
}

#[tokio::test]
async fn operations_endpoints_answer_without_a_token() {
    let f = Fixture::new().await;
    assert_eq!(f.serving.get("/healthz").await.1["data"]["status"], "alive");
    let (status, ready) = f.serving.get("/readyz").await;
    assert_eq!((status, &ready["data"]["roles"]), (200, &json!(["api", "dispatcher", "runner", "monitor"])));
    let (_, document) = f.serving.get("/openapi.json").await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    assert!(document["paths"]["/api/jobs/{id}/retry"]["post"]["requestBody"].is_object());
    let metrics = client().get(format!("{}/metrics", f.serving.base)).send().await.unwrap().text().await.unwrap();
    for name in ["beresta_http_request_seconds_bucket", "beresta_jobs_oldest_due_seconds", "beresta_database_up 1"] {
        assert!(metrics.contains(name), "{name} is not in:\n{metrics}");
    }
}

#[tokio::test]
async fn every_path_that_is_documented_says_what_it_answers() {
    let f = Fixture::new().await;
    let (_, document) = f.serving.get("/openapi.json").await;
    testkit::openapi::check(&document);
}

#[tokio::test]
async fn a_page_of_a_listed_origin_may_call_the_chat_api_and_no_other() {
    let f = Fixture::with(&[("BERESTA_CHAT_ORIGINS", "https://shop.example.org")]).await;
    let allowed = async |method: Method, path: &str, origin: &str| {
        let asked = f.call(method, path).header("origin", origin).header("access-control-request-method", "POST");
        let asked = asked.header("access-control-request-headers", "authorization,last-event-id");
        let response = asked.send().await.unwrap();
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        (response.status().as_u16(), header("access-control-allow-origin"), header("access-control-allow-headers"))
    };
    let page = "https://shop.example.org";
    for path in ["/api/chat/actions/start", "/api/chats/c/events", "/api/chats/c/messages"] {
        let (status, origin, headers) = allowed(Method::OPTIONS, path, page).await;
        assert_eq!((status, origin.as_deref()), (200, Some(page)), "{path}");
        assert!(headers.unwrap().contains("last-event-id"), "{path}");
        assert_eq!(allowed(Method::OPTIONS, path, "https://evil.example.org").await.1, None, "{path}");
    }
    let read = "/api/chat/actions?chatId=c";
    assert_eq!(allowed(Method::GET, read, page).await.1.as_deref(), Some(page));
    assert_eq!(allowed(Method::GET, read, "http://localhost:5173").await.1.as_deref(), Some("http://localhost:5173"));
    for (path, origin) in [(read, "https://evil.example.org"), ("/api/me", page), ("/console/chat/api/chats", page)] {
        assert_eq!(allowed(Method::GET, path, origin).await.1, None, "{path}");
    }
}

#[tokio::test]
async fn every_module_has_rules_of_retention_on_the_schedule() {
    let f = Fixture::new().await;
    sqlx::query("update ops.schedules set next_fire_at = now() where job_type = 'ops.retention'")
        .execute(f.db.db.pool())
        .await
        .unwrap();
    let query = "select string_agg(distinct split_part(rule, '.', 1), ' ' order by split_part(rule, '.', 1))
                   from ops.journal cross join lateral jsonb_array_elements_text(data->'rules') rule
                  where action = 'retention' and data->'failed' = '[]'";
    let modules: String =
        until("retention has run", async || sqlx::query_scalar(query).fetch_one(f.db.db.pool()).await.unwrap()).await;
    assert_eq!(modules, "actions knowledge ops planner posting shopbot webhooks");
}

#[tokio::test]
async fn alerts_are_listed_and_acknowledged_by_their_workspace_alone() {
    // Without a monitor, which would find that nothing is wrong.
    let f = Fixture::with(&[("BERESTA_ROLES", "api")]).await;
    let theirs = f.db.workspace("theirs").await;
    let raise = "insert into ops.alerts (workspace_id, module, alert, subject, count, why)
                 select w, 'posting', 'dead_letters', s, n, 'bad gateway' from unnest($1::uuid[]) w, (values ('a', 2), ('b', 1)) v (s, n)";
    sqlx::query(raise).bind(vec![f.workspace.uuid(), theirs.uuid()]).execute(f.db.db.pool()).await.unwrap();
    let list =
        async || -> Value { f.call(Method::GET, "/api/alerts?module=posting").send().await.unwrap().json().await.unwrap() };
    let alert = list().await["data"]["alerts"][0].clone();
    assert_eq!((&alert["alert"], &alert["count"], &alert["subjects_count"]), (&json!("dead_letters"), &json!(3), &json!(2)));
    assert_eq!((&alert["subjects"][0]["subject"], &alert["subjects"][1]["why"]), (&json!("a"), &json!("bad gateway")));
    assert_eq!((&alert["acknowledged_at"], &alert["cleared_at"]), (&Value::Null, &Value::Null));
    let acknowledge = |body: Value| f.call(Method::POST, "/api/alerts/acknowledge").json(&body);
    let body = json!({ "module": "posting", "alert": "dead_letters", "reason": "on it" });
    let done: Value = acknowledge(body.clone()).send().await.unwrap().json().await.unwrap();
    assert_eq!(done["data"]["subjects"], 2);
    assert_eq!(list().await["data"]["alerts"][0]["acknowledged_by"], "test");
    let untouched = "select count(*) from ops.alerts where workspace_id = $1 and acknowledged_at is null";
    let count: i64 = sqlx::query_scalar(untouched).bind(theirs.uuid()).fetch_one(f.db.db.pool()).await.unwrap();
    assert_eq!(count, 2);
    refused(acknowledge(json!({ "module": "posting", "alert": "nothing", "reason": "x" })), 404, "not_found", "alert").await;
    refused(acknowledge(json!({ "module": "posting", "alert": "dead_letters", "reason": " " })), 422, "validation", "reason")
        .await;
    let read_only = Scopes::from_iter([Bundle::Read]);
    let (_, token) = tokens::create(f.db.db.pool(), f.workspace, "reader", &read_only, None, None).await.unwrap();
    let request = f.http.post(format!("{}/api/alerts/acknowledge", f.serving.base)).bearer_auth(token.expose()).json(&body);
    assert_eq!(request.send().await.unwrap().status(), 403);
    assert!(list().await["data"]["alerts"].as_array().unwrap().len() == 1);
}

#[tokio::test]
async fn a_process_without_the_api_role_serves_only_operations() {
    let db = database().await;
    let serving = Serving::on_database(&db.url, &["--roles", "runner"]);
    assert_eq!(serving.get("/readyz").await.1["data"]["roles"], json!(["runner"]));
    assert_eq!(serving.get("/api/me").await.0, 404);
}

#[tokio::test]
async fn too_many_requests_at_once_are_told_to_come_back() {
    let f = Fixture::with(&[("BERESTA_REQUESTS_MAX", "1")]).await;
    // Holds the table of tokens, so that one request waits inside the server.
    let mut lock = f.db.owner().await;
    sqlx::raw_sql("begin; lock table core.api_tokens in access exclusive mode").execute(&mut lock).await.unwrap();
    let waiting = tokio::spawn(f.call(Method::GET, "/api/me").send());
    waits_for_tokens(&mut lock).await;
    let body = f.http.get(format!("{}/healthz", f.serving.base)).send().await.unwrap();
    assert_eq!(body.status(), 503);
    assert_eq!(body.headers()["retry-after"], "1");
    let body: Value = body.json().await.unwrap();
    assert_eq!((body["error"]["kind"].as_str(), body["error"]["retryable"].as_bool()), (Some("unavailable"), Some(true)));
    sqlx::raw_sql("rollback").execute(&mut lock).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up_with_words() {
    let f = Fixture::with(&[("BERESTA_REQUEST_TIMEOUT_SECONDS", "1")]).await;
    let mut lock = f.db.owner().await;
    sqlx::raw_sql("begin; lock table core.api_tokens in access exclusive mode").execute(&mut lock).await.unwrap();
    refused(f.call(Method::GET, "/api/me"), 504, "timeout", "longer than 1 s").await;
}

#[tokio::test]
async fn a_client_that_sends_garbage_or_a_huge_header_does_not_hurt_the_others() {
    let f = Fixture::new().await;
    let address = f.serving.base.trim_start_matches("http://").to_owned();
    let huge = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    for bytes in ["\0\x01\x02 nonsense\r\n\r\n".to_owned(), huge] {
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(f.serving.get("/healthz").await.0, 200);
}

#[tokio::test]
async fn a_graceful_stop_lets_a_request_come_to_its_end() {
    let f = Fixture::new().await;
    let mut lock = f.db.owner().await;
    sqlx::raw_sql("begin; lock table core.api_tokens in access exclusive mode").execute(&mut lock).await.unwrap();
    let waiting = tokio::spawn(f.call(Method::GET, "/api/me").send());
    waits_for_tokens(&mut lock).await;
    f.serving.signal(nix::sys::signal::Signal::SIGTERM);
    until("the server takes no more connections", async || {
        let address = f.serving.base.trim_start_matches("http://").to_owned();
        tokio::net::TcpStream::connect(address).await.is_err().then_some(())
    })
    .await;
    sqlx::raw_sql("rollback").execute(&mut lock).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().status(), 200);
}
