//! Actions through real processes: two servers on one database, one of which is killed.

use actions::contract::{ActionList, ChatEvent};
use kernel::{Scopes, Secret};
use platform::tokens;
use serde_json::{Value, json};
use testkit::TestDb;

use crate::support::{PATIENCE, Serving, client};

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
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    let (_, token) = tokens::create(db.db.pool(), workspace, "test", &Scopes::all(), None).await.unwrap();
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
    let db = TestDb::new().await;
    let workspace = db.workspace("ours").await;
    let (_, token) = tokens::create(db.db.pool(), workspace, "test", &Scopes::all(), None).await.unwrap();
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
