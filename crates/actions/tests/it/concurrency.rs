//! Many at once: one state, one publication for each real change, in the order of the changes.

use futures::future::join_all;
use serde_json::{Value, json};
use sqlx::{Connection, PgExecutor, PgPool};

use crate::world::{World, code};

/// The outcome of a start of the action `a`.
async fn start(db: impl PgExecutor<'_>, world: &World, text: &str) -> Result<String, sqlx::Error> {
    let query = "select actions.start_action($1, 'c', 'a', 'x', '2 hours', $2)->>'outcome'";
    sqlx::query_scalar(query).bind(world.workspace.uuid()).bind(text).fetch_one(db).await
}

/// The outcome of an update of the action `a`.
async fn update(db: impl PgExecutor<'_>, world: &World, status: &str, text: Option<&str>) -> Result<String, sqlx::Error> {
    let query = "select actions.update_action($1, 'a', $2, $3)->>'outcome'";
    sqlx::query_scalar(query).bind(world.workspace.uuid()).bind(status).bind(text).fetch_one(db).await
}

/// Asks so many times at once, from the connections of three processes.
async fn at_once<T>(world: &World, count: usize, ask: impl AsyncFn(usize, &PgPool) -> T) -> Vec<T> {
    let processes = [world.test.another(), world.test.another(), world.test.another()];
    let (ask, processes) = (&ask, &processes);
    join_all((0..count).map(|n| async move { ask(n, processes[n % 3].pool()).await })).await
}

fn count(outcomes: &[String], wanted: &str) -> usize {
    outcomes.iter().filter(|outcome| *outcome == wanted).count()
}

#[tokio::test]
async fn starts_of_one_action_from_many_connections_make_one_action_and_one_event() {
    let world = World::new().await;
    let outcomes = at_once(&world, 30, async |_, db| start(db, &world, "Пишем…").await.unwrap()).await;
    assert_eq!((count(&outcomes, "created"), count(&outcomes, "unchanged")), (1, 29));
    assert_eq!(world.rows("select from actions.actions").await.len(), 1);
    assert_eq!(world.published("c").await.len(), 1);
    assert_eq!(world.journal("a").await, "action_started");
}

#[tokio::test]
async fn endings_of_one_action_from_many_connections_have_one_winner() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    let ending = |n: usize| if n.is_multiple_of(2) { "done" } else { "error" };
    let outcomes = at_once(&world, 30, async |n, db| update(db, &world, ending(n), None).await.unwrap()).await;
    assert_eq!((count(&outcomes, "changed"), count(&outcomes, "unchanged"), count(&outcomes, "ignored")), (1, 14, 15));
    let published = world.published("c").await;
    assert_eq!(published.len(), 2);
    let stored = world.rows("select status from actions.actions").await;
    assert_eq!(published[1]["status"], stored[0]["status"]);
    let ending = published[1]["status"].as_str().unwrap();
    assert_eq!(world.journal("a").await, format!("action_started action_{ending} action_late"));
}

#[tokio::test]
async fn changes_from_many_connections_are_published_once_each_in_the_order_in_which_they_were_made() {
    let world = World::new().await;
    let outcomes = at_once(&world, 60, async |n, db| {
        let text = format!("шаг {n}");
        let started = start(db, &world, &text).await.unwrap();
        [started, update(db, &world, "processing", Some(&format!("{text}, дальше"))).await.unwrap()]
    });
    let outcomes: Vec<String> = outcomes.await.into_iter().flatten().collect();
    let published = world.published("c").await;
    assert_eq!(published.len(), count(&outcomes, "created") + count(&outcomes, "changed"));
    assert_eq!(published.len(), 120, "every text is another one");
    let times: Vec<&str> = published.iter().map(|action| action["updatedAt"].as_str().unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    let last = world.get("/api/chat/actions?chatId=c").await["actions"][0].clone();
    assert_eq!(published.last().unwrap(), &last);
}

#[tokio::test]
async fn starts_and_endings_of_one_action_at_once_are_one_ending_and_nothing_goes_back() {
    let world = World::new().await;
    let outcomes = at_once(&world, 60, async |n, db| {
        let outcome = match n % 4 {
            0 | 1 => start(db, &world, "x").await,
            2 => update(db, &world, "done", None).await,
            _ => update(db, &world, "error", None).await,
        };
        // An ending that comes before any start is told that there is nothing to end.
        outcome.unwrap_or_else(|error| code(&error))
    });
    let outcomes = outcomes.await;
    world.update("a", "done", json!({})).await;
    assert_eq!(count(&outcomes, "created"), 1);
    assert!(outcomes.iter().all(|outcome| ["created", "changed", "unchanged", "ignored", "ZA004"].contains(&outcome.as_str())));
    let told: Vec<Value> = world.published("c").await.iter().map(|action| action["status"].clone()).collect();
    assert!(told == ["processing", "done"] || told == ["processing", "error"], "{told:?}");
    let stored = world.rows("select status from actions.actions").await;
    assert_eq!((stored.len(), &stored[0]["status"]), (1, &told[1]));
}

#[tokio::test]
async fn messages_from_many_connections_have_numbers_without_holes_and_are_published_in_their_order() {
    let world = World::new().await;
    let outcomes = at_once(&world, 60, async |n, db| {
        // Every message is sent twice, by two processes.
        let query = "select actions.add_message($1, 'c', 'user', $2, $2)->>'outcome'";
        let text = format!("m{}", n / 2);
        sqlx::query_scalar::<_, String>(query).bind(world.workspace.uuid()).bind(text).fetch_one(db).await.unwrap()
    });
    let outcomes = outcomes.await;
    assert_eq!((count(&outcomes, "created"), count(&outcomes, "unchanged")), (30, 30));
    let heard = world
        .rows("select (payload->'message'->>'seq')::int as seq from bus.messages where topic = 'chat:c' order by xid, id")
        .await;
    let heard: Vec<Value> = heard.iter().map(|row| row["seq"].clone()).collect();
    assert_eq!(heard, (1..=30).map(Value::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_ending_waits_for_the_one_that_is_being_made_and_then_loses() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    let mut first = world.test.owner().await;
    let mut held = first.begin().await.unwrap();
    assert_eq!(update(&mut *held, &world, "done", None).await.unwrap(), "changed");
    let another = world.test.another();
    let mut waiting = std::pin::pin!(update(another.pool(), &world, "error", None));
    // Another action of the same chat does not wait.
    let others = world.start("b", json!({}));
    tokio::select! {
        biased;
        outcome = &mut waiting => panic!("the action is held, and yet {outcome:?}"),
        (outcome, _) = others => assert_eq!(outcome, "created"),
    }
    held.commit().await.unwrap();
    assert_eq!(waiting.await.unwrap(), "ignored");
}

#[tokio::test]
async fn a_start_whose_transaction_failed_is_made_by_the_one_that_waited() {
    let world = World::new().await;
    let mut first = world.test.owner().await;
    let mut lost = first.begin().await.unwrap();
    assert_eq!(start(&mut *lost, &world, "x").await.unwrap(), "created");
    let another = world.test.another();
    let (waited, rolled_back) = tokio::join!(start(another.pool(), &world, "x"), async {
        world.test.until_waiting(1).await;
        lost.rollback().await
    });
    rolled_back.unwrap();
    assert_eq!(waited.unwrap(), "created");
    assert_eq!(world.published("c").await.len(), 1);
}
