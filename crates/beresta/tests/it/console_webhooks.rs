//! Webhooks in the console: the page that the module brings, in a browser.

use crate::{
    console::{Browser, Stage},
    support::until,
};

impl Stage {
    /// For pictures: long words everywhere, a delivery with attempts, and a webhook that is paused, so that nobody is called. Returns the
    /// path of the page of the delivery.
    pub(crate) async fn a_webhook_with_everything_to_show(&self) -> String {
        let (pool, workspace) = (self.db.db.pool(), self.workspace.uuid());
        let unbroken = "without-a-space-".repeat(6);
        let add = "insert into core.webhook_subscriptions
                       (workspace_id, name, url, secret_ref, events, status, stopped_at, stopped_why, failures, failing_since)
                   values ($1, $2, 'https://receiver.invalid/' || $2, 'env:NONE', '{post.*,alert.raised}', 'paused', now(), $3, 12, now())";
        let why = format!("every attempt failed, the last one: {}", unbroken.repeat(3));
        sqlx::query(add).bind(workspace).bind(&unbroken).bind(why).execute(pool).await.unwrap();
        let emit = "select ops.emit_event($1, 'post.sent', jsonb_build_object('text', $2))";
        sqlx::query(emit).bind(workspace).bind(format!("<script>alert(1)</script> {unbroken}")).execute(pool).await.unwrap();
        let try_it = "update ops.webhook_deliveries set attempt = 3, last_status = 503, last_ms = 15000, last_answer = $2
                       where workspace_id = $1";
        sqlx::query(try_it).bind(workspace).bind(unbroken.repeat(5)).execute(pool).await.unwrap();
        let log = "insert into ops.webhook_attempts (workspace_id, delivery_id, attempt, subscription_id, outcome, status, ms, answer, error)
                   select workspace_id, delivery_id, n, subscription_id, 'lease_expired', 503, 15000, $2, $2
                     from ops.webhook_deliveries, generate_series(1, 3) n where workspace_id = $1";
        sqlx::query(log).bind(workspace).bind(unbroken.repeat(5)).execute(pool).await.unwrap();
        let find = "select delivery_id::text from ops.webhook_deliveries where workspace_id = $1";
        let id: String = sqlx::query_scalar(find).bind(workspace).fetch_one(pool).await.unwrap();
        format!("/webhooks?delivery={id}")
    }
}

#[tokio::test]
async fn a_delivery_is_found_by_its_status_and_opened() {
    let stage = Stage::new().await;
    stage.a_webhook_with_everything_to_show().await;
    let browser = Browser::open(1280, 900, false).await;
    browser.sign_in(&stage.serving.base, stage.token.expose()).await;
    browser.text("[data-fragment=health]").await;
    browser.client.goto(&format!("{}/console/webhooks", stage.serving.base)).await.unwrap();
    let page = browser.text("[data-fragment=webhooks]").await;
    assert!(page.contains("beresta webhook enable") && page.contains("post.sent"), "{page}");
    browser.follow("dead").await;
    let is_empty = async || browser.text("[data-fragment=webhooks]").await.contains("No delivery here").then_some(());
    until("no delivery is dead", is_empty).await;
    browser.follow("queued").await;
    browser.follow("post.sent").await;
    let opened = async || Some(browser.text("main").await).filter(|text| text.contains("lease_expired"));
    let page = until("the page of the delivery", opened).await;
    assert!(page.contains("<script>alert(1)</script>"), "the body is shown as text: {page}");
}
