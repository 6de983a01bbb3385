//! Habits that the catalog can check.

use sqlx::{AssertSqlSafe, Executor};

use crate::world::World;

#[test]
fn every_sql_file_is_installed() {
    testkit::files::every_sql_file_is_installed(env!("CARGO_MANIFEST_DIR"), &webhooks::SQL);
}

#[tokio::test]
async fn every_function_body_is_valid_with_everything_in_place() {
    let world = World::new().await;
    let mut owner = world.test.owner().await;
    for file in webhooks::SQL.functions {
        owner.execute(AssertSqlSafe(file.text.to_owned())).await.unwrap_or_else(|error| panic!("{}: {error}", file.name));
    }
}

#[tokio::test]
async fn a_delivery_goes_along_its_edges_only() {
    let world = World::with_webhook().await;
    world.emit_many(1).await;
    let statuses = ["queued", "sending", "retry", "delivered", "failed", "dead"];
    let allowed = [
        "queued sending",
        "retry sending",
        "sending delivered",
        "sending retry",
        "sending dead",
        "sending failed",
        "queued failed",
        "retry failed",
        "queued dead",
        "retry dead",
        "retry delivered",
        "dead delivered",
    ];
    let shape = |status: &str| {
        let (token, until) = if status == "sending" { ("'t'", "platform.now()") } else { ("null", "null") };
        let ended = if ["delivered", "failed", "dead"].contains(&status) { "platform.now()" } else { "null" };
        format!("set status = '{status}', claim_token = {token}, claimed_until = {until}, ended_at = {ended}")
    };
    let mut owner = world.test.owner().await;
    for from in statuses {
        for to in statuses.into_iter().filter(|to| *to != from) {
            let place = format!(
                "alter table ops.webhook_deliveries disable trigger webhook_edge; update ops.webhook_deliveries {};
                                 alter table ops.webhook_deliveries enable trigger webhook_edge",
                shape(from)
            );
            owner.execute(AssertSqlSafe(place)).await.unwrap();
            let went = owner.execute(AssertSqlSafe(format!("update ops.webhook_deliveries {}", shape(to)))).await;
            assert_eq!(went.is_ok(), allowed.contains(&format!("{from} {to}").as_str()), "{from} {to}: {went:?}");
        }
    }
}
