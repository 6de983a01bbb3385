//! Media: stored once, given to each provider when it needs it, in order, and never sent twice in a series.

use axum::{Router, http::header, routing::get};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::world::World;

pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\xdc\xccY\xe7\0\0\0\0IEND\xaeB`\x82";

async fn keep(world: &World, bytes: &'static [u8], content_type: &str) -> String {
    posting::media::keep(&world.test.db, &world.tools.objects, world.workspace, Bytes::from_static(bytes), content_type)
        .await
        .unwrap()
}

#[tokio::test]
async fn the_same_bytes_are_stored_once_and_a_provider_gets_them_once() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world.channel("m", "max", -2001, "").await;
    let blob = keep(&world, PNG, "image/png").await;
    assert_eq!(keep(&world, PNG, "image/png").await, blob);
    for n in 0..2 {
        world.post(json!({ "text": format!("picture {n}"), "media": [{ "type": "image", "blob_ref": blob }] })).await;
        world.drain().await;
    }
    assert_eq!(world.statuses().await, "a sent, a sent, m sent, m sent");
    let known = world
        .rows("select provider, file_id is not null as has, expires_at is not null as ends from posting.media_blobs order by 1")
        .await;
    assert_eq!(
        known,
        [json!({ "provider": "max", "has": true, "ends": true }), json!({ "provider": "telegram", "has": true, "ends": false })]
    );
    let calls = world.sent("telegram", -1001).await;
    let file_id = world.ask("select file_id from posting.media_blobs where provider = 'telegram'").await;
    assert!(calls[1].to_string().contains(file_id.as_str().unwrap()), "the second time by its name: {}", calls[1]);
}

#[tokio::test]
async fn a_forgotten_materialization_is_made_anew_and_missing_bytes_end_the_delivery() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let blob = keep(&world, PNG, "image/png").await;
    world.run(&format!("insert into posting.media_blobs (workspace_id, blob_ref, provider, file_id) values ($ws, '{blob}', 'telegram', 'no-such-file')")).await;
    world.post(json!({ "text": "one", "media": [{ "type": "image", "blob_ref": blob }] })).await;
    world.drain().await;
    assert_eq!(world.statuses().await, "a sent");
    // Expired at the provider, and gone from our storage too.
    world.advance(1);
    world.run("update posting.media_blobs set expires_at = platform.now() - interval '1 second'").await;
    world.post(json!({ "text": "two", "media": [{ "type": "image", "blob_ref": blob }] })).await;
    let origin = world.ask("select origin_url from posting.media_origin").await;
    world.tools.objects.delete(world.workspace, origin.as_str().unwrap().trim_start_matches("objects://")).await.unwrap();
    world.drain().await;
    let last = world.deliveries().await.pop().unwrap();
    let error = last.last_error.unwrap();
    assert_eq!(
        (last.status.as_str(), error["code"].as_str(), error["scope"].as_str()),
        ("failed_permanent", Some("media_missing_origin"), Some("delivery"))
    );
    world.advance(1);
    world.post(json!({ "text": "three", "media": [{ "type": "image", "blob_ref": "never-seen" }] })).await;
    assert_eq!(world.deliveries().await.pop().unwrap().last_error.unwrap()["code"], "media_missing_origin");
}

#[tokio::test]
async fn an_album_goes_out_in_order_and_its_ids_are_kept() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let media: Vec<Value> = ["one", "two", "three"]
        .iter()
        .map(|caption| json!({ "type": "image", "url": "https://e.org/x.png", "caption": caption }))
        .collect();
    world.post(json!({ "media": media })).await;
    world.drain().await;
    let delivery = &world.deliveries().await[0];
    assert_eq!(delivery.status, "sent");
    assert_eq!(delivery.render_meta["series_progress"]["provider_message_ids"].as_array().unwrap().len(), 3);
    let text = world.sent("telegram", -1001).await[0].to_string();
    let places: Vec<usize> =
        ["one", "two", "three"].iter().map(|caption| text.find(&format!("\"{caption}\"")).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[tokio::test]
async fn a_series_that_breaks_off_goes_on_where_it_stopped() {
    let world = World::new().await;
    world.channel("m", "max", -2001, "").await;
    let file = keep(&world, b"%PDF-1.4 not really", "application/pdf").await;
    let other = keep(&world, b"%PDF-1.4 another one", "application/pdf").await;
    let media = json!([{ "type": "file", "blob_ref": file }, { "type": "file", "blob_ref": other }, { "type": "file", "blob_ref": file }]);
    world.post(json!({ "text": "three files", "media": media })).await;
    // The first message passes, the second fails.
    world.fault("max", -2001, json!({ "method": "POST /messages", "delay_ms": 0, "status": 200, "times": 0 })).await;
    world.control("limits", json!({ "provider": "max", "not_ready_sends": 0 })).await;
    world.fault("max", -2001, json!({ "method": "POST /messages", "status": 503, "rate": 0.5, "seed": 1 })).await;
    for _ in 0..12 {
        world.drain().await;
        world.advance(700);
        world.run("update posting.deliveries set attempt = 0 where status = 'retry'").await;
    }
    assert_eq!(world.statuses().await, "m sent");
    let sent = world.sent("max", -2001).await;
    assert_eq!(sent.len(), 3, "each item once");
    assert_eq!(
        sent.iter().filter(|message| message.to_string().contains("three files")).count(),
        1,
        "the text once, with the first"
    );
    let progress = &world.deliveries().await[0].render_meta["series_progress"];
    assert_eq!((progress["sent_items"].as_i64(), progress["provider_message_ids"].as_array().map(Vec::len)), (Some(3), Some(3)));
}

#[tokio::test]
async fn a_text_too_long_for_a_caption_is_sent_first_and_once() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let media = json!([{ "type": "image", "url": "https://e.org/1.png" }, { "type": "image", "url": "https://e.org/2.png" }]);
    world.post(json!({ "text": "x".repeat(1500), "media": media })).await;
    world.fault("telegram", -1001, json!({ "method": "sendMediaGroup", "status": 500, "times": 1 })).await;
    world.drain().await;
    world.advance(60);
    world.drain().await;
    assert_eq!(world.statuses().await, "a sent");
    let sent = world.sent("telegram", -1001).await;
    let methods: Vec<&str> = sent.iter().filter_map(|call| call["method"].as_str()).collect();
    assert_eq!(methods, ["sendMessage", "sendMediaGroup"]);
}

#[tokio::test]
async fn media_given_by_address_is_fetched_within_limits_and_named_by_its_content() {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    let app = Router::new().route("/p.png", get(|| async { ([(header::CONTENT_TYPE, "image/png")], PNG) }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let fetcher = outbound::Fetcher::new(outbound::FetchSettings {
        allow: vec![address.to_string()],
        ..outbound::FetchSettings::default()
    })
    .unwrap();
    let keep_all = async |payload: &mut Value| {
        posting::media::keep_all(&world.test.db, &world.tools.objects, &fetcher, world.workspace, payload).await
    };
    let mut payload = json!({ "media": [{ "type": "image", "url": format!("http://{address}/p.png") }] });
    keep_all(&mut payload).await.unwrap();
    assert!(payload["media"][0]["blob_ref"].as_str().unwrap().starts_with("sha256-"));
    for url in ["http://127.0.0.1:1/x", "http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "http://localhost/x"] {
        let problem = keep_all(&mut json!({ "media": [{ "type": "image", "url": url }] })).await.unwrap_err();
        assert_eq!((problem.status, problem.details["field"].as_str()), (422, Some("media")), "{url}");
    }
}
