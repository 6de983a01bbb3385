//! Sources that fail, lie or attack, runners that race, and crashes: nothing lost, nothing twice, nobody held up.

use axum::body::Body;
use serde_json::json;
use uuid::Uuid;

use super::*;

#[tokio::test]
async fn a_feed_that_cannot_be_reached_is_recorded_and_left_alone_for_longer_and_longer() {
    let world = World::feed(json!({"first_run": "all", "every_seconds": 100})).await;
    world.show_numbers(1..=2);
    *world.site.etag.lock().unwrap() = Some("\"v1\"");
    assert_eq!(world.pull_news().await, (2, 2));
    let before = world.cursor("news").await;
    *world.site.status.lock().unwrap() = Some(503);
    for (failures, pause) in [(1, 200), (2, 400), (3, 800)] {
        let stats = world.pull("news").await;
        assert!(stats["error"].as_str().unwrap().contains("status 503"), "{stats}");
        let mut expected = before.clone();
        let next = world.db.clock.now().checked_add(SignedDuration::from_secs(pause)).unwrap();
        expected["failures"] = json!(failures);
        expected["next_pull_at"] = json!(next.to_string());
        assert_eq!(world.cursor("news").await, expected, "nothing else of the cursor changes");
    }
    assert_eq!(world.runs("news").await.iter().filter(|stats| stats.get("error").is_some()).count(), 3);
    *world.site.status.lock().unwrap() = None;
    world.show_numbers(1..=3);
    *world.site.etag.lock().unwrap() = Some("\"v2\"");
    assert_eq!(world.pull_news().await, (1, 1));
    assert_eq!(world.cursor("news").await["failures"], 0);
}

#[tokio::test]
async fn addresses_that_are_closed_absent_or_inside_read_the_same_in_the_record() {
    let world = World::new().await;
    // Bound and not listening: nobody answers there, and nobody else can take the port meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let closed = socket.local_addr().unwrap();
    let settings = FetchSettings { allow: vec![closed.to_string()], ..FetchSettings::default() };
    let puller = Puller::new(world.db.db.clone(), Fetcher::new(settings).unwrap(), world.secrets());
    let mut errors = Vec::new();
    for url in [format!("http://{closed}/"), "http://169.254.169.254/latest".into(), "http://localhost/".into()] {
        world.source("news", "rss", json!({"url": url})).await;
        let stats = puller.pull(world.workspace, "news", &TraceId::new()).await.unwrap().unwrap();
        errors.push(stats["error"].as_str().unwrap().to_owned());
    }
    assert!(errors[0].contains("cannot be reached") && errors.iter().all(|error| *error == errors[0]), "{errors:?}");
}

#[tokio::test]
async fn a_feed_of_a_hundred_megabytes_is_refused_at_the_limit() {
    let world = World::feed(json!({})).await;
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    *world.site.answer.lock().unwrap() = Some(Box::new(move |_| {
        let count = count.clone();
        let parts = (0..1600).map(move |_| {
            count.fetch_add(1 << 16, Ordering::SeqCst);
            Ok::<_, std::io::Error>("<item/> ".repeat(1 << 13))
        });
        Body::from_stream(futures::stream::iter(parts)).into_response()
    }));
    let stats = world.pull("news").await;
    assert!(stats["error"].as_str().unwrap().contains("larger than 10000000 bytes"), "{stats}");
    let sent = sent.load(Ordering::SeqCst);
    assert!(sent < 40 << 20, "{sent} bytes were asked for");
}

#[tokio::test]
async fn what_is_not_a_feed_or_is_a_bomb_is_an_error_and_no_post() {
    let world = World::feed(json!({"first_run": "all"})).await;
    let level = |n: usize| format!("<!ENTITY a{n} '{}'>", format!("&a{};", n - 1).repeat(10));
    let inner = (1..12).map(level).collect::<Vec<_>>().concat();
    let bomb = format!(
        "<!DOCTYPE rss [<!ENTITY a0 'ha'>{inner}]><rss version='2.0'><channel><item><guid>1</guid><title>x&a11;</title></item></channel></rss>"
    );
    for body in ["<html><body>Not here</body></html>".to_owned(), "{}".into(), String::new(), "<rss version='2.0'><chan".into()] {
        world.show(body.clone());
        let stats = world.pull("news").await;
        assert!(stats["error"].is_string(), "{body}: {stats}");
    }
    world.show(bomb);
    world.pull("news").await;
    assert!(world.posts().await.iter().all(|post| post.len() < 100));
}

#[tokio::test]
async fn settings_that_cannot_be_read_are_told_in_the_record_of_the_run() {
    let world = World::new().await;
    world.raw_source("news", "rss", &json!({"adress": "https://example.org/"})).await;
    let stats = world.pull("news").await;
    assert!(stats["error"].as_str().unwrap().contains("`url`"), "{stats}");
    assert_eq!(world.cursor("news").await["failures"], 1);
}

#[tokio::test]
async fn two_runners_that_ask_at_the_same_time_post_each_item_once() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.show_numbers(1..=5);
    *world.site.meet.lock().unwrap() = Some(Arc::new(Barrier::new(2)));
    let other = world.db.another();
    let (first, second) = (world.puller(&world.db.db), world.puller(&other));
    let trace = TraceId::new();
    let (one, two) = tokio::join!(first.pull(world.workspace, "news", &trace), second.pull(world.workspace, "news", &trace));
    let (one, two) = (one.unwrap().unwrap(), two.unwrap().unwrap());
    assert_eq!(world.posts().await.len(), 5);
    let stale = [&one, &two].iter().filter(|stats| stats["stale"] == json!(true)).count();
    assert_eq!(stale, 1, "{one} {two}");
    assert_eq!(world.cursor("news").await["runs"], 1);
}

#[tokio::test]
async fn what_was_fetched_and_not_committed_is_found_again() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.show_numbers(1..=2);
    let items = json!([{"key": "g1", "payload": {"text": "post 1"}}, {"key": "g2", "payload": {"text": "post 2"}}]);
    let mut tx = world.db.db.begin(world.workspace).await.unwrap();
    let stats: Value = sqlx::query_scalar("select posting.take_pull_items($1, 'news', $2, $3, $4)")
        .bind(world.workspace.uuid())
        .bind(Uuid::now_v7())
        .bind(&items)
        .bind(json!({"runs": 0, "started": true}))
        .fetch_one(&mut *tx)
        .await
        .unwrap();
    assert_eq!(stats["enqueued"], 2);
    drop(tx);
    assert_eq!(world.pull_news().await, (2, 2));
    assert_eq!(world.posts().await, ["post 1", "post 2"]);
}

#[tokio::test]
async fn a_source_that_is_switched_off_is_not_asked_and_takes_nothing() {
    let world = World::feed(json!({})).await;
    sqlx::query("update posting.pull_sources set enabled = false").execute(world.db.db.pool()).await.unwrap();
    let puller = world.puller(&world.db.db);
    assert_eq!(puller.pull(world.workspace, "news", &TraceId::new()).await.unwrap(), None);
    assert_eq!(world.site.asked.load(Ordering::SeqCst), 0);
    let mut tx = world.db.db.begin(world.workspace).await.unwrap();
    let refused = sqlx::query("select posting.take_pull_items($1, 'news', $2, '[]', '{}')")
        .bind(world.workspace.uuid())
        .bind(Uuid::now_v7())
        .execute(&mut *tx)
        .await;
    assert!(platform::DbError::from(refused.unwrap_err()).is_refusal("ZD006"));
}

#[tokio::test]
async fn a_source_is_known_in_its_own_workspace_only() {
    let world = World::feed(json!({})).await;
    let other = world.db.workspace("theirs").await;
    assert_eq!(world.puller(&world.db.db).pull(other, "news", &TraceId::new()).await.unwrap(), None);
}

#[tokio::test]
async fn a_secret_is_sent_to_the_source_and_is_in_no_record() {
    let world = World::new().await;
    let reference = world.secret("token", "Bearer hunter2hunter2\n");
    let config = json!({"url": world.url, "headers": {"authorization": reference}});
    world.source("news", "rss", config).await;
    *world.site.answer.lock().unwrap() = Some(Box::new(|request| {
        assert_eq!(request.headers()["authorization"], "Bearer hunter2hunter2");
        (StatusCode::UNAUTHORIZED, "Bearer hunter2hunter2 is not welcome").into_response()
    }));
    let mut records = vec![world.pull("news").await];
    assert!(records[0]["error"].as_str().unwrap().contains("status 401"));
    world.secret("token", "hunter2\u{7f}\nhunter2");
    records.push(world.pull("news").await);
    let database_url = world.secret("database", "postgres://reader:hunter2@127.0.0.1:1/news");
    world.source("rows", "db", json!({"database_url": database_url, "query": "select 1"})).await;
    records.push(world.pull("rows").await);
    world.secret("database", "postgres//hunter2");
    records.push(world.pull("rows").await);
    world.source("rows", "db", json!({"database_url": "file:/etc/passwd", "query": "select 1"})).await;
    records.push(world.pull("rows").await);
    records.extend(world.runs("news").await);
    records.extend(world.runs("rows").await);
    for record in records {
        assert!(record["error"].is_string() && !record.to_string().contains("hunter2"), "{record}");
    }
}
