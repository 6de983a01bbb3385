//! The tour of posting: the four criteria of its specification, and what it does beyond them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row};

use super::{PATIENCE, Tour, TourReport};

pub(super) async fn play(tour: &Tour, report: &mut TourReport) {
    let guest = PostingGuest { tour, id: uuid::Uuid::new_v4().simple().to_string()[..6].to_owned() };
    report.section("Posting");
    report.check("one post reaches every channel that its tags lead to", guest.fan_out()).await;
    report.check("a new row in channels gets the next post, nothing else changes", guest.new_channel()).await;
    report.check("a 429 is waited out, counted and overcome", guest.rate_limited()).await;
    report.check("the same post goes to two channels, and never twice to one", guest.dedup()).await;
    report.check("a bad channel is paused, then disabled, and stops no other", guest.bad_channel()).await;
    report.check("an edit and a deletion follow a post to every channel", guest.follow()).await;
    report.check("a send that nobody answered is held for an operator where the channel says so", guest.unknown_outcome()).await;
    report.check("a request that comes again is told so and posts nothing", guest.repeated()).await;
}

struct PostingGuest<'a> {
    tour: &'a Tour,
    /// Makes every text and channel of this run its own.
    id: String,
}

impl PostingGuest<'_> {
    async fn fan_out(&self) -> Result<String> {
        let started = Instant::now();
        let pushed =
            self.push(json!({ "text": format!("<b>Первый пост</b> {} #ru #crypto", self.id), "parse_mode": "HTML" })).await?;
        let queued = pushed["deliveries"]["queued"].as_i64().context("nothing was queued")?;
        let sent = self.wait(&pushed, "", queued).await?;
        Ok(format!(
            "{sent} of 40 channels have it after {:.1} s; the others' filters do not let #ru #crypto in",
            started.elapsed().as_secs_f64()
        ))
    }

    async fn new_channel(&self) -> Result<String> {
        self.channel("new", "telegram", -900_001, "").await?;
        let pushed = self.push(json!({ "text": format!("for the new channel {}", self.id), "tags": [self.tag("new")] })).await?;
        self.wait(&pushed, "new", 1).await?;
        let seen = self.received("telegram", -900_001).await?;
        ensure!(seen.len() == 1, "the channel received {} messages", seen.len());
        Ok("the row was added, the next post arrived there".to_owned())
    }

    async fn rate_limited(&self) -> Result<String> {
        self.channel("limited", "telegram", -900_002, "").await?;
        self.control(
            "faults",
            json!({ "provider": "telegram", "target": "-900002", "status": 429, "retry_after": 1, "times": 1 }),
        )
        .await?;
        let pushed = self.push(json!({ "text": format!("through a 429 {}", self.id), "tags": [self.tag("limited")] })).await?;
        self.wait(&pushed, "limited", 1).await?;
        let events = self.events(&pushed, "limited").await?;
        let expected = "enqueue, send_attempt, send_attempt error, retry_scheduled, send_attempt, sent";
        ensure!(events == expected, "the events are {events}");
        let attempt: i32 = self.delivery(&pushed, "limited", "attempt").await?.get(0);
        ensure!(attempt == 2, "attempt is {attempt}");
        Ok(format!("events: {events}; attempt {attempt}"))
    }

    async fn dedup(&self) -> Result<String> {
        self.channel("one", "telegram", -900_003, "").await?;
        self.channel("two", "max", -900_004, "").await?;
        self.tag_channel("two", "one").await?;
        let post = json!({ "text": format!("once is enough {}", self.id), "tags": [self.tag("one")] });
        let first = self.push(post.clone()).await?;
        self.wait(&first, "one", 1).await?;
        self.wait(&first, "two", 1).await?;
        let mut again = post;
        again["source_ref"] = json!(format!("again-{}", self.id));
        let second = self.push(again).await?;
        ensure!(second["deliveries"]["deduped"].as_i64() >= Some(2), "{second}");
        let copies = self.received("telegram", -900_003).await?.len() + self.received("max", -900_004).await?.len();
        ensure!(copies == 2, "{copies} copies");
        Ok(format!(
            "two channels, two copies; the repeat was suppressed ({} × dedup_suppressed)",
            second["deliveries"]["deduped"]
        ))
    }

    async fn bad_channel(&self) -> Result<String> {
        self.channel("bad", "telegram", -900_005, "").await?;
        self.channel("good", "telegram", -900_006, "").await?;
        self.tag_channel("good", "bad").await?;
        self.control("chats", json!({ "provider": "telegram", "target": "-900005", "state": "kicked" })).await?;
        let mut seen = Vec::new();
        for n in 1..=3 {
            let pushed = self.push(json!({ "text": format!("isolation {n} {}", self.id), "tags": [self.tag("bad")] })).await?;
            self.wait(&pushed, "good", 1).await?;
            self.settle(&pushed, "bad").await?;
            let status: String = self.delivery(&pushed, "bad", "status").await?.get(0);
            ensure!(status == "failed_permanent", "the bad channel's delivery is {status}");
            seen = self.sql(&format!("select action from posting.events where channel_id = '{}' and action like 'channel%' order by ts, action desc", self.name("bad"))).await?;
            // Let the probe come now instead of in an hour.
            self.sql(&format!(
                "update posting.channels set paused_until = null where channel_id = '{}' and enabled returning channel_id",
                self.name("bad")
            ))
            .await?;
        }
        let arrived = self.received("telegram", -900_006).await?.len();
        ensure!(arrived == 3, "the good channel received {arrived}");
        ensure!(
            seen.iter().filter(|action| *action == "channel_paused").count() == 3
                && seen.last().is_some_and(|action| action == "channel_disabled"),
            "{seen:?}"
        );
        Ok(format!("{}; its neighbour received all 3", seen.join(", ")))
    }

    async fn follow(&self) -> Result<String> {
        self.channel("edited", "telegram", -900_007, "").await?;
        self.channel("edited-max", "max", -900_008, "").await?;
        self.tag_channel("edited-max", "edited").await?;
        let pushed = self.push(json!({ "text": format!("with a tpyo {}", self.id), "tags": [self.tag("edited")] })).await?;
        self.wait(&pushed, "edited", 1).await?;
        self.wait(&pushed, "edited-max", 1).await?;
        let url = format!("{}/api/posts/{}", self.tour.base, pushed["message_id"].as_str().unwrap_or_default());
        let edited = self
            .tour
            .expect("POST", &format!("{url}/edit"), Some(json!({ "text": format!("without a typo {}", self.id) })), 202)
            .await?;
        self.wait(&edited["data"], "edited", 1).await?;
        self.wait(&edited["data"], "edited-max", 1).await?;
        let deleted = self.tour.expect("POST", &format!("{url}/delete"), None, 202).await?;
        self.wait(&deleted["data"], "edited", 1).await?;
        self.wait(&deleted["data"], "edited-max", 1).await?;
        let calls: Vec<String> = self
            .received("telegram", -900_007)
            .await?
            .iter()
            .map(|call| call["method"].as_str().unwrap_or("?").to_owned())
            .collect();
        ensure!(calls == ["sendMessage", "editMessageText", "deleteMessage"], "{calls:?}");
        Ok(format!("Telegram saw {}, MAX the same", calls.join(", ")))
    }

    async fn unknown_outcome(&self) -> Result<String> {
        self.channel("careful", "telegram", -900_009, r#", settings = '{"on_unknown": "hold"}'"#).await?;
        self.control("faults", json!({ "provider": "telegram", "target": "-900009", "drop": "after", "times": 1 })).await?;
        let pushed = self.push(json!({ "text": format!("did it arrive? {}", self.id), "tags": [self.tag("careful")] })).await?;
        self.settle(&pushed, "careful").await?;
        let row = self.delivery(&pushed, "careful", "delivery_id::text, status || ' ' || (last_error->>'code')").await?;
        let (id, state): (String, String) = (row.get(0), row.get(1));
        ensure!(state == "failed_permanent outcome_unknown", "it is {state}");
        let settled = self.sql(&format!("select posting.settle(workspace_id, delivery_id, 'delivered', 'tour', 'it is there') from posting.deliveries where delivery_id = '{id}'")).await?;
        let copies = self.received("telegram", -900_009).await?.len();
        ensure!(copies == 1 && settled == ["sent"], "{copies} copies, {settled:?}");
        Ok("the answer was lost, nothing was sent twice, and the operator settled it".to_owned())
    }

    async fn repeated(&self) -> Result<String> {
        let post = json!({ "text": format!("told twice {}", self.id), "source_ref": format!("ref-{}", self.id) });
        let first = self.push(post.clone()).await?;
        let again = self.push(post).await?;
        ensure!(again["outcome"] == "duplicate" && again["message_id"] == first["message_id"], "{again}");
        Ok("the second answer names the first post".to_owned())
    }

    fn name(&self, channel: &str) -> String {
        format!("tour-{channel}-{}", self.id)
    }

    fn tag(&self, channel: &str) -> String {
        format!("tour-{channel}-{}", self.id)
    }

    /// Adds a channel that takes only posts with its own tag. A channel of an earlier run makes room for it.
    async fn channel(&self, channel: &str, platform: &str, target: i64, more: &str) -> Result<()> {
        let (name, tag) = (self.name(channel), self.tag(channel));
        self.sql(&format!(
            "update posting.channels set target_id = (-random() * 1e15)::bigint::text, enabled = false
              where platform = '{platform}' and target_id = '{target}' returning channel_id"
        ))
        .await?;
        self.sql(&format!(
            "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, rate_rps, route_filter)
             select workspace_id, '{name}', '{platform}', '{target}', 'demo-{platform}', 'tour', null, '{{\"include_any\": [\"{tag}\"]}}'
               from core.workspaces where name = 'demo' returning channel_id"
        ))
        .await?;
        if !more.is_empty() {
            self.sql(&format!(
                "update posting.channels set updated_at = now(){more} where channel_id = '{name}' returning channel_id"
            ))
            .await?;
        }
        Ok(())
    }

    /// Lets a channel take the posts of another one too.
    async fn tag_channel(&self, channel: &str, other: &str) -> Result<()> {
        let filter = json!({ "include_any": [self.tag(other)] });
        self.sql(&format!(
            "update posting.channels set route_filter = '{filter}' where channel_id = '{}' returning channel_id",
            self.name(channel)
        ))
        .await?;
        Ok(())
    }

    async fn push(&self, payload: Value) -> Result<Value> {
        let url = format!("{}/hooks/push", self.tour.base);
        let request =
            self.tour.client.request("POST".parse()?, &url).header("X-Beresta-Secret", &self.tour.credentials.push_secret);
        let reply = self.tour.client.send(request.json(&payload)).await?;
        let body = reply.json().unwrap_or_default();
        ensure!(matches!(reply.status, 200 | 202), "push answered {}: {body}", reply.status);
        Ok(body["data"].clone())
    }

    /// Waits until this many deliveries of a message were sent, in one channel or (empty) anywhere.
    async fn wait(&self, pushed: &Value, channel: &str, count: i64) -> Result<i64> {
        let message = pushed["message_id"].as_str().unwrap_or_default();
        let only = if channel.is_empty() { String::new() } else { format!("and channel_id = '{}'", self.name(channel)) };
        let query = format!("select count(*) from posting.deliveries where message_id = '{message}' and status = 'sent' {only}");
        let started = Instant::now();
        loop {
            let sent: i64 = sqlx::query_scalar(AssertSqlSafe(query.clone())).fetch_one(self.tour.app.db.pool()).await?;
            if sent >= count {
                return Ok(sent);
            }
            ensure!(started.elapsed() < PATIENCE, "only {sent} of {count} were sent after {} s", PATIENCE.as_secs());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a delivery has come to its end, whatever that is.
    async fn settle(&self, pushed: &Value, channel: &str) -> Result<()> {
        let started = Instant::now();
        while self.delivery(pushed, channel, "phase").await?.get::<String, _>(0) == "inflight" {
            ensure!(started.elapsed() < PATIENCE, "it is still under way");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn delivery(&self, pushed: &Value, channel: &str, columns: &str) -> Result<sqlx::postgres::PgRow> {
        let message = pushed["message_id"].as_str().unwrap_or_default();
        let query = format!(
            "select {columns} from posting.deliveries where message_id = '{message}' and channel_id = '{}'",
            self.name(channel)
        );
        sqlx::query(AssertSqlSafe(query)).fetch_one(self.tour.app.db.pool()).await.context("the delivery is not there")
    }

    async fn events(&self, pushed: &Value, channel: &str) -> Result<String> {
        let message = pushed["message_id"].as_str().unwrap_or_default();
        let name = self.name(channel);
        let query = format!(
            "select action || case result when 'error' then ' error' else '' end from posting.events
              where message_id = '{message}' and channel_id = '{name}' order by ts, attempt, action desc"
        );
        Ok(self.sql(&query).await?.join(", "))
    }

    async fn sql(&self, query: &str) -> Result<Vec<String>> {
        Ok(sqlx::query_scalar(AssertSqlSafe(query.to_owned())).fetch_all(self.tour.app.db.pool()).await?)
    }

    async fn control(&self, path: &str, body: Value) -> Result<Value> {
        self.tour.expect("POST", &format!("{}/control/{path}", self.tour.simulators), Some(body), 200).await
    }

    async fn received(&self, provider: &str, target: i64) -> Result<Vec<Value>> {
        let url = format!("{}/control/sent?provider={provider}&target={target}", self.tour.simulators);
        let reply = self.tour.expect("GET", &url, None, 200).await?;
        Ok(reply["sent"].as_array().cloned().unwrap_or_default())
    }
}
