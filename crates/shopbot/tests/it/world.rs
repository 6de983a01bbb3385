//! A small world: a workspace with a bot in each messenger, rules, simulated providers on a socket, and a sender that runs
//! when told to.

use std::{
    ops::Deref,
    sync::atomic::{AtomicU64, Ordering},
};

use kernel::Secret;
use messengers::{Max, Messengers, Telegram};
use outbound::Client;
use serde_json::{Value, json};
use shopbot::{AnswerSender, sender::Answers};
use testkit::WorldWithProviders;

pub(crate) use testkit::code;

/// The module with what it stands on.
pub(crate) const MODULES: &[platform::SqlModule] = &[platform::SQL, shopbot::SQL];
pub(crate) const MAX_SECRET: &str = "max-webhook-secret";
pub(crate) const TELEGRAM_SECRET: &str = "telegram-webhook-secret";

pub(crate) struct World {
    ground: WorldWithProviders,
    pub(crate) tools: Answers,
    messages: AtomicU64,
}

impl Deref for World {
    type Target = WorldWithProviders;

    fn deref(&self) -> &WorldWithProviders {
        &self.ground
    }
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
        let ground = WorldWithProviders::new(MODULES).await;
        let base = &ground.base;
        let client = Client::new(&outbound::ClientSettings::default()).unwrap();
        let tools = Answers {
            db: ground.test.db.clone(),
            messengers: Messengers::new(
                Telegram::new(client.clone(), &format!("{base}/telegram")),
                Max::new(client, &format!("{base}/max")),
            ),
            secrets: platform::secrets::Secrets::default(),
        };
        for provider in ["max", "telegram"] {
            let secret_ref = ground.secret_ref(provider);
            let variables = json!({ "phone": "8 800", "shop_name": "Берёзка" });
            let menu = r#"[[{"text": "Доставка"}]]"#;
            ground
                .run(&format!(
                    "with registered as (
                         insert into core.bots (workspace_id, provider, name, secret_ref, serves)
                         values ($ws, '{provider}', '{provider}', '{secret_ref}', 'shopbot') returning *)
                     insert into shopbot.bots (workspace_id, bot_id, provider, rate_rps, chat_rps, variables, menu)
                     select $ws, bot_id, provider, null, null, '{variables}', '{menu}' from registered"
                ))
                .await;
        }
        for (provider, secret) in [("max", MAX_SECRET), ("telegram", TELEGRAM_SECRET)] {
            let hash = Secret::new(secret).sha256_hex();
            ground
                .run(&format!(
                    "insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id)
                     select $ws, 'bot_webhook', '{hash}', bot_id from core.bots where provider = '{provider}'"
                ))
                .await;
        }
        let world = Self { ground, tools, messages: AtomicU64::new(0) };
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
        AnswerSender::new(self.tools.clone(), platform::outbox::OutboxLimits::of(256)).drain().await.unwrap()
    }

    /// Claims by hand, as a sender that holds what it was given: the chats.
    pub(crate) async fn claim(&self, run_id: &str, limit: i32) -> Vec<String> {
        let query = "select chat_id from shopbot.claim_answers($1, $2, interval '1 minute', $3) order by chat_id";
        sqlx::query_scalar(query)
            .bind(run_id)
            .bind(limit)
            .bind(self.workspace.uuid())
            .fetch_all(self.test.db.pool())
            .await
            .unwrap()
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

/// What a refusal says: its SQLSTATE, the field and the words.
pub(crate) fn refusal(error: sqlx::Error) -> (String, String, String) {
    match platform::DbError::from(error) {
        platform::DbError::Refused { code, message, field, .. } => (code, field.unwrap_or_default(), message),
        other => panic!("{other}"),
    }
}
