//! `/console/webhooks`: what a signed-in person sees of webhooks and their deliveries.

use kernel::{Scopes, WorkspaceId};
use platform::{
    bus::Bus,
    console::ConsolePage,
    http::{App, Ctx},
    objects::{Objects, Place},
    tokens,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use webhooks::manage::NewSubscription;

use crate::world::{Reply, World};

/// The page as the console calls it.
struct Console {
    ctx: Ctx,
    page: ConsolePage,
}

impl Console {
    async fn new(world: &World, workspace: WorkspaceId) -> Self {
        let db = world.test.db.clone();
        let objects = Objects::open(&Place::Files { dir: world.files.path().join("objects") }).unwrap();
        let (_, token) = tokens::create(db.pool(), workspace, "ann", &Scopes::all(), None, None).await.unwrap();
        let app = App { bus: Bus::new(db.clone()), objects, stop: CancellationToken::new(), db };
        let ctx = Ctx::authenticate(&app, &token).await.unwrap();
        let pages = webhooks::service(world.tools.clone(), world.desk.clone()).pages;
        assert_eq!(pages.iter().map(|page| page.path).collect::<Vec<_>>(), ["webhooks"]);
        Self { ctx, page: pages[0] }
    }

    async fn get(&self, query: &str) -> String {
        let shown = (self.page.render)(&self.ctx, query).await;
        shown.unwrap_or_else(|failure| panic!("{query}: {:?}", failure.0))
    }

    async fn refused(&self, query: &str) -> u16 {
        (self.page.render)(&self.ctx, query).await.unwrap_err().0.status
    }
}

/// The rows of the log on a page.
fn log(html: &str) -> &str {
    html.split_once("<h2>Deliveries").unwrap().1
}

fn assert_has(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[tokio::test]
async fn a_person_sees_the_webhooks_and_what_came_of_each_delivery() {
    let world = World::new().await;
    let console = Console::new(&world, world.workspace).await;
    assert_has(&console.get("").await, &["No webhook yet.", "beresta webhook add --name crm", "No delivery here."]);
    world.add("crm", &["post.*", "bot.escalated"]).await;
    world.receiver.reply([Reply::status(503).body("busy, come back"), Reply::status(204)]);
    world.emit("post.sent", json!({ "post_id": "p1" })).await;
    world.drain().await;
    let html = console.get("").await;
    assert_has(
        &html,
        &[
            ">crm</a>",
            &format!("{}/crm", world.receiver.base),
            "bot.escalated, post.*",
            "every attempt since 2026-03-02 09:00:00 UTC failed",
        ],
    );
    assert_has(log(&html), &[">post.sent</a>", r#"<span class="badge warn">retry</span>"#, ">503<", "busy, come back"]);
    world.desk.pause(world.workspace, "crm", "it moves", "ann").await.unwrap();
    let html = console.get("").await;
    assert_has(&html, &["it moves (since 2026-03-02 09:00:00 UTC)", r#"<span class="badge warn">paused</span>"#]);
    assert_has(&html, &["beresta webhook enable crm --workspace team"]);
}

#[tokio::test]
async fn a_receiver_that_asks_to_wait_is_shown_as_closed_until_then() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(429).header("retry-after", "600")]);
    world.emit_many(1).await;
    world.drain().await;
    let console = Console::new(&world, world.workspace).await;
    assert_has(&console.get("").await, &["nothing is sent before 2026-03-02 09:10:00 UTC", ">429<"]);
}

#[tokio::test]
async fn what_receivers_and_callers_wrote_is_shown_as_text() {
    let world = World::new().await;
    let name = "<script>alert('name')</script>";
    world.add_at(name, &["*"], &format!("{}/hostile?a=1&b=2", world.receiver.base)).await;
    world.receiver.reply([Reply::status(200).body("<script>alert('answer')</script>")]);
    world.emit("post.sent", json!({ "text": "</code><script>alert('body')</script>" })).await;
    world.drain().await;
    world.desk.pause(world.workspace, name, "<script>alert('reason')</script>", "ann").await.unwrap();
    let console = Console::new(&world, world.workspace).await;
    let id = world.delivery().await["delivery_id"].as_str().unwrap().to_owned();
    let (list, one) = (console.get("").await, console.get(&format!("delivery={id}")).await);
    assert!(!list.contains("<script") && !one.contains("<script") && one.matches("</code>").count() == 3, "{list}\n{one}");
    let escaped = |what: &str| format!("&lt;script&gt;alert(&#39;{what}&#39;)&lt;/script&gt;");
    assert_has(&list, &[&escaped("name"), &escaped("answer"), &escaped("reason"), "/hostile?a=1&amp;b=2"]);
    assert_has(&one, &[&escaped("name"), &escaped("answer"), &format!("&lt;/code&gt;{}", escaped("body"))]);
    let quoted = console.get("subscription=%3Cscript%3Ealert('name')%3C/script%3E").await;
    assert_has(&quoted, &[&format!("<h2>Deliveries to {}</h2>", escaped("name"))]);
}

#[tokio::test]
async fn the_log_is_filtered_by_webhook_and_by_status_and_leads_to_older_deliveries() {
    let world = World::new().await;
    let crm = world.add("crm", &["post.*"]).await.subscription.subscription_id;
    world.add("bots", &["bot.*"]).await;
    world.emit("bot.escalated", json!({})).await;
    world.drain().await;
    world.emit("post.lost", json!({})).await;
    let console = Console::new(&world, world.workspace).await;
    assert_has(log(&console.get("").await), &[">bot.escalated</a>", ">post.lost</a>", "on this page: 2<"]);
    for query in ["subscription=crm", &format!("subscription={crm}"), "status=queued", "subscription=crm&status=queued"] {
        let html = console.get(query).await;
        assert_has(log(&html), &[">post.lost</a>", "on this page: 1<"]);
        assert!(!log(&html).contains(">bot.escalated</a>"), "{query}: {html}");
    }
    let html = console.get("subscription=crm&status=delivered").await;
    assert_has(&html, &["No delivery here.", "<h2>Deliveries to crm</h2>", r#"aria-current="true">delivered</a>"#]);
    assert_has(&html, &[&format!("/console/webhooks?subscription={crm}&amp;status=dead")]);
    assert_eq!(console.refused("status=sent").await, 422);
    assert_eq!(console.refused("subscription=cm").await, 404);
    assert_eq!(console.refused("delivery=x").await, 422);

    world.emit_many(55).await;
    let html = console.get("subscription=crm").await;
    assert_has(log(&html), &["on this page: 50<"]);
    let (_, next) = html.split_once(r#"rel="next" href="/console/webhooks?"#).unwrap();
    let next = next.split('"').next().unwrap().replace("&amp;", "&");
    assert!(next.starts_with(&format!("subscription={crm}&before=")), "{next}");
    let older = console.get(&next).await;
    assert_has(log(&older), &["on this page: 6<", ">Newest</a>"]);
    assert!(!older.contains(r#"rel="next""#), "{older}");
}

#[tokio::test]
async fn one_delivery_is_shown_with_its_body_its_attempts_and_the_command_that_sends_it_again() {
    let world = World::with_webhook().await;
    world.receiver.reply([Reply::status(500).body("first"), Reply::status(200).body("second")]);
    world.emit("post.sent", json!({ "post_id": "p1" })).await;
    world.drain().await;
    let console = Console::new(&world, world.workspace).await;
    let delivery = world.delivery().await;
    let id = delivery["delivery_id"].as_str().unwrap();
    assert_has(&console.get("").await, &[&format!(r#"<a href="/console/webhooks?delivery={id}">post.sent</a>"#)]);
    let html = console.get(&format!("delivery={id}")).await;
    assert_has(&html, &["first", "Next attempt", delivery["event_id"].as_str().unwrap()]);
    assert!(!html.contains("beresta webhook resend"), "it goes on by itself: {html}");
    world.advance(60);
    world.drain().await;
    let html = console.get(&format!("delivery={id}")).await;
    assert_has(&html, &["&quot;post_id&quot;: &quot;p1&quot;", ">500<", "first", ">200<", "second", "Ended"]);
    assert_has(&html, &[&format!("beresta webhook resend {id} --workspace team")]);

    let again = world.desk.resend(world.workspace, id.parse().unwrap(), "ann").await.unwrap();
    let link = format!(r#"<a href="/console/webhooks?delivery={id}">"#);
    assert_eq!(console.get("").await.matches(&link).count(), 2, "its own row, and the resend that names it");
    assert_has(&console.get(&format!("delivery={again}")).await, &["Resend of", &link]);
    world.desk.pause(world.workspace, "all", "closed", "ann").await.unwrap();
    let html = console.get(&format!("delivery={id}")).await;
    assert_has(&html, &["Its webhook is paused: enable it first.", "beresta webhook enable all --workspace team"]);
    world.desk.remove(world.workspace, "all", "ann").await.unwrap();
    let html = console.get(&format!("delivery={id}")).await;
    assert_has(&html, &["Its webhook was removed"]);
    assert!(!html.contains("beresta webhook"), "{html}");
}

#[tokio::test]
async fn nothing_of_another_workspace_is_shown() {
    let world = World::with_webhook().await;
    world.emit("post.sent", json!({ "whose": "ours" })).await;
    let ours = world.delivery().await["delivery_id"].as_str().unwrap().to_owned();
    let other = world.test.workspace("other").await;
    let url = format!("{}/theirs", world.receiver.base);
    let new = NewSubscription { name: "theirs", url: &url, events: &["*".to_owned()], secret_ref: None };
    let theirs = world.desk.add(other, &new, "eve").await.unwrap().subscription.subscription_id;
    let query = "select ops.emit_event($1, 'post.lost', '{}')";
    sqlx::query(query).bind(other.uuid()).execute(world.test.db.pool()).await.unwrap();

    let console = Console::new(&world, world.workspace).await;
    let html = console.get("").await;
    assert_has(&html, &[">all</a>", ">post.sent</a>", "on this page: 1<"]);
    assert!(!html.contains("theirs") && !html.contains("post.lost"), "{html}");
    assert_has(&console.get(&format!("subscription={theirs}")).await, &["No delivery here."]);
    assert_eq!(console.refused("subscription=theirs").await, 404);

    let stranger = Console::new(&world, other).await;
    let html = stranger.get("").await;
    assert_has(&html, &[">theirs</a>", ">post.lost</a>"]);
    assert!(!html.contains(">all</a>") && !html.contains("post.sent"), "{html}");
    assert_eq!(stranger.refused(&format!("delivery={ours}")).await, 404);
}
