//! Sources that are asked: each new item posted once, whatever the source, the network or a crash does.

mod api;
mod database;
mod feeds;
mod jobs;
mod trouble;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use jiff::SignedDuration;
use kernel::{TraceId, WorkspaceId};
use outbound::{FetchSettings, Fetcher};
use platform::Db;
use posting::pull::{Puller, SourceSecrets};
use serde_json::Value;
use testkit::TestDb;
use tokio::{net::TcpListener, sync::Barrier};

use crate::support::frozen;

/// A workspace, and a web site on loopback that its sources may be fetched from.
struct World {
    db: TestDb,
    workspace: WorkspaceId,
    site: Arc<Site>,
    url: String,
    secrets: tempfile::TempDir,
    fetcher: Fetcher,
}

type Answer = Box<dyn Fn(&Request) -> Response + Send>;

/// What the web site answers with.
#[derive(Default)]
struct Site {
    body: Mutex<String>,
    etag: Mutex<Option<&'static str>>,
    status: Mutex<Option<u16>>,
    /// Overrides everything above.
    answer: Mutex<Option<Answer>>,
    /// Whoever asks waits for the others here.
    meet: Mutex<Option<Arc<Barrier>>>,
    asked: AtomicUsize,
    whole_answers: AtomicUsize,
}

async fn answer(State(site): State<Arc<Site>>, request: Request) -> Response {
    site.asked.fetch_add(1, Ordering::SeqCst);
    let meet = site.meet.lock().unwrap().clone();
    if let Some(meet) = meet {
        meet.wait().await;
    }
    if let Some(answer) = &*site.answer.lock().unwrap() {
        return answer(&request);
    }
    if let Some(status) = *site.status.lock().unwrap() {
        return StatusCode::from_u16(status).unwrap().into_response();
    }
    let etag = *site.etag.lock().unwrap();
    let is_known = etag.is_some() && request.headers().get("if-none-match").and_then(|tag| tag.to_str().ok()) == etag;
    if is_known {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    site.whole_answers.fetch_add(1, Ordering::SeqCst);
    let body = site.body.lock().unwrap().clone();
    let mut response = body.into_response();
    if let Some(etag) = etag {
        response.headers_mut().insert("etag", etag.parse().unwrap());
    }
    response
}

impl World {
    async fn new() -> Self {
        let db = frozen().await;
        let workspace = db.workspace("ours").await;
        let site = Arc::new(Site::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let settings =
            FetchSettings { allow: vec![address.to_string()], deadline: Duration::from_mins(1), ..FetchSettings::default() };
        let fetcher = Fetcher::new(settings).unwrap();
        Self { db, workspace, site, url: format!("http://{address}/feed"), secrets: tempfile::tempdir().unwrap(), fetcher }
    }

    async fn feed(config: Value) -> Self {
        let world = Self::new().await;
        world.source("news", "rss", config).await;
        world
    }

    /// A source of this kind; its `url`, unless it has one, is the site's.
    async fn source(&self, id: &str, kind: &str, mut config: Value) {
        if kind != "db" && config.get("url").is_none() {
            config["url"] = Value::from(self.url.clone());
        }
        posting::pull::validate(kind, &config).unwrap();
        self.raw_source(id, kind, &config).await;
    }

    async fn raw_source(&self, id: &str, kind: &str, config: &Value) {
        sqlx::query(
            "insert into posting.pull_sources (workspace_id, source_id, kind, config_json) values ($1, $2, $3, $4)
             on conflict (workspace_id, source_id) do update set config_json = excluded.config_json",
        )
        .bind(self.workspace.uuid())
        .bind(id)
        .bind(kind)
        .bind(config)
        .execute(self.db.db.pool())
        .await
        .unwrap();
    }

    fn secrets(&self) -> SourceSecrets {
        SourceSecrets { folder: self.secrets.path().to_owned(), ..SourceSecrets::default() }
    }

    /// Puts a secret where sources may have it; gives its reference.
    fn secret(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.secrets.path().join(name);
        std::fs::write(&path, text).unwrap();
        format!("file:{}", path.display())
    }

    fn puller(&self, db: &Db) -> Puller {
        Puller::new(db.clone(), self.fetcher.clone(), self.secrets())
    }

    async fn pull(&self, source_id: &str) -> Value {
        self.puller(&self.db.db).pull(self.workspace, source_id, &TraceId::new()).await.unwrap().unwrap()
    }

    /// The numbers of a pull that went well: new, enqueued.
    async fn pull_news(&self) -> (u64, u64) {
        let stats = self.pull("news").await;
        (stats["new"].as_u64().unwrap_or_else(|| panic!("{stats}")), stats["enqueued"].as_u64().unwrap())
    }

    fn show(&self, body: String) {
        *self.site.body.lock().unwrap() = body;
    }

    /// Shows a feed with these items, the first on top.
    fn show_items(&self, items: &[(&str, &str)]) {
        let item = |(guid, title): &(&str, &str)| format!("<item><guid>{guid}</guid><title>{title}</title></item>");
        let items = items.iter().map(item).collect::<Vec<_>>().concat();
        self.show(format!("<rss version='2.0'><channel><title>N</title>{items}</channel></rss>"));
    }

    /// Shows numbered items, the newest on top.
    fn show_numbers(&self, numbers: std::ops::RangeInclusive<u32>) {
        let items: Vec<(String, String)> = numbers.rev().map(|n| (format!("g{n}"), format!("post {n}"))).collect();
        let items: Vec<(&str, &str)> = items.iter().map(|(guid, title)| (guid.as_str(), title.as_str())).collect();
        self.show_items(&items);
    }

    /// The texts of all posts, in their order.
    async fn posts(&self) -> Vec<String> {
        sqlx::query_scalar(
            "select payload->>'text' from posting.messages where workspace_id = $1 order by created_at, message_id",
        )
        .bind(self.workspace.uuid())
        .fetch_all(self.db.db.pool())
        .await
        .unwrap()
    }

    async fn cursor(&self, source_id: &str) -> Value {
        sqlx::query_scalar("select cursor_json from posting.pull_cursors where workspace_id = $1 and source_id = $2")
            .bind(self.workspace.uuid())
            .bind(source_id)
            .fetch_one(self.db.db.pool())
            .await
            .unwrap()
    }

    /// What each run said, in the order of their starts.
    async fn runs(&self, source_id: &str) -> Vec<Value> {
        sqlx::query_scalar(
            "select stats_json from posting.ingest_runs where workspace_id = $1 and source_id = $2 and kind = 'pull'
                and finished_at is not null order by started_at, run_id",
        )
        .bind(self.workspace.uuid())
        .bind(source_id)
        .fetch_all(self.db.db.pool())
        .await
        .unwrap()
    }

    fn wait(&self, seconds: i64) {
        self.db.clock.advance(SignedDuration::from_secs(seconds));
    }
}
