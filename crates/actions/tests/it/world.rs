//! A small world: a workspace, a server or two on one database, people who call and people who watch.

use std::time::Duration;

use actions::http::{Settings, Surface};
use axum::{
    Router,
    body::{Body, BodyDataStream},
    http::Request,
};
use futures::StreamExt;
use jiff::SignedDuration;
use kernel::{Clock, Scope, Scopes, Secret, WorkspaceId};
use platform::{
    Db,
    bus::Bus,
    http::{App, Limits, wrap},
    objects::{Objects, Place},
    tokens,
};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, Row, postgres::PgRow};
use testkit::TestDb;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;

/// Nothing that a test waits for takes longer than this, unless something is wrong.
const PATIENCE: Duration = Duration::from_mins(1);
/// Longer than any test takes: what arrives was told of by a wake-up, and not found by a look that came anyway.
const NEVER: Duration = Duration::from_hours(1);

pub(crate) struct World {
    pub(crate) test: TestDb,
    pub(crate) workspace: WorkspaceId,
    pub(crate) here: Server,
    pub(crate) token: Secret,
    owner: tokio::sync::Mutex<PgConnection>,
    files: tempfile::TempDir,
}

/// A process that serves the API.
pub(crate) struct Server {
    pub(crate) app: App,
    pub(crate) router: Router,
    _stop: DropGuard,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let start = "2026-03-02T09:00:00Z".parse().unwrap();
        let test = TestDb::with(&[platform::SQL, actions::SQL], Clock::frozen(start)).await;
        let workspace = test.workspace("team").await;
        let files = tempfile::tempdir().unwrap();
        let here = Server::start(test.db.clone(), &files, settings);
        let token = make_token(&test.db, workspace, &[Scope::Read, Scope::Write]).await;
        let owner = tokio::sync::Mutex::new(test.owner().await);
        Self { test, workspace, here, token, owner, files }
    }

    /// Another process on the same database.
    pub(crate) fn another_server(&self) -> Server {
        Server::start(self.test.another(), &self.files, Settings::default())
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.here.ask(&self.token, "POST", path, Some(body), &[]).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.here.ask(&self.token, "GET", path, None, &[]).await;
        assert_eq!(status, 200, "{path}: {body}");
        body["data"].clone()
    }

    /// Starts an action in the chat `c`: its outcome and the action.
    pub(crate) async fn start(&self, id: &str, more: Value) -> (String, Value) {
        let mut body = json!({ "chatId": "c", "actionId": id, "actionType": "transcribe_audio" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.expect("/api/chat/actions/start", body).await
    }

    pub(crate) async fn update(&self, id: &str, status: &str, more: Value) -> (String, Value) {
        let mut body = json!({ "actionId": id, "status": status });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.expect("/api/chat/actions/update", body).await
    }

    async fn expect(&self, path: &str, body: Value) -> (String, Value) {
        let (status, answer) = self.post(path, body).await;
        assert_eq!(status, 200, "{answer}");
        (answer["data"]["outcome"].as_str().unwrap().to_owned(), answer["data"]["action"].clone())
    }

    /// Says something in a chat and returns its number.
    pub(crate) async fn say(&self, chat: &str, text: &str) -> i64 {
        let (status, answer) = self.post(&format!("/api/chats/{chat}/messages"), json!({ "text": text })).await;
        assert_eq!(status, 201, "{answer}");
        answer["data"]["message"]["seq"].as_i64().unwrap()
    }

    /// What was published in a chat, oldest first, without what was said.
    pub(crate) async fn published(&self, chat: &str) -> Vec<Value> {
        let query = format!(
            "select payload->'action' as action from bus.messages where topic = 'chat:{chat}' and payload->>'type' = 'bot_action' order by xid, id"
        );
        self.rows(&query).await.iter().map(|row| row["action"].clone()).collect()
    }

    /// The journal of an action: `action_started action_done`.
    pub(crate) async fn journal(&self, id: &str) -> String {
        let query = format!("select action from ops.journal where source = 'actions' and subject = '{id}' order by id");
        self.rows(&query).await.iter().map(|row| row["action"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    /// Every row of a query, each as JSON.
    pub(crate) async fn rows(&self, query: &str) -> Vec<Value> {
        let query = format!("select to_jsonb(t) from ({}) t", query.replace("$ws", &format!("'{}'", self.workspace)));
        let rows: Vec<PgRow> = sqlx::query(AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Runs a statement as the owner at the world's time.
    pub(crate) async fn try_run(&self, statement: &str) -> Result<u64, sqlx::Error> {
        let statement = statement.replace("$ws", &format!("'{}'", self.workspace));
        let mut owner = self.owner.lock().await;
        let now = format!("set platform.now = '{}'", self.test.clock.now());
        sqlx::query(AssertSqlSafe(now)).execute(&mut *owner).await?;
        Ok(sqlx::query(AssertSqlSafe(statement)).execute(&mut *owner).await?.rows_affected())
    }

    pub(crate) async fn run(&self, statement: &str) -> u64 {
        self.try_run(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.test.clock.advance(SignedDuration::from_secs(seconds));
    }

    pub(crate) async fn watch(&self, chat: &str) -> Watching {
        self.test.settled().await;
        self.here.watch(&self.token, &format!("/api/chats/{chat}/events"), &[]).await
    }

    pub(crate) async fn watch_since(&self, chat: &str, cursor: &str) -> Watching {
        self.here.watch(&self.token, &format!("/api/chats/{chat}/events?since={cursor}"), &[]).await
    }
}

pub(crate) async fn make_token(db: &Db, workspace: WorkspaceId, scopes: &[Scope]) -> Secret {
    let scopes: Scopes = scopes.iter().copied().collect();
    tokens::create(db.pool(), workspace, "test", &scopes, None, None).await.unwrap().1
}

impl Server {
    fn start(db: Db, files: &tempfile::TempDir, settings: Settings) -> Self {
        let stop = CancellationToken::new();
        let objects = Objects::open(&Place::Files { dir: files.path().join("objects") }).unwrap();
        let bus = Bus::new(db.clone()).looking_every(NEVER);
        tokio::spawn(bus.clone().run(stop.clone()));
        tokio::spawn(db.wake().clone().listen(stop.clone()));
        let app = App { db, bus, objects, stop: stop.clone() };
        let router = wrap(actions::http::router(Surface::new(settings)), Limits::default()).with_state(app.clone());
        Self { app, router, _stop: stop.drop_guard() }
    }

    async fn send(
        &self,
        token: &Secret,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> axum::response::Response {
        let mut request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        request = request.header("authorization", format!("Bearer {}", token.expose()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap()
    }

    pub(crate) async fn ask(
        &self,
        token: &Secret,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> (u16, Value) {
        let response = self.send(token, method, path, body, headers).await;
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 22).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Opens a stream and reads its greeting.
    pub(crate) async fn watch(&self, token: &Secret, path: &str, headers: &[(&str, &str)]) -> Watching {
        let response = self.send(token, "GET", path, None, headers).await;
        assert_eq!(response.status().as_u16(), 200, "{path}");
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
        assert_eq!(header("cache-control").as_deref(), Some("no-cache"));
        assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
        let mut watching =
            Watching { body: response.into_body().into_data_stream(), unread: String::new(), cursor: String::new(), retry_ms: 0 };
        assert_eq!(watching.block().await, Some(Value::Null), "the greeting has no data");
        watching
    }
}

/// Somebody who reads a stream.
pub(crate) struct Watching {
    body: BodyDataStream,
    unread: String,
    /// The id that was heard last.
    pub(crate) cursor: String,
    pub(crate) retry_ms: u64,
}

impl Watching {
    /// The next event; nothing at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        // For the event: heartbeats come for ever.
        let event = async {
            loop {
                let data = self.block().await?;
                if !data.is_null() {
                    return Some(data);
                }
            }
        };
        tokio::time::timeout(PATIENCE, event).await.expect("an event comes in time")
    }

    /// The next block of lines: its data, null if it has none. Nothing at the end of the stream.
    pub(crate) async fn block(&mut self) -> Option<Value> {
        let at = loop {
            if let Some(at) = self.unread.find("\n\n") {
                break at;
            }
            let chunk = tokio::time::timeout(PATIENCE, self.body.next()).await.expect("the stream says something in time")?;
            self.unread.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        };
        let block: String = self.unread.drain(..at + 2).collect();
        let mut data = Value::Null;
        for line in block.lines() {
            match line.split_once(':') {
                Some(("id", id)) => id.trim().clone_into(&mut self.cursor),
                Some(("retry", ms)) => self.retry_ms = ms.trim().parse().unwrap(),
                Some(("data", json)) => data = serde_json::from_str(json.trim()).unwrap(),
                _ => {}
            }
        }
        Some(data)
    }

    /// The next event in one word or two: what was said, or the action and its status.
    pub(crate) async fn word(&mut self) -> String {
        let event = self.next().await.expect("the stream goes on");
        match event["type"].as_str().unwrap() {
            "message" => event["message"]["text"].as_str().unwrap().to_owned(),
            "bot_action" => {
                format!("{} {}", event["action"]["actionId"].as_str().unwrap(), event["action"]["status"].as_str().unwrap())
            }
            other => other.to_owned(),
        }
    }
}

/// The SQLSTATE of a refusal.
pub(crate) fn code(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    code.unwrap_or_else(|| error.to_string())
}
