//! The other side of `cargo xtask bench actions`: makes a workspace, opens the streams of thousands of watchers, tells the server
//! what bots do, and measures how long it takes until every watcher has heard it. Answers one JSON line to each JSON line
//! of input; what is asked is in the field `do`.

mod bots;
mod watchers;

use std::io::Write;

use anyhow::{Context, Result, bail};
use beresta_bench::http::Http;
use kernel::Secret;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::io::{AsyncBufReadExt, BufReader};

use bots::Bots;
use watchers::Watchers;

#[tokio::main]
async fn main() -> Result<()> {
    let mut desk = Desk { http: Http::default(), url: String::new(), watchers: None };
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
    /// Of the database.
    url: String,
    watchers: Option<Watchers>,
}

impl Desk {
    async fn follow(&mut self, order: &Value) -> Result<Value> {
        let text = |key: &str| order[key].as_str().with_context(|| format!("`{key}`"));
        let number = |key: &str| order[key].as_u64().with_context(|| format!("`{key}`"));
        match text("do")? {
            "database" => text("url")?.clone_into(&mut self.url),
            "execute" => {
                PgConnection::connect(&self.url).await?.execute(AssertSqlSafe(text("sql")?.to_owned())).await?;
            }
            "prepare" => return Ok(json!({"token": self.prepare().await?})),
            "open" => {
                let open = Watchers::open(text("server")?, text("token")?, number("chats")?, number("watchers")?).await?;
                self.watchers = Some(open);
            }
            "close" => self.watchers = None,
            what @ ("burst" | "steady") => {
                let watchers = self.watchers.as_ref().context("nobody watches")?;
                let bots = Bots::new(&self.http, text("server")?, text("token")?, watchers.chats());
                watchers.expect(number("events")?);
                let told = if what == "burst" {
                    bots.burst(number("events")?, number("at_once")?).await?
                } else {
                    bots.steady(number("events")?, number("rate")?).await?
                };
                return watchers.judge(told).await;
            }
            other => bail!("nobody knows how to `{other}`"),
        }
        Ok(json!({}))
    }

    /// A workspace, and a token that may read and write in it.
    async fn prepare(&self) -> Result<String> {
        let mut db = PgConnection::connect(&self.url).await?;
        let token = Secret::new_token();
        let query = "select core.create_token(core.create_workspace('bench'), 'bench', $1, '{read,write}', null)";
        sqlx::query(query).bind(token.sha256_hex()).execute(&mut db).await?;
        Ok(token.expose().to_owned())
    }
}
