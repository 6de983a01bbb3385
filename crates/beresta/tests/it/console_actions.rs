//! Chats in the console, in a real browser: what a bot is doing is seen, survives whatever happens to the page, and goes.

use std::sync::Arc;

use fantoccini::Locator;
use platform::wake::Topic;
use serde_json::{Value, json};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::{
    console::{Browser, Stage},
    support::{Serving, client, until},
};

/// A wire between a browser and a server, which can be cut, mended, and led to another process.
struct Wire {
    base: String,
    target: Arc<watch::Sender<Option<String>>>,
}

impl Wire {
    async fn to(serving: &Serving) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let target = Arc::new(watch::Sender::new(Some(address(serving))));
        let known = Arc::clone(&target);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let mut changes = known.subscribe();
                let Some(address) = changes.borrow_and_update().clone() else { continue };
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(address).await else { return };
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = changes.changed() => {}
                    }
                });
            }
        });
        Self { base, target }
    }

    fn cut(&self) {
        self.target.send_replace(None);
    }

    fn lead_to(&self, serving: &Serving) {
        self.target.send_replace(Some(address(serving)));
    }
}

fn address(serving: &Serving) -> String {
    serving.base.trim_start_matches("http://").to_owned()
}

impl Stage {
    async fn call(&self, base: &str, path: &str, body: Value) -> Value {
        let request = client().post(format!("{base}{path}")).bearer_auth(self.token.expose()).json(&body);
        let answer = request.send().await.unwrap();
        let (status, answer) = (answer.status(), answer.json::<Value>().await.unwrap());
        assert!(status.is_success(), "{path}: {answer}");
        answer["data"].clone()
    }

    async fn start(&self, id: &str, action_type: &str, text: Option<&str>) {
        let body = json!({ "chatId": "kitchen", "actionId": id, "actionType": action_type, "displayText": text });
        self.call(&self.serving.base, "/api/chat/actions/start", body).await;
    }

    async fn update(&self, id: &str, status: &str, more: Value) {
        let mut body = json!({ "actionId": id, "status": status });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call(&self.serving.base, "/api/chat/actions/update", body).await;
    }

    async fn say(&self, text: &str) {
        self.call(&self.serving.base, "/api/chats/kitchen/messages", json!({ "text": text, "role": "bot" })).await;
    }

    /// For pictures: long words, everybody speaks, several bots at work.
    pub(crate) async fn a_chat_with_everything_to_show(&self) {
        for (n, role) in (0..9).zip(["user", "bot", "system"].into_iter().cycle()) {
            let text = if n % 4 == 0 { "безпробелов".repeat(40) } else { "слово за словом ".repeat(12) };
            self.call(&self.serving.base, "/api/chats/kitchen/messages", json!({ "text": text, "role": role })).await;
        }
        self.start("long", "process_file", Some(&"обрабатываемоченьдлинноеслово".repeat(8))).await;
        self.start("plain", "of_the_future", None).await;
        self.update("plain", "processing", json!({ "payload": { "progress": 0.4, "step": "страница 4 из 10" } })).await;
    }

    /// A browser that looks at the chat, and hears.
    async fn watch(&self, base: &str) -> Browser {
        let browser = Browser::open(1280, 900, false).await;
        browser.sign_in(base, self.token.expose()).await;
        browser.text("[data-fragment=health]").await;
        browser.client.goto(&format!("{base}/console/chats/kitchen")).await.unwrap();
        is_in_state(&browser, "live").await;
        browser
    }
}

async fn is_in_state(browser: &Browser, wanted: &str) {
    let state = "return document.querySelector('[data-chat]')?.dataset.state ?? ''";
    until(wanted, async || (browser.client.execute(state, vec![]).await.ok()? == wanted).then_some(())).await;
}

/// What the bots are doing, as the page says it.
async fn doings(browser: &Browser) -> String {
    browser.text("[data-doings]").await
}

async fn shows(browser: &Browser, words: &str) {
    until(words, async || doings(browser).await.contains(words).then_some(())).await;
}

async fn is_quiet(browser: &Browser) {
    until("no indicator", async || doings(browser).await.is_empty().then_some(())).await;
}

async fn bubbles(browser: &Browser) -> Vec<String> {
    let script = "return [...document.querySelectorAll('.bubble .said')].map((said) => said.textContent)";
    let found = browser.client.execute(script, vec![]).await.unwrap();
    found.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_a_bot_is_doing_is_seen_from_its_start_to_its_end_and_never_becomes_a_bubble() {
    let stage = Stage::new().await;
    let browser = stage.watch(&stage.serving.base).await;
    let field = browser.client.find(Locator::Css("#text")).await.unwrap();
    field.send_keys("Please summarise <b>this</b>").await.unwrap();
    browser.click("form.say button").await;
    until("the bubble", async || (bubbles(&browser).await == ["Please summarise <b>this</b>"]).then_some(())).await;

    stage.start("a1", "summarize", None).await;
    shows(&browser, "Preparing the summary…").await;
    stage.start("a2", "of_the_future", None).await;
    shows(&browser, "Working on it…").await;
    stage.start("a3", "of_the_future", Some("Brewing <i>coffee</i>")).await;
    shows(&browser, "Brewing coffee").await;
    stage.update("a1", "processing", json!({ "payload": { "progress": 0.4, "step": "page 4 of 10" } })).await;
    shows(&browser, "page 4 of 10").await;
    let bar = browser.client.execute("return document.querySelector('[data-action=a1] progress').value", vec![]).await.unwrap();
    assert_eq!(bar, json!(0.4));
    let region = browser.client.find(Locator::Css("[data-doings]")).await.unwrap();
    assert_eq!(region.attr("role").await.unwrap().as_deref(), Some("status"));
    assert_eq!(region.attr("aria-live").await.unwrap().as_deref(), Some("polite"));

    for id in ["a1", "a2"] {
        stage.update(id, "done", json!({})).await;
    }
    until("one is left", async || (doings(&browser).await == "Brewing coffee").then_some(())).await;
    stage.update("a3", "error", json!({ "displayText": "The pot is empty" })).await;
    is_quiet(&browser).await;
    assert!(browser.text("[data-notices]").await.contains("The pot is empty"));
    stage.say("Sorry").await;
    until("the answer", async || (bubbles(&browser).await.len() == 2).then_some(())).await;
    assert_eq!(bubbles(&browser).await, ["Please summarise <b>this</b>", "Sorry"], "no action among them");
    browser.client.refresh().await.unwrap();
    is_in_state(&browser, "live").await;
    assert_eq!(browser.text("[data-notices]").await, "", "an error is told once");
    assert_eq!(bubbles(&browser).await.len(), 2);
}

#[tokio::test]
async fn the_indicator_survives_a_reload_and_a_dropped_connection_and_an_unseen_end_is_told() {
    let stage = Stage::new().await;
    let wire = Wire::to(&stage.serving).await;
    let browser = stage.watch(&wire.base).await;
    stage.start("a1", "transcribe_audio", None).await;
    shows(&browser, "Preparing the transcript…").await;
    browser.client.refresh().await.unwrap();
    shows(&browser, "Preparing the transcript…").await;
    is_in_state(&browser, "live").await;

    wire.cut();
    is_in_state(&browser, "reconnecting").await;
    assert!(doings(&browser).await.contains("Preparing the transcript…"), "nobody said that it ended");
    stage.start("a2", "process_file", None).await;
    stage.say("meanwhile").await;
    wire.lead_to(&stage.serving);
    shows(&browser, "Processing the file…").await;
    shows(&browser, "Preparing the transcript…").await;
    until("the message", async || (bubbles(&browser).await == ["meanwhile"]).then_some(())).await;
    is_in_state(&browser, "live").await;

    wire.cut();
    is_in_state(&browser, "reconnecting").await;
    stage.update("a1", "error", json!({ "displayText": "No sound in it" })).await;
    stage.update("a2", "done", json!({})).await;
    wire.lead_to(&stage.serving);
    is_quiet(&browser).await;
    until("the error", async || browser.text("[data-notices]").await.contains("No sound in it").then_some(())).await;
    assert_eq!(bubbles(&browser).await, ["meanwhile"]);
}

#[tokio::test]
async fn an_action_whose_time_ran_out_disappears_and_says_so() {
    let stage = Stage::new().await;
    let browser = stage.watch(&stage.serving.base).await;
    stage.start("a1", "generate_image", Some("Painting")).await;
    shows(&browser, "Painting").await;
    // The worker died three hours ago.
    let query = "update actions.actions set created_at = now() - interval '3 hours', deadline = now() - interval '1 hour'";
    sqlx::query(query).execute(stage.db.db.pool()).await.unwrap();
    let ended: i32 = sqlx::query_scalar("select actions.expire_overdue()").fetch_one(stage.db.db.pool()).await.unwrap();
    assert_eq!(ended, 1);
    stage.db.db.wake().tell(Topic::BUS);
    is_quiet(&browser).await;
    assert!(browser.text("[data-notices]").await.contains("The time ran out"));
    assert_eq!(bubbles(&browser).await.len(), 0);
}

#[tokio::test]
async fn an_action_started_through_one_process_is_seen_through_another() {
    let stage = Stage::new().await;
    let second = Serving::on_database(&stage.db.url, &[]);
    let wire = Wire::to(&second).await;
    let browser = stage.watch(&wire.base).await;
    stage.start("a1", "summarize", None).await;
    shows(&browser, "Preparing the summary…").await;
    // The page moves from one process to the other, with a cursor that the first one gave.
    wire.cut();
    is_in_state(&browser, "reconnecting").await;
    stage.say("between the two").await;
    wire.lead_to(&stage.serving);
    until("the message", async || (bubbles(&browser).await == ["between the two"]).then_some(())).await;
    assert!(doings(&browser).await.contains("Preparing the summary…"));
    stage.call(&second.base, "/api/chat/actions/update", json!({ "actionId": "a1", "status": "done" })).await;
    is_quiet(&browser).await;
}

#[tokio::test]
async fn the_list_of_chats_shows_by_itself_who_is_at_work() {
    let stage = Stage::new().await;
    let browser = Browser::open(1280, 900, false).await;
    browser.sign_in(&stage.serving.base, stage.token.expose()).await;
    browser.text("[data-fragment=health]").await;
    browser.client.goto(&format!("{}/console/chats", stage.serving.base)).await.unwrap();
    let list = async |words: &str| {
        until(words, async || Some(browser.text("[data-fragment=chats]").await).filter(|text| text.contains(words))).await
    };
    list("Nobody has talked yet").await;
    until("the stream is open", async || (browser.text("[data-live]").await == "live").then_some(())).await;
    stage.start("a1", "summarize", None).await;
    let shown = list("Preparing the summary…").await;
    assert!(shown.contains("1 at work") && shown.contains("kitchen"), "{shown}");
    browser.client.goto(&format!("{}/console/chats?state=at_work", stage.serving.base)).await.unwrap();
    list("kitchen").await;
    until("the stream is open", async || (browser.text("[data-live]").await == "live").then_some(())).await;
    stage.update("a1", "done", json!({})).await;
    list("No bot is at work").await;
    browser.client.goto(&format!("{}/console/chats", stage.serving.base)).await.unwrap();
    browser.follow("kitchen").await;
    is_in_state(&browser, "live").await;
}

#[tokio::test]
async fn the_cookie_opens_the_chats_to_our_own_pages_only() {
    let stage = Stage::new().await;
    let cookie = format!("beresta_token={}", stage.token.expose());
    let url = format!("{}/console/chat/api/chats/kitchen/messages", stage.serving.base);
    let send = |site: &'static str| {
        let request = client().post(&url).header("cookie", &cookie).header("sec-fetch-site", site);
        request.json(&json!({ "text": "hello" })).send()
    };
    assert_eq!(send("cross-site").await.unwrap().status(), 403);
    assert_eq!(send("same-origin").await.unwrap().status(), 201);
    assert_eq!(client().get(&url).header("cookie", &cookie).send().await.unwrap().status(), 200);
    assert_eq!(client().get(&url).send().await.unwrap().status(), 401);
    let bearer = client().get(&url).bearer_auth(stage.token.expose()).send().await.unwrap();
    assert_eq!(bearer.status(), 401, "a token is for the API itself");
    let url = format!("{}/api/chats/kitchen/messages", stage.serving.base);
    let api = client().get(url).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(api.status(), 401, "and a cookie is for the console");
}
