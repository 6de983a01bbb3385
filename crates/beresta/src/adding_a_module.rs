//! Follows docs/adding-a-module.md: the module that it makes is the one in the repository, little had to be changed outside it, and it runs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kernel::{Bundle, Secret};
use platform::{alerts, wake::Topic};
use serde_json::json;
use testkit::{http::client, until};

use crate::{config::Config, modules, server::Server};

/// Where the module is.
const CRATE: &str = "crates/testkit/echobot";
/// What the walk promises.
const LINES_OUTSIDE_MAX: usize = 6;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files(args: &[&str]) -> Vec<String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).args(args).current_dir(root());
    let output = git.output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(ToOwned::to_owned).collect()
}

/// The files that the walk shows, each with its text: a block of code below a line that ends with the path in backticks and a colon.
fn shown(walk: &str) -> Vec<(String, String)> {
    let mut shown = Vec::new();
    let mut lines = walk.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(path) = line.strip_suffix("`:").and_then(|line| line.rsplit('`').next()) else { continue };
        lines.next_if(|line| line.is_empty());
        if lines.next().is_some_and(|line| line.starts_with("```")) {
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            shown.push((path.to_owned(), text.join("\n") + "\n"));
        }
    }
    shown
}

#[test]
fn the_walk_shows_every_file_of_the_module_as_it_is() {
    let walk = fs::read_to_string(root().join("docs/adding-a-module.md")).unwrap();
    let shown = shown(&walk);
    for (path, text) in &shown {
        let file = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(&file == text || !path.starts_with(CRATE) && file.contains(text.trim_end()), "{path} is otherwise:\n{text}");
    }
    for file in files(&[CRATE]).iter().filter(|file| !file.ends_with("README.md")) {
        assert!(shown.iter().any(|(path, _)| path == file), "the walk does not show {file}");
    }
}

#[test]
fn adding_the_module_touched_at_most_six_lines_outside_its_crate() {
    let mut touched = Vec::new();
    for file in files(&[]) {
        let is_its_own =
            file.starts_with(CRATE) || file == "Cargo.lock" || file.starts_with("docs/") || file.ends_with("/adding_a_module.rs");
        let Ok(text) = fs::read_to_string(root().join(&file)) else { continue };
        if !is_its_own && file != "CHANGELOG.md" {
            touched.extend(text.lines().filter(|line| line.contains("echobot")).map(|line| format!("{file}: {}", line.trim())));
        }
    }
    assert!((1..=LINES_OUTSIDE_MAX).contains(&touched.len()), "{touched:#?}");
}

#[tokio::test]
async fn the_module_runs_with_all_that_it_brings() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let ground = testkit::WorldWithProviders::new(&modules::sql()).await;
    let flags = [
        ("listen", "127.0.0.1:0".to_owned()),
        ("data_dir", ground.files.path().display().to_string()),
        ("database_url", ground.test.url.clone()),
        ("telegram_base_url", format!("{}/telegram", ground.base)),
    ];
    let config = Config::load(&flags.map(|(name, value)| (name, Some(value)))).unwrap();
    let server = Server::start(&config, false, |_| {}).await.unwrap();
    let base = format!("http://{}", server.address);

    ground
        .run(&format!(
            "with bot as (insert into core.bots (workspace_id, provider, name, secret_ref, serves)
                          values ($ws, 'telegram', 'echo', '{}', 'echobot') returning *)
             insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id)
             select workspace_id, 'bot_webhook', '{}', bot_id from bot",
            ground.secret_ref("telegram"),
            Secret::new("the secret").sha256_hex()
        ))
        .await;
    ground
        .run(
            "insert into core.webhook_subscriptions (workspace_id, name, url, secret_ref, events)
              values ($ws, 'crm', 'https://example.org/', 'env:NO_SUCH_SECRET', '{echo.sent}')",
        )
        .await;
    let say = async |update_id: i64, chat: i64, text: &str| {
        let message = json!({"message_id": update_id, "date": 1_772_442_000, "text": text,
                             "chat": {"id": chat, "type": "private"}, "from": {"id": chat, "is_bot": false, "first_name": "Anna"}});
        let request = client().post(format!("{base}/hooks/telegram")).header("x-telegram-bot-api-secret-token", "the secret");
        request.json(&json!({"update_id": update_id, "message": message})).send().await.unwrap().status().as_u16()
    };

    // The webhook and the outbox effect. What is brought again is answered once.
    assert_eq!((say(1, 42, "two words").await, say(1, 42, "two words").await), (200, 200));
    let sent = until("the echo arrives", async || Some(ground.sent("telegram", 42).await).filter(|sent| !sent.is_empty())).await;
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["text"], "two words", "{sent:?}");
    // The job, the journal, the event.
    let row = "(select to_jsonb(e) from echobot.echoes e where chat_id = '42')";
    let is_done = async || Some(ground.ask(row).await).filter(|row| row["words"] == 2 && row["status"] == "sent");
    until("the words are counted and the result is recorded", is_done).await;
    assert_eq!(ground.count("ops.journal where source = 'echobot' and action in ('taken', 'sent')").await, 2);
    assert_eq!(ground.count("ops.webhook_deliveries where event_type = 'echo.sent'").await, 1);
    // The alert.
    ground.fault("telegram", 43, json!({"status": 403, "times": 1, "body": {"ok": false, "error_code": 403, "description": "Forbidden: bot was blocked by the user"}})).await;
    assert_eq!(say(2, 43, "nobody").await, 200);
    until("it is refused", async || (ground.count("echobot.echoes where status = 'dead'").await == 1).then_some(())).await;
    let sources: Vec<_> = modules::ALL.iter().filter_map(|module| module.alerts).collect();
    alerts::check(&server.app.db, &sources, &alerts::StorageLimits::default()).await;
    assert_eq!(ground.count("ops.alerts where module = 'echobot' and alert = 'dead_echoes' and cleared_at is null").await, 1);
    // The page, the metric.
    let cookie = format!("beresta_token={}", ground.token(&[Bundle::Console]).await.expose());
    let page =
        client().get(format!("{base}/console/echobot")).header("cookie", cookie).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("two words") && page.contains("Echo bot"), "{page}");
    let metrics = client().get(format!("{base}/metrics")).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("# HELP echobot_echoes_total"), "{metrics}");
    // The retention rule.
    ground.run("update echobot.echoes set created_at = created_at - interval '8 days'").await;
    ground.ask("ops.enqueue_job('00000000-0000-0000-0000-000000000000', 'ops.retention', '{}')").await;
    server.app.db.wake().tell(Topic::JOBS);
    until("old echoes are forgotten", async || (ground.count("echobot.echoes").await == 0).then_some(())).await;
    server.stop().await;
}
