//! `POST /hooks/push`: the door, and what stands behind it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, body::Body, http::Request, routing::get};
use kernel::Secret;
use outbound::{FetchSettings, Fetcher};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{media::PNG, world::World};

const SECRET: &str = "a-push-secret";

struct Door {
    world: World,
    router: Router,
}

/// A web server with a picture, which counts who asks for it.
struct Web {
    picture: String,
    asked: Arc<AtomicUsize>,
    serving: tokio::task::JoinHandle<()>,
}

impl Web {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

struct Answer {
    status: u16,
    retry_after: Option<String>,
    body: Value,
}

fn router(world: &World) -> Router {
    world.router(posting::http::router(world.tools.fetcher.clone()))
}

impl Door {
    async fn open(more: &str) -> Self {
        let world = World::new().await;
        world.channel("a", "telegram", -1001, "").await;
        world.channel("m", "max", -2001, "").await;
        let hash = Secret::new(SECRET).sha256_hex();
        world
            .run(&format!(
                "insert into core.workspace_endpoints (workspace_id, kind, secret_hash) values ($ws, 'webhook_push', '{hash}')"
            ))
            .await;
        if !more.is_empty() {
            world.run(&format!("update core.workspace_endpoints set {more}")).await;
        }
        let router = router(&world);
        Self { world, router }
    }

    /// The same with a web server whose pictures can be fetched.
    async fn open_to(more: &str) -> (Self, Web) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let picture = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            async { ([("content-type", "image/png")], PNG) }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let pages = Router::new().route("/p.png", get(picture));
        let serving = tokio::spawn(async move { axum::serve(listener, pages).await.unwrap() });
        let mut door = Self::open(more).await;
        let fetcher = Fetcher::new(FetchSettings { allow: vec![host.clone()], ..FetchSettings::default() }).unwrap();
        door.world.tools.fetcher = fetcher;
        door.router = router(&door.world);
        (door, Web { picture: format!("http://{host}/p.png"), asked, serving })
    }

    async fn send(&self, secret: Option<&str>, body: impl Into<Body>) -> Answer {
        let mut request = Request::post("/hooks/push");
        if let Some(secret) = secret {
            request = request.header("X-Beresta-Secret", secret);
        }
        self.ask(request.body(body.into()).unwrap()).await
    }

    async fn ask(&self, request: Request<Body>) -> Answer {
        let reply = testkit::http::send(&self.router, request).await;
        let retry_after = reply.headers.get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        Answer { status: reply.status, retry_after, body: reply.json() }
    }

    async fn push(&self, payload: Value) -> Answer {
        self.send(Some(SECRET), payload.to_string()).await
    }
}

#[tokio::test]
async fn a_post_is_accepted_after_everything_that_delivers_it_is_stored() {
    let door = Door::open("").await;
    let answer = door.push(json!({ "text": "Hello #News", "source_ref": "n1" })).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    let data = &answer.body["data"];
    assert_eq!(
        (&data["outcome"], &data["deliveries"], &data["tags"]),
        (&json!("accepted"), &json!({ "queued": 2 }), &json!(["news"]))
    );
    let runs = door.world.rows("select run_id, kind, stats_json from posting.ingest_runs").await;
    assert_eq!((&runs[0]["run_id"], &runs[0]["stats_json"]["accepted"]), (&data["run_id"], &json!(1)));
    assert_eq!(door.world.ask("select trace_id from posting.deliveries limit 1").await, data["trace_id"]);
    door.world.drain().await;
    assert_eq!(door.world.statuses().await, "a sent, m sent");
}

#[tokio::test]
async fn a_secret_may_also_stand_in_the_path() {
    let door = Door::open("").await;
    let request = Request::post(format!("/hooks/push/{SECRET}")).body(Body::from(r#"{"text": "x"}"#)).unwrap();
    assert_eq!(door.ask(request).await.status, 202);
}

#[tokio::test]
async fn wrong_missing_repeated_and_disabled_secrets_get_the_same_answer() {
    let door = Door::open("").await;
    let mut messages = Vec::new();
    for secret in [None, Some("wrong"), Some("")] {
        let answer = door.send(secret, r#"{"text": "x"}"#).await;
        assert_eq!(answer.status, 401);
        messages.push(answer.body["error"]["message"].clone());
    }
    let twice = Request::post("/hooks/push").header("X-Beresta-Secret", SECRET).header("X-Beresta-Secret", SECRET);
    messages.push(door.ask(twice.body(Body::from("{}")).unwrap()).await.body["error"]["message"].clone());
    door.world.run("update core.workspace_endpoints set enabled = false").await;
    messages.push(door.push(json!({ "text": "x" })).await.body["error"]["message"].clone());
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
}

#[tokio::test]
async fn a_workspace_in_the_body_is_a_hint_and_nothing_more() {
    let door = Door::open("").await;
    let other = door.world.test.workspace("other").await;
    assert_eq!(door.push(json!({ "text": "x", "workspace_id": other })).await.status, 202);
    assert_eq!(door.world.ask("select count(*) from posting.messages where workspace_id = $ws").await, json!(1));
}

#[tokio::test]
async fn a_repeated_source_ref_is_told_so_and_makes_nothing() {
    let door = Door::open("").await;
    let first = door.push(json!({ "text": "one", "source_ref": "ref" })).await;
    let again = door.push(json!({ "text": "changed", "source_ref": "ref" })).await;
    assert_eq!((again.status, &again.body["data"]["outcome"]), (200, &json!("duplicate")));
    assert_eq!(again.body["data"]["message_id"], first.body["data"]["message_id"]);
    assert_eq!(door.world.ask("select count(*) from posting.messages").await, json!(1));
    assert_eq!(door.world.events("action = 'ingress_dedup_dropped'").await.len(), 1);
}

#[tokio::test]
async fn the_same_body_without_a_source_ref_is_dropped_only_within_the_window() {
    let door = Door::open("").await;
    assert_eq!(door.push(json!({ "text": "one" })).await.status, 202);
    assert_eq!(door.push(json!({ "text": "one" })).await.body["data"]["outcome"], "duplicate");
    door.world.advance(11);
    let later = door.push(json!({ "text": "one" })).await;
    assert_eq!(later.body["data"]["deliveries"], json!({ "deduped": 2 }), "accepted, and suppressed channel by channel");
}

#[tokio::test]
async fn twenty_copies_of_one_request_at_once_are_accepted_once() {
    let door = Door::open("ingress_rps = 1000").await;
    for reference in [Some("r"), None] {
        let payload = json!({ "text": format!("post {reference:?}"), "source_ref": reference });
        let answers = futures::future::join_all((0..20).map(|_| door.push(payload.clone()))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 202).count(), 1);
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 202)));
    }
    assert_eq!(door.world.ask("select count(*) from posting.deliveries").await, json!(4));
}

#[tokio::test]
async fn a_flood_is_refused_with_a_time_to_come_back_and_counted() {
    let door = Door::open("ingress_rps = 5").await;
    let mut refused = 0;
    for n in 0..20 {
        let answer = door.push(json!({ "text": format!("post {n}") })).await;
        if answer.status == 429 {
            refused += 1;
            assert_eq!(answer.retry_after.as_deref(), Some("1"));
            assert_eq!(answer.body["error"]["kind"], "rate_limit");
        } else {
            assert_eq!(answer.status, 202);
        }
    }
    assert_eq!(refused, 15);
    door.world.advance(2);
    assert_eq!(door.push(json!({ "text": "later" })).await.status, 202);
    for n in 0..6 {
        door.push(json!({ "text": format!("more {n}") })).await;
    }
    let told: i64 = door
        .world
        .rows("select stats_json->'rate_limited' as n from posting.ingest_runs where stats_json ? 'rate_limited'")
        .await
        .iter()
        .map(|row| row["n"].as_i64().unwrap())
        .sum();
    assert_eq!(told, 16, "the first at once, the other fourteen with the next one a second later");
    assert_eq!(door.world.events("action = 'ingress_rate_limited'").await.len(), 2);
}

#[tokio::test]
async fn an_oversized_body_is_refused_and_written_down() {
    let door = Door::open("max_payload_bytes = 100").await;
    let answer = door.push(json!({ "text": "x".repeat(200) })).await;
    assert_eq!(answer.status, 413);
    assert!(answer.body["error"]["message"].as_str().unwrap().contains("this endpoint takes 100"));
    assert_eq!(door.world.events("action = 'ingress_payload_rejected'").await.len(), 1);
    assert_eq!(door.send(Some(SECRET), vec![b' '; (1 << 20) + 1]).await.status, 413);
}

#[tokio::test]
async fn what_is_not_a_post_is_refused_with_words_and_never_as_our_fault() {
    let door = Door::open("ingress_rps = 1000").await;
    let cases: [(&[u8], u16); 9] = [
        (b"{\"text\": ", 400),
        (b"\xff\xfe", 400),
        (b"{\"text\": \"a\\u0000b\"}", 400),
        (b"{\"text\": \"a\", \"text\": \"b\"}", 400),
        (b"[1, 2]", 422),
        (b"{\"text\": \"x\", \"parse_mode\": \"BBCode\"}", 422),
        (b"{\"text\": \"x\", \"media\": \"cat.png\"}", 422),
        (b"{\"text\": \"x\", \"scheduled_for\": \"noon\"}", 422),
        (b"", 400),
    ];
    for (body, status) in cases {
        let answer = door.send(Some(SECRET), body.to_vec()).await;
        assert_eq!(answer.status, status, "{}", String::from_utf8_lossy(body));
        assert!(!answer.body["error"]["message"].as_str().unwrap().is_empty());
    }
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    assert_eq!(door.send(Some(SECRET), deep).await.status, 400);
    assert_eq!(door.world.ask("select count(*) from posting.messages").await, json!(0));
}

#[tokio::test]
async fn a_receipt_does_not_outlive_a_failure_of_the_work() {
    let door = Door::open("").await;
    let bad = json!({ "text": "x", "parse_mode": "BBCode", "source_ref": "r" });
    assert_eq!(door.push(bad).await.status, 422);
    assert_eq!(door.push(json!({ "text": "x", "source_ref": "r" })).await.status, 202);
}

#[tokio::test]
async fn the_media_of_a_request_that_was_accepted_before_is_not_fetched_and_may_be_gone() {
    let (door, web) = Door::open_to("ingress_rps = 1000").await;
    let media = json!([{ "type": "image", "url": web.picture }]);
    let post = json!({ "text": "one", "media": media, "source_ref": "ref" });
    let other = json!({ "text": "two", "media": media });
    let first = door.push(post.clone()).await;
    assert_eq!((first.status, door.push(other.clone()).await.status, web.asked()), (202, 202, 2), "{}", first.body);
    for payload in [post.clone(), json!({ "text": "changed", "media": media, "source_ref": "ref" }), other.clone()] {
        let again = door.push(payload).await;
        assert_eq!((again.status, &again.body["data"]["outcome"]), (200, &json!("duplicate")), "{}", again.body);
    }
    assert_eq!(web.asked(), 2);
    web.serving.abort();
    let _ended = web.serving.await;
    let again = door.push(post).await;
    assert_eq!((again.status, &again.body["data"]["message_id"]), (200, &first.body["data"]["message_id"]), "{}", again.body);
    assert_eq!(door.world.events("action = 'ingress_dedup_dropped'").await.len(), 4);
    let runs = door.world.rows("select run_id from posting.ingest_runs where stats_json ? 'dedup_dropped'").await;
    assert!(runs.iter().any(|run| run["run_id"] == again.body["data"]["run_id"]), "{runs:?}");
    door.world.advance(11);
    assert_eq!(door.push(other).await.status, 422, "after the window it is a post of its own, and its picture is gone");
}

#[tokio::test]
async fn copies_with_media_that_come_at_once_are_accepted_once() {
    let (door, web) = Door::open_to("ingress_rps = 1000").await;
    for reference in [Some("r"), None] {
        let media = json!([{ "type": "image", "url": web.picture }]);
        let payload = json!({ "text": format!("post {reference:?}"), "media": media, "source_ref": reference });
        let answers = futures::future::join_all((0..8).map(|_| door.push(payload.clone()))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 202).count(), 1);
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 202)));
    }
    assert_eq!(door.world.ask("select count(*) from posting.deliveries").await, json!(4));
}

#[tokio::test]
async fn nothing_is_fetched_for_what_cannot_be_a_post() {
    let (door, web) = Door::open_to("ingress_rps = 1000").await;
    let item = json!({ "type": "image", "url": web.picture });
    let cases = [
        json!({ "text": "x", "media": vec![item.clone(); 31] }),
        json!({ "text": "x", "media": [item, { "type": "hologram", "url": web.picture }] }),
        json!({ "text": 7, "media": [item] }),
        json!({ "text": "x", "parse_mode": "BBCode", "media": [item] }),
        json!({ "text": "x", "tags": "news", "media": [item] }),
        json!({ "text": "x", "scheduled_for": "noon", "media": [item] }),
        json!({ "text": "x", "payload_hash": "mine", "media": [item] }),
    ];
    for payload in cases {
        let answer = door.push(payload.clone()).await;
        assert_eq!((answer.status, web.asked()), (422, 0), "{payload}: {}", answer.body);
    }
    let large = json!({ "text": "x".repeat(300_000), "media": [item] });
    assert_eq!((door.push(large).await.status, web.asked()), (413, 0));
}
