//! The webhooks of bots: one address for the bots of all modules.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Body, http::Request};
use kernel::{Kind, Problem, Secret};
use platform::{
    bus::Bus,
    door::{self, BotModule},
    http::{App, Limits, wrap},
    objects::{Objects, Place},
};
use sqlx::AssertSqlSafe;
use testkit::TestDb;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// A server with two modules that write down what they get: `first telegram update`.
struct Stage {
    test: TestDb,
    router: Router,
    received: Arc<Mutex<Vec<String>>>,
    _files: tempfile::TempDir,
}

impl Stage {
    async fn new() -> Self {
        let test = TestDb::new().await;
        let files = tempfile::tempdir().unwrap();
        let objects = Objects::open(&Place::Files { dir: files.path().to_owned() }).unwrap();
        let db = test.db.clone();
        let app = App { bus: Bus::new(db.clone()), objects, stop: CancellationToken::new(), db };
        let received = Arc::new(Mutex::new(Vec::new()));
        let module = |name: &'static str| {
            let received = Arc::clone(&received);
            BotModule::new(name, move |_app, update| {
                let body = String::from_utf8_lossy(&update.body).into_owned();
                let note = update.oversize.clone().unwrap_or_default();
                received.lock().unwrap().push(format!("{name} {} {body} {note}", update.provider).trim_end().to_owned());
                async move {
                    if body == "fail" {
                        return Err(Problem::new(503, Kind::Unavailable, "test.away", "come again").into());
                    }
                    Ok(())
                }
            })
        };
        let limits = Limits { body_bytes_max: 100, ..Limits::default() };
        let router = wrap(door::router([module("first"), module("second")]), limits).with_state(app);
        let stage = Self { test, router, received, _files: files };
        let workspace = stage.test.workspace("team").await;
        for (bot, provider) in [("first", "telegram"), ("second", "telegram"), ("first", "max"), ("third", "telegram")] {
            let name = format!("{bot}-{provider}");
            stage
                .run(&format!(
                    "with bot as (insert into core.bots (workspace_id, provider, name, secret_ref, serves)
                                  values ('{workspace}', '{provider}', '{name}', 'env:X', '{bot}') returning *)
                     insert into core.workspace_endpoints (workspace_id, kind, bot_id, secret_hash, ingress_rps, max_payload_bytes)
                     select workspace_id, 'bot_webhook', bot_id, '{}', 0.001, 50 from bot",
                    Secret::new(name.as_str()).sha256_hex()
                ))
                .await;
        }
        stage
    }

    async fn run(&self, statement: &str) {
        sqlx::query(AssertSqlSafe(statement.to_owned())).execute(self.test.db.pool()).await.unwrap();
    }

    /// The status of an update with the secret of this bot, brought to the address of Telegram.
    async fn telegram(&self, bot: &str, body: impl Into<Body>) -> u16 {
        let request = Request::post("/hooks/telegram").header("X-Telegram-Bot-Api-Secret-Token", bot);
        let response = self.router.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap();
        response.status().as_u16()
    }

    fn received(&self) -> Vec<String> {
        std::mem::take(&mut self.received.lock().unwrap())
    }
}

#[tokio::test]
async fn bots_of_two_modules_share_an_address_and_each_module_gets_its_own_updates() {
    let stage = Stage::new().await;
    assert_eq!(stage.telegram("first-telegram", "a").await, 200);
    assert_eq!(stage.telegram("second-telegram", "b").await, 200);
    assert_eq!(stage.received(), ["first telegram a", "second telegram b"]);
    let max = Request::post("/hooks/max").header("X-Max-Bot-Api-Secret", "first-max").body(Body::from("c")).unwrap();
    assert_eq!(stage.router.clone().oneshot(max).await.unwrap().status(), 200);
    assert_eq!(stage.received(), ["first max c"]);
    assert_eq!(stage.telegram("first-max", "d").await, 401, "a bot of another messenger");
    assert_eq!(stage.received(), Vec::<String>::new());
}

#[tokio::test]
async fn an_update_for_a_module_that_is_not_here_or_cannot_store_it_is_not_lost_the_provider_comes_again() {
    let stage = Stage::new().await;
    assert_eq!(stage.telegram("third-telegram", "a").await, 503);
    assert_eq!(stage.telegram("first-telegram", "fail").await, 503);
    assert_eq!(stage.received(), ["first telegram fail"]);
    stage.run("update core.bots set serves = 'second' where serves = 'third'").await;
    assert_eq!(stage.telegram("third-telegram", "a").await, 200);
    assert_eq!(stage.received(), ["second telegram a"]);
}

#[tokio::test]
async fn updates_of_a_bot_that_is_switched_off_are_acknowledged_and_left() {
    let stage = Stage::new().await;
    stage.run("update core.bots set enabled = false").await;
    assert_eq!(stage.telegram("first-telegram", "a").await, 200);
    assert_eq!(stage.telegram("third-telegram", "a").await, 200, "whichever module it serves");
    assert_eq!(stage.received(), Vec::<String>::new());
}

#[tokio::test]
async fn updates_of_a_bot_that_was_removed_are_acknowledged_so_that_the_messenger_does_not_come_again_for_hours() {
    let stage = Stage::new().await;
    stage.run("update core.workspace_endpoints set bot_id = null").await;
    stage.run("delete from core.bots").await;
    assert_eq!(stage.telegram("first-telegram", "a").await, 200);
    assert_eq!(stage.telegram("somebody", "a").await, 401, "whose secret leads nowhere");
    stage.run("update core.workspace_endpoints set meta = '{\"provider\": \"max\"}'").await;
    assert_eq!(stage.telegram("first-telegram", "a").await, 401, "an endpoint of another messenger");
    stage.run("update core.workspace_endpoints set meta = '{\"provider\": \"telegram\"}', enabled = false").await;
    assert_eq!(stage.telegram("first-telegram", "a").await, 401, "an endpoint that is switched off");
    assert_eq!(stage.received(), Vec::<String>::new());
}

#[tokio::test]
async fn no_rate_holds_a_provider_back_and_a_body_that_is_too_large_is_noted_by_the_module() {
    let stage = Stage::new().await;
    for _ in 0..3 {
        assert_eq!(stage.telegram("first-telegram", "a").await, 200, "at a rate of one in a thousand seconds");
    }
    assert_eq!(stage.received().len(), 3);
    let chunks = futures::stream::iter(["x".repeat(60)].map(Ok::<_, std::io::Error>));
    let bodies = [Body::from("x".repeat(60)), Body::from("x".repeat(101)), Body::from_stream(chunks)];
    for body in bodies {
        assert_eq!(stage.telegram("first-telegram", body).await, 200);
    }
    let note = "the body is larger than it may be: this endpoint takes 50 bytes";
    let expected = [
        format!("first telegram {} {note}", "x".repeat(60)),
        format!("first telegram  {note}"),
        format!("first telegram  {note}"),
    ];
    assert_eq!(stage.received(), expected);
}
