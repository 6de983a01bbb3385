//! A small world: a workspace with channels, simulated providers on a socket, and a dispatcher that runs when told to.

use jiff::SignedDuration;
use kernel::WorkspaceId;
use messengers::{Max, Messenger, Telegram};
use outbound::{Client, FetchSettings, Fetcher};
use platform::objects::{Objects, Place};
use posting::{
    Dispatcher,
    dispatcher::{Credentials, Settings, Tools},
};
use serde_json::{Value, json};
use simulators::Simulators;
use sqlx::{AssertSqlSafe, FromRow, PgConnection, Row, postgres::PgRow};
use testkit::TestDb;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::support;

pub(crate) struct World {
    pub(crate) test: TestDb,
    pub(crate) workspace: WorkspaceId,
    pub(crate) base: String,
    pub(crate) tools: Tools,
    pub(crate) owner: tokio::sync::Mutex<PgConnection>,
    client: Client,
    files: tempfile::TempDir,
    _stop: DropGuard,
}

/// What a test asks about a delivery.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct Delivery {
    #[sqlx(rename = "delivery_id")]
    pub(crate) id: Uuid,
    pub(crate) channel_id: String,
    pub(crate) status: String,
    pub(crate) attempt: i32,
    pub(crate) last_error: Option<Value>,
    pub(crate) rendered_text: Option<String>,
    pub(crate) render_meta: Value,
    pub(crate) provider_message_id: Option<String>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let test = support::frozen().await;
        let workspace = test.workspace("team").await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        tokio::spawn(simulators::serve(listener, Simulators::new(), stop.clone()));
        let files = tempfile::tempdir().unwrap();
        let client = Client::new(&outbound::Settings::default()).unwrap();
        let max = Max::new(client.clone(), &format!("{base}/max")).with_not_ready_pauses(&[]);
        let tools = Tools {
            db: test.db.clone(),
            telegram: Messenger::Telegram(Telegram::new(client.clone(), &format!("{base}/telegram"))),
            max: Messenger::Max(max),
            objects: Objects::open(&Place::Files { dir: files.path().join("objects") }).unwrap(),
            fetcher: Fetcher::new(FetchSettings { allow: vec![base["http://".len()..].to_owned()], ..FetchSettings::default() })
                .unwrap(),
            credentials: Credentials::default(),
        };
        let owner = tokio::sync::Mutex::new(test.owner().await);
        let world = Self { test, workspace, base, tools, owner, client, files, _stop: stop.drop_guard() };
        for (platform, token) in [("telegram", "123456:test-token"), ("max", "max-test-token")] {
            let path = world.files.path().join(platform);
            std::fs::write(&path, token).unwrap();
            let query = "insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref) values ($1, 'bot', $2, $3)";
            sqlx::query(query)
                .bind(workspace.uuid())
                .bind(platform)
                .bind(format!("file:{}", path.display()))
                .execute(world.test.db.pool())
                .await
                .unwrap();
        }
        world
    }

    /// Adds a channel without limits; `more` is `column = value, …`.
    pub(crate) async fn channel(&self, channel_id: &str, platform: &str, target: i64, more: &str) {
        let query = "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, rate_rps, max_parallel)
                     values ($1, $2, $3, $4, 'bot', 'bot', null, 10)";
        let query = sqlx::query(query).bind(self.workspace.uuid()).bind(channel_id).bind(platform).bind(target.to_string());
        query.execute(self.test.db.pool()).await.unwrap();
        if !more.is_empty() {
            self.set_channel(channel_id, more).await;
        }
    }

    pub(crate) async fn set_channel(&self, channel_id: &str, more: &str) {
        self.run(&format!("update posting.channels set {more} where channel_id = '{channel_id}'")).await;
    }

    /// Runs a statement as the owner at the world's time; a function's answer as JSON comes back.
    pub(crate) async fn ask(&self, expression: &str) -> Value {
        self.try_ask(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    pub(crate) async fn try_ask(&self, expression: &str) -> Result<Value, sqlx::Error> {
        let query = format!("select to_jsonb(({}))", expression.replace("$ws", &format!("'{}'", self.workspace)));
        sqlx::query_scalar::<_, Option<Value>>(AssertSqlSafe(query))
            .fetch_one(self.test.db.pool())
            .await
            .map(Option::unwrap_or_default)
    }

    pub(crate) async fn run(&self, statement: &str) -> u64 {
        self.try_run(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    pub(crate) async fn try_run(&self, statement: &str) -> Result<u64, sqlx::Error> {
        let statement = statement.replace("$ws", &format!("'{}'", self.workspace));
        let mut owner = self.owner.lock().await;
        let now = format!("set platform.now = '{}'", self.test.clock.now());
        sqlx::query(AssertSqlSafe(now)).execute(&mut *owner).await?;
        Ok(sqlx::query(AssertSqlSafe(statement)).execute(&mut *owner).await?.rows_affected())
    }

    /// Every row of a query, each as JSON.
    pub(crate) async fn rows(&self, query: &str) -> Vec<Value> {
        let query = format!("select to_jsonb(t) from ({}) t", query.replace("$ws", &format!("'{}'", self.workspace)));
        let rows: Vec<PgRow> = sqlx::query(AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Enqueues a post as a client in SQL would.
    pub(crate) async fn post(&self, payload: Value) -> Value {
        self.try_post(payload).await.unwrap()
    }

    pub(crate) async fn try_post(&self, payload: Value) -> Result<Value, sqlx::Error> {
        let query = "select posting.enqueue_messages_and_deliveries($1, null, 'push', $2, null)";
        sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(payload).fetch_one(self.test.db.pool()).await
    }

    /// A dispatcher process that works until nothing is due.
    pub(crate) async fn drain(&self) -> usize {
        Dispatcher::new(self.tools.clone(), Settings::default()).drain().await.unwrap()
    }

    pub(crate) async fn deliveries(&self) -> Vec<Delivery> {
        let query = "select delivery_id, channel_id, status, attempt, last_error, rendered_text, render_meta, provider_message_id
                       from posting.deliveries order by created_at, channel_id, delivery_id";
        sqlx::query_as(query).fetch_all(self.test.db.pool()).await.unwrap()
    }

    /// Status by channel, in one line: `a sent, b retry`.
    pub(crate) async fn statuses(&self) -> String {
        let all: Vec<String> = self.deliveries().await.iter().map(|d| format!("{} {}", d.channel_id, d.status)).collect();
        all.join(", ")
    }

    /// The actions of the events, oldest first, errors marked.
    pub(crate) async fn events(&self, filter: &str) -> Vec<String> {
        let query = format!(
            "select action, result from posting.events where {filter} order by ts, case action when 'enqueue' then 0 when 'send_attempt' then 1 else 2 end, result desc"
        );
        let rows = self.rows(&query).await;
        rows.iter()
            .map(|row| format!("{}{}", row["action"].as_str().unwrap(), if row["result"] == "error" { " error" } else { "" }))
            .collect()
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.test.clock.advance(SignedDuration::from_secs(seconds));
    }

    pub(crate) async fn control(&self, path: &str, body: Value) -> Value {
        let request = self.client.request(reqwest_method("POST"), &format!("{}/control/{path}", self.base)).json(&body);
        self.client.send(request).await.unwrap().json().unwrap_or_default()
    }

    /// The next calls to a target fail with this status.
    pub(crate) async fn fault(&self, provider: &str, target: i64, fault: Value) {
        let mut body = json!({ "provider": provider, "target": target.to_string() });
        body.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
        self.control("faults", body).await;
    }

    /// What a provider accepted for a target, oldest first.
    pub(crate) async fn sent(&self, provider: &str, target: i64) -> Vec<Value> {
        let url = format!("{}/control/sent?provider={provider}&target={target}", self.base);
        let reply = self.client.send(self.client.request(reqwest_method("GET"), &url)).await.unwrap().json().unwrap();
        reply["sent"].as_array().cloned().unwrap_or_default()
    }

    /// Claims and starts by hand, as a worker that holds what it was given.
    pub(crate) async fn start(&self, token: &str) -> Vec<Uuid> {
        let query = "select delivery_id from posting.claim_deliveries($1, $2, 100)";
        let _claimed: Vec<Uuid> =
            sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(token).fetch_all(self.test.db.pool()).await.unwrap();
        let query = "select delivery_id from posting.start_sending($1, $2, 100)";
        sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(token).fetch_all(self.test.db.pool()).await.unwrap()
    }
}

fn reqwest_method(name: &str) -> reqwest::Method {
    name.parse().unwrap()
}

/// The SQLSTATE of a refusal.
pub(crate) fn code(error: &sqlx::Error) -> String {
    error
        .as_database_error()
        .and_then(|error| error.code().map(std::borrow::Cow::into_owned))
        .unwrap_or_else(|| error.to_string())
}
