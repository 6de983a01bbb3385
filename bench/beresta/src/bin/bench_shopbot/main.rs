//! The other side of `cargo xtask bench shopbot`: prepares a database, brings customers' messages to a running bot as Telegram
//! does, and looks whether each got its one answer. Answers one JSON line to each JSON line of input; what is asked is in the
//! field `do`.

mod database;
mod played;
mod script;
mod telegram;

use std::{io::Write, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use beresta_bench::http::Http;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tokio::io::{AsyncBufReadExt, BufReader};

use script::{Chats, LINES};
use telegram::Telegram;

#[tokio::main]
async fn main() -> Result<()> {
    let sink = std::env::args().nth(1).context("the address of the sink")?;
    let mut desk = Desk { http: Http::default(), sink, url: String::new() };
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
}

impl Desk {
    async fn follow(&mut self, order: &Value) -> Result<Value> {
        let text = |key: &str| order[key].as_str().with_context(|| format!("`{key}`"));
        let number = |key: &str| order[key].as_u64().with_context(|| format!("`{key}`"));
        let chats = |count: u64| Ok::<_, anyhow::Error>(Chats { first: i64::try_from(number("first")?)?, count });
        let is_ours = order["is_ours"] == true;
        match text("do")? {
            "database" => self.url = text("url")?.to_owned(),
            "prepare" => return database::prepare(&mut self.connect().await?, text("secret")?).await,
            "execute" => {
                self.connect().await?.execute(AssertSqlSafe(text("sql")?.to_owned())).await?;
            }
            "burst" => {
                let chats = chats(number("messages")? / LINES)?;
                let played = self.telegram(order)?.burst(chats, number("at_once")?).await?;
                self.settle(is_ours).await?;
                return played.judge();
            }
            "steady" => {
                let chats = chats(number("messages")? / LINES)?;
                let played = self.telegram(order)?.steady(chats, number("rate")?).await?;
                self.settle(is_ours).await?;
                return played.judge();
            }
            "check" => {
                let chats = chats(number("messages")? / LINES)?;
                let late = self.telegram(order)?.answers().await?;
                ensure!(late.is_empty(), "after all answers came {} more: {late:?}", late.len());
                let mut db = self.connect().await?;
                if is_ours { database::check_ours(&mut db, chats).await? } else { database::check_peer(&mut db, chats).await? }
            }
            "repeat" => {
                let answered = self.telegram(order)?.repeat(chats(number("webhooks")?)?).await?;
                return Ok(json!({"answered": answered}));
            }
            other => bail!("nobody knows how to `{other}`"),
        }
        Ok(json!({}))
    }

    fn telegram(&self, order: &Value) -> Result<Telegram> {
        let text = |key: &str| order[key].as_str().with_context(|| format!("`{key}`"));
        Ok(Telegram::new(self.http.clone(), text("server")?, text("secret")?, &self.sink))
    }

    /// Lets the bot write down what is left to write: where a peer answers in the response, its state comes after that.
    async fn settle(&self, is_ours: bool) -> Result<()> {
        if is_ours {
            return database::settle(&mut self.connect().await?).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        Ok(())
    }

    async fn connect(&self) -> Result<PgConnection> {
        Ok(PgConnection::connect(&self.url).await?)
    }
}
