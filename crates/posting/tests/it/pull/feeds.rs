//! Feeds: what is new in them, told by a ledger and not by their order or their dates.

use serde_json::json;

use super::*;

#[tokio::test]
async fn every_new_item_is_posted_once_and_in_its_order() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.show_numbers(1..=3);
    assert_eq!(world.pull_news().await, (3, 3));
    assert_eq!(world.posts().await, ["post 1", "post 2", "post 3"]);
    world.wait(300);
    world.show_numbers(2..=5);
    assert_eq!(world.pull_news().await, (2, 2));
    assert_eq!(world.pull_news().await, (0, 0));
    assert_eq!(world.posts().await, ["post 1", "post 2", "post 3", "post 4", "post 5"]);
}

#[tokio::test]
async fn a_post_carries_the_words_the_link_the_pictures_and_the_tags() {
    let world = World::feed(json!({"first_run": "all", "tags": ["News"], "template": "{title}\n\n{link}"})).await;
    world.show(
        "<rss version='2.0'><channel><item><guid>1</guid><title>1 &lt; 2</title><link>https://example.org/1</link>
         <description>&lt;p&gt;long&lt;/p&gt;</description><enclosure url='https://example.org/1.jpg' type='image/jpeg' length='1'/>
         </item></channel></rss>"
            .into(),
    );
    assert_eq!(world.pull_news().await, (1, 1));
    let query = "select payload, tags, source, source_ref from posting.messages";
    let (payload, tags, source, source_ref): (Value, Vec<String>, Value, String) =
        sqlx::query_as(query).fetch_one(world.db.db.pool()).await.unwrap();
    assert_eq!(payload["text"], "1 < 2\n\nhttps://example.org/1");
    assert_eq!(payload["parse_mode"], "None");
    assert_eq!(payload["media"], json!([{"type": "image", "url": "https://example.org/1.jpg"}]));
    assert_eq!((tags, source_ref.as_str()), (vec!["news".to_owned()], "1"));
    assert_eq!(source["source_id"], "news");
}

#[tokio::test]
async fn a_feed_that_reorders_its_items_posts_nothing_again() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.show_items(&[("a", "one"), ("b", "two"), ("c", "three")]);
    assert_eq!(world.pull_news().await, (3, 3));
    world.show_items(&[("c", "three"), ("a", "one"), ("d", "four"), ("b", "two")]);
    assert_eq!(world.pull_news().await, (1, 1));
    world.show_items(&[("b", "two")]);
    assert_eq!(world.pull_news().await, (0, 0));
    // Gone for a while and back again.
    world.show_items(&[("d", "four"), ("c", "three"), ("a", "one"), ("b", "two")]);
    assert_eq!(world.pull_news().await, (0, 0));
    assert_eq!(world.posts().await.len(), 4);
}

#[tokio::test]
async fn an_item_whose_title_was_edited_is_not_posted_again() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.show_items(&[("a", "Tytle")]);
    assert_eq!(world.pull_news().await, (1, 1));
    world.show_items(&[("a", "Title")]);
    assert_eq!(world.pull_news().await, (0, 0));
    assert_eq!(world.posts().await, ["Tytle"]);
}

#[tokio::test]
async fn an_unchanged_feed_costs_one_short_answer() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.show_numbers(1..=2);
    *world.site.etag.lock().unwrap() = Some("\"v1\"");
    assert_eq!(world.pull_news().await, (2, 2));
    let stats = world.pull("news").await;
    assert_eq!((&stats["unchanged"], &stats["seen"]), (&json!(true), &json!(0)));
    assert_eq!(world.site.whole_answers.load(Ordering::SeqCst), 1);
    world.show_numbers(1..=3);
    *world.site.etag.lock().unwrap() = Some("\"v2\"");
    assert_eq!(world.pull_news().await, (1, 1));
    assert_eq!(world.cursor("news").await["etag"], "\"v2\"");
}

#[tokio::test]
async fn the_first_run_posts_what_its_policy_says_and_the_next_one_what_is_new() {
    let policies = [
        (json!({}), vec!["post 5"]),
        (json!({"first_run": "latest", "first_run_items": 2}), vec!["post 4", "post 5"]),
        (json!({"first_run": "all"}), vec!["post 1", "post 2", "post 3", "post 4", "post 5"]),
        (json!({"first_run": "none"}), vec![]),
    ];
    for (config, expected) in policies {
        let world = World::feed(config.clone()).await;
        world.show_numbers(1..=5);
        let stats = world.pull("news").await;
        assert_eq!(stats["seen"], 5, "{config}");
        assert_eq!(world.posts().await, expected, "{config}");
        world.wait(300);
        world.show_numbers(1..=6);
        assert_eq!(world.pull_news().await, (1, 1), "{config}");
        assert_eq!(world.posts().await.last().unwrap(), "post 6", "{config}");
    }
}

#[tokio::test]
async fn a_feed_that_was_empty_at_first_posts_what_comes_later() {
    let world = World::feed(json!({"first_run": "none"})).await;
    world.show_items(&[]);
    assert_eq!(world.pull_news().await, (0, 0));
    world.show_numbers(1..=2);
    assert_eq!(world.pull_news().await, (2, 2));
}

#[tokio::test]
async fn a_backlog_is_taken_over_several_runs_and_an_etag_does_not_hide_the_rest() {
    let world = World::feed(json!({"first_run": "all", "items_max": 4})).await;
    world.show_numbers(1..=10);
    *world.site.etag.lock().unwrap() = Some("\"v1\"");
    let now = world.db.clock.now().to_string();
    for expected in [(4, 4), (4, 4)] {
        assert_eq!(world.pull_news().await, expected);
        let cursor = world.cursor("news").await;
        assert_eq!((cursor.get("etag"), &cursor["next_pull_at"]), (None, &json!(now)), "the next run comes at once");
        world.wait(0);
    }
    assert_eq!(world.pull_news().await, (2, 2));
    assert_eq!(world.cursor("news").await["etag"], "\"v1\"");
    let expected: Vec<String> = (1..=10).map(|n| format!("post {n}")).collect();
    let mut posts = world.posts().await;
    posts.sort_by_key(|post| post[5..].parse::<u32>().unwrap());
    assert_eq!(posts, expected);
}

#[tokio::test]
async fn more_latest_items_than_a_run_takes_come_over_several_runs() {
    let world = World::feed(json!({"first_run": "latest", "first_run_items": 5, "items_max": 2})).await;
    world.show_numbers(1..=9);
    let mut posted = Vec::new();
    for _ in 0..4 {
        posted.push(world.pull_news().await.1);
    }
    assert_eq!(posted, [2, 2, 1, 0]);
    assert_eq!(world.posts().await.len(), 5);
}

#[tokio::test]
async fn another_address_is_another_feed_and_has_a_first_run_of_its_own() {
    let world = World::feed(json!({})).await;
    world.show_numbers(1..=3);
    assert_eq!(world.pull_news().await.1, 1);
    world.wait(300);
    world.source("news", "rss", json!({"url": format!("{}?other", world.url)})).await;
    world.show_numbers(11..=13);
    assert_eq!(world.pull_news().await, (3, 1));
    assert_eq!(world.posts().await, ["post 3", "post 13"]);
}

#[tokio::test]
async fn one_item_that_cannot_be_a_post_is_rejected_and_the_rest_go_on() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.show_items(&[("c", "three"), ("b", ""), ("a", "one")]);
    let stats = world.pull("news").await;
    assert_eq!((&stats["enqueued"], &stats["rejected"]), (&json!(2), &json!(1)));
    assert_eq!(stats["rejections"][0]["key"], "b");
    assert_eq!(world.pull_news().await, (0, 0), "what was rejected is not tried for ever");
    assert_eq!(world.posts().await, ["one", "three"]);
}
