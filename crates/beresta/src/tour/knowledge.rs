//! The tour of knowledge: a group shares a text, a link, a PDF, a DOCX and a picture, edits one message and has another forgotten.
//! Then it asks.

mod questions;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{PATIENCE, Tour, TourReport};

/// The demo bot of `db/seed.sql`, as its simulated provider knows it.
const TOKEN: &str = "1000002:AAdemo-token-for-the-simulated-arch";
const PRICE_LIST: &[u8] = include_bytes!("../../assets/knowledge/price-list.pdf");
const CONTRACT: &[u8] = include_bytes!("../../assets/knowledge/contract.docx");
const POSTER: &[u8] = include_bytes!("../../assets/knowledge/poster.png");
const PAGE: &str = "<html><head><title>Правила ярмарки</title></head><body><article><h1>Правила ярмарки</h1>
    <p>Участники приезжают к восьми утра и занимают свои места до открытия. Электричество есть у каждого стенда, удлинители нужно привезти с собой.</p>
    <p>Торговля идёт до шести вечера, после этого стенды разбирают сами участники.</p></article></body></html>";

/// Restricts documents `d` to what a version of a message shares. A file that was shared before keeps its document.
macro_rules! shared_by {
    ($version:literal) => {
        concat!(
            "join content.document_sources s on (s.workspace_id, s.document_id) = (d.workspace_id, d.id)
             join tg.message_versions v on (v.workspace_id, v.message_fk) = (s.workspace_id, s.message_fk) and v.id = ",
            $version
        )
    };
}

pub(super) async fn play(tour: &Tour, report: &mut TourReport) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // Messages of this run only.
    let first = i64::try_from(seconds % 1_000_000_000).unwrap_or_default();
    let guest = KnowledgeGuest { tour, first };
    report.section("Knowledge");
    report.check("what a group says can be found", guest.text()).await;
    report.check("a link becomes its page", guest.link()).await;
    report
        .check("a PDF is read, page by page", guest.file(3, "price-list.pdf", "application/pdf", PRICE_LIST, "Лукошко плетёное"))
        .await;
    let docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    report
        .check("a DOCX is read, with its tables", guest.file(4, "contract.docx", docx, CONTRACT, "120 квадратных метров"))
        .await;
    report.check("a picture is read", guest.picture()).await;
    report.check("an edited message is found as it is now", guest.edit()).await;
    report.check("a forgotten message is nowhere", guest.forget()).await;
    report.section("Answers");
    questions::play(&guest, report).await;
}

struct KnowledgeGuest<'a> {
    tour: &'a Tour,
    first: i64,
}

impl KnowledgeGuest<'_> {
    async fn text(&self) -> Result<String> {
        let started = Instant::now();
        self.say(1, json!({ "text": format!("Стенд на ярмарке оплачен, номер брони {}.", self.first) })).await?;
        let chunk = self.found(&format!("номер брони {}", self.first)).await?;
        Ok(format!("from the webhook to chunk {chunk} with its vector in {} ms", started.elapsed().as_millis()))
    }

    async fn link(&self) -> Result<String> {
        let path = format!("rules-{}", self.first);
        let page = json!({ "path": path, "body": PAGE, "headers": { "content-type": "text/html; charset=utf-8" } });
        self.tour.expect("POST", &format!("{}/control/pages", self.tour.simulators), Some(page), 200).await?;
        let url = format!("{}/web/{path}", self.tour.simulators);
        self.say(2, json!({ "text": format!("Правила: {url}?utm_source=chat") })).await?;
        let chunk = self.found_in("удлинители нужно привезти", &url).await?;
        Ok(format!("fetched without its tracking parameter, chunk {chunk}"))
    }

    async fn file(&self, at: i64, name: &str, mime: &str, bytes: &[u8], words: &str) -> Result<String> {
        let message = self.upload(name, mime, bytes).await?;
        let version = self.say(at, message).await?;
        let (mark, chars) = self.read(&version, words).await?;
        Ok(format!("{chars} characters of {name}{}", mark.map(|mark| format!(", found on {mark}")).unwrap_or_default()))
    }

    async fn picture(&self) -> Result<String> {
        let message = self.upload("poster.png", "image/png", POSTER).await?;
        let version = self.say(5, message).await?;
        let started = Instant::now();
        loop {
            let row: Option<(String, Option<String>)> = sqlx::query_as(concat!(
                "select d.status, coalesce(d.text, d.error) from content.documents d ",
                shared_by!("$2"),
                " where d.workspace_id = $1 and d.doc_type = 'file'"
            ))
            .bind(self.tour.credentials.workspace_id.uuid())
            .bind(version["message_version_id"].as_i64())
            .fetch_optional(self.tour.app.db.pool())
            .await?;
            match row {
                Some((status, Some(text))) if status == "done" => {
                    ensure!(text.to_lowercase().contains("ярмарка"), "it was read as `{text}`");
                    return Ok(format!("OCR: {}", text.replace('\n', " ")));
                }
                Some((status, Some(reason))) if status == "pending" => return Ok(format!("it waits: {reason}")),
                Some((status, reason)) if status == "error" => anyhow::bail!("{}", reason.unwrap_or_default()),
                _ => ensure!(started.elapsed() < PATIENCE, "the picture was not read in time"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn edit(&self) -> Result<String> {
        let (before, after) =
            (format!("Сбор у склада в девять, запись {}", self.first), format!("Сбор у склада в восемь, запись {}", self.first));
        self.say(6, json!({ "text": before })).await?;
        self.found(&before).await?;
        let mut body = self.message(6, &json!({ "text": after }));
        body["edit_date"] = json!(self.first + 1_000_000_100);
        self.deliver(json!({ "update_id": self.first * 10 + 7, "edited_message": body })).await?;
        self.found(&after).await?;
        ensure!(self.count(&before).await? == 0, "the old text is still found");
        Ok("“в восемь” is found, “в девять” is not".to_owned())
    }

    async fn forget(&self) -> Result<String> {
        let words = format!("Код от домофона склада {}", self.first);
        self.say(8, json!({ "text": words })).await?;
        self.found(&words).await?;
        let chat = self.tour.credentials.knowledge.group_chat_id;
        let body = json!({ "kind": "message", "chat_id": chat, "message_id": self.number(8) });
        let told = self.tour.expect("POST", &format!("{}/api/knowledge/forget", self.tour.base), Some(body), 200).await?;
        let left: i64 = sqlx::query_scalar(
            "select (select count(*) from kg.chunks where text like $1) + (select count(*) from tg.message_versions where text like $1)
                  + (select count(*) from raw.telegram_updates where body::text like $1)")
            .bind(format!("%{words}%"))
            .fetch_one(self.tour.app.db.pool())
            .await?;
        ensure!(left == 0, "it is still in {left} places");
        Ok(format!(
            "{} message, {} chunk and {} raw update are gone; the audit has numbers only",
            told["data"]["messages"], told["data"]["chunks"], told["data"]["raw_updates"]
        ))
    }

    fn number(&self, at: i64) -> i64 {
        // Telegram's numbers of messages have 32 bits.
        (self.first % 100_000_000) * 10 + at
    }

    fn message(&self, at: i64, content: &Value) -> Value {
        let credentials = &self.tour.credentials.knowledge;
        let mut body = json!({
            "message_id": self.number(at), "date": self.first + 1_000_000_000,
            "chat": { "id": credentials.group_chat_id, "type": "supergroup", "title": "Лавка «Береста»", "is_forum": true },
            "from": { "id": credentials.member_id, "is_bot": false, "first_name": "Анна", "last_name": "Орлова" },
        });
        if let (Some(body), Some(content)) = (body.as_object_mut(), content.as_object()) {
            body.extend(content.clone());
        }
        body
    }

    /// A message of the group, as Telegram brings it. Returns what was stored of it.
    async fn say(&self, at: i64, content: Value) -> Result<Value> {
        let body = self.message(at, &content);
        self.deliver(json!({ "update_id": self.first * 10 + at, "message": body })).await?;
        let started = Instant::now();
        loop {
            let stored: Option<i64> = sqlx::query_scalar(
                "select current_version_id from tg.messages where (workspace_id, chat_id, message_id) = ($1, $2, $3)",
            )
            .bind(self.tour.credentials.workspace_id.uuid())
            .bind(self.tour.credentials.knowledge.group_chat_id)
            .bind(i32::try_from(self.number(at)).unwrap_or_default())
            .fetch_optional(self.tour.app.db.pool())
            .await?;
            if let Some(version) = stored {
                return Ok(json!({ "message_version_id": version }));
            }
            ensure!(started.elapsed() < PATIENCE, "the message was not stored in time");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn deliver(&self, update: Value) -> Result<()> {
        let url = format!("{}/hooks/telegram", self.tour.base);
        let secret = &self.tour.credentials.knowledge.secret;
        let request = self.tour.client.request("POST".parse()?, &url).header("x-telegram-bot-api-secret-token", secret);
        let reply = self.tour.client.send(request.json(&update)).await?;
        ensure!(reply.status == 200, "the webhook answered {}: {}", reply.status, reply.json().unwrap_or_default());
        Ok(())
    }

    /// Gives Telegram a file of a user; returns the field of the message that shares it.
    async fn upload(&self, name: &str, mime: &str, bytes: &[u8]) -> Result<Value> {
        let body = json!({ "provider": "telegram", "token": TOKEN, "kind": "document", "name": name, "mime": mime,
                           "bytes_base64": base64(bytes) });
        let made = self.tour.expect("POST", &format!("{}/control/files", self.tour.simulators), Some(body), 200).await?;
        Ok(made["message"].clone())
    }

    /// Where in a file of this message the words stand, and how long its text is.
    async fn read(&self, version: &Value, words: &str) -> Result<(Option<String>, i64)> {
        let started = Instant::now();
        loop {
            let row: Option<(Option<Value>, i64)> = sqlx::query_as(concat!(
                "select c.mark, length(d.text)::bigint from content.documents d
                   join kg.chunks c on (c.workspace_id, c.document_id) = (d.workspace_id, d.id)
                   join kg.chunk_embeddings_1536 e on (e.workspace_id, e.chunk_id) = (c.workspace_id, c.id) ",
                shared_by!("$2"),
                " where d.workspace_id = $1 and d.doc_type = 'file' and c.text like $3 limit 1"
            ))
            .bind(self.tour.credentials.workspace_id.uuid())
            .bind(version["message_version_id"].as_i64())
            .bind(format!("%{words}%"))
            .fetch_optional(self.tour.app.db.pool())
            .await?;
            if let Some((mark, chars)) = row {
                let mark = mark.filter(Value::is_object);
                return Ok((mark.map(|mark| format!("{} {}", mark["kind"].as_str().unwrap_or_default(), mark["number"])), chars));
            }
            ensure!(started.elapsed() < PATIENCE, "it was not read in time: {}", self.reasons().await?);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn found(&self, words: &str) -> Result<i64> {
        self.found_in(words, "").await
    }

    /// The chunk with these words, once it has its vector.
    async fn found_in(&self, words: &str, url: &str) -> Result<i64> {
        let started = Instant::now();
        loop {
            let chunk: Option<i64> = sqlx::query_scalar(
                "select c.id from kg.chunks c
                   join kg.chunk_embeddings_1536 e on (e.workspace_id, e.chunk_id) = (c.workspace_id, c.id)
                   join content.documents d on (d.workspace_id, d.id) = (c.workspace_id, c.document_id)
                   left join content.urls u on (u.workspace_id, u.id) = (d.workspace_id, d.url_id)
                  where c.workspace_id = $1 and c.text like $2 and coalesce(u.normalized_url, '') = $3 limit 1",
            )
            .bind(self.tour.credentials.workspace_id.uuid())
            .bind(format!("%{words}%"))
            .bind(url)
            .fetch_optional(self.tour.app.db.pool())
            .await?;
            if let Some(chunk) = chunk {
                return Ok(chunk);
            }
            ensure!(started.elapsed() < PATIENCE, "“{words}” was not found in time: {}", self.reasons().await?);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn count(&self, words: &str) -> Result<i64> {
        let query = sqlx::query_scalar("select count(*) from kg.chunks where workspace_id = $1 and text like $2");
        let query = query.bind(self.tour.credentials.workspace_id.uuid()).bind(format!("%{words}%"));
        query.fetch_one(self.tour.app.db.pool()).await.context("the chunks cannot be counted")
    }

    async fn reasons(&self) -> Result<String> {
        let query = sqlx::query_scalar("select string_agg(distinct error, '; ') from content.documents where workspace_id = $1");
        let reasons: Option<String> =
            query.bind(self.tour.credentials.workspace_id.uuid()).fetch_one(self.tour.app.db.pool()).await?;
        Ok(reasons.unwrap_or_else(|| "no document says why".to_owned()))
    }
}

/// The control plane of the simulators takes bytes this way.
fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
