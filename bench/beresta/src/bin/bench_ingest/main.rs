//! The other side of `cargo xtask bench ingest`: prepares a database, brings the messages of a group to a running server as Telegram
//! does, and looks whether each can be found. Answers one JSON line to each JSON line of input; what is asked is in the field `do`.

mod database;
mod group;

use std::io::Write;

use anyhow::{Context, Result, bail};
use beresta_bench::http::Http;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::io::{AsyncBufReadExt, BufReader};

use group::Group;

#[tokio::main]
async fn main() -> Result<()> {
    let mut desk = IngestDesk { http: Http::default(), url: String::new(), next: 1 };
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let order: Value = serde_json::from_str(&line)?;
        let answer = desk.follow(&order).await.with_context(|| line.clone())?;
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

struct IngestDesk {
    http: Http,
    /// Of the database.
    url: String,
    /// The number of the next message; no two on any database have the same.
    next: u64,
}

impl IngestDesk {
    async fn follow(&mut self, order: &Value) -> Result<Value> {
        let text = |key: &str| order[key].as_str().with_context(|| format!("`{key}`"));
        let number = |key: &str| order[key].as_u64().with_context(|| format!("`{key}`"));
        match text("do")? {
            "database" => self.url = text("url")?.to_owned(),
            "prepare" => database::prepare(&mut self.connect().await?, text("secret")?).await?,
            "fill" => return database::fill(&mut self.connect().await?, i64::try_from(number("chunks")?)?).await,
            what @ ("burst" | "steady") => {
                let messages = number("messages")?;
                let group = Group { http: self.http.clone(), server: text("server")?.to_owned(), secret: text("secret")?.to_owned() };
                let first = self.next;
                self.next += messages;
                let mut db = self.connect().await?;
                let started = std::time::Instant::now();
                let posts = if what == "burst" {
                    group.burst(first, messages, number("at_once")?).await?
                } else {
                    group.steady(first, messages, number("rate")?).await?
                };
                database::settle(&mut db).await?;
                let seconds = started.elapsed().as_secs_f64();
                return database::judge(&mut db, first, &posts, seconds).await;
            }
            other => bail!("nobody knows how to `{other}`"),
        }
        Ok(json!({}))
    }

    async fn connect(&self) -> Result<PgConnection> {
        Ok(PgConnection::connect(&self.url).await?)
    }
}
