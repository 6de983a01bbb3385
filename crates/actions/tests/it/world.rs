//! A small world: a workspace, a server or two on one database, people who call and people who watch.

use std::{ops::Deref, time::Duration};

use actions::http::{ChatSettings, Surface};
use axum::{Router, body::BodyDataStream};
use futures::StreamExt;
use kernel::{Bundle, Secret};
use platform::http::{App, Limits, wrap};
use serde_json::{Value, json};
use testkit::{PATIENCE, http};
use tokio_util::sync::DropGuard;
use tower::ServiceExt;

pub(crate) use testkit::code;

/// The module with what it stands on.
pub(crate) const MODULES: &[platform::SqlModule] = &[platform::SQL, actions::SQL];
/// Longer than any test takes: what arrives was told of by a wake-up, and not found by a look that came anyway.
const NEVER: Duration = Duration::from_hours(1);

pub(crate) struct World {
    ground: testkit::World,
    pub(crate) here: Server,
    pub(crate) token: Secret,
}

impl Deref for World {
    type Target = testkit::World;

    fn deref(&self) -> &testkit::World {
        &self.ground
    }
}

/// A process that serves the API.
pub(crate) struct Server {
    pub(crate) app: App,
    pub(crate) router: Router,
    _stop: DropGuard,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(ChatSettings::default()).await
    }

    pub(crate) async fn with(settings: ChatSettings) -> Self {
        let ground = testkit::World::new(MODULES).await;
        let here = Server::start(ground.app(ground.test.db.clone()), settings);
        let token = ground.token(&[Bundle::Read, Bundle::Write]).await;
        Self { ground, here, token }
    }

    /// Another process on the same database.
    pub(crate) fn another_server(&self) -> Server {
        Server::start(self.app(self.test.another()), ChatSettings::default())
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.here.ask(&self.token, "POST", path, Some(body), &[]).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        http::get(&self.here.router, &self.token, path).await
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

    pub(crate) async fn watch(&self, chat: &str) -> Watching {
        self.test.settled().await;
        self.here.watch(&self.token, &format!("/api/chats/{chat}/events"), &[]).await
    }

    pub(crate) async fn watch_since(&self, chat: &str, cursor: &str) -> Watching {
        self.here.watch(&self.token, &format!("/api/chats/{chat}/events?since={cursor}"), &[]).await
    }
}

impl Server {
    fn start(mut app: App, settings: ChatSettings) -> Self {
        app.bus = app.bus.looking_every(NEVER);
        tokio::spawn(app.bus.clone().run(app.stop.clone()));
        tokio::spawn(app.db.wake().clone().listen(app.stop.clone()));
        let router = wrap(actions::http::router(Surface::new(settings)), Limits::default()).with_state(app.clone());
        Self { _stop: app.stop.clone().drop_guard(), app, router }
    }

    pub(crate) async fn ask(
        &self,
        token: &Secret,
        method: &str,
        path: &str,
        body: Option<Value>,
        headers: &[(&'static str, &str)],
    ) -> (u16, Value) {
        let reply = http::send(&self.router, request(token, method, path, body.as_ref(), headers)).await;
        (reply.status, reply.json())
    }

    /// Opens a stream and reads its greeting.
    pub(crate) async fn watch(&self, token: &Secret, path: &str, headers: &[(&'static str, &str)]) -> Watching {
        let response = self.router.clone().oneshot(request(token, "GET", path, None, headers)).await.unwrap();
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

fn request(
    token: &Secret,
    method: &str,
    path: &str,
    body: Option<&Value>,
    headers: &[(&'static str, &str)],
) -> axum::http::Request<axum::body::Body> {
    let mut request = http::request(Some(token), method, path, body);
    for (name, value) in headers {
        request.headers_mut().append(*name, value.parse().unwrap());
    }
    request
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
