//! A small world: a workspace, a receiver on loopback that answers as it is told, and a sender that runs when told to.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
};
use jiff::SignedDuration;
use kernel::{Clock, WorkspaceId};
use outbound::Fetcher;
use platform::{outbox::OutboxLimits, secrets::Secrets};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, Row, postgres::PgRow};
use testkit::TestDb;
use tokio::net::TcpListener;
use uuid::Uuid;
use webhooks::{
    WebhookSender,
    manage::{Desk, NewSubscription, SecretFiles, WithSecret},
    sender::WebhookDeliveries,
};

/// A request that the receiver saw.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> String {
        self.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// How the receiver answers once.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn body(self, body: impl Into<String>) -> Self {
        Self { body: body.into(), ..self }
    }
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) base: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// The next answers, then for ever the last one; 204 if there was none.
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let receiver = Self { base, seen: Arc::default(), replies: Arc::default() };
        let router = Router::new().fallback(receive).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    pub(crate) fn host(&self) -> String {
        self.base["http://".len()..].to_owned()
    }

    pub(crate) fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        *self.replies.lock().unwrap() = replies.into_iter().collect();
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn receive(State(receiver): State<Receiver>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8(body.to_vec()).unwrap();
    receiver.seen.lock().unwrap().push(Seen { path: uri.path().to_owned(), headers, body });
    if uri.path() == "/silent" {
        std::future::pending::<()>().await;
    }
    let reply = {
        let mut replies = receiver.replies.lock().unwrap();
        let next = replies.front().cloned();
        if replies.len() > 1 {
            replies.pop_front();
        }
        next.unwrap_or_else(|| Reply::status(204))
    };
    let mut response = Response::builder().status(StatusCode::from_u16(reply.status).unwrap());
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(reply.body)).unwrap()
}

pub(crate) struct World {
    pub(crate) test: TestDb,
    pub(crate) workspace: WorkspaceId,
    pub(crate) receiver: Receiver,
    pub(crate) desk: Desk,
    pub(crate) tools: WebhookDeliveries,
    pub(crate) files: tempfile::TempDir,
    owner: tokio::sync::Mutex<PgConnection>,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at(Clock::frozen("2026-03-02T09:00:00Z".parse().unwrap())).await
    }

    pub(crate) async fn at(clock: Clock) -> Self {
        let test = TestDb::with(&[platform::SQL, webhooks::SQL], clock).await;
        let workspace = test.workspace("team").await;
        let receiver = Receiver::start().await;
        let files = tempfile::tempdir().unwrap();
        let fetcher = webhooks::sender::fetcher(vec![receiver.host()]).unwrap();
        let dir = files.path().join("secrets");
        let desk = Desk { db: test.db.clone(), fetcher: fetcher.clone(), files: SecretFiles { dir } };
        let tools = WebhookDeliveries { db: test.db.clone(), fetcher, secrets: Secrets::default() };
        let owner = tokio::sync::Mutex::new(test.owner().await);
        let world = Self { test, workspace, receiver, desk, tools, files, owner };
        world
            .run(
                "insert into ops.event_types values ('post.sent', 'a post'), ('post.lost', 'a post'), ('bot.escalated', 'a bot')",
            )
            .await;
        world
    }

    /// A world with one webhook, `all`, that asks for everything.
    pub(crate) async fn with_webhook() -> Self {
        let world = Self::new().await;
        world.add("all", &["*"]).await;
        world
    }

    pub(crate) async fn add(&self, name: &str, events: &[&str]) -> WithSecret {
        self.add_at(name, events, &format!("{}/{name}", self.receiver.base)).await
    }

    pub(crate) async fn add_at(&self, name: &str, events: &[&str], url: &str) -> WithSecret {
        let events: Vec<String> = events.iter().map(|&event| event.to_owned()).collect();
        let new = NewSubscription { name, url, events: &events, secret_ref: None };
        self.desk.add(self.workspace, &new, "ann").await.unwrap()
    }

    /// Something happens; how many deliveries it made.
    pub(crate) async fn emit(&self, event_type: &str, data: Value) -> i32 {
        let query = "select ops.emit_event($1, $2, $3)";
        let row = sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(event_type).bind(data);
        row.fetch_one(self.test.db.pool()).await.unwrap()
    }

    pub(crate) async fn emit_many(&self, count: usize) {
        for n in 0..count {
            self.emit("post.sent", json!({ "n": n })).await;
        }
    }

    /// A sender process that works until nothing is due.
    pub(crate) async fn drain(&self) -> usize {
        WebhookSender::new(self.tools.clone(), OutboxLimits::of(64)).drain().await.unwrap()
    }

    pub(crate) async fn drain_with(&self, fetcher: Fetcher) -> usize {
        WebhookSender::new(WebhookDeliveries { fetcher, ..self.tools.clone() }, OutboxLimits::of(64)).drain().await.unwrap()
    }

    /// Claims by hand, as a sender that holds what it was given: the deliveries.
    pub(crate) async fn claim(&self, token: &str, limit: i32) -> Vec<Uuid> {
        let query = "select delivery_id from webhooks.claim_deliveries($1, $2, $3, interval '40 seconds')";
        let rows = sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(token).bind(limit);
        rows.fetch_all(self.test.db.pool()).await.unwrap()
    }

    /// Statuses of the deliveries in the order of their making.
    pub(crate) async fn statuses(&self) -> String {
        let rows = self.rows("select status from ops.webhook_deliveries order by created_at, delivery_id").await;
        rows.iter().map(|row| row["status"].as_str().unwrap()).collect::<Vec<_>>().join(", ")
    }

    /// The only delivery that there is.
    pub(crate) async fn delivery(&self) -> Value {
        let rows = self.rows("select * from ops.webhook_deliveries").await;
        assert_eq!(rows.len(), 1, "{rows:#?}");
        rows[0].clone()
    }

    pub(crate) async fn subscription(&self, name: &str) -> Value {
        self.rows(&format!("select * from core.webhook_subscriptions where name = '{name}'")).await.remove(0)
    }

    /// Every row of a query, each as JSON.
    pub(crate) async fn rows(&self, query: &str) -> Vec<Value> {
        let query = format!("select to_jsonb(t) from ({}) t", query.replace("$ws", &format!("'{}'", self.workspace)));
        let rows: Vec<PgRow> = sqlx::query(AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// A function's answer, as JSON.
    pub(crate) async fn ask(&self, expression: &str) -> Value {
        self.rows(&format!("select ({expression}) as answer")).await.remove(0)["answer"].clone()
    }

    /// Runs a statement as the owner at the world's time.
    pub(crate) async fn run(&self, statement: &str) -> u64 {
        let statement = statement.replace("$ws", &format!("'{}'", self.workspace));
        let mut owner = self.owner.lock().await;
        let now = format!("set platform.now = '{}'", self.test.clock.now());
        sqlx::query(AssertSqlSafe(now)).execute(&mut *owner).await.unwrap();
        let done = sqlx::query(AssertSqlSafe(statement.clone())).execute(&mut *owner).await;
        done.unwrap_or_else(|error| panic!("{statement}: {error}")).rows_affected()
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.test.clock.advance(SignedDuration::from_secs(seconds));
    }
}
