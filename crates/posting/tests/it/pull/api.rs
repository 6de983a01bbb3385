//! JSON APIs: a cursor that never moves past what was not taken.

use serde_json::json;

use super::*;

fn api(more: &Value) -> Value {
    let mut config = json!({"items": "/items", "id": "/id", "text": "/text", "cursor": {"param": "after", "next": "/next"}});
    for (name, value) in more.as_object().unwrap() {
        config[name] = value.clone();
    }
    config
}

/// An API of numbered items, three on a page, whose cursor is the number of the last one.
fn serve_numbers(world: &World, last: Arc<AtomicUsize>, broken_after: Arc<AtomicUsize>) {
    *world.site.answer.lock().unwrap() = Some(Box::new(move |request| {
        let query = request.uri().query().unwrap_or_default();
        let after: usize =
            query.split('&').find_map(|pair| pair.strip_prefix("after=")).map_or(0, |after| after.parse().unwrap());
        if after >= broken_after.load(Ordering::SeqCst) {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        let numbers: Vec<usize> = (after + 1..=last.load(Ordering::SeqCst)).take(3).collect();
        let items: Vec<Value> = numbers.iter().map(|n| json!({"id": n, "text": format!("post {n}")})).collect();
        axum::Json(json!({"items": items, "next": numbers.last().unwrap_or(&after)})).into_response()
    }));
}

async fn numbers(config: Value, count: usize) -> (World, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let world = World::new().await;
    world.source("news", "api", api(&config)).await;
    let (last, broken_after) = (Arc::new(AtomicUsize::new(count)), Arc::new(AtomicUsize::new(usize::MAX)));
    serve_numbers(&world, last.clone(), broken_after.clone());
    (world, last, broken_after)
}

async fn posted(world: &World) -> Vec<u32> {
    let mut posts: Vec<u32> = world.posts().await.iter().map(|post| post[5..].parse().unwrap()).collect();
    posts.sort_unstable();
    posts
}

#[tokio::test]
async fn pages_are_followed_to_the_end_and_the_cursor_is_kept() {
    let (world, last, _) = numbers(json!({"first_run": "all"}), 7).await;
    assert_eq!(world.pull_news().await, (7, 7));
    assert_eq!(world.cursor("news").await["next"], "7");
    assert_eq!(world.pull_news().await, (0, 0));
    last.store(9, Ordering::SeqCst);
    let asked = world.site.asked.load(Ordering::SeqCst);
    assert_eq!(world.pull_news().await, (2, 2));
    assert!(world.site.asked.load(Ordering::SeqCst) - asked <= 2, "reading goes on from the cursor");
    assert_eq!(posted(&world).await, (1..=9).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_run_that_stops_inside_a_page_asks_for_that_page_again() {
    let (world, ..) = numbers(json!({"first_run": "all", "items_max": 4}), 10).await;
    assert_eq!(world.pull_news().await, (4, 4));
    assert_eq!(world.cursor("news").await["next"], "3");
    assert_eq!(world.pull_news().await.1, 4);
    assert_eq!(world.pull_news().await.1, 2);
    assert_eq!(world.pull_news().await.1, 0);
    assert_eq!(posted(&world).await, (1..=10).collect::<Vec<_>>());
}

#[tokio::test]
async fn pages_before_a_broken_one_are_taken_and_the_break_is_told_next_time() {
    let (world, _, broken_after) = numbers(json!({"first_run": "all"}), 9).await;
    broken_after.store(6, Ordering::SeqCst);
    assert_eq!(world.pull_news().await, (6, 6));
    assert!(world.pull("news").await["error"].as_str().unwrap().contains("status 500"));
    assert_eq!(world.cursor("news").await["next"], "6");
    broken_after.store(usize::MAX, Ordering::SeqCst);
    assert_eq!(world.pull_news().await, (3, 3));
}

#[tokio::test]
async fn a_first_run_goes_through_the_history_and_posts_the_latest() {
    let (world, last, _) = numbers(json!({"first_run_items": 2}), 8).await;
    assert_eq!(world.pull_news().await, (8, 2));
    assert_eq!(posted(&world).await, [7, 8]);
    last.store(9, Ordering::SeqCst);
    assert_eq!(world.pull_news().await, (1, 1));
}

#[tokio::test]
async fn a_history_longer_than_one_run_stays_a_first_run_until_its_end() {
    let (world, last, _) = numbers(json!({}), 100).await;
    assert_eq!(world.pull_news().await, (60, 0));
    assert_eq!(world.pull_news().await, (40, 1));
    assert_eq!(posted(&world).await, [100]);
    last.store(101, Ordering::SeqCst);
    assert_eq!(world.pull_news().await, (1, 1));
}

#[tokio::test]
async fn an_api_without_a_cursor_is_read_like_a_feed() {
    let world = World::new().await;
    let config = json!({"first_run": "all", "items": "", "id": "/guid", "title": "/headline", "link": "/url"});
    world.source("news", "api", config).await;
    *world.site.etag.lock().unwrap() = Some("\"v1\"");
    world.show(
        json!([{"guid": "b", "headline": "Second", "url": "https://example.org/b"}, {"guid": "a", "headline": "First"}])
            .to_string(),
    );
    assert_eq!(world.pull_news().await, (2, 2));
    assert_eq!(world.posts().await, ["First", "Second\n\nhttps://example.org/b"]);
    assert_eq!(world.pull("news").await["unchanged"], true);
}

#[tokio::test]
async fn an_answer_of_another_shape_is_an_error_that_says_what_is_missing() {
    let world = World::new().await;
    world.source("news", "api", api(&json!({}))).await;
    world.show("{\"data\": []}".into());
    assert!(world.pull("news").await["error"].as_str().unwrap().contains("`/items`"));
}
