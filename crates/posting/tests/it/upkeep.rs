//! What happens on schedule: alerts, retention, media nobody needs, and the audit's own check.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use platform::jobs::{Registry, Runner};
use posting::alerts::{Mail, Teller};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use crate::world::{World, code};

fn runner(world: &World, mail: Option<Mail>) -> Runner {
    let mut registry = Registry::new();
    let tools = &world.tools;
    posting::alerts::register(
        &mut registry,
        Teller { db: tools.db.clone(), telegram: tools.telegram.clone(), credentials: tools.credentials.clone(), mail },
    );
    posting::upkeep::register(&mut registry, &tools.db, &tools.objects);
    Runner::new(world.test.db.clone(), registry, "test".to_owned())
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
    let runner = runner(&world, None);
    runner.register().await.unwrap();
    trouble(&world).await;
    world.ask("select attempts_max from posting.policy($ws)").await;
    world.run("update posting.policies set alert_telegram_chat_id = '777', alert_telegram_auth_ref = 'bot'").await;
    for _ in 0..3 {
        posting::monitor::check_alerts(&world.test.db).await.unwrap();
        runner.drain().await.unwrap();
    }
    let told = world.sent("telegram", 777).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].to_string().contains("1 channels are paused"), "{}", told[0]);
    world.advance(3599);
    world.set_channel("a", "paused_until = platform.now() + interval '1 day'").await;
    posting::monitor::check_alerts(&world.test.db).await.unwrap();
    world.advance(2);
    posting::monitor::check_alerts(&world.test.db).await.unwrap();
    runner.drain().await.unwrap();
    assert_eq!(world.sent("telegram", 777).await.len(), 2);
    world.set_channel("a", "paused_until = null").await;
    posting::monitor::check_alerts(&world.test.db).await.unwrap();
    assert_eq!(world.ask("select cleared_at is not null from posting.alerts where alert = 'paused_channels'").await, json!(true));
}

#[tokio::test]
async fn dead_letters_always_raise_an_alert_and_failures_only_above_their_threshold() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    for n in 0..6 {
        world.post(json!({ "text": format!("<b>broken {n}"), "parse_mode": "HTML" })).await;
        let raised = posting::monitor::check_alerts(&world.test.db).await.unwrap();
        assert_eq!(raised, i32::from(n == 5), "more than five in ten minutes");
    }
    world.post(json!({ "text": "fine" })).await;
    world.run("update posting.deliveries set status = 'dead' where status = 'queued'").await;
    assert_eq!(posting::monitor::check_alerts(&world.test.db).await.unwrap(), 1);
    let alerts = world.rows("select alert, details->'count' as n from posting.alerts order by 1").await;
    assert_eq!(alerts, [json!({ "alert": "dead_letters", "n": 1 }), json!({ "alert": "failures", "n": 6 })]);
}

/// A mail server that takes one message.
async fn mail_server() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let got = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&got);
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        write.write_all(b"220 test\r\n").await.unwrap();
        let mut in_data = false;
        while let Ok(Some(line)) = lines.next_line().await {
            kept.lock().unwrap().extend([line.as_str(), "\n"]);
            let answer: &[u8] = match line.as_str() {
                "." => {
                    in_data = false;
                    b"250 ok\r\n"
                }
                _ if in_data => continue,
                "DATA" => {
                    in_data = true;
                    b"354 go on\r\n"
                }
                "QUIT" => b"221 bye\r\n",
                _ => b"250 ok\r\n",
            };
            write.write_all(answer).await.unwrap();
        }
    });
    (url, got)
}

#[tokio::test]
async fn an_alert_can_go_by_e_mail() {
    let world = World::new().await;
    let (url, got) = mail_server().await;
    let runner = runner(&world, Some(Mail { url, from: "beresta@example.org".to_owned(), login: None }));
    runner.register().await.unwrap();
    trouble(&world).await;
    world.ask("select attempts_max from posting.policy($ws)").await;
    world.run("update posting.policies set alert_email = 'admin@example.org'").await;
    posting::monitor::check_alerts(&world.test.db).await.unwrap();
    runner.drain().await.unwrap();
    let mail = got.lock().unwrap().clone();
    assert!(mail.contains("RCPT TO:<admin@example.org>") && mail.contains("Subject: Beresta: paused channels in team"), "{mail}");
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
    let upkeep = || posting::upkeep::run(&world.test.db, &world.tools.objects);
    world.advance(90 * 24 * 3600 - 60);
    upkeep().await.unwrap();
    assert_eq!(world.ask(count).await, json!("3 2 2"));
    world.advance(120);
    upkeep().await.unwrap();
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
    posting::upkeep::run(&world.test.db, &world.tools.objects).await.unwrap();
    assert_eq!(world.ask(enqueue).await["outcome"], "duplicate");
    world.advance(2 * 3600);
    posting::upkeep::run(&world.test.db, &world.tools.objects).await.unwrap();
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
        posting::upkeep::run(&world.test.db, &world.tools.objects).await.unwrap();
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
    posting::upkeep::run(&world.test.db, &world.tools.objects).await.unwrap();
    assert_eq!(world.ask("select count(*) from posting.alerts").await, json!(0));
    world.run("insert into posting.events (workspace_id, channel_id, ts, action, result) values ($ws, 'ghost', platform.now(), 'channel_paused', 'ok')").await;
    posting::upkeep::run(&world.test.db, &world.tools.objects).await.unwrap();
    assert_eq!(posting::monitor::check_alerts(&world.test.db).await.unwrap(), 1);
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
    posting::upkeep::run(&world.test.db, &world.tools.objects).await.unwrap();
    assert!(world.tools.objects.get(world.workspace, key).await.is_err());
}
