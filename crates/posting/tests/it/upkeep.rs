//! What happens on schedule: alerts, retention, media nobody needs, and the audit's own check.

use bytes::Bytes;
use platform::{
    alerts::{self, StorageLimits},
    retention,
};
use posting::alerts::ALERTS;
use serde_json::{Value, json};
use testkit::alerts::ToldAlerts;

use crate::world::{World, code};

/// One look for trouble; how many alerts were told.
async fn check(world: &World) -> i32 {
    alerts::check(&world.test.db, &[ALERTS], &StorageLimits::default()).await
}

async fn forget(world: &World) {
    retention::run(&world.test.db, &posting::retention::rules(&world.tools.objects)).await.unwrap();
}

/// What is wrong now: the alert, its subject and why.
async fn open(world: &World) -> Vec<Value> {
    world.rows("select alert, subject, why from ops.alerts where cleared_at is null order by alert, subject").await
}

async fn trouble(world: &World) {
    world.channel("a", "telegram", -1001, "").await;
    world.control("chats", json!({ "provider": "telegram", "target": "-1001", "state": "kicked" })).await;
    world.post(json!({ "text": "one" })).await;
    world.drain().await;
}

#[tokio::test]
async fn an_alert_goes_to_the_admin_chat_once_and_again_only_after_a_while() {
    let world = World::new().await;
    let told = ToldAlerts::default();
    let runner = told.runner(&world.test.db, &[ALERTS]);
    trouble(&world).await;
    world.ask("select attempts_max from posting.policy($ws)").await;
    world.run("update posting.policies set alert_telegram_chat_id = '777', alert_telegram_auth_ref = 'bot'").await;
    for _ in 0..3 {
        check(&world).await;
        runner.drain().await.unwrap();
    }
    let (target, message) = told.all().remove(0);
    assert_eq!((told.all().len(), target.kind.as_str(), target.address.as_str()), (1, "telegram", "777"));
    assert!(target.credential.as_deref().unwrap().starts_with("file:"), "{target:?}");
    assert!(message.text.starts_with("team: paused channels\n- a: paused until 2026-03-02 10:00 UTC"), "{}", message.text);
    assert!(message.text.ends_with("https://console.test/console/channels"), "{}", message.text);
    world.advance(3599);
    world.set_channel("a", "paused_until = platform.now() + interval '1 day'").await;
    check(&world).await;
    world.advance(2);
    check(&world).await;
    runner.drain().await.unwrap();
    assert_eq!(told.at("777").len(), 2);
    world.set_channel("a", "paused_until = null").await;
    check(&world).await;
    assert_eq!(world.ask("select cleared_at is not null from ops.alerts where alert = 'paused_channels'").await, json!(true));
}

#[tokio::test]
async fn dead_letters_always_raise_an_alert_and_failures_only_above_their_threshold() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    for n in 0..6 {
        world.post(json!({ "text": format!("<b>broken {n}"), "parse_mode": "HTML" })).await;
        let raised = check(&world).await;
        assert_eq!(raised, i32::from(n == 5), "more than five in ten minutes");
    }
    world.post(json!({ "text": "fine" })).await;
    world.run("update posting.deliveries set status = 'dead' where status = 'queued'").await;
    assert_eq!(check(&world).await, 1);
    let alerts = world.rows("select alert, count as n from ops.alerts order by 1").await;
    assert_eq!(alerts, [json!({ "alert": "dead_letters", "n": 1 }), json!({ "alert": "failures", "n": 6 })]);
}

#[tokio::test]
async fn every_target_of_the_policy_is_told() {
    let world = World::new().await;
    let told = ToldAlerts::default();
    let runner = told.runner(&world.test.db, &[ALERTS]);
    trouble(&world).await;
    world.ask("select attempts_max from posting.policy($ws)").await;
    world
        .run(
            "update posting.policies set alert_email = 'admin@example.org', alert_telegram_chat_id = '777',
                    alert_telegram_auth_ref = 'bot'",
        )
        .await;
    check(&world).await;
    runner.drain().await.unwrap();
    assert_eq!((told.at("admin@example.org").len(), told.at("777").len()), (1, 1));
    assert_eq!(told.all()[0].1.subject, "Beresta: paused channels in team");
}

#[tokio::test]
async fn paused_and_dead_are_told_by_channel_with_the_reason() {
    let world = World::new().await;
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        world.channel(id, "telegram", -1001 - i64::try_from(n).unwrap(), "").await;
    }
    world.post(json!({ "text": "x" })).await;
    world
        .run(
            "update posting.deliveries set status = 'dead', last_error = '{\"code\": \"502\", \"message\": \"bad gateway\"}'
              where channel_id <> 'c'",
        )
        .await;
    world.set_channel("c", "paused_until = platform.now() + interval '1 hour'").await;
    assert_eq!(check(&world).await, 2);
    let row = |alert: &str, subject: &str, why: &str| json!({ "alert": alert, "subject": subject, "why": why });
    assert_eq!(
        open(&world).await,
        [
            row("dead_letters", "a", "bad gateway"),
            row("dead_letters", "b", "bad gateway"),
            row("paused_channels", "c", "paused until 2026-03-02 10:00 UTC")
        ]
    );
    world.run("update posting.policies set alert_paused_max = 1").await;
    check(&world).await;
    assert_eq!(open(&world).await.len(), 2, "as many may be paused");
}

#[tokio::test]
async fn a_channel_whose_token_cannot_be_read_raises_an_alert_until_it_can() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world.channel("b", "telegram", -1002, "").await;
    assert_eq!(check(&world).await, 0);
    world.set_channel("b", "auth_ref = 'nobody'").await;
    assert_eq!(check(&world).await, 1);
    let missing = |subject: &str, why: &str| json!({ "alert": "credential_missing", "subject": subject, "why": why });
    assert_eq!(open(&world).await, [missing("b", "no credential `nobody` for telegram")]);
    world.set_channel("b", "enabled = false, auth_ref = 'bot'").await;
    world.run("update posting.credential_bindings set secret_ref = 'env:NO_SUCH_VARIABLE'").await;
    world.post(json!({ "text": "x" })).await;
    world.drain().await;
    check(&world).await;
    assert_eq!(open(&world).await[0], missing("a", "the variable NO_SUCH_VARIABLE is not set"));
    world.set_channel("a", "error_streak = 0, paused_until = null").await;
    check(&world).await;
    assert!(open(&world).await.is_empty());
}

#[tokio::test]
async fn a_channel_whose_token_the_provider_refuses_raises_the_same_alert() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let refusal = json!({ "ok": false, "error_code": 401, "description": "Unauthorized" });
    world.fault("telegram", -1001, json!({ "status": 401, "times": 1, "body": refusal })).await;
    world.post(json!({ "text": "x" })).await;
    world.drain().await;
    check(&world).await;
    let found = open(&world).await;
    assert!(found.iter().any(|row| row["alert"] == "credential_missing" && row["subject"] == "a"), "{found:?}");
}

#[tokio::test]
async fn a_source_that_fails_again_and_again_raises_an_alert_with_its_last_error() {
    let world = World::new().await;
    world
        .run(
            "insert into posting.pull_sources (workspace_id, source_id, kind, config_json)
             values ($ws, 'blog', 'rss', '{\"url\": \"http://127.0.0.1:1/feed\"}')",
        )
        .await;
    let puller =
        posting::pull::Puller::new(world.test.db.clone(), world.tools.fetcher.clone(), posting::pull::SourceSecrets::default());
    for failures in 1..=3 {
        puller.pull(world.workspace, "blog", &kernel::TraceId::default()).await.unwrap();
        assert_eq!(check(&world).await, i32::from(failures == 3), "two may pass by themselves");
        world.advance(600);
    }
    let found = &open(&world).await[0];
    assert_eq!((&found["alert"], &found["subject"]), (&json!("failing_sources"), &json!("blog")));
    assert!(found["why"].as_str().unwrap().starts_with("3 pulls in a row have failed: "), "{found}");
    let since = world.ask("select extract(epoch from platform.now() - since) from ops.alerts").await;
    assert_eq!(since.as_f64(), Some(1800.0), "since the first of them");
    world.run("update posting.pull_cursors set cursor_json = cursor_json - 'failures'").await;
    check(&world).await;
    assert!(open(&world).await.is_empty());
}

#[tokio::test]
async fn what_was_raised_before_alerts_had_one_table_is_moved() {
    let world = World::new().await;
    let migration = posting::SQL.migrations.iter().find(|file| file.name == "0007_alerts").unwrap();
    world.run("drop table posting.audits").await;
    world
        .run(
            "create table posting.alerts (workspace_id uuid, alert text, raised_at timestamptz, told_at timestamptz, cleared_at timestamptz,
                                          details jsonb not null default '{}')",
        )
        .await;
    world
        .run(
            "insert into posting.alerts select $ws, a, platform.now(), platform.now(), c, d::jsonb
               from (values ('dead_letters', null, '{\"count\": 3, \"sample\": \"a: 502\"}'), ('failures', platform.now(), '{}'),
                            ('orphan_events', null, '{\"orphans\": 7}')) v (a, c, d)",
        )
        .await;
    let mut owner = world.test.owner().await;
    sqlx::raw_sql(migration.text).execute(&mut owner).await.unwrap();
    let moved = world.rows("select alert, count, sample, told_at is not null as is_told from ops.alerts order by 1").await;
    assert_eq!(
        moved,
        [
            json!({ "alert": "dead_letters", "count": 3, "sample": "a: 502", "is_told": true }),
            json!({ "alert": "orphan_events", "count": 1, "sample": null, "is_told": true }),
        ]
    );
    let orphans: i64 = sqlx::query_scalar("select orphan_events from posting.audits").fetch_one(&mut owner).await.unwrap();
    assert_eq!(orphans, 7);
}

#[tokio::test]
async fn everything_is_forgotten_on_its_schedule_and_not_before() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world.post(json!({ "text": "old" })).await;
    world.drain().await;
    world.channel("parked", "telegram", -1002, "enabled = false").await;
    world.set_channel("parked", "enabled = true, paused_until = platform.now() + interval '1 year'").await;
    world.advance(1);
    world.post(json!({ "text": "still waiting" })).await;
    world.drain().await;
    let count = "select (select count(*) from posting.deliveries) || ' ' || (select count(*) from posting.messages) || ' ' || (select count(*) from posting.ingest_runs)";
    world.advance(90 * 24 * 3600 - 60);
    forget(&world).await;
    assert_eq!(world.ask(count).await, json!("3 2 2"));
    world.advance(120);
    forget(&world).await;
    assert_eq!(world.ask(count).await, json!("1 1 0"), "what is under way stays, with its message");
    assert_eq!(code(&world.try_run("delete from posting.events").await.unwrap_err()), "ZP001");
}

#[tokio::test]
async fn receipts_go_after_three_days() {
    let world = World::new().await;
    let hash = "a".repeat(64);
    world
        .run(&format!(
            "insert into core.workspace_endpoints (workspace_id, kind, secret_hash) values ($ws, 'webhook_push', '{hash}')"
        ))
        .await;
    let enqueue = r#"select posting.enqueue_messages_and_deliveries($ws, (select endpoint_id from core.workspace_endpoints), 'push', '{"text": "x", "source_ref": "r"}')"#;
    world.ask(enqueue).await;
    world.advance(71 * 3600);
    forget(&world).await;
    assert_eq!(world.ask(enqueue).await["outcome"], "duplicate");
    world.advance(2 * 3600);
    forget(&world).await;
    assert_eq!(world.ask("select count(*) from posting.ingress_receipts").await, json!(0));
}

#[tokio::test]
async fn stored_media_goes_when_nobody_needs_it_large_videos_sooner_and_comes_back_when_it_is_brought_again() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let keep = async |bytes: &'static [u8], kind: &str| {
        posting::media::keep(&world.test.db, &world.tools.objects, world.workspace, Bytes::from_static(bytes), kind)
            .await
            .unwrap()
    };
    let (needed, picture, video) =
        (keep(b"needed", "image/png").await, keep(b"picture", "image/png").await, keep(b"video", "video/mp4").await);
    world.post(json!({ "media": [{ "type": "image", "blob_ref": needed }] })).await;
    world.ask("select attempts_max from posting.policy($ws)").await;
    world.run("update posting.policies set large_video_bytes_threshold = 5").await;
    let kept = async || -> Vec<String> {
        forget(&world).await;
        let rows = world.rows("select blob_ref from posting.media_origin order by created_at, size_bytes").await;
        rows.iter().map(|row| row["blob_ref"].as_str().unwrap().to_owned()).collect()
    };
    world.advance(7 * 24 * 3600 + 60);
    let left = kept().await;
    assert!(left.contains(&needed) && left.contains(&picture) && !left.contains(&video), "{left:?}");
    world.advance(23 * 24 * 3600);
    assert_eq!(kept().await, std::slice::from_ref(&needed));
    assert_eq!(keep(b"picture", "image/png").await, picture);
    let origin = world.ask(&format!("select origin_url from posting.media_origin where blob_ref = '{picture}'")).await;
    let key = origin.as_str().unwrap().trim_start_matches("objects://").to_owned();
    assert_eq!(&world.tools.objects.get(world.workspace, &key).await.unwrap()[..], b"picture");
}

#[tokio::test]
async fn events_that_refer_to_nothing_are_found_and_told() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world.post(json!({ "text": "x" })).await;
    forget(&world).await;
    assert_eq!(world.ask("select count(*) from posting.audits").await, json!(0));
    world.run("insert into posting.events (workspace_id, channel_id, ts, action, result) values ($ws, 'ghost', platform.now(), 'channel_paused', 'ok')").await;
    forget(&world).await;
    assert_eq!(check(&world).await, 1);
    assert_eq!(world.rows("select alert, count from ops.alerts").await, [json!({ "alert": "orphan_events", "count": 1 })]);
    world.channel("ghost", "telegram", -1002, "").await;
    forget(&world).await;
    check(&world).await;
    assert!(open(&world).await.is_empty());
}

#[tokio::test]
async fn the_whole_answer_of_a_provider_is_kept_outside_the_journal_and_for_a_shorter_time() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let long = format!("Bad Request: can't parse entities: {}", "very long story ".repeat(100));
    world
        .fault(
            "telegram",
            -1001,
            json!({ "status": 400, "body": { "ok": false, "error_code": 400, "description": long }, "times": 1 }),
        )
        .await;
    world.post(json!({ "text": "x" })).await;
    world.drain().await;
    let event = &world.rows("select error, payload_ref from posting.events where payload_ref is not null").await[0];
    assert!(event["error"].to_string().len() < 1500);
    let key = event["payload_ref"].as_str().unwrap();
    assert!(world.tools.objects.get(world.workspace, key).await.is_ok());
    world.advance(15 * 24 * 3600);
    forget(&world).await;
    assert!(world.tools.objects.get(world.workspace, key).await.is_err());
}
