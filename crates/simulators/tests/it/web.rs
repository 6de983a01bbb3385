//! The web site answers what a test set for a path, and writes down every request.

use reqwest::Response;
use serde_json::{Value, json};

use crate::harness::Sim;

async fn get(sim: &Sim, path: &str) -> Response {
    sim.client.get(format!("{}/web/{path}", sim.base)).send().await.expect("an answer")
}

async fn set(sim: &Sim, page: Value) {
    sim.control("pages", page).await;
}

#[tokio::test]
async fn a_path_answers_what_was_set_and_others_are_not_found() {
    let sim = Sim::start().await;
    set(&sim, json!({"path": "/feed.xml", "headers": {"content-type": "application/rss+xml"}, "body": "<rss/>"})).await;
    set(&sim, json!({"path": "", "body": "home"})).await;
    set(&sim, json!({"path": "img", "body_base64": "AAEC", "status": 203})).await;
    let feed = get(&sim, "feed.xml").await;
    assert_eq!((feed.status().as_u16(), &feed.headers()["content-type"]), (200, &"application/rss+xml".parse().unwrap()));
    assert_eq!(feed.text().await.unwrap(), "<rss/>");
    assert_eq!(get(&sim, "").await.text().await.unwrap(), "home");
    let image = get(&sim, "img").await;
    assert_eq!(image.status(), 203);
    assert_eq!(image.bytes().await.unwrap().as_ref(), [0, 1, 2]);
    assert_eq!(get(&sim, "other").await.status(), 404);
}

#[tokio::test]
async fn a_page_for_a_number_of_times_comes_before_the_lasting_one() {
    let sim = Sim::start().await;
    set(&sim, json!({"path": "a", "body": "lasting"})).await;
    set(&sim, json!({"path": "a", "status": 503, "times": 2})).await;
    set(&sim, json!({"path": "a", "status": 500, "times": 1})).await;
    set(&sim, json!({"path": "a?page=2", "body": "second"})).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(get(&sim, "a?x=1").await.status().as_u16());
    }
    assert_eq!(statuses, [503, 503, 500, 200]);
    assert_eq!(get(&sim, "a?page=2").await.text().await.unwrap(), "second");
    set(&sim, json!({"path": "a", "body": "new"})).await;
    assert_eq!(get(&sim, "a").await.text().await.unwrap(), "new");
}

#[tokio::test]
async fn what_the_client_has_already_is_not_sent_again() {
    let sim = Sim::start().await;
    let modified = "Sun, 06 Nov 1994 08:49:37 GMT";
    set(&sim, json!({"path": "a", "body": "text", "headers": {"etag": "\"v1\"", "last-modified": modified}})).await;
    set(&sim, json!({"path": "plain", "body": "text"})).await;
    let ask = async |path: &str, name: &str, value: &str| {
        let response = sim.client.get(format!("{}/web/{path}", sim.base)).header(name, value).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let fresh = (304, String::new());
    let whole = (200, "text".to_owned());
    for (name, value, expected) in [
        ("if-none-match", "\"v1\"", &fresh),
        ("if-none-match", "W/\"v1\"", &fresh),
        ("if-none-match", "\"v0\", \"v1\"", &fresh),
        ("if-none-match", "\"v2\"", &whole),
        ("if-modified-since", modified, &fresh),
        ("if-modified-since", "Mon, 07 Nov 1994 08:49:37 GMT", &fresh),
        ("if-modified-since", "Sat, 05 Nov 1994 08:49:37 GMT", &whole),
    ] {
        assert_eq!(&ask("a", name, value).await, expected, "{name}: {value}");
    }
    assert_eq!(ask("plain", "if-none-match", "\"v1\"").await, whole);
}

#[tokio::test]
async fn a_redirect_leads_where_it_was_told() {
    let sim = Sim::start().await;
    set(&sim, json!({"path": "old", "redirect": "/web/new", "status": 301})).await;
    set(&sim, json!({"path": "new", "body": "here"})).await;
    let response = get(&sim, "old").await;
    assert_eq!((response.url().path(), response.status().as_u16()), ("/web/new", 200));
    let sent = sim.sent("provider=web").await;
    let paths: Vec<&Value> = sent.iter().map(|request| &request["params"]["path"]).collect();
    assert_eq!(paths, ["/old", "/new"]);
}

#[tokio::test]
async fn a_page_of_any_size_is_made_while_it_is_sent() {
    let sim = Sim::start().await;
    set(&sim, json!({"path": "big", "bytes": 3_000_000})).await;
    let response = get(&sim, "big").await;
    assert_eq!(response.content_length(), Some(3_000_000));
    assert_eq!(response.bytes().await.unwrap().len(), 3_000_000);
    set(&sim, json!({"path": "huge", "bytes": 10_000_000_000_u64})).await;
    assert_eq!(get(&sim, "huge").await.content_length(), Some(10_000_000_000));
}

#[tokio::test]
async fn a_connection_is_dropped_without_an_answer_or_in_the_middle_of_one() {
    let sim = Sim::start().await;
    set(&sim, json!({"path": "none", "drop": true})).await;
    set(&sim, json!({"path": "half", "drop": "after", "body": "x".repeat(1000)})).await;
    assert!(sim.client.get(format!("{}/web/none", sim.base)).send().await.is_err());
    let half = get(&sim, "half").await;
    assert_eq!((half.status().as_u16(), half.content_length()), (200, Some(1000)));
    assert!(half.bytes().await.is_err());
}

#[tokio::test]
async fn requests_are_listed_with_their_headers_in_order() {
    let sim = Sim::start().await;
    sim.client.get(format!("{}/web/a?q=1", sim.base)).header("user-agent", "beresta").send().await.unwrap();
    sim.client.post(format!("{}/web/b", sim.base)).body("form").send().await.unwrap();
    let sent = sim.sent("provider=web").await;
    assert_eq!((&sent[0]["method"], &sent[0]["params"]["path"]), (&json!("GET"), &json!("/a")));
    assert_eq!((&sent[0]["params"]["query"], &sent[0]["params"]["headers"]["user-agent"]), (&json!("q=1"), &json!("beresta")));
    assert_eq!((&sent[1]["method"], &sent[1]["params"]["body"]), (&json!("POST"), &json!("form")));
    assert_eq!(sim.sent("provider=web&target=/b").await.len(), 1);
    assert_eq!(sim.read("calls?provider=web").await["calls"][0]["status"], 404);
}

#[tokio::test]
async fn faults_and_resets_work_on_the_site() {
    let sim = Sim::start().await;
    set(&sim, json!({"path": "a", "body": "text"})).await;
    sim.control("faults", json!({"provider": "web", "target": "/a", "status": 429, "retry_after": 5})).await;
    sim.control("faults", json!({"provider": "web", "target": "a", "drop": "before"})).await;
    let limited = get(&sim, "a").await;
    assert_eq!((limited.status().as_u16(), &limited.headers()["retry-after"]), (429, &"5".parse().unwrap()));
    assert!(sim.client.get(format!("{}/web/a", sim.base)).send().await.is_err());
    assert_eq!(get(&sim, "a").await.text().await.unwrap(), "text");
    sim.control("reset", json!({})).await;
    assert_eq!(get(&sim, "a").await.status(), 404);
    assert_eq!(sim.sent("provider=web").await.len(), 1);
}
