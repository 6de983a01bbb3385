//! The recurring look for sources whose time has come.

use platform::{
    jobs::{Drained, Runner, store},
    module::{Service, put_schedules},
};
use posting::pull::{self, Puller};
use serde_json::json;

use super::*;

async fn runner(world: &World) -> Runner {
    let puller = Puller::new(world.db.db.clone(), world.fetcher.clone(), world.secrets());
    let service = pull::add_jobs(Service::default(), &puller);
    let runner = Runner::new(world.db.db.clone(), service.jobs, "worker-1");
    runner.register().await.unwrap();
    put_schedules(&world.db.db, &service.schedules).await.unwrap();
    runner
}

/// Fires what is due and works until nothing is left; gives how many jobs there were.
async fn tick(world: &World, runner: &Runner) -> usize {
    store::fire_schedules(world.db.db.pool()).await.unwrap();
    let mut picked = 0;
    loop {
        let Drained { picked: more, failed, .. } = runner.drain().await.unwrap();
        assert_eq!(failed, 0);
        picked += more;
        if more == 0 {
            return picked;
        }
    }
}

#[tokio::test]
async fn each_source_is_asked_when_its_time_has_come_and_not_before() {
    let world = World::feed(json!({"first_run": "all", "every_seconds": 60})).await;
    world.source("off", "rss", json!({})).await;
    sqlx::query("update posting.pull_sources set enabled = false where source_id = 'off'")
        .execute(world.db.db.pool())
        .await
        .unwrap();
    world.show_numbers(1..=2);
    let runner = runner(&world).await;
    world.wait(10);
    assert_eq!(tick(&world, &runner).await, 2, "the look, and the source");
    assert_eq!(world.posts().await.len(), 2);
    for _ in 0..5 {
        world.wait(10);
        assert_eq!(tick(&world, &runner).await, 1, "only the look");
    }
    world.show_numbers(1..=3);
    world.wait(10);
    assert_eq!(tick(&world, &runner).await, 2);
    assert_eq!(world.posts().await.len(), 3);
}

#[tokio::test]
async fn a_source_that_fails_holds_up_no_other() {
    let world = World::feed(json!({"first_run": "all"})).await;
    world.source("broken", "rss", json!({"url": "http://127.0.0.1:1/", "every_seconds": 10})).await;
    world.raw_source("nonsense", "api", &json!({})).await;
    let spoiled = "insert into posting.pull_cursors (workspace_id, source_id, cursor_json)
                   values ($1, 'nonsense', '{\"next_pull_at\": \"soon\", \"failures\": \"many\"}')";
    sqlx::query(spoiled).bind(world.workspace.uuid()).execute(world.db.db.pool()).await.unwrap();
    world.show_numbers(1..=2);
    let runner = runner(&world).await;
    world.wait(10);
    assert_eq!(tick(&world, &runner).await, 4);
    assert_eq!(world.posts().await.len(), 2);
    assert_eq!(world.cursor("nonsense").await["failures"], 1);
    assert_eq!(world.cursor("broken").await["failures"], 1);
}
