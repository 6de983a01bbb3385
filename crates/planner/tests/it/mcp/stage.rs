//! A server on a real socket, as people and programs meet it: the router with its layers, a database of its own, and persons with tokens.

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, header},
    middleware::{self, Next},
};
use jiff::SignedDuration;
use kernel::{Clock, Scope, Scopes, Secret, WorkspaceId};
use planner::{
    Planner,
    mcp::{Handler, Settings, router_with},
};
use platform::{
    bus::Bus,
    http::{App, Limits, wrap},
    objects::{Objects, Place},
    tokens,
};
use rmcp::ServerHandler;
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection, Row, postgres::PgRow};
use testkit::TestDb;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Who shows the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    /// The client, with every request.
    Asked,
    /// A layer in front of everything, for a client that cannot.
    Given,
}

pub(crate) struct Stage {
    pub(crate) test: TestDb,
    pub(crate) workspace: WorkspaceId,
    pub(crate) planner: Planner,
    /// Of the person `ann`, who may read and write.
    pub(crate) token: Secret,
    pub(crate) url: String,
    pub(crate) stop: CancellationToken,
    _files: tempfile::TempDir,
    _stop: DropGuard,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(Auth::Asked, |handler| handler).await
    }

    pub(crate) async fn with<S: ServerHandler>(auth: Auth, wrap_handler: impl Fn(Handler) -> S + Send + Sync + 'static) -> Self {
        Self::open(Settings::default(), auth, wrap_handler).await
    }

    pub(crate) async fn open<S: ServerHandler>(
        settings: Settings,
        auth: Auth,
        wrap_handler: impl Fn(Handler) -> S + Send + Sync + 'static,
    ) -> Self {
        let start = "2026-03-02T09:00:00Z".parse().unwrap();
        let test = TestDb::with(&[platform::SQL, planner::SQL], Clock::frozen(start)).await;
        let workspace = test.workspace("team").await;
        let token = make_token(&test, workspace, Some("ann"), &[Scope::Read, Scope::Write]).await;
        let files = tempfile::tempdir().unwrap();
        let stop = CancellationToken::new();
        let objects = Objects::open(&Place::Files { dir: files.path().join("objects") }).unwrap();
        let app = App { db: test.db.clone(), bus: Bus::new(test.db.clone()), objects, stop: stop.clone() };
        let planner = Planner::new(test.db.clone());
        let router = wrap(router_with(planner.clone(), settings, wrap_handler), Limits::default()).with_state(app);
        let router = if auth == Auth::Given { shown(router, &token) } else { router };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let stopped = stop.clone().cancelled_owned();
        tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(stopped).await });
        Self { test, workspace, planner, token, url, stop: stop.clone(), _files: files, _stop: stop.drop_guard() }
    }

    pub(crate) async fn token_of(&self, person: Option<&str>, scopes: &[Scope]) -> Secret {
        make_token(&self.test, self.workspace, person, scopes).await
    }

    /// Of somebody with this name in another workspace.
    pub(crate) async fn token_elsewhere(&self, person: &str) -> Secret {
        let workspace = self.test.workspace("elsewhere").await;
        make_token(&self.test, workspace, Some(person), &[Scope::Read, Scope::Write]).await
    }

    /// Every row of a query, each as JSON.
    pub(crate) async fn rows(&self, query: &str) -> Vec<Value> {
        let query = format!("select to_jsonb(t) from ({query}) t");
        let rows: Vec<PgRow> = sqlx::query(AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    pub(crate) async fn count(&self, of: &str) -> i64 {
        let query = format!("select count(*) from {of}");
        sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(self.test.db.pool()).await.unwrap()
    }

    /// Runs statements as the owner, on a connection of their own that stays open with what it returns.
    pub(crate) async fn run(&self, statements: &str) -> PgConnection {
        let mut owner = self.test.owner().await;
        sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut owner).await.unwrap();
        owner
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.test.clock.advance(SignedDuration::from_secs(seconds));
    }
}

/// A token of the workspace that names a person, or none.
async fn make_token(test: &TestDb, workspace: WorkspaceId, person: Option<&str>, scopes: &[Scope]) -> Secret {
    let scopes: Scopes = scopes.iter().copied().collect();
    tokens::create(test.db.pool(), workspace, "test", &scopes, None, person).await.unwrap().1
}

/// Puts the token into every request that has none.
fn shown(router: Router, token: &Secret) -> Router {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).unwrap();
    router.layer(middleware::from_fn(move |mut request: Request, next: Next| {
        request.headers_mut().entry(header::AUTHORIZATION).or_insert_with(|| value.clone());
        next.run(request)
    }))
}
