//! A small world: a workspace with a bot in each messenger, rules, simulated providers on a socket, and a sender that runs
//! when told to.

use std::sync::atomic::{AtomicU64, Ordering};

use jiff::SignedDuration;
use kernel::{Clock, Secret, WorkspaceId};
use messengers::{Max, Messenger, Telegram};
use outbound::Client;
use serde_json::{Value, json};
use shopbot::{
    Sender,
    sender::{Settings, Tools},
};
use simulators::Simulators;
use sqlx::{AssertSqlSafe, PgConnection, Row, postgres::PgRow};
use testkit::TestDb;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const MAX_SECRET: &str = "max-webhook-secret";
pub(crate) const TELEGRAM_SECRET: &str = "telegram-webhook-secret";

pub(crate) struct World {
    pub(crate) test: TestDb,
    pub(crate) workspace: WorkspaceId,
    pub(crate) base: String,
    pub(crate) tools: Tools,
    owner: tokio::sync::Mutex<PgConnection>,
    messages: AtomicU64,
    client: Client,
    pub(crate) files: tempfile::TempDir,
    _stop: DropGuard,
}

/// What became of a message, in one line: `answered delivery 1 default>default`.
#[derive(Clone, Debug)]
pub(crate) struct Handled {
    pub(crate) line: String,
    pub(crate) text: String,
    pub(crate) done: Value,
}

impl World {
    pub(crate) async fn new() -> Self {
        let start = "2026-03-02T09:00:00Z".parse().unwrap();
        let test = TestDb::with(&[platform::SQL, shopbot::SQL], Clock::frozen(start)).await;
        let workspace = test.workspace("team").await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        tokio::spawn(simulators::serve(listener, Simulators::new(), stop.clone()));
        let files = tempfile::tempdir().unwrap();
        let client = Client::new(&outbound::Settings::default()).unwrap();
        let tools = Tools {
            db: test.db.clone(),
            telegram: Messenger::Telegram(Telegram::new(client.clone(), &format!("{base}/telegram"))),
            max: Messenger::Max(Max::new(client.clone(), &format!("{base}/max"))),
            secrets: platform::secrets::Secrets::default(),
        };
        let owner = tokio::sync::Mutex::new(test.owner().await);
        let messages = AtomicU64::new(0);
        for (provider, token) in [("max", "max-test-token"), ("telegram", "123456:test-token")] {
            std::fs::write(files.path().join(provider), token).unwrap();
        }
        let dir = files.path().display().to_string();
        let stop = stop.drop_guard();
        let world = Self { test, workspace, base, tools, owner, messages, client, files, _stop: stop };
        world
            .run(&format!(
                "insert into shopbot.bots (workspace_id, provider, secret_ref, rate_rps, chat_rps, variables, menu)
                 select $ws, p, 'file:{dir}/' || p, null, null, '{{\"phone\": \"8 800\", \"shop_name\": \"Берёзка\"}}', '[[{{\"text\": \"Доставка\"}}]]'
                   from unnest('{{max,telegram}}'::text[]) p"
            ))
            .await;
        for (provider, secret) in [("max", MAX_SECRET), ("telegram", TELEGRAM_SECRET)] {
            let hash = Secret::new(secret).sha256_hex();
            world
                .run(&format!(
                    "insert into core.workspace_endpoints (workspace_id, kind, secret_hash, meta)
                     values ($ws, 'bot_webhook', '{hash}', '{{\"provider\": \"{provider}\"}}')"
                ))
                .await;
        }
        world.save(json!([
            rule("delivery", &["доставк", "delivery"], json!({ "response_template": "Доставим. Звоните {{phone}}." })),
            rule("payment", &["оплат", "payment"], json!({ "response_template": "Картой." })),
            rule("returns", &["возврат"], json!({ "response_template": "14 дней.", "buttons": [[{ "text": "Оформить", "payload": "оформить возврат" }]] })),
            rule("return", &["оформить возврат"], json!({
                "priority": 10, "next_state": "order", "response_template": "Номер заказа?" })),
            rule("order", &[], json!({
                "intent": "return", "state": "order", "capture": "order_number", "check_pattern": "^[0-9]{4,10}$", "next_state": "reason",
                "response_template": "Заказ {{order_number}}. Причина?", "re_ask_template": "От 4 до 10 цифр, {{customer_name}}." })),
            rule("reason", &[], json!({
                "intent": "return", "state": "reason", "capture": "reason", "next_state": "default",
                "response_template": "{{order_number}}: {{reason}}. Везите." })),
            rule("cancel", &["отмена"], json!({
                "intent": "return", "state": "order", "next_state": "default", "response_template": "Отменили." })),
        ]))
        .await;
        world
    }

    pub(crate) async fn save(&self, rules: Value) -> Value {
        self.try_save(rules).await.unwrap()
    }

    pub(crate) async fn try_save(&self, rules: Value) -> Result<Value, sqlx::Error> {
        let query = "select shopbot.save_rules($1, $2)";
        sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(rules).fetch_one(self.test.db.pool()).await
    }

    /// A message that nobody sent before, in MAX.
    pub(crate) fn message(&self, chat: &str, kind: &str, text: &str) -> Value {
        let n = self.messages.fetch_add(1, Ordering::Relaxed) + 1;
        let field = if kind == "button" { "payload" } else { "text" };
        json!({
            "chat_id": chat, "provider_message_id": format!("m{n}"), "kind": kind, field: text, "sender_name": "Анна",
            "shown_text": kernel::redact::snippet(text, 1000),
        })
    }

    pub(crate) async fn handle(&self, provider: &str, message: &Value) -> Result<Value, sqlx::Error> {
        let query = "select shopbot.handle_message($1, $2, $3, 'trace')";
        sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(provider).bind(message).fetch_one(self.test.db.pool()).await
    }

    pub(crate) async fn does(&self, chat: &str, kind: &str, text: &str) -> Handled {
        let done = self.handle("max", &self.message(chat, kind, text)).await.unwrap();
        let part = |field: &str| done[field].as_str().map(ToOwned::to_owned);
        let rule = part("rule_id").map(|rule| format!(" {rule} {}", done["rule_version"])).unwrap_or_default();
        let line = format!(
            "{}{rule} {}>{}",
            part("outcome").unwrap(),
            part("state_before").unwrap_or_default(),
            part("state_after").unwrap_or_default()
        );
        let text = match part("answer_id") {
            Some(id) => self.ask(&format!("select text from shopbot.bot_outbox where answer_id = '{id}'")).await,
            None => Value::Null,
        };
        Handled { line, text: text.as_str().unwrap_or_default().to_owned(), done }
    }

    /// Somebody writes; what became of it, in one line.
    pub(crate) async fn says(&self, chat: &str, text: &str) -> String {
        self.does(chat, "text", text).await.line
    }

    /// Runs a statement as the system at the world's time; a function's answer as JSON comes back.
    pub(crate) async fn ask(&self, expression: &str) -> Value {
        self.try_ask(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    pub(crate) async fn try_ask(&self, expression: &str) -> Result<Value, sqlx::Error> {
        let query = format!("select to_jsonb(({}))", expression.replace("$ws", &format!("'{}'", self.workspace)));
        sqlx::query_scalar::<_, Option<Value>>(AssertSqlSafe(query))
            .fetch_one(self.test.db.pool())
            .await
            .map(Option::unwrap_or_default)
    }

    pub(crate) async fn run(&self, statement: &str) -> u64 {
        self.try_run(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    /// Runs a statement as the owner.
    pub(crate) async fn try_run(&self, statement: &str) -> Result<u64, sqlx::Error> {
        let statement = statement.replace("$ws", &format!("'{}'", self.workspace));
        let mut owner = self.owner.lock().await;
        let now = format!("set platform.now = '{}'", self.test.clock.now());
        sqlx::query(AssertSqlSafe(now)).execute(&mut *owner).await?;
        Ok(sqlx::query(AssertSqlSafe(statement)).execute(&mut *owner).await?.rows_affected())
    }

    /// Every row of a query, each as JSON.
    pub(crate) async fn rows(&self, query: &str) -> Vec<Value> {
        let query = format!("select to_jsonb(t) from ({}) t", query.replace("$ws", &format!("'{}'", self.workspace)));
        let rows: Vec<PgRow> = sqlx::query(AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    pub(crate) async fn set_bot(&self, more: &str) {
        self.run(&format!("update shopbot.bots set {more}")).await;
    }

    /// Statuses of the answers in the order of their messages: `sent, retry`.
    pub(crate) async fn statuses(&self) -> String {
        let rows = self.rows("select status from shopbot.bot_outbox order by seq").await;
        rows.iter().map(|row| row["status"].as_str().unwrap()).collect::<Vec<_>>().join(", ")
    }

    /// A sender process that works until nothing is due.
    pub(crate) async fn drain(&self) -> usize {
        Sender::new(self.tools.clone(), Settings::default()).drain().await.unwrap()
    }

    /// Claims by hand, as a sender that holds what it was given: the chats.
    pub(crate) async fn claim(&self, run_id: &str, limit: i32) -> Vec<String> {
        let query = "select chat_id from shopbot.claim_answers($1, $2, interval '1 minute') order by chat_id";
        sqlx::query_scalar(query).bind(run_id).bind(limit).fetch_all(self.test.db.pool()).await.unwrap()
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.test.clock.advance(SignedDuration::from_secs(seconds));
    }

    pub(crate) async fn control(&self, path: &str, body: Value) -> Value {
        let request = self.client.request(reqwest::Method::POST, &format!("{}/control/{path}", self.base)).json(&body);
        self.client.send(request).await.unwrap().json().unwrap_or_default()
    }

    /// The next calls to a chat fail like this.
    pub(crate) async fn fault(&self, provider: &str, chat: &str, fault: Value) {
        let mut body = json!({ "provider": provider, "target": chat });
        body.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
        self.control("faults", body).await;
    }

    /// What a provider accepted for a chat, oldest first.
    pub(crate) async fn sent(&self, provider: &str, chat: &str) -> Vec<Value> {
        let url = format!("{}/control/sent?provider={provider}&target={chat}", self.base);
        let reply = self.client.send(self.client.request(reqwest::Method::GET, &url)).await.unwrap().json().unwrap();
        reply["sent"].as_array().cloned().unwrap_or_default()
    }

    /// The texts of the messages that a chat received.
    pub(crate) async fn received(&self, provider: &str, chat: &str) -> Vec<String> {
        let is_message = |sent: &&Value| sent["method"] != "answerCallbackQuery";
        let sent = self.sent(provider, chat).await;
        sent.iter().filter(is_message).map(|sent| sent["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// A rule with these keywords; its intent is its id unless `more` says otherwise.
pub(crate) fn rule(id: &str, keywords: &[&str], more: Value) -> Value {
    let mut rule = json!({
        "rule_id": id, "intent": id, "pattern": { "keywords": keywords, "mode": "contains" }, "response_template": id,
    });
    if let Value::Object(more) = more {
        rule.as_object_mut().unwrap().extend(more);
    }
    rule
}

/// The SQLSTATE of a refusal.
pub(crate) fn code(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code().map(std::borrow::Cow::into_owned));
    code.unwrap_or_else(|| error.to_string())
}

/// What a refusal says: its SQLSTATE, the field and the words.
pub(crate) fn refusal(error: sqlx::Error) -> (String, String, String) {
    match platform::DbError::from(error) {
        platform::DbError::Refused { code, message, field, .. } => (code, field.unwrap_or_default(), message),
        other => panic!("{other}"),
    }
}
