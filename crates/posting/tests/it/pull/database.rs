//! SQL sources: a watermark of two parts, and a session that can do nothing but read.

use serde_json::json;
use sqlx::Executor;

use super::*;

const QUERY: &str = "select id, text, ts, tags from news where (ts, id) > ($1, $2::bigint) order by ts, id";

/// A world with a second database that holds somebody's news.
struct Rows {
    world: World,
    news: TestDb,
}

impl Rows {
    async fn new(more: Value) -> Self {
        let (world, news) = (World::new().await, TestDb::empty().await);
        news.owner()
            .await
            .execute("create table news (id bigint primary key, text text, ts timestamptz not null, tags text[])")
            .await
            .unwrap();
        let rows = Self { world, news };
        rows.set(more).await;
        rows
    }

    async fn set(&self, more: Value) {
        let mut config = json!({"database_url": self.world.secret("news", &self.news.url), "query": QUERY});
        for (name, value) in more.as_object().unwrap() {
            config[name] = value.clone();
        }
        self.world.source("news", "db", config).await;
    }

    /// Adds rows of one instant.
    async fn add(&self, ids: std::ops::RangeInclusive<i64>, second: u32) {
        sqlx::query(
            "insert into news select n, 'row ' || n, timestamptz '2026-03-01 00:00:00.123456+00' + $3 * interval '1 second', '{Db}'
               from generate_series($1, $2) n",
        )
        .bind(ids.start())
        .bind(ids.end())
        .bind(f64::from(second))
        .execute(&mut self.news.owner().await)
        .await
        .unwrap();
    }

    async fn posted(&self) -> Vec<i64> {
        let mut posts: Vec<i64> = self.world.posts().await.iter().map(|post| post[4..].parse().unwrap()).collect();
        posts.sort_unstable();
        posts
    }
}

#[tokio::test]
async fn rows_of_one_instant_are_neither_lost_nor_repeated() {
    let rows = Rows::new(json!({"first_run": "all", "items_max": 4})).await;
    rows.add(1..=10, 0).await;
    assert_eq!(rows.world.pull_news().await, (4, 4));
    let cursor = rows.world.cursor("news").await;
    assert_eq!((&cursor["last_seen_ts"], &cursor["last_seen_id"]), (&json!("2026-03-01T00:00:00.123456Z"), &json!("4")));
    rows.add(11..=12, 0).await;
    for expected in [4, 4, 0, 0] {
        assert_eq!(rows.world.pull_news().await.1, expected);
    }
    rows.add(13..=13, 1).await;
    assert_eq!(rows.world.pull_news().await, (1, 1));
    assert_eq!(rows.posted().await, (1..=13).collect::<Vec<_>>());
    let tags: Vec<String> =
        sqlx::query_scalar("select tags from posting.messages limit 1").fetch_one(rows.world.db.db.pool()).await.unwrap();
    assert_eq!(tags, ["db"]);
}

#[tokio::test]
async fn the_first_run_starts_at_the_end_of_the_table() {
    for (config, expected) in
        [(json!({}), vec![100]), (json!({"first_run_items": 3}), vec![98, 99, 100]), (json!({"first_run": "none"}), vec![])]
    {
        let rows = Rows::new(config.clone()).await;
        rows.add(1..=100, 0).await;
        rows.world.pull("news").await;
        assert_eq!(rows.posted().await, expected, "{config}");
        rows.add(101..=102, 5).await;
        assert_eq!(rows.world.pull_news().await, (2, 2), "{config}");
    }
    let empty = Rows::new(json!({"first_run": "none"})).await;
    assert_eq!(empty.world.pull_news().await, (0, 0));
    empty.add(1..=2, 0).await;
    assert_eq!(empty.world.pull_news().await, (2, 2));
}

#[tokio::test]
async fn a_row_that_was_touched_again_is_not_posted_again() {
    let rows = Rows::new(json!({"first_run": "all"})).await;
    rows.add(1..=3, 0).await;
    assert_eq!(rows.world.pull_news().await, (3, 3));
    rows.news.owner().await.execute("update news set ts = ts + interval '1 hour', text = 'row 2' where id = 2").await.unwrap();
    assert_eq!(rows.world.pull_news().await, (0, 0));
    assert_eq!(rows.world.cursor("news").await["last_seen_id"], "2");
}

#[tokio::test]
async fn a_query_that_ignores_its_mark_is_told_so_when_it_gets_nowhere() {
    let rows = Rows::new(json!({"first_run": "all", "items_max": 2, "query": "select id, text, ts from news;"})).await;
    rows.add(1..=1, 0).await;
    assert_eq!(rows.world.pull_news().await, (1, 1));
    assert_eq!(rows.world.pull_news().await, (0, 0), "a table within the limit needs no mark");
    rows.add(2..=5, 1).await;
    assert_eq!(rows.world.pull_news().await.1, 1);
    assert!(rows.world.pull("news").await["error"].as_str().unwrap().contains("(ts, id) > ($1, $2)"));
}

#[tokio::test]
async fn a_query_can_only_read_and_only_one_thing() {
    let rows = Rows::new(json!({"first_run": "all"})).await;
    rows.add(1..=1, 0).await;
    rows.news
        .owner()
        .await
        .execute("create function grab() returns bigint language sql as 'delete from news returning id'")
        .await
        .unwrap();
    let writes = [
        "select grab() as id, 'x' as text, now() as ts",
        "with gone as (delete from news returning *) select id, text, ts from gone",
        "select 1 as id, 'x' as text, now() as ts) q; delete from news; select * from (select 1 as id, now() as ts",
        "select nextval('s') as id, 'x' as text, now() as ts",
        "select id, text, ts from news -- a comment at the end",
    ];
    for query in writes {
        rows.set(json!({"first_run": "all", "query": query})).await;
        let stats = rows.world.pull("news").await;
        assert_eq!(stats["error"].is_string(), !query.ends_with("end"), "{query}: {stats}");
    }
    let left: i64 = sqlx::query_scalar("select count(*) from news").fetch_one(&mut rows.news.owner().await).await.unwrap();
    assert_eq!(left, 1);
}

#[tokio::test]
async fn a_query_of_another_shape_is_an_error_that_says_what_it_has_to_return() {
    let rows = Rows::new(json!({"first_run": "all"})).await;
    rows.add(1..=1, 0).await;
    let shapes = [
        "select id, ts from news",
        "select text, ts from news",
        "select id, text from news",
        "select id, null::text as text, ts from news",
    ];
    for query in shapes {
        rows.set(json!({"first_run": "all", "query": query})).await;
        let stats = rows.world.pull("news").await;
        assert!(stats["error"].as_str().unwrap().contains("id, text and ts"), "{query}: {stats}");
    }
    rows.set(json!({"query": "select id, text, ts from nowhere"})).await;
    assert!(rows.world.pull("news").await["error"].as_str().unwrap().contains("nowhere"));
}
