//! A server on a real socket, as people and programs meet it: the router with its layers, a database of its own, and persons with tokens.

use std::ops::Deref;

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, header},
    middleware::{self, Next},
};
use kernel::{Bundle, Secret};
use planner::{
    Planner,
    mcp::{McpHandler, McpSettings, router_with},
};
use platform::{
    assistant::McpTool,
    http::{Limits, wrap},
};
use rmcp::ServerHandler;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::world::MODULES;

/// Who shows the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    /// The client, with every request.
    Asked,
    /// A layer in front of everything, for a client that cannot.
    Given,
}

pub(crate) struct Stage {
    world: testkit::World,
    pub(crate) planner: Planner,
    /// Of the person `ann`, who may read and write.
    pub(crate) token: Secret,
    pub(crate) url: String,
    pub(crate) stop: CancellationToken,
    _stop: DropGuard,
}

impl Deref for Stage {
    type Target = testkit::World;

    fn deref(&self) -> &testkit::World {
        &self.world
    }
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(Auth::Asked, |handler| handler).await
    }

    pub(crate) async fn with<S: ServerHandler>(
        auth: Auth,
        wrap_handler: impl Fn(McpHandler) -> S + Send + Sync + 'static,
    ) -> Self {
        Self::open(McpSettings::default(), auth, wrap_handler).await
    }

    pub(crate) async fn open<S: ServerHandler>(
        settings: McpSettings,
        auth: Auth,
        wrap_handler: impl Fn(McpHandler) -> S + Send + Sync + 'static,
    ) -> Self {
        Self::open_with(settings, auth, Vec::new(), wrap_handler).await
    }

    /// With tools that another module brings.
    pub(crate) async fn open_with<S: ServerHandler>(
        settings: McpSettings,
        auth: Auth,
        tools: Vec<McpTool>,
        wrap_handler: impl Fn(McpHandler) -> S + Send + Sync + 'static,
    ) -> Self {
        let world = testkit::World::new(MODULES).await;
        let token = world.token_in(world.workspace, Some("ann"), &[Bundle::Read, Bundle::Write]).await;
        let app = world.app(world.test.db.clone());
        let stop = app.stop.clone();
        let planner = Planner::new(world.test.db.clone()).with_tools(tools);
        let router = wrap(router_with(planner.clone(), settings, wrap_handler), Limits::default()).with_state(app);
        let router = if auth == Auth::Given { shown(router, &token) } else { router };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let stopped = stop.clone().cancelled_owned();
        tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(stopped).await });
        Self { world, planner, token, url, stop: stop.clone(), _stop: stop.drop_guard() }
    }

    pub(crate) async fn token_of(&self, person: Option<&str>, scopes: &[Bundle]) -> Secret {
        self.token_in(self.workspace, person, scopes).await
    }

    /// Of somebody with this name in another workspace.
    pub(crate) async fn token_elsewhere(&self, person: &str) -> Secret {
        let workspace = self.test.workspace("elsewhere").await;
        self.token_in(workspace, Some(person), &[Bundle::Read, Bundle::Write]).await
    }

    /// Runs statements as the owner, on a connection of their own that stays open with what it returns.
    pub(crate) async fn run(&self, statements: &str) -> PgConnection {
        let mut owner = self.test.owner().await;
        sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut owner).await.unwrap();
        owner
    }
}

/// Puts the token into every request that has none.
fn shown(router: Router, token: &Secret) -> Router {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.expose())).unwrap();
    router.layer(middleware::from_fn(move |mut request: Request, next: Next| {
        request.headers_mut().entry(header::AUTHORIZATION).or_insert_with(|| value.clone());
        next.run(request)
    }))
}
