//! The tour of actions: somebody watches a chat while a bot works in it, loses the connection and comes back.

use std::time::Instant;

use actions::watchdog;
use anyhow::{Context, Result, ensure};
use kernel::new_id;
use platform::wake::Topic;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use super::{PATIENCE, Tour, TourReport};

pub(super) async fn play(tour: &Tour, report: &mut TourReport) {
    let guest = ActionsGuest { tour, chat: format!("tour-{}", new_id().simple()) };
    report.section("Actions");
    report.check("an action is seen in the chat the moment it starts", guest.seen_live()).await;
    report.check("a start that is sent three times is one action and one event", guest.repeated()).await;
    report.check("a watcher who lost the connection misses nothing", guest.comes_back()).await;
    report.check("the first ending wins, and a late one is kept in the journal", guest.late()).await;
    report.check("an update before its start is refused with words that help", guest.out_of_order()).await;
    report.check("an action whose worker died ends by itself", guest.timeout()).await;
    report.check("a cursor that is too old is told so, once", guest.resync()).await;
}

struct ActionsGuest<'a> {
    tour: &'a Tour,
    chat: String,
}

impl ActionsGuest<'_> {
    /// The tour may be played again on the same data, and an id stands for one operation.
    fn id(&self, name: &str) -> String {
        format!("{name}-{}", self.chat)
    }

    async fn start(&self, name: &str, more: Value) -> Result<Value> {
        let mut body = json!({ "chatId": self.chat, "actionId": self.id(name), "actionType": "transcribe_audio" });
        if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        self.post("/api/chat/actions/start", body, 200).await
    }

    async fn update(&self, name: &str, status: &str) -> Result<Value> {
        self.post("/api/chat/actions/update", json!({ "actionId": self.id(name), "status": status }), 200).await
    }

    async fn say(&self, text: &str) -> Result<()> {
        self.post(&format!("/api/chats/{}/messages", self.chat), json!({ "role": "bot", "text": text }), 201).await?;
        Ok(())
    }

    async fn post(&self, path: &str, body: Value, status: u16) -> Result<Value> {
        self.tour.expect("POST", &format!("{}{path}", self.tour.base), Some(body), status).await
    }

    async fn seen_live(&self) -> Result<String> {
        let mut watching = self.watch(None).await?;
        let started = Instant::now();
        self.start("live", json!({ "displayText": "Слушаем запись…", "payload": { "progress": 0.25, "step": "разбор" } }))
            .await?;
        let event = watching.next().await?;
        let elapsed = started.elapsed();
        ensure!(event["type"] == "bot_action" && event["action"]["status"] == "processing", "{event}");
        Ok(format!("“{}” after {:.1} ms", event["action"]["displayText"].as_str().unwrap_or("?"), elapsed.as_secs_f64() * 1000.0))
    }

    async fn repeated(&self) -> Result<String> {
        let mut watching = self.watch(None).await?;
        for _ in 0..3 {
            self.start("repeated", json!({})).await?;
        }
        self.say("marker").await?;
        let (first, second) = (watching.next().await?, watching.next().await?);
        ensure!(
            first["action"]["actionId"] == self.id("repeated").as_str() && second["message"]["text"] == "marker",
            "{first} {second}"
        );
        Ok("processing, and its updatedAt moved without an event".to_owned())
    }

    async fn comes_back(&self) -> Result<String> {
        let mut watching = self.watch(None).await?;
        self.say("before").await?;
        watching.next().await?;
        let cursor = watching.cursor.clone();
        drop(watching);
        self.update("live", "done").await?;
        for n in 1..=20 {
            self.say(&n.to_string()).await?;
        }
        let mut again = self.watch(Some(&cursor)).await?;
        let ended = again.next().await?;
        ensure!(ended["action"]["status"] == "done", "{ended}");
        for n in 1..=20 {
            let event = again.next().await?;
            ensure!(event["message"]["text"] == n.to_string().as_str(), "{event} instead of {n}");
        }
        Ok("the end of the action and 20 messages, in order".to_owned())
    }

    async fn late(&self) -> Result<String> {
        self.start("late", json!({})).await?;
        self.update("late", "error").await?;
        let answer = self.update("late", "done").await?;
        ensure!(answer["data"]["outcome"] == "ignored" && answer["data"]["action"]["status"] == "error", "{answer}");
        let url = format!("{}/api/journal?action=action_late&limit=1", self.tour.base);
        let journal = self.tour.expect("GET", &url, None, 200).await?;
        ensure!(journal["data"]["entries"][0]["data"]["late_status"] == "done", "{journal}");
        Ok("error stays, the done that came after is in the journal".to_owned())
    }

    async fn out_of_order(&self) -> Result<String> {
        let body = json!({ "actionId": self.id("never"), "status": "done" });
        let refused = self.post("/api/chat/actions/update", body, 404).await?;
        Ok(format!("404 “{}”", refused["error"]["message"].as_str().unwrap_or("?")))
    }

    async fn timeout(&self) -> Result<String> {
        let mut watching = self.watch(None).await?;
        // As a module starts it from inside, with a deadline that nobody has to wait for.
        let workspace = self.tour.credentials.workspace_id;
        let mut tx = self.tour.app.db.begin(workspace).await?;
        let query = "select actions.start_action($1, $2, $3, 'process_file', interval '1 millisecond')";
        sqlx::query(query).bind(workspace.uuid()).bind(&self.chat).bind(self.id("stalled")).execute(&mut *tx).await?;
        tx.commit().await?;
        self.tour.app.db.wake().tell(Topic::BUS);
        // What was published a moment before may be heard again.
        while watching.next().await?["action"]["actionId"] != self.id("stalled") {}
        watchdog::look(&self.tour.app.db).await?;
        let event = watching.next().await?;
        ensure!(event["action"]["status"] == "error" && event["action"]["payload"]["code"] == "timeout", "{event}");
        Ok("error with the code timeout, published".to_owned())
    }

    async fn resync(&self) -> Result<String> {
        let mut watching = self.watch(Some("0-0")).await?;
        let event = watching.next().await?;
        ensure!(event["type"] == "resync", "{event}");
        self.say("after").await?;
        let next = watching.next().await?;
        ensure!(next["message"]["text"] == "after", "{next}");
        let url = format!("{}/api/chat/actions?chatId={}", self.tour.base, self.chat);
        let active = self.tour.expect("GET", &url, None, 200).await?;
        let count = active["data"]["actions"].as_array().map_or(0, Vec::len);
        Ok(format!("one resync, then the stream goes on; {count} action is active"))
    }

    async fn watch(&self, since: Option<&str>) -> Result<WatchedChat> {
        let address = self.tour.base.strip_prefix("http://").context("an address")?;
        let mut stream = TcpStream::connect(address).await?;
        let since = since.map(|since| format!("?since={since}")).unwrap_or_default();
        let request = format!(
            "GET /api/chats/{}/events{since} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.chat, self.tour.credentials.token
        );
        stream.write_all(request.as_bytes()).await?;
        let mut watching = WatchedChat { lines: BufReader::new(stream), cursor: String::new() };
        let status = watching.line().await?;
        ensure!(status.contains(" 200 "), "{status}");
        // The greeting: from here on everything is heard.
        while watching.cursor.is_empty() {
            watching.line().await?;
        }
        Ok(watching)
    }
}

/// Somebody who reads the stream as any program would: line by line.
struct WatchedChat {
    lines: BufReader<TcpStream>,
    cursor: String,
}

impl WatchedChat {
    async fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.lines.read_line(&mut line)).await.context("the stream is silent")??;
        ensure!(read > 0, "the stream has ended");
        if let Some(id) = line.strip_prefix("id: ") {
            id.trim().clone_into(&mut self.cursor);
        }
        Ok(line)
    }

    async fn next(&mut self) -> Result<Value> {
        loop {
            if let Some(data) = self.line().await?.strip_prefix("data: ") {
                return Ok(serde_json::from_str(data.trim())?);
            }
        }
    }
}
