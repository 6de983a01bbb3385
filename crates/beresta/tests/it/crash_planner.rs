//! Kill the server during an apply: the batch is applied once or not at all, a retry with the same key tells which, and the log of
//! requests has the call that nobody answered.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use kernel::{Scopes, Secret, WorkspaceId};
use platform::tokens;
use serde_json::{Value, json};
use testkit::TestDb;
use tokio::sync::watch;

use crate::support::{PATIENCE, Serving, beresta, client, database, is_alive, until};

const VERSION: &str = "2026-07-28";
/// How often the server is killed under load, and how many assistants make it.
const KILLS: u32 = 10;
const ASSISTANTS: usize = 3;

struct Stage {
    db: TestDb,
    workspace: WorkspaceId,
}

impl Stage {
    async fn new() -> Self {
        let db = database().await;
        let workspace = db.workspace("ours").await;
        Self { db, workspace }
    }

    /// A server that ends itself at these places; at none if nothing is said.
    fn serve(&self, failpoints: &str) -> Serving {
        let mut command = beresta(&["serve", "--listen", "127.0.0.1:0", "--database-url", &self.db.url]);
        command.args(["--data-dir", "/tmp/beresta-test-objects"]).env("BERESTA_FAILPOINTS", failpoints);
        Serving::start(command)
    }

    async fn token_of(&self, person: &str) -> Secret {
        let pool = self.db.db.pool();
        tokens::create(pool, self.workspace, person, &Scopes::all(), None, Some(person)).await.unwrap().1
    }

    /// One number out of the database.
    async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(self.db.db.pool()).await.unwrap()
    }

    /// Goals, steps, XP, and batches that are applied.
    async fn state(&self) -> [i64; 4] {
        [
            self.count("select count(*) from planner.goals").await,
            self.count("select count(*) from planner.steps").await,
            self.count("select coalesce(sum(amount), 0) from planner.xp_entries").await,
            self.count("select count(*) from planner.previews where status = 'applied'").await,
        ]
    }

    /// Calls of apply in the log of requests, and those of them that have no response.
    async fn logged(&self) -> (i64, i64) {
        let query = "select count(*), count(*) filter (where execution_time_ms is null) from planner.mcp_request_log
                      where tool_name = 'apply_actions'";
        sqlx::query_as(query).fetch_one(self.db.db.pool()).await.unwrap()
    }
}

/// A call of a tool as the stateless protocol wants it: one POST. The text of the result, or nothing if the server went away before
/// its end.
async fn call(base: &str, token: &Secret, tool: &str, arguments: Value) -> Option<String> {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": tool, "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "assistant", "version": "1" },
            },
        },
    });
    let request = client().post(format!("{base}/mcp")).bearer_auth(token.expose()).timeout(PATIENCE).json(&body);
    let request = request.header("accept", "application/json, text/event-stream").header("mcp-protocol-version", VERSION);
    let response = request.header("mcp-method", "tools/call").header("mcp-name", tool).send().await.ok()?;
    let status = response.status();
    let text = response.text().await.ok()?;
    assert!(status.is_success(), "{tool}: {status}: {text}");
    // Plain JSON, or a stream that may have been cut before its last event.
    let messages = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let answer = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find(|message| message["id"] == 1)?;
    let text = answer["result"]["content"][0]["text"].as_str();
    Some(text.unwrap_or_else(|| panic!("{tool}: {answer}")).to_owned())
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A goal with two steps, one of which is done at once: 25 XP.
async fn preview(base: &str, token: &Secret) -> Option<String> {
    let actions = json!([
        { "action": "goal.create", "client_action_id": "goal", "params": { "title": "Learn" } },
        { "action": "step.create", "client_action_id": "first", "params": { "goal_id": "$ref:goal", "title": "Read" } },
        { "action": "step.create", "params": { "goal_id": "$ref:goal", "title": "Write" } },
        { "action": "step.complete", "params": { "step_id": "$ref:first" } },
    ]);
    let answer = read(&call(base, token, "preview_actions", json!({ "actions": actions })).await?);
    assert_eq!(answer["success"], true, "{answer}");
    Some(answer["preview_id"].as_str().unwrap().to_owned())
}

async fn apply(base: &str, token: &Secret, preview_id: &str, key: &str) -> Option<String> {
    call(base, token, "apply_actions", json!({ "preview_id": preview_id, "idempotency_key": key })).await
}

/// Kills the server at one place of an apply and starts another: what the first had done, in goals, steps, XP and batches. Whatever it
/// was, the retry leaves the batch applied once.
async fn killed_at(failpoint: &str) -> [i64; 4] {
    let stage = Stage::new().await;
    let doomed = stage.serve(&format!("{failpoint}=1"));
    let token = stage.token_of("ada").await;
    let id = preview(&doomed.base, &token).await.expect("a preview passes no failpoint");
    assert_eq!(apply(&doomed.base, &token, &id, "key").await, None, "{failpoint}: nobody answers");
    until("the server is dead", async || (!is_alive(doomed.pid())).then_some(())).await;
    let left = stage.state().await;
    assert_eq!(stage.logged().await, (1, 1), "{failpoint}: a request without a response");

    let serving = stage.serve("");
    let told = apply(&serving.base, &token, &id, "key").await.expect("an answer");
    assert_eq!(read(&told)["success"], true, "{told}");
    assert_eq!(read(&told)["xp"], json!({ "change": 25, "total": 25 }), "{told}");
    assert_eq!(apply(&serving.base, &token, &id, "key").await.as_ref(), Some(&told), "the same to the byte");
    let other = read(&apply(&serving.base, &token, &id, "another").await.expect("an answer"));
    assert_eq!(other["error"], "Preview already applied", "{other}");
    assert_eq!(stage.state().await, [1, 2, 25, 1], "{failpoint}: applied once");
    assert_eq!(stage.logged().await, (4, 1));
    assert!(serving.stop());
    left
}

#[tokio::test]
async fn a_server_killed_between_two_actions_has_done_nothing_and_the_retry_does_it() {
    assert_eq!(killed_at("planner.apply.action").await, [0, 0, 0, 0]);
}

#[tokio::test]
async fn a_server_killed_before_the_commit_has_done_nothing_and_the_retry_does_it() {
    assert_eq!(killed_at("planner.apply.before_commit").await, [0, 0, 0, 0]);
}

#[tokio::test]
async fn a_server_killed_after_the_commit_has_done_it_and_the_retry_tells() {
    assert_eq!(killed_at("planner.apply.after_commit").await, [1, 2, 25, 1]);
}

/// Where the server is now; it has another address after each start, and somebody else may have the one before.
type Address = watch::Receiver<Option<String>>;

async fn here(address: &mut Address) -> String {
    address.wait_for(Option::is_some).await.unwrap().clone().unwrap()
}

/// What an assistant has done: by key the preview and the answer.
type Done = BTreeMap<String, (String, String)>;

/// An assistant that is never sure: it repeats every call until it is answered, with the same key.
async fn assist(name: String, token: Secret, mut address: Address, lost: Arc<AtomicU32>, stop: Arc<AtomicBool>) -> Done {
    let mut done = Done::new();
    let pause = || tokio::time::sleep(Duration::from_millis(15));
    while !stop.load(Ordering::Relaxed) {
        let Some(id) = preview(&here(&mut address).await, &token).await else {
            pause().await;
            continue;
        };
        let key = format!("{name} {}", done.len());
        let answer = loop {
            match apply(&here(&mut address).await, &token, &id, &key).await {
                Some(answer) => break answer,
                None => lost.fetch_add(1, Ordering::Relaxed),
            };
            pause().await;
        };
        assert_eq!(read(&answer)["success"], true, "{answer}");
        done.insert(key, (id, answer));
    }
    done
}

#[tokio::test(flavor = "multi_thread")]
async fn after_kill_9_at_any_moment_every_batch_is_applied_once_and_its_retry_tells() {
    let stage = Stage::new().await;
    let mut serving = stage.serve("");
    let (moved, address) = watch::channel(Some(serving.base.clone()));
    let (stop, lost) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let mut assistants = Vec::new();
    for n in 0..ASSISTANTS {
        let name = format!("assistant-{n}");
        let token = stage.token_of(&name).await;
        let shared = (address.clone(), Arc::clone(&lost), Arc::clone(&stop));
        assistants.push((token.clone(), tokio::spawn(assist(name, token, shared.0, shared.1, shared.2))));
    }
    for round in 0..KILLS {
        let target = stage.state().await[3] + 3;
        until("batches are applied", async || (stage.state().await[3] >= target).then_some(())).await;
        // Never the same moment of a call: these are spread over some two calls.
        tokio::time::sleep(Duration::from_millis(u64::from(round * 7 % 40))).await;
        serving.kill();
        moved.send_replace(None);
        serving = stage.serve("");
        moved.send_replace(Some(serving.base.clone()));
    }
    stop.store(true, Ordering::Relaxed);
    let mut all = Done::new();
    for (token, assistant) in assistants {
        let done = assistant.await.unwrap();
        for (key, (id, answer)) in &done {
            let again = apply(&serving.base, &token, id, key).await.expect("an answer");
            assert_eq!(again, *answer, "{key}: the same to the byte");
        }
        all.extend(done);
    }
    let count = i64::try_from(all.len()).unwrap();
    assert_eq!(stage.state().await, [count, 2 * count, 25 * count, count], "each once, and not one XP more");
    // Whoever got an answer stands in the log with it, and whoever was cut off may stand there without.
    let (calls, unanswered) = stage.logged().await;
    let lost = i64::from(lost.load(Ordering::Relaxed));
    assert!(unanswered <= lost, "{unanswered} requests without a response, and only {lost} calls that were cut off");
    assert!(calls - unanswered >= 2 * count, "{calls} calls in the log, {unanswered} of them without a response");
    let unlogged = "select count(*) from planner.previews p
                     where p.status = 'applied' and not exists (
                           select from planner.mcp_request_log l
                            where l.tool_name = 'apply_actions' and l.request_body #>> '{arguments,preview_id}' = p.preview_id::text)";
    assert_eq!(stage.count(unlogged).await, 0, "no batch was applied by a call that is not in the log");
    println!("{count} batches, {KILLS} kills, {lost} calls cut off, {unanswered} of them in the log");
    assert!(serving.stop());
}
