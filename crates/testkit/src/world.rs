//! What the tests of every module start from: one workspace at a frozen time, a folder, tokens, and SQL as the program and as the owner.

use jiff::SignedDuration;
use kernel::{Scopes, Secret, WorkspaceId};
use platform::{
    Db, SqlModule,
    bus::Bus,
    http::{App, Limits, wrap},
    objects::{Objects, Place},
    tokens,
};
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection};
use tempfile::TempDir;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::TestDb;

/// In the statements of a test, `$ws` is the workspace.
pub struct World {
    pub test: TestDb,
    pub workspace: WorkspaceId,
    /// Objects, credentials: gone with this value.
    pub files: TempDir,
    owner: Mutex<PgConnection>,
}

impl World {
    pub async fn new(modules: &[SqlModule]) -> Self {
        let test = TestDb::frozen_with(modules).await;
        let workspace = test.workspace("team").await;
        let owner = Mutex::new(test.owner().await);
        Self { test, workspace, files: tempfile::tempdir().expect("a folder"), owner }
    }

    /// The value of an expression as JSON, read by the program.
    pub async fn ask(&self, expression: &str) -> Value {
        self.try_ask(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    pub async fn try_ask(&self, expression: &str) -> Result<Value, sqlx::Error> {
        let query = sqlx::query_scalar(AssertSqlSafe(self.filled(&format!("select to_jsonb(({expression}))"))));
        query.fetch_one(self.test.db.pool()).await.map(Option::unwrap_or_default)
    }

    /// Every row of a query, each as JSON.
    pub async fn rows(&self, query: &str) -> Vec<Value> {
        let query = self.filled(&format!("select to_jsonb(t) from ({query}) t"));
        sqlx::query_scalar(AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.expect("the rows are read")
    }

    /// How many rows there are of a table, or of `table where …`.
    pub async fn count(&self, of: &str) -> i64 {
        self.ask(&format!("select count(*) from {of}")).await.as_i64().expect("a number")
    }

    /// Runs a statement as the owner, at the world's time: how many rows it touched.
    pub async fn run(&self, statement: &str) -> u64 {
        self.try_run(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    pub async fn try_run(&self, statement: &str) -> Result<u64, sqlx::Error> {
        let mut owner = self.owner.lock().await;
        let now = format!("set platform.now = '{}'", self.test.clock.now());
        sqlx::query(AssertSqlSafe(now)).execute(&mut *owner).await?;
        Ok(sqlx::query(AssertSqlSafe(self.filled(statement))).execute(&mut *owner).await?.rows_affected())
    }

    pub fn advance(&self, seconds: i64) {
        self.test.clock.advance(SignedDuration::from_secs(seconds));
    }

    pub async fn token(&self, scopes: &[impl AsRef<str>]) -> Secret {
        self.token_in(self.workspace, None, scopes).await
    }

    /// A token of a workspace that names a person, or none.
    pub async fn token_in(&self, workspace: WorkspaceId, person: Option<&str>, scopes: &[impl AsRef<str>]) -> Secret {
        let scopes: Scopes = scopes.iter().collect();
        tokens::create(self.test.db.pool(), workspace, "test", &scopes, None, person).await.expect("a token is made").1
    }

    pub fn objects(&self) -> Objects {
        Objects::open(&Place::Files { dir: self.files.path().join("objects") }).expect("a place for objects")
    }

    /// What the handlers of one process share.
    pub fn app(&self, db: Db) -> App {
        App { bus: Bus::new(db.clone()), objects: self.objects(), stop: CancellationToken::new(), db }
    }

    /// Routes as the server has them: behind its layers, in a process of their own.
    pub fn router(&self, routes: axum::Router<App>) -> axum::Router {
        wrap(routes, Limits::default()).with_state(self.app(self.test.db.clone()))
    }

    fn filled(&self, text: &str) -> String {
        text.replace("$ws", &format!("'{}'", self.workspace))
    }
}

/// The SQLSTATE of a refusal.
pub fn code(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    code.unwrap_or_else(|| error.to_string())
}
