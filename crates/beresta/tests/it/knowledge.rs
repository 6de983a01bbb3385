//! `beresta knowledge`: the archive by hand, as an operator types it, and mistypes it.

use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestDb;

use crate::support::{beresta, data_dir, database, stderr, stdout};

const CHAT: &str = "-1000000000077";

/// A database with a workspace that has a knowledge bot, on which no server ever ran.
struct Stage {
    db: TestDb,
    dir: TempDir,
}

impl Stage {
    async fn new() -> Self {
        let stage = Self { db: database().await, dir: data_dir() };
        let workspace = stage.db.workspace("shop").await;
        sqlx::query(
            "insert into core.bots (workspace_id, provider, name, secret_ref, serves)
             values ($1, 'telegram', 'archive', 'env:X', 'knowledge')",
        )
        .bind(workspace.uuid())
        .execute(stage.db.db.pool())
        .await
        .unwrap();
        stage
    }

    fn run(&self, args: &[&str]) -> Output {
        let dir = self.dir.path().to_string_lossy();
        let mut all = vec!["knowledge"];
        all.extend(args);
        all.extend(["--workspace", "shop", "--database-url", &self.db.url, "--data-dir", &dir]);
        beresta(&all).env("USER", "ann").output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{args:?}: {error}: {}", stdout(&output)))
    }

    /// The words with which a command refuses.
    fn refusal(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?} succeeded");
        stderr(&output)
    }

    /// An export of the chat with two messages and a file.
    fn export(&self) -> String {
        let said = |id: i64, text: &str, file: Value| {
            json!({"id": id, "type": "message", "date_unixtime": "1700000000", "from": "Анна", "from_id": "user5", "text": text,
                "file": file})
        };
        let messages = json!([said(1, "привет", Value::Null), said(2, "план", json!("files/a.txt"))]);
        let text = format!(r#"{{"name": "Отдел", "type": "private_supergroup", "id": 77, "messages": {messages}}}"#);
        let dir = self.dir.path().join("export");
        std::fs::create_dir_all(dir.join("files")).unwrap();
        std::fs::write(dir.join("files/a.txt"), "Переезд в ноябре.").unwrap();
        std::fs::write(dir.join("result.json"), text).unwrap();
        dir.join("result.json").to_string_lossy().into_owned()
    }
}

#[tokio::test]
async fn a_chat_is_registered_its_history_imported_and_a_message_forgotten() {
    let stage = Stage::new().await;
    let export = stage.export();
    let refused = stage.refusal(&["import", &export]);
    assert!(refused.contains(&format!("beresta knowledge chat register {CHAT}")), "{refused}");
    assert_eq!(stage.json(&["chat", "register", CHAT])[0]["bot"], "archive");
    let first = stage.json(&["import", &export]);
    assert_eq!((&first["messages_new"], &first["files_taken"]), (&json!(2), &json!(1)), "{first}");
    let again = stdout(&stage.run(&["import", &export]));
    assert!(again.contains("messages: 0 new, 0 in a newer version, 2 known, 0 skipped, 0 broken\n"), "{again}");
    let list = stdout(&stage.run(&["chat", "list"]));
    assert!(list.starts_with("chat_id") && list.contains(&format!("{CHAT}  Отдел  supergroup  active  archive  2")), "{list}");

    let would = stage.run(&["forget", "message", CHAT, "2"]);
    assert!(stdout(&would).contains("messages  documents  chunks  raw_updates\n1"), "{}", stdout(&would));
    assert!(stderr(&would).contains("nothing was changed") && stderr(&would).contains("--yes"), "{}", stderr(&would));
    assert_eq!(stage.json(&["chat", "list"])[0]["messages"], 2);
    let gone = stage.json(&["forget", "message", CHAT, "2", "--yes"]);
    assert_eq!((&gone[0]["messages"], &gone[0]["forgotten"]), (&json!(1), &json!(true)), "{gone}");
    let third = stage.json(&["import", &export]);
    assert_eq!((&third["messages_known"], &third["messages_skipped"]), (&json!(1), &json!({"forgotten": 1})), "{third}");
    let by: Option<String> =
        sqlx::query_scalar("select asked_by from audit.forgettings").fetch_one(stage.db.db.pool()).await.unwrap();
    assert_eq!(by.as_deref(), Some("ann"));
    assert_eq!(stage.json(&["forget", "person", "5"])[0]["messages"], 1);
    assert_eq!(stage.json(&["forget", "chat", CHAT, "--yes"])[0]["messages"], 1);
    assert_eq!(stage.json(&["forget", "url", "https://a.example/"])[0]["documents"], 0);
    assert_eq!(stage.json(&["chat", "disable", CHAT])[0]["status"], "disabled");
}

#[tokio::test]
async fn policies_and_the_allowlist_are_changed_and_mistakes_are_told() {
    let stage = Stage::new().await;
    for (args, words) in [
        (&["chat", "disable", "-5"][..], "the chat -5 is not registered; there are none yet"),
        (&["chat", "policy", "-5"], "`beresta knowledge chat register -5` registers it"),
        (&["chat", "register", "5"], "groups and channels have ids below zero"),
        (&["chat", "register", CHAT, "--bot", "nobody"], "there is no bot `nobody` that serves knowledge; there are: archive"),
        (&["chat", "allow", "-7"], "people have ids above zero"),
        (&["chat", "policy", CHAT, "--raw-days", "0"], "--raw-days"),
        (&["forget", "url", "mailto:x"], "is not an address of a page"),
        (&["import", "/nowhere/result.json"], "cannot be read"),
    ] {
        let said = stage.refusal(args);
        assert!(said.contains(words), "{args:?} said {said:?}, not {words:?}");
    }
    let elsewhere =
        beresta(&["knowledge", "chat", "list", "--workspace", "shp", "--database-url", &stage.db.url]).output().unwrap();
    assert!(stderr(&elsewhere).contains("there is no workspace `shp`; there are: shop"), "{}", stderr(&elsewhere));

    stage.json(&["chat", "register", CHAT]);
    let shown = stage.json(&["chat", "policy", CHAT]);
    assert_eq!((&shown[0]["allow_embedding"], &shown[0]["retention_days_raw"]), (&json!(true), &json!(90)), "{shown}");
    let changed = stage.json(&["chat", "policy", CHAT, "--allow-url-fetch", "false", "--document-days", "30"]);
    assert_eq!((&changed[0]["allow_url_fetch"], &changed[0]["retention_days_documents"]), (&json!(false), &json!(30)));
    assert_eq!(stage.json(&["chat", "policy", CHAT])[0]["allow_url_fetch"], false);

    assert_eq!(stage.json(&["chat", "allow", "7", "--name", "Анна"])[0]["role"], "user");
    assert_eq!(stage.json(&["chat", "allow", "7", "--role", "admin"])[0]["name"], "Анна");
    assert_eq!(stage.json(&["chat", "allow", "7", "--person", "ann"])[0]["person"], "ann");
    assert!(stage.refusal(&["chat", "allow", "7", "--person", " "]).contains("a person has the name of their tokens"));
    let people = stdout(&stage.run(&["chat", "people"]));
    assert!(people.contains("7           admin  Анна  ann"), "{people}");
}
