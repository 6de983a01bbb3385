//! Actions through real processes: two servers on one database, one of which is killed.

use actions::contract::{ActionList, ChatEvent};
use kernel::{Scopes, Secret};
use platform::tokens;
use serde_json::{Value, json};

use crate::support::{PATIENCE, Serving, client, data_dir, database, postgres_pid, run, stdout, until};

struct Watching {
    response: reqwest::Response,
    unread: String,
    cursor: String,
}

impl Watching {
    async fn open(serving: &Serving, token: &Secret, query: &str) -> Self {
        let url = format!("{}/api/chats/c/events{query}", serving.base);
        let response = client().get(url).bearer_auth(token.expose()).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let mut watching = Self { response, unread: String::new(), cursor: String::new() };
        // The greeting: from here on everything is heard.
        watching.block().await;
        watching
    }

    async fn block(&mut self) -> Value {
        let at = loop {
            if let Some(at) = self.unread.find("\n\n") {
                break at;
            }
            let chunk =
                tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("in time").unwrap().expect("it goes on");
            self.unread.push_str(std::str::from_utf8(&chunk).unwrap());
        };
        let block: String = self.unread.drain(..at + 2).collect();
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let Some(id) = field("id:") {
            id.clone_into(&mut self.cursor);
        }
        field("data:").map(|data| serde_json::from_str(data).unwrap()).unwrap_or_default()
    }

    async fn status(&mut self) -> String {
        loop {
            let data = self.block().await;
            if let Ok(ChatEvent::BotAction { action }) = serde_json::from_value(data) {
                return format!("{} {}", action.action_id, action.status.as_str());
            }
        }
    }
}

#[tokio::test]
async fn an_action_started_through_one_process_is_seen_through_the_other_and_a_killed_one_loses_nothing() {
    let db = database().await;
    let workspace = db.workspace("ours").await;
    let (_, token) = tokens::create(db.db.pool(), workspace, "test", &Scopes::all(), None, None).await.unwrap();
    let (here, there) = (Serving::on_database(&db.url, &[]), Serving::on_database(&db.url, &[]));
    let post = async |serving: &Serving, path: &str, body: Value| {
        let call = client().post(format!("{}/api/chat/actions/{path}", serving.base)).bearer_auth(token.expose()).json(&body);
        let response = call.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    };
    let start = |id: &str| json!({ "chatId": "c", "actionId": id, "actionType": "summarize" });
    let mut watching = Watching::open(&there, &token, "").await;
    post(&here, "start", start("a")).await;
    assert_eq!(watching.status().await, "a processing");
    let cursor = watching.cursor.clone();

    there.kill();
    post(&here, "update", json!({ "actionId": "a", "status": "done" })).await;
    post(&here, "start", start("b")).await;
    let again = Serving::on_database(&db.url, &[]);
    let mut watching = Watching::open(&again, &token, &format!("?since={cursor}")).await;
    assert_eq!(watching.status().await, "a done");
    assert_eq!(watching.status().await, "b processing");
    let url = format!("{}/api/chat/actions?chatId=c&recent=5", again.base);
    let list: Value = client().get(url).bearer_auth(token.expose()).send().await.unwrap().json().await.unwrap();
    let list: ActionList = serde_json::from_value(list["data"].clone()).unwrap();
    assert_eq!((list.actions.len(), list.recent.len()), (1, 1));
    assert!(again.stop(), "a server with an open stream stops in time");
    drop(watching);
}

#[tokio::test]
async fn the_settings_of_the_watchdog_are_taken_from_the_environment() {
    let db = database().await;
    let workspace = db.workspace("ours").await;
    let (_, token) = tokens::create(db.db.pool(), workspace, "test", &Scopes::all(), None, None).await.unwrap();
    let mut command = crate::support::beresta(&["serve", "--listen", "127.0.0.1:0", "--database-url", &db.url]);
    command.args(["--data-dir", "/tmp/beresta-test-objects"]);
    // A third of a second, looked for ten times a second.
    command.env("BOT_ACTION_MAX_PROCESSING_HOURS", "0.0001").env("BOT_ACTION_WATCHDOG_INTERVAL_MINUTES", "0.0017");
    let serving = Serving::start(command);
    let mut watching = Watching::open(&serving, &token, "").await;
    let body = json!({ "chatId": "c", "actionId": "a", "actionType": "summarize" });
    let call = client().post(format!("{}/api/chat/actions/start", serving.base)).bearer_auth(token.expose()).json(&body);
    assert_eq!(call.send().await.unwrap().status(), 200);
    assert_eq!(watching.status().await, "a processing");
    assert_eq!(watching.status().await, "a error");
}

#[tokio::test]
async fn the_streams_of_one_address_are_limited_whatever_their_tokens_are() {
    let db = database().await;
    let workspace = db.workspace("ours").await;
    let mut command = crate::support::beresta(&["serve", "--listen", "127.0.0.1:0", "--database-url", &db.url]);
    command.args(["--data-dir", "/tmp/beresta-test-objects"]).env("BERESTA_STREAMS_PER_ADDRESS_MAX", "1");
    let serving = Serving::start(command);
    let token = async || tokens::create(db.db.pool(), workspace, "test", &Scopes::all(), None, None).await.unwrap().1;
    let (one, other) = (token().await, token().await);
    let watching = Watching::open(&serving, &one, "").await;
    let second = async |client_address: Option<&str>| {
        let mut call = client().get(format!("{}/api/chats/c/events", serving.base)).bearer_auth(other.expose());
        if let Some(address) = client_address {
            call = call.header("x-forwarded-for", address);
        }
        call.send().await.unwrap().status().as_u16()
    };
    assert_eq!(second(None).await, 429);
    assert_eq!(second(Some("203.0.113.9")).await, 200, "a proxy on this machine speaks for another address");
    drop(watching);
    until("its place is free again", async || (second(None).await == 200).then_some(())).await;
}

#[tokio::test]
async fn a_cursor_from_before_a_crash_of_the_database_misses_nothing_after_it() {
    let dir = data_dir();
    let serving = Serving::embedded(dir.path(), &[]);
    let path = dir.path().to_string_lossy().into_owned();
    assert!(run(&["workspace", "create", "ours", "--data-dir", &path]).status.success());
    let made = run(&["token", "create", "--workspace", "ours", "--scope", "read,write", "--data-dir", &path]);
    let token = Secret::new(stdout(&made).trim().to_owned());
    let post = async |path: &str, body: Value| {
        let call = client().post(format!("{}{path}", serving.base)).bearer_auth(token.expose()).json(&body);
        call.send().await.map_or(0, |response| response.status().as_u16())
    };
    let start = |chat: &str| json!({ "chatId": chat, "actionId": "a", "actionType": "summarize" });
    assert_eq!(post("/api/chat/actions/start", start("c")).await, 200);
    for round in 0..4 {
        // Each of these takes a transaction id, and leaves nothing of it on disk.
        for _ in 0..20 {
            assert_eq!(post("/api/chat/actions/start", start("elsewhere")).await, 409);
        }
        let list = client().get(format!("{}/api/chat/actions?chatId=c", serving.base)).bearer_auth(token.expose());
        let list: Value = list.send().await.unwrap().json().await.unwrap();
        let cursor = list["data"]["cursor"].as_str().unwrap().to_owned();
        let pid = postgres_pid(dir.path());
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL).unwrap();
        let text = format!("after crash {round}");
        until("the database is back", async || {
            let body = json!({ "messageId": text, "text": text });
            matches!(post("/api/chats/c/messages", body).await, 200 | 201).then_some(())
        })
        .await;
        let mut watching = Watching::open(&serving, &token, &format!("?since={cursor}")).await;
        // What was said in the round before may be heard again, and a heartbeat says nothing.
        let heard = async { while watching.block().await["message"]["text"] != text {} };
        tokio::time::timeout(PATIENCE, heard).await.unwrap_or_else(|_| panic!("{text} is missed since {cursor}"));
    }
    assert!(serving.stop());
}
