//! The promises of the echo bot, on a real PostgreSQL. How it runs in the program is tested beside the list of modules, in `crates/beresta`.

use echobot::SQL;
use testkit::{World, catalog};

#[tokio::test]
async fn its_tables_and_functions_keep_the_rules_of_every_module() {
    catalog::check(env!("CARGO_MANIFEST_DIR"), &[platform::SQL, SQL], catalog::Exceptions::default()).await;
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_changes_nothing_that_another_has_claimed() {
    let world = World::new(&[platform::SQL, SQL]).await;
    world.run("insert into ops.job_types (job_type, attempts_max, lease_ms) values ('echobot.count_words', 5, 60000)").await;
    world
        .run("insert into core.bots (workspace_id, provider, name, secret_ref, serves) values ($ws, 'max', 'echo', 'env:X', 'echobot')")
        .await;
    let take = "echobot.take_message($ws, (select bot_id from core.bots), '7', 'm1', 'hello', null)";
    assert!(world.ask(take).await.is_string());
    assert!(world.ask(take).await.is_null(), "a message that comes again changes nothing");
    let claim = |token: &str| format!("select echo_id from echobot.claim_echoes($ws, '{token}', 10, interval '1 minute')");
    let echo = world.ask(&claim("first")).await;
    world.advance(61);
    assert_eq!(world.ask("echobot.expire_leases($ws)").await, 1);
    assert_eq!(world.ask(&claim("second")).await, echo);
    let record = |token: &str| format!("echobot.record_result($ws, {echo}, '{token}', null)").replace('"', "'");
    assert_eq!(world.ask(&record("first")).await, "lost");
    assert_eq!(world.ask(&record("second")).await, "sent");
    assert_eq!(world.count("ops.journal where source = 'echobot'").await, 2);
}
