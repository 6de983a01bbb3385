//! Sending: slots, gates, failures, leases, and who may finish what.

use serde_json::{Value, json};

use crate::world::World;

pub(crate) const TARGET: i64 = -1001;

pub(crate) async fn one_channel(more: &str) -> World {
    let world = World::new().await;
    world.channel("a", "telegram", TARGET, more).await;
    world
}

pub(crate) async fn posts(world: &World, count: usize) {
    for n in 0..count {
        world.post(json!({ "text": format!("post {n}") })).await;
    }
}

#[tokio::test]
async fn a_post_reaches_telegram_and_max_with_its_markup() {
    let world = one_channel("").await;
    world.channel("m", "max", -2001, "").await;
    world.post(json!({ "text": "Hello <b>world</b>", "parse_mode": "HTML", "buttons": [[{ "text": "Go", "url": "https://e.org/" }]] })).await;
    assert_eq!(world.drain().await, 2);
    assert_eq!(world.statuses().await, "a sent, m sent");
    let telegram = &world.sent("telegram", TARGET).await[0];
    let max = &world.sent("max", -2001).await[0];
    assert!(telegram.to_string().contains("Hello world") || telegram.to_string().contains("Hello <b>world</b>"), "{telegram}");
    assert!(max.to_string().contains("html"), "{max}");
    assert_eq!(world.events("channel_id = 'a'").await, ["enqueue", "send_attempt", "sent"]);
    assert!(world.deliveries().await.iter().all(|delivery| delivery.provider_message_id.is_some() && delivery.attempt == 1));
}

#[tokio::test]
async fn a_new_row_in_channels_gets_the_next_post_without_any_other_change() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    world.drain().await;
    world.channel("b", "telegram", -1002, "").await;
    world.post(json!({ "text": "the next one" })).await;
    world.drain().await;
    assert_eq!((world.sent("telegram", TARGET).await.len(), world.sent("telegram", -1002).await.len()), (2, 1));
}

#[tokio::test]
async fn slots_of_a_channel_are_a_second_over_its_rate_apart() {
    let world = one_channel("rate_rps = 2").await;
    posts(&world, 5).await;
    let claimed =
        world.rows("select delivery_id, not_before from posting.claim_deliveries($ws, 'w', 100) order by not_before").await;
    // Slots are given a second ahead and no further: now, half a second, a second.
    let times: Vec<&str> = claimed.iter().map(|row| &row["not_before"].as_str().unwrap()[11..23]).collect();
    assert_eq!(times, ["09:00:00+00:", "09:00:00.5+0", "09:00:01+00:"]);
    assert_eq!(
        world.ask("select next_allowed_at = platform.now() + interval '1.5 seconds' from posting.channels").await,
        json!(true)
    );
    assert_eq!(world.start("another").await.len(), 0);
    let started = world.rows("select delivery_id from posting.start_sending($ws, 'w', 100)").await;
    assert_eq!(started.len(), 1, "only the slot that has come");
}

#[tokio::test]
async fn a_channel_without_a_rate_is_not_slotted() {
    for rate in ["null", "0"] {
        let world = one_channel(&format!("rate_rps = {rate}")).await;
        posts(&world, 5).await;
        assert_eq!(world.start("w").await.len(), 5);
        assert_eq!(world.ask("select next_allowed_at is null from posting.channels").await, json!(true));
    }
}

#[tokio::test]
async fn the_ceiling_of_a_credential_spreads_all_its_channels() {
    let world = World::new().await;
    for n in 0..6 {
        world.channel(&format!("c{n}"), "telegram", -1000 - n, "rate_rps = 1").await;
    }
    world.run("insert into posting.platform_limits (workspace_id, platform, rate_group, rate_rps) values ($ws, 'telegram', 'bot', 4)").await;
    posts(&world, 2).await;
    let claimed =
        world.rows("select channel_id, not_before from posting.claim_deliveries($ws, 'w', 100) order by not_before").await;
    let mut channels: Vec<&Value> = claimed.iter().map(|row| &row["channel_id"]).collect();
    channels.dedup();
    assert_eq!((claimed.len(), channels.len()), (5, 5), "five slots lie within the second ahead, each of another channel");
    let gaps = world.rows("select extract(epoch from max(not_before) - min(not_before)) as span from posting.deliveries where status = 'claimed'").await;
    assert_eq!(gaps[0]["span"], json!(1.0));
}

#[tokio::test]
async fn a_channels_rate_holds_even_when_the_ceiling_pushes_its_slots_together() {
    let world = one_channel("rate_rps = 1").await;
    world
        .run(
            "insert into posting.platform_limits (workspace_id, platform, rate_group, rate_rps, next_allowed_at)
               values ($ws, 'telegram', 'bot', 100, platform.now() + interval '0.9 seconds')",
        )
        .await;
    posts(&world, 3).await;
    world.ask("select count(*) from posting.claim_deliveries($ws, 'w', 100)").await;
    assert_eq!(world.rows("select 1 as n from posting.deliveries where status = 'claimed'").await.len(), 1);
    let next = world.ask("select extract(epoch from next_allowed_at - platform.now()) from posting.channels").await;
    assert_eq!(next, json!(1.9), "the next slot counts from the one that was given, not from the one that was asked for");
}

#[tokio::test]
async fn never_more_than_max_parallel_are_being_sent_whoever_starts_them() {
    let world = one_channel("max_parallel = 2").await;
    posts(&world, 6).await;
    let (first, second) = tokio::join!(world.start("one"), world.start("two"));
    assert_eq!(first.len() + second.len(), 2);
    assert_eq!(world.start("three").await.len(), 0);
    let token = if first.is_empty() { "two" } else { "one" };
    let id = first.first().or(second.first()).unwrap();
    let done = world.ask(&format!("select posting.mark_sent($ws, '{id}', '1', null, null, '{token}')")).await;
    assert_eq!(done, json!("sent"));
    assert_eq!(world.start("three").await.len(), 1);
}

#[tokio::test]
async fn two_workers_never_claim_the_same_delivery() {
    let world = one_channel("max_parallel = 1000").await;
    posts(&world, 60).await;
    let workers: Vec<String> = (0..6).map(|n| format!("w{n}")).collect();
    let claims = futures::future::join_all(workers.iter().map(|name| world.start(name))).await;
    let mut all: Vec<_> = claims.into_iter().flatten().collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    assert!(world.rows("select 1 as n from posting.deliveries where attempt > 1").await.is_empty());
}

#[tokio::test]
async fn every_channel_gets_its_first_post_before_any_gets_its_second() {
    let world = one_channel("").await;
    posts(&world, 30).await;
    world.channel("b", "telegram", -1002, "").await;
    world.post(json!({ "text": "for both" })).await;
    let claimed = world.rows("select channel_id from posting.claim_deliveries($ws, 'w', 4)").await;
    assert!(claimed.iter().any(|row| row["channel_id"] == "b"), "{claimed:?}");
}

#[tokio::test]
async fn a_429_is_retried_when_the_provider_said_and_succeeds() {
    let world = one_channel("").await;
    world.fault("telegram", TARGET, json!({ "status": 429, "retry_after": 7, "times": 1 })).await;
    posts(&world, 1).await;
    world.drain().await;
    let waiting = world.ask("select posting.waiting_for(d) from posting.deliveries d").await;
    assert_eq!(waiting["reason"], "next_retry");
    assert_eq!(world.statuses().await, "a retry");
    assert_eq!(
        world.events("delivery_id is not null").await,
        ["enqueue", "send_attempt", "send_attempt error", "retry_scheduled"]
    );
    assert_eq!(
        world.ask("select next_retry_at >= platform.now() + interval '7 seconds' from posting.deliveries").await,
        json!(true)
    );
    world.advance(6);
    assert_eq!(world.drain().await, 0);
    world.advance(3);
    assert_eq!(world.drain().await, 1);
    let delivery = &world.deliveries().await[0];
    assert_eq!((delivery.status.as_str(), delivery.attempt), ("sent", 2));
}

#[tokio::test]
async fn a_429_closes_its_key_for_everybody_and_waiting_costs_no_attempt() {
    let world = one_channel("").await;
    world.channel("b", "telegram", -1002, "").await;
    world.fault("telegram", TARGET, json!({ "status": 429, "retry_after": 30, "times": 1 })).await;
    world.post(json!({ "text": "first", "tags": ["x"] })).await;
    world.set_channel("b", r#"route_filter = '{"include_any": ["later"]}'"#).await;
    world.run("delete from posting.events_default where false").await;
    world.drain().await;
    world.post(json!({ "text": "second", "tags": ["later"] })).await;
    assert_eq!(world.drain().await, 0, "the credential is closed");
    let waiting =
        world.ask("select posting.waiting_for(d) from posting.deliveries d where channel_id = 'b' and status = 'queued'").await;
    assert_eq!(waiting["reason"], "platform_closed");
    world.advance(31);
    world.drain().await;
    world.advance(60);
    world.drain().await;
    assert!(world.deliveries().await.iter().all(|delivery| delivery.status == "sent"), "{}", world.statuses().await);
    let attempts = world.rows("select attempt from posting.deliveries where channel_id = 'b' order by created_at").await;
    assert!(attempts.iter().all(|row| row["attempt"] == 1));
}

#[tokio::test]
async fn a_429_without_a_time_closes_its_key_for_the_first_wait_of_the_policy() {
    for platform in ["telegram", "max"] {
        let world = World::new().await;
        world.channel("a", platform, TARGET, "").await;
        world.channel("b", platform, -1002, r#"route_filter = '{"include_any": ["later"]}'"#).await;
        let body = match platform {
            "max" => json!({ "code": "too.many.requests", "message": "slow down" }),
            _ => json!({ "ok": false, "error_code": 429, "description": "Too Many Requests" }),
        };
        world.fault(platform, TARGET, json!({ "status": 429, "body": body, "times": 1 })).await;
        world.post(json!({ "text": "first" })).await;
        world.drain().await;
        world.post(json!({ "text": "second", "tags": ["later"] })).await;
        let closed_for =
            world.ask("select extract(epoch from next_allowed_at - platform.now()) from posting.platform_limits").await;
        assert_eq!(closed_for, json!(2.0), "{platform}");
        assert_eq!(world.drain().await, 0, "{platform}: the credential is closed");
        world.advance(3);
        world.drain().await;
        assert!(world.deliveries().await.iter().all(|delivery| delivery.status == "sent"), "{}", world.statuses().await);
    }
}

#[tokio::test]
async fn a_key_is_closed_by_what_an_error_is_and_not_by_its_code() {
    for (error, is_closed) in [
        (json!({ "scope": "platform", "kind": "rate_limited", "code": "whatever" }), true),
        (json!({ "scope": "channel", "kind": "rate_limited", "code": "whatever" }), true),
        (json!({ "scope": "delivery", "kind": "rate_limited", "code": "whatever" }), false),
        (json!({ "scope": "platform", "kind": "unavailable", "code": "429" }), false),
        // From before there were kinds: nothing is concluded from the code, a time that is named counts.
        (json!({ "scope": "platform", "code": "429" }), false),
        (json!({ "scope": "platform", "code": "503", "retry_after_ms": 1000 }), true),
    ] {
        let world = one_channel("").await;
        posts(&world, 1).await;
        let id = world.start("w").await[0];
        world.ask(&format!("select posting.schedule_retry($ws, '{id}', null, '{error}', 'w')")).await;
        assert_eq!(!world.events("action = 'key_closed'").await.is_empty(), is_closed, "{error}");
        assert_eq!(world.statuses().await, "a retry", "{error}");
    }
}

#[tokio::test]
async fn what_was_claimed_before_a_key_closed_goes_back_and_is_not_sent_into_the_closed_window() {
    let world = one_channel("rate_rps = 5").await;
    posts(&world, 4).await;
    let started = world.start("w").await;
    assert_eq!(started.len(), 1);
    let error = r#"{"category": "TRANSIENT", "scope": "channel", "code": "429", "retry_after_ms": 20000}"#;
    world.ask(&format!("select posting.schedule_retry($ws, '{}', null, '{error}', 'w')", started[0])).await;
    assert!(world.rows("select 1 as n from posting.deliveries where status = 'claimed'").await.is_empty());
    world.advance(10);
    assert_eq!(world.start("w2").await.len(), 0);
    world.advance(11);
    assert_eq!(world.start("w3").await.len(), 1);
}

#[tokio::test]
async fn waits_grow_and_after_five_attempts_a_delivery_is_dead() {
    let world = one_channel("").await;
    world.fault("telegram", TARGET, json!({ "status": 502, "times": 99 })).await;
    posts(&world, 1).await;
    let mut waits = Vec::new();
    for _ in 0..5 {
        assert_eq!(world.drain().await, 1);
        let wait = world.ask("select extract(epoch from next_retry_at - platform.now()) from posting.deliveries").await;
        waits.extend(wait.as_f64());
        world.advance(600);
    }
    assert_eq!(world.drain().await, 0);
    assert_eq!(world.statuses().await, "a dead");
    for (wait, floor) in waits.iter().zip([2.0, 4.0, 8.0, 16.0]) {
        assert!(*wait >= floor && *wait <= floor * 1.2, "{waits:?}");
    }
    assert_eq!(world.events("action = 'dead_letter'").await, ["dead_letter error"]);
    assert_eq!(world.ask("select error_streak from posting.channels").await, json!(0));
}

#[tokio::test]
async fn a_permanent_error_of_the_delivery_ends_it_alone() {
    let world = one_channel("").await;
    world.fault("telegram", TARGET, json!({ "status": 400, "body": { "ok": false, "error_code": 400, "description": "Bad Request: PHOTO_INVALID_DIMENSIONS" }, "times": 1 })).await;
    posts(&world, 2).await;
    world.drain().await;
    assert_eq!(world.rows("select status, count(*) as n from posting.deliveries group by 1 order by 1").await.len(), 2);
    let channel = &world.rows("select enabled, error_streak, paused_until from posting.channels").await[0];
    assert_eq!(channel, &json!({ "enabled": true, "error_streak": 0, "paused_until": null }));
}

#[tokio::test]
async fn a_bad_channel_is_paused_probed_once_and_after_three_in_a_row_disabled_while_others_go_on() {
    let world = one_channel("").await;
    world.channel("b", "telegram", -1002, "").await;
    world.control("chats", json!({ "provider": "telegram", "target": TARGET.to_string(), "state": "kicked" })).await;
    posts(&world, 1).await;
    world.drain().await;
    assert_eq!(world.statuses().await, "a failed_permanent, b sent");
    assert_eq!(world.events("channel_id = 'a' and action like 'channel%'").await, ["channel_paused error"]);
    assert_eq!(
        world.ask("select paused_until = platform.now() + interval '1 hour' from posting.channels where channel_id = 'a'").await,
        json!(true)
    );
    // While it rests nothing is tried there, and nothing is lost.
    for n in 0..4 {
        world.post(json!({ "text": format!("more {n}") })).await;
    }
    world.drain().await;
    assert_eq!(world.rows("select 1 as n from posting.deliveries where channel_id = 'a' and status = 'queued'").await.len(), 4);
    assert_eq!(world.sent("telegram", -1002).await.len(), 5);
    world.advance(3601);
    assert_eq!(world.drain().await, 1, "one delivery probes");
    assert_eq!(
        world.ask("select paused_until = platform.now() + interval '2 hours' from posting.channels where channel_id = 'a'").await,
        json!(true)
    );
    world.advance(7201);
    assert_eq!(world.drain().await, 1);
    let channel = &world.rows("select enabled, error_streak from posting.channels where channel_id = 'a'").await[0];
    assert_eq!(channel, &json!({ "enabled": false, "error_streak": 3 }));
    assert_eq!(world.events("action = 'channel_disabled'").await.len(), 1);
}

#[tokio::test]
async fn a_probe_that_arrives_ends_the_quarantine() {
    let world = one_channel("").await;
    world.control("chats", json!({ "provider": "telegram", "target": TARGET.to_string(), "state": "kicked" })).await;
    posts(&world, 4).await;
    world.set_channel("a", "max_parallel = 1").await;
    world.drain().await;
    world.control("chats", json!({ "provider": "telegram", "target": TARGET.to_string(), "state": "ok" })).await;
    world.advance(3601);
    world.drain().await;
    assert_eq!(world.ask("select error_streak from posting.channels").await, json!(0));
    assert_eq!(world.sent("telegram", TARGET).await.len(), 3);
}

#[tokio::test]
async fn a_permanent_error_of_the_platform_cools_the_group_and_blames_no_channel() {
    let world = one_channel("").await;
    posts(&world, 2).await;
    let id = world.start("w").await[0];
    let error = r#"{"category": "PERMANENT", "scope": "platform", "code": "418", "message": "no"}"#;
    world.ask(&format!("select posting.fail_permanent($ws, '{id}', '{error}', 'w')")).await;
    assert_eq!(world.ask("select error_streak from posting.channels").await, json!(0));
    assert_eq!(world.ask("select next_allowed_at > platform.now() from posting.platform_limits").await, json!(true));
}

#[tokio::test]
async fn retries_send_what_was_rendered_first_even_if_the_channel_changed() {
    let world = one_channel("").await;
    world.fault("telegram", TARGET, json!({ "status": 500, "times": 1 })).await;
    posts(&world, 1).await;
    world.drain().await;
    world.set_channel("a", r#"settings = '{"template": "NEW {text}"}'"#).await;
    world.advance(60);
    world.drain().await;
    assert!(!world.sent("telegram", TARGET).await[0].to_string().contains("NEW"));
}

#[tokio::test]
async fn a_disabled_channel_and_a_paused_workspace_wait_and_say_so() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    world.set_channel("a", "enabled = false").await;
    assert_eq!(world.drain().await, 0);
    let reason = "select posting.waiting_for(d)->>'reason' from posting.deliveries d";
    assert_eq!(world.ask(reason).await, json!("channel_disabled"));
    world.set_channel("a", "enabled = true").await;
    world.run("update core.workspaces set status = 'paused' where name = 'team'").await;
    assert_eq!(world.drain().await, 0);
    assert_eq!(world.ask(reason).await, json!("workspace_paused"));
    world.run("update core.workspaces set status = 'active' where name = 'team'").await;
    assert_eq!(world.drain().await, 1);
}

#[tokio::test]
async fn a_channel_without_a_credential_is_paused_with_words_that_say_what_to_add() {
    let world = one_channel("auth_ref = 'nobody'").await;
    posts(&world, 1).await;
    world.drain().await;
    let error = world.deliveries().await[0].last_error.clone().unwrap();
    assert_eq!((error["code"].as_str(), error["scope"].as_str()), (Some("credential_missing"), Some("channel")));
    assert!(error["message"].as_str().unwrap().contains("posting.credential_bindings"));
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_is_followed_and_its_channel_repaired() {
    let world = one_channel("").await;
    world
        .control("chats", json!({ "provider": "telegram", "target": TARGET.to_string(), "state": "migrated", "to": -100_777 }))
        .await;
    posts(&world, 1).await;
    world.drain().await;
    assert_eq!(world.statuses().await, "a sent");
    assert_eq!(world.ask("select target_id from posting.channels").await, json!("-100777"));
    assert_eq!(world.events("action = 'channel_migrated'").await.len(), 1);
}

#[tokio::test]
async fn secrets_and_personal_data_in_errors_are_masked_whoever_reports_them() {
    let world = one_channel("").await;
    posts(&world, 1).await;
    let id = world.start("w").await[0];
    let error = json!({ "category": "PERMANENT", "scope": "delivery", "code": "400", "payload": "dump",
        "message": "call +7 912 345-67-89 or a@b.org with 123456789:AAHfiqksKZ8WmR2zSjiQ7_v4TMAKdiHm9T0", "raw": { "authorization": "Bearer abcdefghijklmnop" } });
    world.ask(&format!("select posting.fail_permanent($ws, '{id}', '{error}', 'w')")).await;
    let stored = world.rows("select error::text as e from posting.events where error is not null union select last_error::text from posting.deliveries").await;
    for row in stored {
        let text = row["e"].as_str().unwrap();
        for secret in ["912", "a@b.org", "AAHfiqks", "abcdefghijklmnop", "dump"] {
            assert!(!text.contains(secret), "{secret} is in {text}");
        }
    }
}
