//! The planner driven from outside through the real program, over HTTP and through standard streams: the official Python client and the
//! inspector, in both eras of the protocol.

use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use kernel::{Bundle, Scopes, Secret, WorkspaceId};
use platform::tokens;
use serde_json::{Value, json};
use testkit::{
    TestDb,
    clients::{Node, Python},
};

use crate::support::{Serving, beresta, database, stderr, stdout, workspace_root};

const INSPECTOR: &str = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";

struct Scene {
    db: TestDb,
    workspace: WorkspaceId,
    serving: Serving,
    token: Secret,
}

impl Scene {
    async fn new() -> Self {
        let db = database().await;
        let workspace = db.workspace("ours").await;
        // The server brings the database up to date, so it comes before the token.
        let serving = Serving::on_database(&db.url, &[]);
        let token = Self::make_token(&db, workspace, Some("ann")).await;
        Self { db, workspace, serving, token }
    }

    async fn make_token(db: &TestDb, workspace: WorkspaceId, person: Option<&str>) -> Secret {
        let scopes: Scopes = [Bundle::Read, Bundle::Write].into_iter().collect();
        tokens::create(db.db.pool(), workspace, "assistant", &scopes, None, person).await.unwrap().1
    }

    fn url(&self) -> String {
        format!("{}/mcp", self.serving.base)
    }

    /// `beresta mcp` with its token, as an assistant starts it.
    fn stdio(&self) -> Command {
        let mut command = beresta(&["mcp"]);
        command.env("DATABASE_URL", &self.db.url).env("BERESTA_TOKEN", self.token.expose());
        command
    }
}

fn clients() -> PathBuf {
    workspace_root().join("crates/planner/tests/clients")
}

/// Runs something that blocks while the server goes on.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("it ends")
}

/// Runs the session of the Python client; every check it prints must be ok, and there must be that many of them.
async fn python(settings: Vec<(&'static str, String)>, checks_min: usize) {
    let output = apart(move || {
        let python = Python::prepare("python-mcp", &clients().join("requirements.txt"));
        python.command().arg(clients().join("planner.py")).envs(settings).output().expect("python runs")
    })
    .await;
    let printed = stdout(&output);
    let checks: Vec<Value> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let failed: Vec<&Value> = checks.iter().filter(|check| check["ok"] != true).collect();
    assert!(failed.is_empty() && output.status.success(), "{failed:#?}\n{printed}\n{}", stderr(&output));
    assert!(checks.len() >= checks_min, "only {} checks\n{printed}\n{}", checks.len(), stderr(&output));
}

#[tokio::test]
async fn the_python_client_drives_a_session_over_http_in_each_of_its_modes() {
    let scene = Scene::new().await;
    python(vec![("PLANNER_URL", scene.url()), ("PLANNER_TOKEN", scene.token.expose().to_owned())], 33).await;
}

#[tokio::test]
async fn the_python_client_drives_a_session_through_standard_streams() {
    let scene = Scene::new().await;
    let command = json!([env!("CARGO_BIN_EXE_beresta"), "mcp"]).to_string();
    let token = scene.token.expose().to_owned();
    python(vec![("PLANNER_COMMAND", command), ("DATABASE_URL", scene.db.url.clone()), ("BERESTA_TOKEN", token)], 22).await;
}

/// What the inspector says about one call: its exit status, and the result.
async fn inspect(args: Vec<String>) -> (i32, Value) {
    let output: Output = apart(move || {
        let node = Node::prepare("node-mcp", &clients());
        node.command(INSPECTOR)
            .arg("--cli")
            .args(args)
            .args(["--format", "json", "--connect-timeout", "60000"])
            .output()
            .expect("node runs")
    })
    .await;
    let code = output.status.code().unwrap_or(-1);
    let answer: Value =
        serde_json::from_str(stdout(&output).trim()).unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    (code, answer["result"].clone())
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Preview, apply, a retry and a refusal, each by a run of the inspector of its own.
async fn previews_and_applies(target: Vec<String>) {
    let call = async |tool: &str, arguments: Value| {
        let call = texts(&["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments.to_string()]);
        inspect([target.clone(), call].concat()).await
    };
    let (code, list) = inspect([target.clone(), texts(&["--method", "tools/list", "--strict"])].concat()).await;
    assert_eq!((code, list["tools"].as_array().map(Vec::len)), (0, Some(14)), "{list}");
    let actions = json!([
        { "action": "goal.create", "client_action_id": "g", "params": { "title": "From the inspector" } },
        { "action": "step.create", "params": { "goal_id": "$ref:g", "title": "A step" } },
    ]);
    let (code, preview) = call("preview_actions", json!({ "actions": actions })).await;
    assert_eq!(code, 0, "{preview}");
    let preview_id = preview["structuredContent"]["preview_id"].as_str().unwrap();
    let arguments = json!({ "preview_id": preview_id, "idempotency_key": preview_id });
    let (code, applied) = call("apply_actions", arguments.clone()).await;
    assert_eq!((code, &applied["structuredContent"]["summary"]["successful"]), (0, &json!(2)), "{applied}");
    assert_eq!(call("apply_actions", arguments).await.1["content"], applied["content"]);
    let (code, refused) = call("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "another" })).await;
    assert_eq!((code, &refused["structuredContent"]["error"]), (5, &json!("Preview already applied")), "{refused}");
}

#[tokio::test]
async fn the_inspector_previews_and_applies_over_http_in_both_eras() {
    let scene = Scene::new().await;
    let header = format!("Authorization: Bearer {}", scene.token.expose());
    for era in ["legacy", "modern"] {
        let target =
            texts(&[&scene.url(), "--transport", "http", "--protocol-era", era, "--header", &header, "--stored-auth-only"]);
        previews_and_applies(target).await;
    }
}

#[tokio::test]
async fn the_inspector_previews_and_applies_through_standard_streams_in_both_eras() {
    let scene = Scene::new().await;
    let (token, database) = (format!("BERESTA_TOKEN={}", scene.token.expose()), format!("DATABASE_URL={}", scene.db.url));
    for era in ["legacy", "modern"] {
        let program = env!("CARGO_BIN_EXE_beresta");
        previews_and_applies(texts(&["-e", &token, "-e", &database, program, "mcp", "--protocol-era", era])).await;
    }
}

#[tokio::test]
async fn standard_output_is_the_protocols_and_ends_with_the_input() {
    let scene = Scene::new().await;
    let mut command = scene.stdio();
    // Everything that can be said is said, and none of it on standard output.
    let said = tempfile::NamedTempFile::new().unwrap();
    command.env("BERESTA_LOG", "debug").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(said.reopen().unwrap());
    let (answers, status) = apart(move || {
        let mut child = command.spawn().expect("beresta starts");
        let mut input = child.stdin.take().expect("its input");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let mut ask = |id: i64, method: &str, params: Value| {
            writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).expect("it reads");
            lines.next().expect("an answer").expect("a line")
        };
        let hello = ask(1, "initialize", params);
        let list = ask(2, "tools/list", json!({}));
        drop(input);
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        ([vec![hello, list], rest].concat(), child.wait().expect("it ends"))
    })
    .await;
    let said = std::fs::read_to_string(said.path()).unwrap();
    assert!(status.success() && !said.is_empty(), "{said}");
    let answers: Vec<Value> =
        answers.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"))).collect();
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[1]["result"]["tools"].as_array().map(Vec::len), Some(14));
    assert_eq!(answers.len(), 2, "{answers:?}");
}

#[tokio::test]
async fn a_token_that_is_missing_wrong_or_nobodys_is_said_on_standard_error() {
    let scene = Scene::new().await;
    let nobody = Scene::make_token(&scene.db, scene.workspace, None).await;
    let cases = [(None, "BERESTA_TOKEN"), (Some("brs_wrong"), "not known"), (Some(nobody.expose()), "names no person")];
    for (token, words) in cases {
        let mut command = scene.stdio();
        command.env_remove("BERESTA_TOKEN").stdin(Stdio::null());
        command.envs(token.map(|token| ("BERESTA_TOKEN", token)));
        let output = apart(move || command.output().expect("beresta runs")).await;
        assert!(!output.status.success() && output.stdout.is_empty(), "{}", stdout(&output));
        assert!(stderr(&output).contains(words), "{words}: {}", stderr(&output));
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), scene.token.expose()).unwrap();
    let mut command = beresta(&["mcp", "--token", &format!("file:{}", file.path().display())]);
    command.env("DATABASE_URL", &scene.db.url).stdin(Stdio::null());
    let output = apart(move || command.output().expect("beresta runs")).await;
    assert!(output.status.success(), "{}", stderr(&output));
}

#[tokio::test]
async fn the_public_address_and_the_settings_say_who_may_call() {
    let db = database().await;
    let workspace = db.workspace("ours").await;
    let mut command =
        beresta(&["serve", "--listen", "127.0.0.1:0", "--database-url", &db.url, "--data-dir", "/tmp/beresta-test-objects"]);
    command.env("BERESTA_PUBLIC_URL", "https://plan.example.org").env("BERESTA_MCP_HOSTS", "inside.example.org");
    command.env("BERESTA_MCP_ORIGINS", "https://app.example.org");
    let serving = Serving::start(command);
    let token = Scene::make_token(&db, workspace, Some("ann")).await;
    let status = async |host: &str, origin: &str| {
        let meta =
            json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } });
        let request = crate::support::client().post(format!("{}/mcp", serving.base)).bearer_auth(token.expose()).json(&body);
        let request =
            request.header("accept", "application/json, text/event-stream").header("host", host).header("origin", origin);
        let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "server/discover");
        request.send().await.unwrap().status().as_u16()
    };
    for host in ["plan.example.org", "inside.example.org", "localhost"] {
        assert_eq!(status(host, "https://app.example.org").await, 200, "{host}");
    }
    assert_eq!(status("plan.example.org", "https://plan.example.org").await, 200);
    assert_eq!(status("elsewhere.example.org", "https://app.example.org").await, 403);
    assert_eq!(status("plan.example.org", "https://elsewhere.example.org").await, 403);
}
