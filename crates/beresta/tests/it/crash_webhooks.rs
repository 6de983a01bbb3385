//! Kill both sides, the server that sends and the receiver: every event arrives at least once, signed, and copies only where the
//! answer was lost.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use kernel::WorkspaceId;
use tempfile::TempDir;
use testkit::{TestDb, clients::Node};
use uuid::Uuid;

use crate::support::{Serving, beresta, data_dir, is_alive, run, stdout, until, workspace_root};

const ROUNDS: usize = 16;
const EVENTS_PER_ROUND: i64 = 25;
/// The whole backlog goes out again and again while both sides die; on a slow machine too this is plenty.
const PATIENCE: Duration = Duration::from_mins(3);
/// The server also ends itself between its steps: with claims, with an answer, with a result that is not recorded.
const FAILPOINTS: &str =
    "webhooks.claimed=0.03,webhooks.before_send=0.01,webhooks.acknowledged=0.02,webhooks.sent_not_recorded=0.05";

struct Receiver(Child);

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An update of deliveries by one who has locked their subscriptions first, as everybody does: without that it can end in a deadlock
/// with a claim.
fn in_turn(change: &str) -> String {
    format!(
        "select from core.webhook_subscriptions order by workspace_id, subscription_id for update; update ops.webhook_deliveries set {change}"
    )
}

struct Stage {
    db: TestDb,
    workspace: WorkspaceId,
    dir: TempDir,
    port: u16,
    secret: String,
    server: Option<Serving>,
    receiver: Option<Receiver>,
    /// How often the server died, by us or by itself, and the receiver.
    deaths: (usize, usize),
}

impl Stage {
    async fn new() -> Self {
        let db = TestDb::new().await;
        let workspace = db.workspace("shop").await;
        let dir = data_dir();
        let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
        let secret = stdout(&run(&["webhook", "secret"])).trim().to_owned();
        std::fs::write(dir.path().join("secret"), &secret).unwrap();
        let reference = format!("file:{}", dir.path().join("secret").display());
        let url = format!("http://127.0.0.1:{port}/");
        let mut add = beresta(&["webhook", "add", "--workspace", "shop", "--name", "crm", "--url", &url, "--event", "*"]);
        add.args(["--secret-ref", &reference, "--database-url", &db.url]).env("BERESTA_FETCH_ALLOW", format!("127.0.0.1:{port}"));
        assert!(add.arg("--data-dir").arg(dir.path()).status().unwrap().success());
        Self { db, workspace, dir, port, secret, server: None, receiver: None, deaths: (0, 0) }
    }

    async fn run(&self, statement: &str) {
        // Several statements in one call are one transaction.
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned())).execute(self.db.db.pool()).await.unwrap();
    }

    /// Starts what is not there. What a dead server held comes back without waiting for its lease: it is certain that it is dead.
    async fn raise(&mut self) {
        if self.server.as_ref().is_some_and(|server| !is_alive(server.pid())) {
            self.kill_server();
        }
        if self.server.is_none() {
            self.run(&in_turn("claimed_until = now() - interval '1 second' where status = 'sending'")).await;
            let mut command =
                beresta(&["serve", "--listen", "127.0.0.1:0", "--roles", "dispatcher", "--database-url", &self.db.url]);
            command.arg("--data-dir").arg(self.dir.path());
            command.env("BERESTA_FAILPOINTS", FAILPOINTS).env("BERESTA_FETCH_ALLOW", format!("127.0.0.1:{}", self.port));
            self.server = Some(Serving::start(command));
        }
        if self.receiver.is_none() {
            let clients = workspace_root().join("crates/webhooks/tests/clients");
            let mut command = Node::prepare("node-webhooks", &clients).command(&clients.join("receiver.cjs").to_string_lossy());
            command.arg(self.port.to_string()).arg(&self.secret).arg(self.log());
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, "ready\n");
            self.receiver = Some(Receiver(child));
        }
        // Time runs ahead for what waits.
        self.run(&in_turn("next_attempt_at = now() where status = 'retry' and next_attempt_at > now()")).await;
        self.run("update core.webhook_subscriptions set failures = 0, failing_since = null, closed_until = null").await;
    }

    fn kill_server(&mut self) {
        self.server.take().expect("a server").kill();
        self.deaths.0 += 1;
    }

    fn kill_receiver(&mut self) {
        drop(self.receiver.take().expect("a receiver"));
        self.deaths.1 += 1;
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("received.txt")
    }

    fn received(&self) -> Vec<String> {
        std::fs::read_to_string(self.log()).unwrap_or_default().lines().map(ToOwned::to_owned).collect()
    }

    /// Each in a transaction of its own.
    async fn emit(&self, numbers: std::ops::Range<i64>) {
        for n in numbers {
            let query = "select ops.emit_event($1, 'post.sent', jsonb_build_object('n', $2))";
            sqlx::query(query).bind(self.workspace.uuid()).bind(n).execute(self.db.db.pool()).await.unwrap();
        }
    }

    async fn open(&self) -> i64 {
        let query = "select count(*) from ops.webhook_deliveries where ended_at is null";
        sqlx::query_scalar(query).fetch_one(self.db.db.pool()).await.unwrap()
    }
}

fn random(below: u128) -> usize {
    usize::try_from(Uuid::new_v4().as_u128() % below).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn after_kills_of_both_sides_every_event_has_arrived_and_copies_only_where_the_answer_was_lost() {
    let mut stage = Stage::new().await;
    let mut emitted = 0;
    for round in 0..ROUNDS {
        stage.raise().await;
        stage.emit(emitted..emitted + EVENTS_PER_ROUND).await;
        emitted += EVENTS_PER_ROUND;
        let target = stage.received().len() + random(15);
        until("some arrive, or the server is gone", async || {
            let is_gone = !is_alive(stage.server.as_ref().unwrap().pid());
            (is_gone || stage.received().len() > target).then_some(())
        })
        .await;
        if round % 2 == 0 {
            stage.kill_server();
        } else {
            stage.kill_receiver();
        }
    }
    let started = Instant::now();
    while stage.open().await > 0 {
        assert!(started.elapsed() < PATIENCE, "{} deliveries are still open", stage.open().await);
        stage.raise().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut copies: BTreeMap<String, i64> = BTreeMap::new();
    let mut numbers: Vec<i64> = Vec::new();
    for line in stage.received() {
        let [id, event, n] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!(event, "post.sent", "{line}");
        *copies.entry(id.to_owned()).or_default() += 1;
        numbers.push(n.parse().unwrap());
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers, (0..emitted).collect::<Vec<_>>(), "every event has arrived");
    let query = "select event_id::text, status, unknown_outcomes::bigint from ops.webhook_deliveries";
    let rows: Vec<(String, String, i64)> = sqlx::query_as(query).fetch_all(stage.db.db.pool()).await.unwrap();
    for (id, status, unknown) in &rows {
        let copies = copies.remove(id).unwrap_or_default();
        assert!(status == "delivered" && copies <= 1 + unknown, "{id} is {status}: {copies} copies, {unknown} answers lost");
    }
    assert!(copies.is_empty(), "nothing arrived that was not sent: {copies:?}");
    let unknown: i64 = rows.iter().map(|(_, _, unknown)| unknown).sum();
    let (server, receiver) = stage.deaths;
    println!(
        "{emitted} events, {} requests, {unknown} answers lost; the server died {server} times, the receiver {receiver}",
        stage.received().len()
    );
    assert!(server >= ROUNDS / 2 && receiver == ROUNDS / 2);
}
