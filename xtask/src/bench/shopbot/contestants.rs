//! The bots: ours, and grammY as its documentation has it.

use std::{fs, process::Command};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{
    super::{
        jobs::{NODE, OURS},
        machine::bench_dir,
        stage::{BenchServer, BenchStage, Cost, TELEGRAM_TOKEN},
    },
    LINES,
};

/// Of the webhook.
const SECRET: &str = "bench-webhook-secret";
const DATABASE: &str = "shopbot";
/// From the bench folder: the bot and the rules of our demo shop, for whoever plays the same.
const SHOP: &str = "target/shopbot.json";

pub(super) struct Contestant {
    pub(super) name: &'static str,
    /// How a peer is started; none for our own server.
    peer: Option<&'static [&'static str]>,
    /// The tables that grow in a run.
    tables: &'static str,
}

const SESSIONS: &str = "bot_sessions";
/// Ours is the first, because it makes the shop.
pub(super) const CONTESTANTS: &[Contestant] = &[
    Contestant { name: OURS, peer: None, tables: "shopbot.bot_state, shopbot.bot_inbox, shopbot.bot_outbox, shopbot.bot_logs" },
    Contestant { name: "grammY (npm)", peer: Some(&["--processes", "1"]), tables: SESSIONS },
    Contestant { name: "grammY (npm), 2 processes", peer: Some(&["--processes", "2"]), tables: SESSIONS },
    // Saves the call to the provider. The bot then never learns whether its answer was accepted.
    Contestant { name: "grammY (npm), webhook reply", peer: Some(&["--webhook-reply"]), tables: SESSIONS },
];

/// What the sender does, with what it has to know, and with how many messages.
pub(super) struct BenchAct {
    pub(super) what: &'static str,
    pub(super) more: Value,
    pub(super) warm_up: u32,
    pub(super) messages: u32,
}

/// Messages of chats that nobody else on the same database has.
#[derive(Clone, Copy)]
struct Messages {
    first_chat: u32,
    count: u32,
}

impl BenchAct {
    fn warm_up(&self) -> Messages {
        Messages { first_chat: 100_000_000, count: self.warm_up.next_multiple_of(LINES) }
    }

    fn messages(&self) -> Messages {
        Messages { first_chat: 200_000_000, count: self.messages }
    }
}

impl Contestant {
    /// On a database of its own.
    pub(super) fn open(&self, stage: &mut BenchStage) -> Result<BenchServer> {
        match self.peer {
            None => Self::open_ours(stage),
            Some(args) => Self::open_peer(stage, args),
        }
    }

    /// Lets the bot have its first conversations, and then those that count: what the sender found, when every answer and every
    /// row is there, and what it cost.
    pub(super) fn play(&self, stage: &mut BenchStage, server: &BenchServer, act: &BenchAct) -> Result<(Value, Cost)> {
        stage.order(&self.order(server, act.what, act.warm_up(), &act.more))?;
        // A live database has statistics, and autovacuum would bring them within a minute.
        stage.order(&json!({"do": "execute", "sql": format!("analyze {}", self.tables)}))?;
        let order = self.order(server, act.what, act.messages(), &act.more);
        let (found, cost) = stage.measure(server, f64::from(act.messages), &order)?;
        stage.order(&self.order(server, "check", act.messages(), &json!({})))?;
        Ok((found, cost))
    }

    /// Brings webhooks of the last act again; how many were answered again.
    pub(super) fn repeat(&self, stage: &mut BenchStage, server: &BenchServer, act: &BenchAct, webhooks: u32) -> Result<u64> {
        let found = stage.order(&self.order(server, "repeat", act.messages(), &json!({"webhooks": webhooks})))?;
        Ok(found["answered"].as_u64().unwrap_or(0))
    }

    pub(super) fn close(server: BenchServer, stage: &mut BenchStage) -> Result<()> {
        server.stop()?;
        stage.drop_database(DATABASE)
    }

    fn order(&self, server: &BenchServer, what: &str, messages: Messages, more: &Value) -> Value {
        let mut order = json!({
            "do": what, "server": server.url, "secret": SECRET, "is_ours": self.peer.is_none(),
            "first": messages.first_chat, "messages": messages.count,
        });
        if let (Some(order), Some(more)) = (order.as_object_mut(), more.as_object()) {
            order.extend(more.clone());
        }
        order
    }

    fn open_ours(stage: &mut BenchStage) -> Result<BenchServer> {
        let url = stage.new_database(DATABASE)?;
        let shop = stage.order(&json!({"do": "prepare", "secret": SECRET}))?;
        fs::write(bench_dir().join(SHOP), shop.to_string())?;
        stage.serve(&url)
    }

    fn open_peer(stage: &mut BenchStage, args: &[&str]) -> Result<BenchServer> {
        ensure!(bench_dir().join(SHOP).exists(), "{SHOP} is made by our own run");
        let url = stage.empty_database(DATABASE)?;
        let mut command = Command::new(bench_dir().join(NODE));
        command
            .args(["peers/grammy/main.mjs", "--database-url", &url, "--shop", SHOP, "--secret", SECRET])
            .args(["--api-root", &format!("{}telegram", stage.providers)])
            .args(args)
            .env("BOT_TOKEN", TELEGRAM_TOKEN)
            .env("NODE_ENV", "production")
            .current_dir(bench_dir());
        BenchServer::start(command)
    }
}
