//! Leases: who may finish what, what a dead worker leaves behind, and what nobody knows.

use platform::install;
use serde_json::json;
use testkit::{TestDb, before};

use crate::{
    dispatch::{TARGET, one_channel, posts},
    world::code,
};

#[tokio::test]
async fn a_worker_that_lost_its_lease_can_change_nothing_any_more() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    let id = world.start("slow").await[0];
    world.advance(301);
    assert_eq!(world.ask("select posting.expire_leases()").await, json!(1));
    assert_eq!(world.events("action = 'sending_lease_expired'").await.len(), 1);
    assert_eq!(world.statuses().await, "a retry");
    world.advance(31);
    assert_eq!(world.start("fresh").await, [id]);
    let error = r#"{"category": "TRANSIENT", "scope": "delivery", "code": "x"}"#;
    assert_eq!(world.ask(&format!("select posting.schedule_retry($ws, '{id}', null, '{error}', 'slow')")).await, json!("lost"));
    assert_eq!(world.ask(&format!("select posting.fail_permanent($ws, '{id}', '{error}', 'slow')")).await, json!("lost"));
    assert_eq!(world.ask(&format!("select posting.still_held($ws, '{id}', 'slow')")).await, json!(false));
    assert_eq!(world.ask(&format!("select posting.still_held($ws, '{id}', 'fresh')")).await, json!(true));
    assert_eq!(world.ask(&format!("select posting.record_progress($ws, '{id}', 'slow', 1, '{{1}}')")).await, json!(false));
    assert_eq!(world.statuses().await, "a sending");
    // A late success while somebody else sends is a possible duplicate, and is written down as one.
    assert_eq!(
        world.ask(&format!("select posting.mark_sent($ws, '{id}', '77', null, null, 'slow')")).await,
        json!("possible_duplicate")
    );
    assert_eq!(world.ask(&format!("select posting.mark_sent($ws, '{id}', '78', null, null, 'fresh')")).await, json!("sent"));
    assert_eq!(world.ask(&format!("select posting.mark_sent($ws, '{id}', '78', null, null, 'fresh')")).await, json!("repeated"));
    assert_eq!(world.events("action = 'possible_duplicate'").await.len(), 1);
}

#[tokio::test]
async fn a_step_of_a_series_that_is_recorded_again_keeps_its_messages_once() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    let id = world.start("worker").await[0];
    for (steps_done, ids) in [(1, "{7,8}"), (1, "{7,8}"), (2, "{9}"), (1, "{7,8}")] {
        let recorded = format!("select posting.record_progress($ws, '{id}', 'worker', {steps_done}, '{ids}')");
        assert_eq!(world.ask(&recorded).await, json!(true));
    }
    let progress = &world.deliveries().await[0].render_meta["series_progress"];
    assert_eq!(*progress, json!({ "sent_items": 2, "provider_message_ids": ["7", "8", "9"] }));
}

#[tokio::test]
async fn a_late_success_is_taken_if_nobody_sent_again() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    let id = world.start("slow").await[0];
    world.advance(301);
    world.ask("select posting.expire_leases()").await;
    assert_eq!(world.ask(&format!("select posting.mark_sent($ws, '{id}', '77', null, null, 'slow')")).await, json!("late"));
    let delivery = &world.deliveries().await[0];
    assert_eq!((delivery.status.as_str(), delivery.attempt, delivery.provider_message_id.as_deref()), ("sent", 1, Some("77")));
    assert_eq!(world.drain().await, 0);
}

#[tokio::test]
async fn expired_leases_cost_no_attempt_but_the_limit_of_attempts_holds() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    world.ask("select count(*) from posting.claim_deliveries($ws, 'dead', 10)").await;
    world.advance(299);
    assert_eq!(world.ask("select posting.expire_leases()").await, json!(0));
    world.advance(2);
    assert_eq!(world.ask("select posting.expire_leases()").await, json!(1));
    assert_eq!(world.events("action = 'claimed_lease_expired'").await.len(), 1);
    let delivery = &world.deliveries().await[0];
    assert_eq!((delivery.status.as_str(), delivery.attempt), ("queued", 0));
    for attempt in 1..=5 {
        assert_eq!(world.start(&format!("crash {attempt}")).await.len(), 1);
        world.advance(301);
        world.ask("select posting.expire_leases()").await;
        assert_eq!(world.deliveries().await[0].attempt, attempt);
        world.advance(31);
    }
    assert_eq!(world.statuses().await, "a dead");
}

#[tokio::test]
async fn an_unknown_outcome_is_sent_again_by_default_and_held_where_the_channel_says_so() {
    let world = one_channel("").await;
    world.channel("b", "telegram", -1002, r#"settings = '{"on_unknown": "hold"}'"#).await;
    for target in [TARGET, -1002] {
        world.fault("telegram", target, json!({ "drop": "after", "times": 1 })).await;
    }
    posts(&world, 1).await;
    world.drain().await;
    world.advance(60);
    world.drain().await;
    assert_eq!(world.statuses().await, "a sent, b failed_permanent");
    assert_eq!((world.sent("telegram", TARGET).await.len(), world.sent("telegram", -1002).await.len()), (2, 1));
    let held = world.deliveries().await.into_iter().find(|delivery| delivery.channel_id == "b").unwrap();
    assert_eq!(held.last_error.unwrap()["code"], "outcome_unknown");
    let id = held.id;
    assert_eq!(
        code(&world.try_ask(&format!("select posting.settle($ws, '{id}', 'maybe', 'me', 'saw it')")).await.unwrap_err()),
        "ZD005"
    );
    assert_eq!(world.ask(&format!("select posting.settle($ws, '{id}', 'delivered', 'me', 'saw it', '1')")).await, json!("sent"));
    assert_eq!(world.events("action = 'manual_settle'").await.len(), 1);
    assert_eq!(
        code(&world.try_ask(&format!("select posting.settle($ws, '{id}', 'resend', 'me', 'again')")).await.unwrap_err()),
        "ZD002"
    );
}

#[tokio::test]
async fn a_worker_that_died_while_it_sent_to_a_holding_channel_leaves_it_to_an_operator() {
    let world = one_channel(r#"settings = '{"on_unknown": "hold"}'"#).await;
    posts(&world, 1).await;
    let id = world.start("dead").await[0];
    world.advance(301);
    world.ask("select posting.expire_leases()").await;
    assert_eq!(world.statuses().await, "a failed_permanent");
    assert_eq!(world.ask(&format!("select posting.settle($ws, '{id}', 'resend', 'me', 'not there')")).await, json!("retry"));
    world.drain().await;
    assert_eq!((world.statuses().await.as_str(), world.sent("telegram", TARGET).await.len()), ("a sent", 1));
}

#[tokio::test]
async fn an_error_that_was_stored_before_there_were_kinds_is_still_read() {
    let world = one_channel(r#"settings = '{"on_unknown": "hold"}'"#).await;
    posts(&world, 1).await;
    let id = world.start("dead").await[0];
    world.advance(301);
    world.ask("select posting.expire_leases()").await;
    let stored = world.ask("select last_error->>'kind' from posting.deliveries").await;
    assert_eq!(stored, json!("unknown_outcome"));
    let settle = format!("select posting.settle($ws, '{id}', 'delivered', 'me', 'saw it', '1')");
    world.run(r#"update posting.deliveries set last_error = '{"code": "400", "message": "no"}'"#).await;
    assert_eq!(code(&world.try_ask(&settle).await.unwrap_err()), "ZD002");
    world.run(r#"update posting.deliveries set last_error = '{"code": "outcome_unknown", "outcome_unknown": true}'"#).await;
    let requeued = "select count(*) from posting.requeue_failed($ws, null, 'me', 'again')";
    assert_eq!(world.ask(requeued).await, json!(0), "a person decides");
    assert_eq!(world.ask(&settle).await, json!("sent"));
}

#[tokio::test]
async fn claims_of_a_dispatcher_that_fell_silent_go_back_within_seconds_and_its_sends_wait_for_their_lease() {
    let world = one_channel("").await;
    posts(&world, 2).await;
    world.ask("select posting.beat('dead')").await;
    world.ask("select count(*) from posting.claim_deliveries($ws, 'dead-1', 10)").await;
    let id = world.ask("select delivery_id from posting.deliveries limit 1").await;
    world
        .ask(&format!(
            "select count(*) from posting.start_sending($ws, 'dead-1', 10, array[{}::uuid])",
            id.to_string().replace('"', "'")
        ))
        .await;
    world.advance(14);
    assert_eq!(world.ask("select posting.expire_leases()").await, json!(0));
    world.advance(2);
    assert_eq!(world.ask("select posting.expire_leases()").await, json!(1));
    let mut left: Vec<String> = world.deliveries().await.into_iter().map(|delivery| delivery.status).collect();
    left.sort();
    assert_eq!(left, ["queued", "sending"]);
}

#[tokio::test]
async fn counters_that_a_long_transaction_has_bloated_are_written_anew_and_stay_right() {
    let world = one_channel("").await;
    posts(&world, 3).await;
    world.start("w").await;
    let mut reader = world.test.owner().await;
    sqlx::raw_sql("begin isolation level repeatable read; select 1").execute(&mut reader).await.unwrap();
    world.run("update posting.channel_counters set sending = sending").await;
    assert_eq!(world.ask("select posting.rebuild_counters()").await, json!(false), "small enough");
    let bloat =
        "do $$ begin for i in 1..20000 loop update posting.channel_counters set sending = sending; commit; end loop; end $$";
    sqlx::raw_sql(bloat).execute(&mut world.test.owner().await).await.unwrap();
    assert_eq!(world.ask("select posting.rebuild_counters()").await, json!(true));
    assert_eq!(world.ask("select pg_relation_size('posting.channel_counters')").await, json!(8192));
    assert_eq!(
        world.rows("select claimed, sending from posting.channel_counters").await,
        [json!({ "claimed": 0, "sending": 3 })]
    );
}

const HEADS: &str = "select count(*) from posting.queue_heads where head_at > '-infinity'";

/// The first look names a time, and a later one makes it the head: as soon as everybody who was writing has ended, and other
/// tests write on the same server.
async fn find_heads(world: &super::world::World) {
    while world.ask(HEADS).await == json!(0) {
        world.run("select posting.find_heads($ws)").await;
    }
}

#[tokio::test]
async fn what_an_operator_brings_back_is_found_although_it_is_older_than_the_head_of_its_queue() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    world.run("update posting.deliveries set status = 'dead'").await;
    find_heads(&world).await;
    world.run("update posting.deliveries set status = 'retry', next_retry_at = platform.now()").await;
    assert_eq!(world.drain().await, 1);
}

#[tokio::test]
async fn what_a_slow_transaction_made_is_found_although_it_is_older_than_the_head_of_its_queue() {
    let world = one_channel("").await;
    find_heads(&world).await;
    // The clock of the test stands still, so this is made as by a transaction that began long ago.
    world.advance(-50);
    posts(&world, 1).await;
    world.advance(50);
    assert_eq!(world.drain().await, 1);
}

#[tokio::test]
async fn a_head_waits_for_those_who_are_still_writing() {
    let world = one_channel("").await;
    let mut slow = world.test.owner().await;
    sqlx::query("begin").execute(&mut slow).await.unwrap();
    sqlx::query("select pg_current_xact_id()").execute(&mut slow).await.unwrap();
    for _ in 0..3 {
        world.run("select posting.find_heads($ws)").await;
    }
    assert_eq!(world.ask(HEADS).await, json!(0));
    sqlx::query("commit").execute(&mut slow).await.unwrap();
    find_heads(&world).await;
}

#[tokio::test]
async fn what_becomes_of_a_delivery_is_published_at_every_step() {
    let world = one_channel("").await;
    let published = async || world.ask("select count(*) from bus.messages where topic = 'posting'").await.as_i64().unwrap();
    posts(&world, 1).await;
    let mut before = published().await;
    let id = world.start("one").await[0];
    let error = r#"{"category": "TRANSIENT", "scope": "delivery", "code": "x"}"#;
    for (what, wait, change) in [
        ("being sent", 0, "select 1".to_owned()),
        ("tried again later", 0, format!("select posting.schedule_retry($ws, '{id}', null, '{error}', 'one')")),
        ("claimed, and not begun", 3600, "select count(*) from posting.claim_deliveries($ws, 'two', 10)".to_owned()),
        ("given back", 0, format!("select posting.give_back($ws, '{{{id}}}', '{{two}}')")),
        ("sent after all", 0, format!("select posting.mark_sent($ws, '{id}', '77', null, null, 'one')")),
    ] {
        world.advance(wait);
        world.ask(&change).await;
        // A claim is followed by a start within a second, so it is not published by itself.
        assert_eq!(published().await > before, !what.starts_with("claimed"), "{what}");
        before = published().await;
    }
    world.post(json!({ "text": "one more" })).await;
    assert_eq!(world.start("three").await.len(), 1);
    world.advance(3600);
    before = published().await;
    world.ask("select posting.expire_leases()").await;
    assert_eq!(published().await, before + 1);
}

#[tokio::test]
async fn no_policy_gives_a_send_less_time_than_it_may_take() {
    let world = one_channel("").await;
    world.run("insert into posting.policies (workspace_id) values ($ws) on conflict do nothing").await;
    let refused = world.try_run("update posting.policies set sending_lease_seconds = 299").await.unwrap_err();
    assert_eq!(refused.as_database_error().unwrap().constraint(), Some("policy_sending_lease_outlasts_a_send"));
    world.run("update posting.policies set sending_lease_seconds = 300").await;
}

#[tokio::test]
async fn a_policy_from_before_that_gave_a_send_too_little_time_gives_it_enough() {
    let test = TestDb::empty().await;
    let mut owner = test.owner().await;
    install(&mut owner, &[platform::SQL, before(posting::SQL, "0010_sending_lease")]).await.unwrap();
    for (name, lease) in [("short", 3), ("long", 900)] {
        let workspace = test.workspace(name).await;
        let insert = "insert into posting.policies (workspace_id, sending_lease_seconds) values ($1, $2)";
        sqlx::query(insert).bind(workspace.uuid()).bind(lease).execute(&mut owner).await.unwrap();
    }
    install(&mut owner, &[platform::SQL, posting::SQL]).await.unwrap();
    let leases =
        "select w.name || ' ' || p.sending_lease_seconds from posting.policies p join core.workspaces w using (workspace_id)
                   where p.sending_lease_seconds <> 300 or w.name = 'short' order by 1";
    let leases: Vec<String> = sqlx::query_scalar(leases).fetch_all(&mut owner).await.unwrap();
    assert_eq!(leases, ["long 900", "short 300"]);
}
