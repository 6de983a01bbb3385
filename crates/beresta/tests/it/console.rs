//! The console, in a real browser.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use kernel::{Bundle, Scopes, Secret, WorkspaceId};
use platform::{
    jobs::{self, NewJob},
    tokens,
};
use serde_json::json;
use testkit::TestDb;

use crate::support::{Serving, client, database, until, workspace_root};

/// A browser that ends with this value.
pub(crate) struct Browser {
    driver: Child,
    pub(crate) client: Client,
    _profile: tempfile::TempDir,
}

/// chromedriver takes a free port of IPv4 and then the same one of IPv6, where somebody else may have it: it ends, and is started again.
const DRIVER_TRIES: usize = 10;

fn start_driver() -> Option<(Child, String)> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        // A group of its own, so that the browser ends with its driver.
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("chromedriver is installed; `cargo xtask test` installs it");
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    let port =
        lines.find_map(|line| line.split("successfully on port ").nth(1).map(|port| port.trim_end_matches('.').to_owned()));
    let Some(port) = port else {
        driver.wait().unwrap();
        return None;
    };
    // Read on, so that it never waits for somebody to read its words.
    std::thread::spawn(move || lines.for_each(drop));
    Some((driver, port))
}

impl Browser {
    pub(crate) async fn open(width: u32, height: u32, is_dark: bool) -> Self {
        let (driver, port) = (0..DRIVER_TRIES).find_map(|_| start_driver()).expect("chromedriver says where it is");
        let profile = tempfile::tempdir().unwrap();
        let mut args = vec![
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
            format!("--window-size={width},{height}"),
        ];
        if is_dark {
            args.push("--force-dark-mode".to_owned());
            args.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let mut options = json!({"args": args});
        if width < 500 {
            // A window cannot be as narrow as a phone; a phone can be pretended.
            options["mobileEmulation"] = json!({"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2.0}});
        }
        let capabilities = json!({"goog:chromeOptions": options}).as_object().unwrap().clone();
        let url = format!("http://127.0.0.1:{port}");
        let client = until("chromedriver answers", async || {
            ClientBuilder::new(HttpConnector::new()).capabilities(capabilities.clone()).connect(&url).await.ok()
        })
        .await;
        Self { driver, client, _profile: profile }
    }

    /// The text of an element; a live page may replace it while it is being read.
    pub(crate) async fn text(&self, selector: &str) -> String {
        until(selector, async || {
            let found = self.client.find(Locator::Css(selector)).await.ok()?;
            found.text().await.ok()
        })
        .await
    }

    pub(crate) async fn click(&self, selector: &str) {
        self.client.find(Locator::Css(selector)).await.expect(selector).click().await.expect(selector);
    }

    /// Clicks on a link; a live page may replace it at that very moment, and even between the press and the release of the button.
    pub(crate) async fn follow(&self, words: &str) {
        let from = self.client.current_url().await.unwrap();
        until(words, async || {
            self.client.find(Locator::LinkText(words)).await.ok()?.click().await.ok()?;
            self.client.current_url().await.is_ok_and(|now| now != from).then_some(())
        })
        .await;
    }

    pub(crate) async fn sign_in(&self, base: &str, token: &str) {
        self.client.goto(base).await.unwrap();
        self.client.wait().for_element(Locator::Css("#token")).await.unwrap().send_keys(token).await.unwrap();
        self.click("form.sign-in button").await;
    }

    /// Keeps a picture under target/screenshots, for people to look at.
    async fn picture(&self, name: &str) {
        let dir = workspace_root().join("target/screenshots");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(format!("{name}.png")), self.client.screenshot().await.unwrap()).unwrap();
    }

    async fn path(&self) -> String {
        self.client.current_url().await.unwrap().path().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.driver.id()).unwrap_or(0));
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.driver.wait();
    }
}

pub(crate) struct Stage {
    pub(crate) db: TestDb,
    pub(crate) workspace: WorkspaceId,
    pub(crate) token: Secret,
    pub(crate) serving: Serving,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let db = database().await;
        let workspace = db.workspace("shop").await;
        let (_, token) = tokens::create(db.db.pool(), workspace, "Olga's laptop", &Scopes::all(), None, None).await.unwrap();
        let serving = Serving::on_database(&db.url, &["--demo-jobs"]);
        Self { db, workspace, token, serving }
    }

    async fn enqueue(&self, payload: serde_json::Value) -> i64 {
        let mut tx = self.db.db.begin(self.workspace).await.unwrap();
        let id = jobs::enqueue(&mut tx, self.workspace, NewJob::new("demo.note", payload), None).await.unwrap();
        tx.commit().await.unwrap();
        self.db.db.wake().tell(platform::wake::Topic::JOBS);
        id
    }

    /// A channel that takes nothing for a day, so that nobody is called.
    async fn closed_channel(&self, channel_id: &str) {
        let query = "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, title, paused_until)
                     values ($1, $2, 'telegram', '-1001', 'bot', 'bot', 'Town news', now() + interval '1 day')";
        sqlx::query(query).bind(self.workspace.uuid()).bind(channel_id).execute(self.db.db.pool()).await.unwrap();
    }

    async fn push(&self, post: serde_json::Value) {
        let query = "insert into core.workspace_endpoints (workspace_id, kind, secret_hash) values ($1, 'webhook_push', $2) on conflict do nothing";
        let hash = Secret::new("push-secret").sha256_hex();
        sqlx::query(query).bind(self.workspace.uuid()).bind(hash).execute(self.db.db.pool()).await.unwrap();
        let url = format!("{}/hooks/push", self.serving.base);
        let answer = client().post(url).header("x-beresta-secret", "push-secret").json(&post).send().await.unwrap();
        assert_eq!(answer.status(), 202);
    }

    async fn failed_job(&self) -> i64 {
        let id = self.enqueue(json!({"text": "no number here: <script>alert(1)</script>"})).await;
        until("the job has failed", async || {
            let status: Option<String> = sqlx::query_scalar("select status from ops.jobs where id = $1")
                .bind(id)
                .fetch_optional(self.db.db.pool())
                .await
                .unwrap();
            (status.as_deref() == Some("failed")).then_some(())
        })
        .await;
        id
    }
}

#[tokio::test]
async fn a_person_signs_in_sees_the_overview_live_and_signs_out() {
    let stage = Stage::new().await;
    let browser = Browser::open(1280, 900, false).await;
    browser.client.goto(&format!("{}/console/jobs", stage.serving.base)).await.unwrap();
    assert_eq!(browser.path().await, "/console/sign-in");

    browser.sign_in(&stage.serving.base, "brs_wrong").await;
    assert!(browser.text("[role=alert]").await.contains("This token is not known"));
    let (_, weak) =
        tokens::create(stage.db.db.pool(), stage.workspace, "r", &Scopes::from_iter([Bundle::Read]), None, None).await.unwrap();
    browser.sign_in(&stage.serving.base, weak.expose()).await;
    assert!(browser.text("[role=alert]").await.contains("lacks the scope `console`"));

    browser.sign_in(&stage.serving.base, stage.token.expose()).await;
    assert!(browser.text("[data-fragment=health]").await.contains("All is well"));
    assert!(browser.text("[data-fragment=journal]").await.contains("token_created"));
    assert!(browser.text(".brand-workspace").await.contains("shop"));
    // What happens now appears by itself.
    until("the stream is open", async || (browser.text("[data-live]").await == "live").then_some(())).await;
    stage.enqueue(json!({"n": 4711})).await;
    until("the note appears", async || browser.text("[data-fragment=journal]").await.contains("4711").then_some(())).await;
    // The cookie is out of reach for scripts.
    let cookies = browser.client.execute("return document.cookie", vec![]).await.unwrap();
    assert_eq!(cookies, "");

    browser.click("form[action='/console/sign-out'] button").await;
    until("the sign-in page", async || (browser.path().await == "/console/sign-in").then_some(())).await;
    browser.client.goto(&format!("{}/console", stage.serving.base)).await.unwrap();
    assert_eq!(browser.path().await, "/console/sign-in");
}

#[tokio::test]
async fn a_failed_job_is_found_read_and_asked_for_again() {
    let stage = Stage::new().await;
    let id = stage.failed_job().await;
    let browser = Browser::open(1280, 900, false).await;
    browser.sign_in(&stage.serving.base, stage.token.expose()).await;
    assert!(browser.text("[data-fragment=errors]").await.contains("cannot be read"));
    browser.client.goto(&format!("{}/console/jobs?status=failed", stage.serving.base)).await.unwrap();
    // The page is live: what was found may be replaced before it is clicked.
    let open_job = async || browser.client.find(Locator::LinkText("demo.note")).await.ok()?.click().await.ok();
    until("the link is there", open_job).await;
    until("the page of the job", async || (browser.path().await == format!("/console/jobs/{id}")).then_some(())).await;
    let page = browser.text("main").await;
    assert!(page.contains("<script>alert(1)</script>"), "what was sent is shown as text: {page}");
    let run_again = Locator::XPath("//button[text()='Run it again']");
    until("the button is there", async || browser.client.find(run_again).await.ok()?.click().await.ok()).await;
    until("it ran again", async || {
        let runs: i64 = sqlx::query_scalar("select count(*) from ops.job_runs where job_id = $1")
            .bind(id)
            .fetch_one(stage.db.db.pool())
            .await
            .unwrap();
        (runs == 2).then_some(())
    })
    .await;
    browser.client.goto(&format!("{}/console/jobs/999999", stage.serving.base)).await.unwrap();
    assert!(browser.text("main").await.contains("there is no such job"));
}

#[tokio::test]
async fn a_post_appears_by_itself_and_says_why_its_copies_wait() {
    let stage = Stage::new().await;
    stage.closed_channel("tg-news").await;
    let browser = Browser::open(1280, 900, false).await;
    browser.sign_in(&stage.serving.base, stage.token.expose()).await;
    browser.text("[data-fragment=health]").await;
    browser.client.goto(&format!("{}/console/posts", stage.serving.base)).await.unwrap();
    assert!(browser.text("[data-fragment=posts]").await.contains("No post here"));
    until("the stream is open", async || (browser.text("[data-live]").await == "live").then_some(())).await;
    stage.push(json!({"text": "<b>Fresh bread</b> from seven", "parse_mode": "HTML", "tags": ["bread"]})).await;
    let list = until("the post appears", async || {
        Some(browser.text("[data-fragment=posts]").await).filter(|text| text.contains("Fresh bread from seven"))
    })
    .await;
    assert!(list.contains("1 waiting") && list.contains("bread"), "{list}");

    browser.follow("Fresh bread from seven").await;
    let page = until("its page", async || Some(browser.text("main").await).filter(|text| text.contains("What was posted"))).await;
    assert!(page.contains("<b>Fresh bread</b>"), "the text is shown as it was sent: {page}");
    assert!(page.contains("Its channel is paused after errors and goes on in"), "{page}");
    browser.follow("events").await;
    until("its events", async || (browser.path().await == "/console/events").then_some(())).await;
    assert!(browser.text("[data-fragment=events]").await.contains("taken into the queue"));
    browser.client.goto(&format!("{}/console/channels/tg-news", stage.serving.base)).await.unwrap();
    assert!(browser.text("main").await.contains("paused"));
}

#[tokio::test]
async fn no_page_is_wider_than_its_window_in_any_size_and_light() {
    let stage = Stage::new().await;
    stage.failed_job().await;
    stage.closed_channel("a-channel-with-a-rather-long-name").await;
    stage.a_bot_with_everything_to_show().await;
    stage.a_chat_with_everything_to_show().await;
    let preview = stage.a_plan_with_everything_to_show().await;
    let webhook_delivery = stage.a_webhook_with_everything_to_show().await;
    for n in 0..30 {
        stage.enqueue(json!({"n": n})).await;
    }
    for n in 0..5 {
        stage
            .push(json!({"text": format!("{n} {}", "a long word and another one, ".repeat(8)), "tags": ["news", "weather"]}))
            .await;
    }
    for (width, height, is_dark, name) in [
        (1280, 900, false, "wide-light"),
        (1280, 900, true, "wide-dark"),
        (390, 844, false, "narrow-light"),
        (390, 844, true, "narrow-dark"),
    ] {
        let browser = Browser::open(width, height, is_dark).await;
        browser.client.goto(&stage.serving.base).await.unwrap();
        browser.picture(&format!("sign-in-{name}")).await;
        browser.sign_in(&stage.serving.base, stage.token.expose()).await;
        browser.text("[data-fragment=journal]").await;
        for page in [
            "",
            "/posts",
            "/channels",
            "/events",
            "/ingest",
            "/conversations",
            "/conversations/max/70017",
            "/rules",
            "/rules/return_order_number",
            "/bots",
            "/chats",
            "/chats/kitchen",
            "/planner",
            "/planner/previews",
            &preview,
            "/webhooks",
            &webhook_delivery,
            "/jobs",
            "/journal",
        ] {
            browser.client.goto(&format!("{}/console{page}", stage.serving.base)).await.unwrap();
            browser.text("main").await;
            let overflow = browser
                .client
                .execute("return document.documentElement.scrollWidth - document.documentElement.clientWidth", vec![])
                .await
                .unwrap();
            assert_eq!(overflow, 0, "{page} in {name}");
            let page = if page.is_empty() { "overview".to_owned() } else { page[1..].replace('/', "-") };
            browser.picture(&format!("{page}-{name}")).await;
        }
    }
}

#[tokio::test]
async fn a_form_from_another_site_is_refused() {
    let stage = Stage::new().await;
    let http = client();
    let cookie = format!("beresta_token={}", stage.token.expose());
    let post = |site: &'static str, csrf: &'static str| {
        http.post(format!("{}/console/sign-out", stage.serving.base))
            .header("cookie", &cookie)
            .header("sec-fetch-site", site)
            .form(&[("csrf", csrf)])
            .send()
    };
    assert_eq!(post("cross-site", "x").await.unwrap().status(), 403);
    assert_eq!(post("same-origin", "guessed").await.unwrap().status(), 403);
    let page = http.get(format!("{}/console", stage.serving.base)).header("cookie", &cookie).send().await.unwrap();
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    let away = http
        .get(format!("{}/console/sign-in?next=//evil.example", stage.serving.base))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(!away.contains("evil.example"));
}
