//! The shop bot in the console, in a real browser.

use fantoccini::Locator;
use serde_json::{Value, json};

use crate::{
    console::{Browser, Stage},
    support::{client, until},
};

const SECRET: &str = "bot-secret";

fn order_rule(check: &str) -> Value {
    json!({
        "rule_id": "return_order_number", "intent": "return", "pattern": { "keywords": [], "mode": "contains" },
        "state": "return_order_number", "capture": "order_number", "check_pattern": check, "next_state": "return_reason",
        "response_template": "Заказ {{order_number}}. Причина?", "re_ask_template": "В номере от 4 до 10 цифр, например 10234.",
        "buttons": [[{ "text": "Не подошёл размер" }, { "text": "Передумал(а)", "payload": "передумал" }]],
    })
}

impl Stage {
    /// A bot that sends nothing for a day, so that nobody is called.
    async fn closed_bot(&self) {
        let pool = self.db.db.pool();
        let query = "with bot as (
                         insert into core.bots (workspace_id, provider, name, secret_ref, serves)
                         values ($1, 'max', 'shop', 'env:NO_SUCH_TOKEN', 'shopbot') returning *
                     ), settings as (
                         insert into shopbot.bots (workspace_id, bot_id, provider, closed_until)
                         select workspace_id, bot_id, provider, now() + interval '1 day' from bot
                     )
                     insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id)
                     select workspace_id, 'bot_webhook', $2, bot_id from bot";
        let hash = kernel::Secret::new(SECRET).sha256_hex();
        sqlx::query(query).bind(self.workspace.uuid()).bind(hash).execute(pool).await.unwrap();
        self.save_rules(json!([
            { "rule_id": "payment", "intent": "payment", "pattern": { "keywords": ["оплат"], "mode": "contains" },
              "response_template": "Картой.", "buttons": [[{ "text": "Доставка" }]] },
            { "rule_id": "delivery", "intent": "delivery", "pattern": { "keywords": ["доставк"], "mode": "contains" },
              "response_template": "Привезём.", "priority": 5 },
            { "rule_id": "return", "intent": "return", "pattern": { "keywords": ["оформить возврат"], "mode": "contains" },
              "response_template": "Номер заказа?", "priority": 10, "max_turns": 9, "next_state": "return_order_number" },
            order_rule("^[0-9]{4,10}$"),
            { "rule_id": "return_reason", "intent": "return", "pattern": { "keywords": [], "mode": "contains" },
              "response_template": "Везите.", "state": "return_reason", "capture": "reason", "next_state": "default" },
        ]))
        .await;
    }

    async fn save_rules(&self, rules: Value) {
        let query = "select shopbot.save_rules($1, $2)";
        let saved: Value =
            sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(rules).fetch_one(self.db.db.pool()).await.unwrap();
        assert!(saved.is_array());
    }

    async fn hook(&self, body: String) {
        let url = format!("{}/hooks/max", self.serving.base);
        let answer = client().post(url).header("x-max-bot-api-secret", SECRET).body(body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }

    /// A customer writes to the bot in MAX.
    async fn customer_says(&self, chat: i64, mid: &str, text: &str) {
        let update = json!({
            "update_type": "message_created", "timestamp": 1_780_000_000_000_i64,
            "message": {
                "recipient": { "chat_id": chat, "chat_type": "dialog", "user_id": 9 }, "timestamp": 1_780_000_000_000_i64,
                "sender": { "user_id": 77, "first_name": "Анна", "is_bot": false }, "body": { "mid": mid, "seq": 1, "text": text },
            },
        });
        self.hook(update.to_string()).await;
    }

    /// For pictures: a long conversation, a rule of several versions, an update that could not be read, an alert.
    pub(crate) async fn a_bot_with_everything_to_show(&self) {
        self.closed_bot().await;
        let long = "слово, за которым идёт ещё одно очень длинное слово ".repeat(12);
        let unbroken = "безпробелов".repeat(40);
        let texts = ["оплата и доставка", "оформить возврат", &long, "12345", &unbroken, "что?", "что-что?"];
        for (n, text) in texts.into_iter().enumerate() {
            self.customer_says(70017, &format!("mid.{n}"), text).await;
        }
        self.save_rules(json!([order_rule("^(№|#)? ?[0-9]{4,10}$")])).await;
        self.hook(format!("no JSON: {unbroken}")).await;
        let query = "insert into ops.alerts (workspace_id, module, alert, subject, count, raised_at, told_at, why)
                     values ($1, 'shopbot', 'error_rate', 'max', 1, now(), now(), 'of 100 messages in the last 15 minutes, 12 went wrong')";
        sqlx::query(query).bind(self.workspace.uuid()).execute(self.db.db.pool()).await.unwrap();
    }

    async fn open_console(&self, path: &str) -> Browser {
        let browser = Browser::open(1280, 900, false).await;
        browser.sign_in(&self.serving.base, self.token.expose()).await;
        browser.text("[data-fragment=health]").await;
        browser.client.goto(&format!("{}/console{path}", self.serving.base)).await.unwrap();
        browser
    }
}

async fn is_live(browser: &Browser) {
    until("the stream is open", async || (browser.text("[data-live]").await == "live").then_some(())).await;
}

async fn text_with(browser: &Browser, selector: &str, words: &str) -> String {
    until(words, async || Some(browser.text(selector).await).filter(|text| text.contains(words))).await
}

#[tokio::test]
async fn a_conversation_appears_by_itself_and_says_which_rule_answered_why_and_where_the_answer_stands() {
    let stage = Stage::new().await;
    let browser = stage.open_console("/conversations").await;
    assert!(browser.text("[data-fragment=conversations]").await.contains("No bot is connected"));
    stage.closed_bot().await;
    browser.client.refresh().await.unwrap();
    text_with(&browser, "[data-fragment=conversations]", "beresta shopbot try --workspace shop").await;
    is_live(&browser).await;
    stage.customer_says(70017, "mid.1", "Оплата и доставка <script>alert(1)</script>").await;
    let list = text_with(&browser, "[data-fragment=conversations]", "70017").await;
    for words in ["MAX", "answered", "delivery v1", "no scenario", "1 waiting", "<script>alert(1)</script>"] {
        assert!(list.contains(words), "{words}: {list}");
    }

    browser.follow("70017").await;
    let page = text_with(&browser, "main", "What was said").await;
    for words in [
        "the keyword “доставк”; over payment by its priority",
        "Привезём.",
        "nothing is sent by this bot; it goes on in",
        "No scenario is under way",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    is_live(&browser).await;
    stage.customer_says(70017, "mid.2", "оформить возврат").await;
    text_with(&browser, "main", "in a scenario").await;
    stage.customer_says(70017, "mid.3", "12345").await;
    let page = text_with(&browser, "main", "3 waiting").await.replace('\n', " ");
    for words in ["order_number 12345", "this step takes whatever is written", "return_reason v1", "Заказ 12345."] {
        assert!(page.contains(words), "{words}: {page}");
    }
    browser.client.goto(&format!("{}/console/conversations?provider=telegram", stage.serving.base)).await.unwrap();
    text_with(&browser, "[data-fragment=conversations]", "No conversation matches").await;
    browser.client.goto(&format!("{}/console/conversations?state=return_reason", stage.serving.base)).await.unwrap();
    text_with(&browser, "[data-fragment=conversations]", "70017").await;
    browser.client.goto(&format!("{}/console/conversations/max/404", stage.serving.base)).await.unwrap();
    assert!(browser.text("main").await.contains("there is no such conversation"));
}

#[tokio::test]
async fn a_rule_shows_its_versions_what_changed_and_which_one_answers() {
    let stage = Stage::new().await;
    stage.closed_bot().await;
    let browser = stage.open_console("/rules").await;
    let list = browser.text("[data-fragment=rules]").await;
    assert!(list.contains("return_order_number") && list.contains("takes order_number") && list.contains("оплат"), "{list}");
    is_live(&browser).await;
    stage
        .save_rules(json!([{ "rule_id": "payment", "intent": "payment", "response_template": "Картой и по СБП.",
                             "pattern": { "keywords": ["оплат", "сбп"], "mode": "contains" } }]))
        .await;
    text_with(&browser, "[data-fragment=rules]", "version 2").await;
    browser.follow("payment").await;
    let page = text_with(&browser, "main", "Version 1").await;
    for words in ["Version 2", "The newest version answers", "Картой и по СБП.", "The first version."] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(browser.text(".changes ins").await.contains("сбп"));
    assert!(browser.text(".changes").await.contains("Картой."), "what it was is told too");
}

#[tokio::test]
async fn bots_show_their_error_rate_and_what_they_could_not_read_and_what_somebody_opened_stays_open() {
    let stage = Stage::new().await;
    stage.closed_bot().await;
    stage.hook("no JSON, but somebody@example.com".to_owned()).await;
    let browser = stage.open_console("/bots").await;
    let page = browser.text("[data-fragment=bots]").await;
    for words in ["MAX", "closed", "error rate", "100 %", "What could not be read", "came once"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("somebody@example.com"));
    is_live(&browser).await;
    // A live page may replace it at that very moment, and even between the press and the release of the button.
    until("it opens", async || {
        if browser.client.find(Locator::Css("details[open]")).await.is_ok() {
            return Some(());
        }
        browser.client.find(Locator::Css("details summary")).await.ok()?.click().await.ok()?;
        None
    })
    .await;
    assert!(text_with(&browser, "details", "[email]").await.contains("no JSON"));
    stage.hook("no JSON, but somebody@example.com".to_owned()).await;
    text_with(&browser, "[data-fragment=bots]", "came 2 times").await;
    assert!(browser.text("details").await.contains("[email]"), "it is still open");
}

#[tokio::test]
async fn a_page_is_fetched_anew_when_a_moment_that_it_shows_as_to_come_has_passed() {
    let stage = Stage::new().await;
    stage.closed_bot().await;
    let browser = stage.open_console("/bots").await;
    text_with(&browser, "[data-fragment=bots]", "closed").await;
    is_live(&browser).await;
    // Nothing is published: that the pause is over is only a matter of time, which passes faster for this browser.
    sqlx::query("update shopbot.bots set closed_until = null").execute(stage.db.db.pool()).await.unwrap();
    let later = "const now = Date.now.bind(Date); Date.now = () => now() + 2 * 86400 * 1000";
    browser.client.execute(later, vec![]).await.unwrap();
    text_with(&browser, "[data-fragment=bots]", "answering").await;
}
