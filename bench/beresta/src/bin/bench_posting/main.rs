//! The other side of `cargo xtask bench posting`: prepares a database, pushes posts to a running server and says how long it
//! took. Answers one JSON line to each JSON line of input; what is asked is in the field `do`.

mod prepare;
mod push;

use std::io::Write;

use anyhow::{Context, Result, bail};
use beresta_bench::http::Http;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::io::{AsyncBufReadExt, BufReader};

use push::{Backlog, Pusher};

#[tokio::main]
async fn main() -> Result<()> {
    let sink = std::env::args().nth(1).context("the address of the sink")?;
    let mut desk = Desk { http: Http::default(), sink, url: String::new(), backlog: None, held: None };
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let order: Value = serde_json::from_str(&line)?;
        let answer = desk.follow(&order).await.with_context(|| line.clone())?;
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

struct Desk {
    http: Http,
    sink: String,
    /// Of the database.
    url: String,
    backlog: Option<Backlog>,
    held: Option<PgConnection>,
}

impl Desk {
    async fn follow(&mut self, order: &Value) -> Result<Value> {
        let text = |key: &str| order[key].as_str().with_context(|| format!("`{key}`"));
        let number = |key: &str| order[key].as_u64().with_context(|| format!("`{key}`"));
        let pusher = |server: &str, secret: &str| Pusher::new(self.http.clone(), server, secret, &self.sink);
        match text("do")? {
            "database" => self.url = text("url")?.to_owned(),
            "workspace" => prepare::workspace(&mut self.connect().await?, order).await?,
            "fill" => prepare::fill(&mut self.connect().await?, text("workspace")?, number("rows")?).await?,
            "execute" => {
                self.connect().await?.execute(AssertSqlSafe(text("sql")?.to_owned())).await?;
            }
            "batches" => return prepare::batches(&self.url, text("sql")?, number("clients")?, number("each")?).await,
            "measure table" => return prepare::sizes(&mut self.connect().await?).await,
            // The longest that a transaction can stand beside us: a snapshot that nobody ends.
            "hold" => {
                let mut held = self.connect().await?;
                held.execute("begin isolation level repeatable read").await?;
                held.execute("select count(*) from core.workspaces").await?;
                self.held = Some(held);
            }
            "release" => self.held = None,
            "burst" => {
                let pusher = pusher(text("server")?, text("workspace")?);
                return pusher.burst(&mut self.connect().await?, number("posts")?, number("channels")?).await;
            }
            "check" => Pusher::check(&mut self.connect().await?, number("run")?, number("posts")?, number("channels")?).await?,
            "steady" => {
                let pusher = pusher(text("server")?, text("workspace")?);
                return pusher.steady(number("rate")?, number("seconds")?, number("channels")?).await;
            }
            "backlog" => {
                let pusher = pusher(text("server")?, text("workspace")?);
                self.backlog = Some(pusher.keep_backlog(number("deliveries")?, number("channels")?).await?);
            }
            "stop" => {
                let sent = match self.backlog.take() {
                    Some(backlog) => backlog.stop().await?,
                    None => 0,
                };
                return Ok(json!({"sent": sent}));
            }
            other => bail!("nobody knows how to `{other}`"),
        }
        Ok(json!({}))
    }

    async fn connect(&self) -> Result<PgConnection> {
        Ok(PgConnection::connect(&self.url).await?)
    }
}
