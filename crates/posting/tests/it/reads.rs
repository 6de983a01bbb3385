//! What can be read: posts, deliveries, events, channels, sources and runs, through the router.

use std::collections::HashSet;

use axum::Router;
use kernel::{Bundle, Secret};
use serde_json::{Value, json};
use testkit::http;

use crate::world::World;

struct Reader {
    world: World,
    router: Router,
    token: Secret,
}

impl Reader {
    async fn new() -> Self {
        let world = World::new().await;
        let router = world.router(posting::http::router(world.tools.fetcher.clone()));
        let token = world.token(&[Bundle::Read]).await;
        Self { world, router, token }
    }

    /// Two channels that take everything, and one that takes nothing now.
    async fn with_channels() -> Self {
        let reader = Self::new().await;
        reader.world.channel("a", "telegram", -1001, "title = 'News'").await;
        reader.world.channel("m", "max", -2001, "").await;
        reader.world.channel("z", "telegram", -1002, "paused_until = platform.now() + interval '1 hour'").await;
        reader
    }

    async fn ask(&self, token: Option<&Secret>, path: &str) -> (u16, Value) {
        http::ask(&self.router, token, "GET", path, None).await
    }

    async fn get(&self, path: &str) -> Value {
        http::get(&self.router, &self.token, path).await
    }

    /// The words with which a request is refused.
    async fn refusal(&self, path: &str, expected: u16) -> String {
        let (status, body) = self.ask(Some(&self.token), path).await;
        assert_eq!(status, expected, "{path}: {body}");
        body["error"]["message"].as_str().unwrap().to_owned()
    }

    /// Everything in a list, page by page; fails when something comes twice.
    async fn walk(&self, path: &str, list: &str, key: &str, cursor: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut next = String::new();
        for _ in 0..100 {
            let page = self.get(&format!("{path}&limit=7{next}")).await;
            let rows = page[list].as_array().unwrap();
            assert!(rows.len() <= 7);
            all.extend(rows.iter().map(|row| row[key].as_str().unwrap().to_owned()));
            let Some(place) = page["next"].as_str() else {
                let distinct: HashSet<_> = all.iter().collect();
                assert_eq!(distinct.len(), all.len(), "{path} repeats");
                return all;
            };
            next = format!("&{cursor}={place}");
        }
        panic!("{path} does not end");
    }
}

#[tokio::test]
async fn a_post_tells_where_each_copy_stands_why_it_waits_and_what_follows_it() {
    let reader = Reader::with_channels().await;
    let posted = reader.world.post(json!({"text": "Hello", "tags": ["news"], "source_ref": "r-1"})).await;
    reader.world.drain().await;
    let id = posted["message_id"].as_str().unwrap();

    let list = reader.get("/api/posts").await;
    assert_eq!(list["posts"][0]["deliveries"], json!({"sent": 2, "queued": 1}));
    assert_eq!((&list["posts"][0]["text"], &list["next"]), (&json!("Hello"), &Value::Null));

    let post = reader.get(&format!("/api/posts/{id}")).await;
    assert_eq!(post["post"]["payload"]["text"], "Hello");
    let copies = post["deliveries"].as_array().unwrap();
    let told: Vec<_> =
        copies.iter().map(|copy| (copy["channel_id"].as_str().unwrap(), copy["status"].as_str().unwrap())).collect();
    assert_eq!(told, [("a", "sent"), ("m", "sent"), ("z", "queued")]);
    assert_eq!((&copies[0]["waiting_for"], copies[0]["channel_title"].as_str()), (&Value::Null, Some("News")));
    assert!(copies[0]["provider_message_id"].is_string() && copies[0]["sent_at"].is_string());
    assert_eq!(copies[2]["waiting_for"]["reason"], "channel_paused");

    let waiting = reader.get(&format!("/api/deliveries/{}", copies[2]["delivery_id"].as_str().unwrap())).await;
    assert_eq!(waiting["delivery"]["waiting_for"]["until"], json!("2026-03-02T10:00:00+00:00"));
    assert_eq!(waiting["events"][0]["action"], "enqueue");

    reader.world.ask(&format!("posting.follow_post($ws, '{id}', 'edit', '{{\"text\": \"Hello again\"}}', 'trace', 'me')")).await;
    let post = reader.get(&format!("/api/posts/{id}")).await;
    assert_eq!((&post["following"][0]["operation"], &post["following"][0]["text"]), (&json!("edit"), &json!("Hello again")));
    assert_eq!(reader.get("/api/posts").await["posts"].as_array().unwrap().len(), 1, "an edit is no post of its own");
    let edits = reader.get("/api/deliveries?operation=edit").await;
    assert_eq!(edits["deliveries"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat_whatever_they_filter_by() {
    let reader = Reader::with_channels().await;
    for n in 0..24 {
        reader.world.post(json!({"text": format!("Post {n}"), "tags": [if n % 3 == 0 { "third" } else { "other" }]})).await;
        if n % 5 == 0 {
            reader.world.advance(1);
        }
    }
    reader.world.drain().await;
    reader.world.run("update posting.deliveries set status = 'failed_permanent' where status = 'queued' and delivery_id in (select delivery_id from posting.deliveries where status = 'queued' limit 11)").await;

    for (path, expected) in [("/api/posts?", 24), ("/api/posts?tag=third", 8)] {
        let ids = reader.walk(path, "posts", "message_id", "before").await;
        assert_eq!(ids.len(), expected, "{path}");
        assert!(ids.is_sorted_by(|a, b| a > b), "{path} is newest first");
    }
    for (path, expected) in [
        ("/api/deliveries?", 72),
        ("/api/deliveries?status=sent", 48),
        ("/api/deliveries?channel_id=m", 24),
        ("/api/deliveries?status=queued", 13),
        ("/api/deliveries?status=queued&channel_id=z", 13),
        ("/api/deliveries?status=queued&channel_id=a", 0),
        ("/api/deliveries?status=failed_permanent", 11),
        ("/api/deliveries?operation=edit", 0),
    ] {
        let ids = reader.walk(path, "deliveries", "delivery_id", "before").await;
        assert_eq!(ids.len(), expected, "{path}");
    }
    for (path, expected) in [
        ("/api/events?", 168),
        ("/api/events?action=sent", 48),
        ("/api/events?action=enqueue&channel_id=z", 24),
        ("/api/events?result=error", 0),
        ("/api/events?action=dead_letter", 0),
    ] {
        let ids = reader.walk(path, "events", "id", "before").await;
        assert_eq!(ids.len(), expected, "{path}");
    }
    assert_eq!(reader.walk("/api/ingest-runs?kind=push", "runs", "run_id", "before").await.len(), 24);
    assert_eq!(reader.walk("/api/ingest-runs?kind=pull", "runs", "run_id", "before").await.len(), 0);
    assert_eq!(reader.walk("/api/channels?", "channels", "channel_id", "after").await, ["a", "m", "z"]);
}

#[tokio::test]
async fn a_filter_that_no_index_knows_looks_so_far_and_goes_on_from_there() {
    let reader = Reader::new().await;
    reader.world.post(json!({"text": "The old one", "source_ref": "old"})).await;
    reader.world.advance(1);
    reader
        .world
        .run("insert into posting.messages (workspace_id, message_id, content_hash, payload) select $ws, platform.new_id(), md5(n::text), '{}' from generate_series(1, 10050) n")
        .await;
    let first = reader.get("/api/posts?source_ref=old").await;
    assert_eq!(first["posts"], json!([]));
    let second = reader.get(&format!("/api/posts?source_ref=old&before={}", first["next"].as_str().unwrap())).await;
    assert_eq!((&second["posts"][0]["text"], &second["next"]), (&json!("The old one"), &Value::Null));
}

#[tokio::test]
async fn the_events_of_a_post_are_its_own_and_those_of_its_deliveries() {
    let reader = Reader::with_channels().await;
    let first = reader.world.post(json!({"text": "First", "tags": ["x"]})).await;
    reader.world.post(json!({"text": "Second"})).await;
    reader.world.drain().await;
    reader.world.advance(60);
    // The same content again, under other tags: an event of the post, and one more suppressed copy in each channel.
    reader.world.post(json!({"text": "First", "tags": ["y"]})).await;
    let id = first["message_id"].as_str().unwrap();
    let path = format!("/api/events?message_id={id}");
    let mut actions = Vec::new();
    for event in reader.get(&path).await["events"].as_array().unwrap() {
        assert_eq!(event["message_id"], id);
        actions.push(event["action"].as_str().unwrap().to_owned());
    }
    let count = |action: &str| actions.iter().filter(|known| *known == action).count();
    assert_eq!((count("enqueue"), count("sent"), count("dedup_suppressed"), count("message_tag_mismatch")), (3, 2, 3, 1));
    assert_eq!(reader.walk(&path, "events", "id", "before").await.len(), actions.len());
    let only = reader.get(&format!("{path}&action=message_tag_mismatch")).await;
    assert_eq!(only["events"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_belongs_to_another_workspace_is_not_there() {
    let reader = Reader::with_channels().await;
    let posted = reader.world.post(json!({"text": "Ours"})).await;
    reader.world.drain().await;
    let id = posted["message_id"].as_str().unwrap();
    let delivery = reader.world.deliveries().await[0].id;
    let stranger = reader.world.test.workspace("strangers").await;
    let token = reader.world.token_in(stranger, None, &[Bundle::Read]).await;
    for path in [format!("/api/posts/{id}"), format!("/api/deliveries/{delivery}"), "/api/channels/a".to_owned()] {
        let (status, body) = reader.ask(Some(&token), &path).await;
        assert_eq!(
            (status, body["error"]["message"].as_str().unwrap().contains("there is no such")),
            (404, true),
            "{path}: {body}"
        );
    }
    for (path, list) in [
        ("/api/posts".to_owned(), "posts"),
        (format!("/api/deliveries?message_id={id}"), "deliveries"),
        ("/api/deliveries?status=queued".to_owned(), "deliveries"),
        (format!("/api/events?message_id={id}"), "events"),
        (format!("/api/events?delivery_id={delivery}"), "events"),
        ("/api/events?channel_id=a".to_owned(), "events"),
        ("/api/channels".to_owned(), "channels"),
        ("/api/sources".to_owned(), "sources"),
        ("/api/ingest-runs".to_owned(), "runs"),
    ] {
        let (status, body) = reader.ask(Some(&token), &path).await;
        assert_eq!((status, &body["data"][list]), (200, &json!([])), "{path}");
    }
    let (_, health) = reader.ask(Some(&token), "/api/posting/health").await;
    assert_eq!((&health["data"]["inflight"], &health["data"]["sent_last_minute"]), (&json!({}), &json!(0)));
}

#[tokio::test]
async fn a_question_that_cannot_be_answered_is_refused_with_words() {
    let reader = Reader::new().await;
    for (path, words) in [
        ("/api/posts?colour=red", "unknown field"),
        ("/api/posts?limit=0", "1 to 200"),
        ("/api/posts?limit=201", "1 to 200"),
        ("/api/posts?before=yesterday", "before"),
        ("/api/deliveries?status=lost", "`status` is one of: queued"),
        ("/api/deliveries?operation=paint", "`operation` is one of: send"),
        ("/api/events?action=danced", "`action` is one of: enqueue"),
        ("/api/events?result=maybe", "`result` is one of: ok"),
        ("/api/events?before=12", "`before` is what `next`"),
        ("/api/channels?state=happy", "`state` is one of: disabled"),
        ("/api/ingest-runs?kind=shove", "`kind` is one of: push"),
    ] {
        let message = reader.refusal(path, 422).await;
        assert!(message.contains(words), "{path}: {message}");
    }
    reader.refusal("/api/posts/not-an-id", 404).await;
    let writer = reader.world.token(&[Bundle::Write]).await;
    for path in [
        "/api/posts",
        "/api/deliveries",
        "/api/events",
        "/api/channels",
        "/api/sources",
        "/api/ingest-runs",
        "/api/posting/health",
    ] {
        assert_eq!(reader.ask(None, path).await.0, 401, "{path}");
        assert_eq!(reader.ask(Some(&writer), path).await.0, 403, "{path}");
    }
}

#[tokio::test]
async fn a_channel_tells_its_health_and_posting_tells_it_at_a_glance() {
    let reader = Reader::with_channels().await;
    reader.world.channel("off", "max", -2002, "enabled = false").await;
    reader.world.fault("max", -2001, json!({"status": 403, "times": 1})).await;
    reader.world.post(json!({"text": "Hello"})).await;
    reader.world.drain().await;

    let open = reader.get("/api/channels/a").await;
    assert_eq!((&open["state"], &open["backlog"], &open["error_streak"]), (&json!("open"), &json!(0), &json!(0)));
    assert!(open["last_sent_at"].is_string() && open["last_error"].is_null());
    let hurt = reader.get("/api/channels/m").await;
    assert!(hurt["last_error"]["code"].is_string() && hurt["last_sent_at"].is_null(), "{hurt}");
    let states = async |state: &str| {
        let found = reader.get(&format!("/api/channels?state={state}")).await;
        found["channels"].as_array().unwrap().iter().map(|row| row["channel_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states("disabled").await, ["off"]);
    assert!(states("paused").await.contains(&"z".to_owned()));
    assert_eq!(reader.get("/api/channels?platform=telegram").await["channels"][1]["backlog"], 1);

    let health = reader.get("/api/posting/health").await;
    assert_eq!(health["inflight"]["queued"], 1);
    assert_eq!((&health["sent_last_minute"], &health["disabled_channels"]), (&json!(1), &json!(1)));
    assert_eq!((&health["failed_last_day"], &health["top_errors"][0]["attempts"]), (&json!(1), &json!(1)), "{health}");
    assert!(health["paused"].as_array().unwrap().iter().any(|channel| channel["channel_id"] == "z"));
}

#[tokio::test]
async fn a_source_is_shown_without_its_secrets_and_with_its_last_run() {
    let reader = Reader::new().await;
    let config =
        r#"{"url": "https://user:hunter22@feeds.example/rss", "headers": {"authorization": "Bearer abcdef0123456789abcdef"}}"#;
    reader.world.run(&format!("insert into posting.pull_sources (workspace_id, source_id, kind, config_json) values ($ws, 'news', 'rss', '{config}')")).await;
    reader.world.run("insert into posting.ingest_runs (workspace_id, kind, source_id, stats_json) values ($ws, 'pull', 'news', '{\"new\": 3}')").await;
    let sources = reader.get("/api/sources").await;
    assert_eq!((&sources["sources"][0]["source_id"], &sources["sources"][0]["last_stats"]), (&json!("news"), &json!({"new": 3})));
    assert!(!sources.to_string().contains("hunter22") && !sources.to_string().contains("abcdef0123456789"));
    let runs = reader.get("/api/ingest-runs?source_id=news").await;
    assert_eq!(runs["runs"][0]["kind"], "pull");
}

#[tokio::test]
async fn the_words_of_the_filters_are_those_of_the_tables() {
    let reader = Reader::new().await;
    let words = async |constraint: &str| {
        let rule = reader
            .world
            .ask(&format!(
                "select pg_get_constraintdef(oid) from pg_constraint where conname = '{constraint}' and conislocal limit 1"
            ))
            .await;
        let rule = rule.as_str().unwrap().to_owned();
        rule.split('\'').skip(1).step_by(2).map(ToOwned::to_owned).collect::<HashSet<_>>()
    };
    let set = |known: &[&str]| known.iter().map(|&word| word.to_owned()).collect::<HashSet<_>>();
    assert_eq!(words("event_action_known").await, set(&posting::reads::ACTIONS));
    assert_eq!(words("delivery_status_known").await, set(&posting::reads::STATUSES));
    assert_eq!(words("delivery_operation_known").await, set(&posting::reads::OPERATIONS));
}
