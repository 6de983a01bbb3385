//! A page that a module brings is in the menu and in the layout, behind the same door as every other page, and live.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
    response::Response,
};
use console::Info;
use futures::{StreamExt, future::BoxFuture};
use jiff::Timestamp;
use kernel::{Bundle, Scopes, WorkspaceId};
use platform::{
    DbError,
    bus::Bus,
    console::{ConsolePage, escape, table},
    http::{App, Ctx, Failure, Limits, wrap},
    journal::{self, Entry},
    objects::{Objects, Place},
    tokens,
    wake::Topic,
};
use serde_json::json;
use testkit::TestDb;
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;

/// The page of a tiny module: what it has written into the journal, and what it was asked for.
const NOTES: ConsolePage =
    ConsolePage { path: "notes", title: "Notes", lead: "What was noted.", topics: &["notes"], render: render_notes };

fn render_notes<'a>(ctx: &'a Ctx, query: &'a str) -> BoxFuture<'a, Result<String, Failure>> {
    Box::pin(async move {
        let mut tx = ctx.begin().await?;
        let query_notes = "select subject from ops.journal where source = 'notes' order by id";
        let notes: Vec<String> = sqlx::query_scalar(query_notes).fetch_all(&mut *tx).await.map_err(DbError::from)?;
        Ok(table("Notes", ["Note"], notes.into_iter().map(|note| [note])) + &escape(query))
    })
}

struct Stage {
    db: TestDb,
    workspace: WorkspaceId,
    cookie: String,
    router: Router,
    _stop: DropGuard,
}

impl Stage {
    async fn new() -> Self {
        let db = TestDb::new().await;
        let workspace = db.workspace("shop").await;
        let scopes = Scopes::from_iter([Bundle::Console]);
        let (_, token) = tokens::create(db.db.pool(), workspace, "t", &scopes, None, None).await.unwrap();
        let stop = CancellationToken::new();
        let bus = Bus::new(db.db.clone());
        tokio::spawn(bus.clone().run(stop.clone()));
        let objects = Objects::open(&Place::Files { dir: std::env::temp_dir().join("beresta-test-objects") }).unwrap();
        let app = App { db: db.db.clone(), bus, objects, stop: stop.clone() };
        let info = Info {
            version: "0",
            started_at: Timestamp::UNIX_EPOCH,
            database_place: "of the test".to_owned(),
            modules: &[],
            is_https: false,
        };
        let router = console::router(Arc::new(info), Router::new(), &[NOTES.entry()], &[NOTES]);
        let router = wrap(router, Limits::default()).with_state(app);
        Self { db, workspace, cookie: format!("beresta_token={}", token.expose()), router, _stop: stop.drop_guard() }
    }

    async fn get(&self, path: &str, cookie: &str) -> Response {
        let request = Request::get(path).header("cookie", cookie).body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn page(&self, path: &str) -> String {
        let response = self.get(path, &self.cookie).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap()
    }

    async fn note(&self, text: &str) {
        let mut tx = self.db.db.begin(self.workspace).await.unwrap();
        let entry = Entry { source: "notes", action: "noted", subject: Some(text), trace_id: None, data: json!({}) };
        journal::append(&mut tx, self.workspace, entry).await.unwrap();
        tx.commit().await.unwrap();
        self.db.db.wake().tell(Topic::BUS);
    }
}

#[tokio::test]
async fn a_page_of_a_module_has_the_layout_a_place_in_the_menu_and_a_region_of_its_own() {
    let stage = Stage::new().await;
    stage.note("<script>alert(1)</script>").await;
    let page = stage.page("/console/notes?tag='b'&more").await;
    for words in [
        r#"<a href="/console/notes" aria-current="page">Notes</a>"#,
        r#"<a href="/console/jobs">Jobs</a>"#,
        "<title>Notes · shop · Beresta</title>",
        "<h1>Notes</h1>",
        "What was noted.",
        r#"data-topics="notes""#,
        r#"data-fragment="notes""#,
        r#"data-label="Note">&lt;script&gt;alert(1)&lt;/script&gt;</td>"#,
        "tag=&#39;b&#39;&amp;more",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<script>alert"), "{page}");
    let region = stage.page("/console/fragments/notes").await;
    assert!(region.contains(r#"data-fragment="notes""#) && region.contains("alert(1)"), "{region}");
    assert!(!region.contains("<html") && !region.contains("<h1>"), "{region}");
    assert!(stage.page("/console/jobs").await.contains(r#"<a href="/console/notes">Notes</a>"#));
}

#[tokio::test]
async fn a_page_of_a_module_is_shown_to_nobody_who_is_not_signed_in() {
    let stage = Stage::new().await;
    assert_eq!(stage.get("/console/notes", "").await.status(), StatusCode::SEE_OTHER);
    assert_eq!(stage.get("/console/fragments/notes", "").await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(stage.get("/console/live", "").await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(stage.get("/console/other", &stage.cookie).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_page_is_told_that_something_was_published_on_its_topics() {
    let stage = Stage::new().await;
    let response = stage.get("/console/live?topics=notes", &stage.cookie).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut events = response.into_body().into_data_stream();
    let mut next = async || String::from_utf8(events.next().await.unwrap().unwrap().to_vec()).unwrap();
    assert!(next().await.contains("retry:"));
    stage.note("now").await;
    assert_eq!(next().await, "event: changed\ndata: {}\n\n");
}
