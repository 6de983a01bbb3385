//! Many at once: one state, one publication for each real change, in the order of the changes.

use serde_json::{Value, json};
use sqlx::Connection;
use tokio::task::JoinSet;

use crate::world::{World, code};

const START: &str = "select actions.start_action($1, 'c', $2, 'x', '2 hours', $3)->>'outcome'";
const UPDATE: &str = "select actions.update_action($1, $2, $3, $4)->>'outcome'";

fn count(outcomes: &[String], wanted: &str) -> usize {
    outcomes.iter().filter(|outcome| *outcome == wanted).count()
}

#[tokio::test]
async fn starts_of_one_action_from_many_connections_make_one_action_and_one_event() {
    let world = World::new().await;
    let processes = [world.test.another(), world.test.another(), world.test.another()];
    let mut tasks = JoinSet::new();
    for n in 0..30 {
        let (db, workspace) = (processes[n % 3].clone(), world.workspace);
        tasks.spawn(async move {
            sqlx::query_scalar::<_, String>(START)
                .bind(workspace.uuid())
                .bind("a")
                .bind("Пишем…")
                .fetch_one(db.pool())
                .await
                .unwrap()
        });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!((count(&outcomes, "created"), count(&outcomes, "unchanged")), (1, 29));
    assert_eq!(world.rows("select from actions.actions").await.len(), 1);
    assert_eq!(world.published("c").await.len(), 1);
    assert_eq!(world.journal("a").await, "action_started");
}

#[tokio::test]
async fn endings_of_one_action_from_many_connections_have_one_winner() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    let processes = [world.test.another(), world.test.another(), world.test.another()];
    let mut tasks = JoinSet::new();
    for n in 0..30 {
        let (db, workspace) = (processes[n % 3].clone(), world.workspace);
        let status = if n % 2 == 0 { "done" } else { "error" };
        tasks.spawn(async move {
            let query =
                sqlx::query_scalar::<_, String>(UPDATE).bind(workspace.uuid()).bind("a").bind(status).bind(None::<String>);
            query.fetch_one(db.pool()).await.unwrap()
        });
    }
    let outcomes = tasks.join_all().await;
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
    let processes = [world.test.another(), world.test.another(), world.test.another()];
    let mut tasks = JoinSet::new();
    for n in 0..60 {
        let (db, workspace) = (processes[n % 3].clone(), world.workspace);
        tasks.spawn(async move {
            let text = format!("шаг {n}");
            let started =
                sqlx::query_scalar::<_, String>(START).bind(workspace.uuid()).bind("a").bind(&text).fetch_one(db.pool()).await;
            let more = format!("{text}, дальше");
            let query = sqlx::query_scalar::<_, String>(UPDATE).bind(workspace.uuid()).bind("a").bind("processing").bind(more);
            [started.unwrap(), query.fetch_one(db.pool()).await.unwrap()]
        });
    }
    let outcomes: Vec<String> = tasks.join_all().await.into_iter().flatten().collect();
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
    let processes = [world.test.another(), world.test.another(), world.test.another()];
    let mut tasks = JoinSet::new();
    for n in 0..60 {
        let (db, workspace) = (processes[n % 3].clone(), world.workspace);
        tasks.spawn(async move {
            let ask = match n % 4 {
                0 | 1 => sqlx::query_scalar::<_, String>(START).bind(workspace.uuid()).bind("a").bind("x"),
                2 => sqlx::query_scalar(UPDATE).bind(workspace.uuid()).bind("a").bind("done").bind(None::<String>),
                _ => sqlx::query_scalar(UPDATE).bind(workspace.uuid()).bind("a").bind("error").bind(None::<String>),
            };
            // An ending that comes before any start is told that there is nothing to end.
            let outcome = ask.fetch_one(db.pool()).await;
            outcome.unwrap_or_else(|error| code(&error))
        });
    }
    let outcomes = tasks.join_all().await;
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
    let processes = [world.test.another(), world.test.another(), world.test.another()];
    let mut tasks = JoinSet::new();
    for n in 0..60 {
        let (db, workspace) = (processes[n % 3].clone(), world.workspace);
        tasks.spawn(async move {
            // Every message is sent twice, by two processes.
            let query = "select actions.add_message($1, 'c', 'user', $2, $2)->>'outcome'";
            let text = format!("m{}", n / 2);
            sqlx::query_scalar::<_, String>(query).bind(workspace.uuid()).bind(text).fetch_one(db.pool()).await.unwrap()
        });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!((count(&outcomes, "created"), count(&outcomes, "unchanged")), (30, 30));
    let heard = world.rows("select (payload->'message'->>'seq')::int as seq from bus.messages order by xid, id").await;
    let heard: Vec<Value> = heard.iter().map(|row| row["seq"].clone()).collect();
    assert_eq!(heard, (1..=30).map(Value::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_ending_waits_for_the_one_that_is_being_made_and_then_loses() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    let mut first = world.test.owner().await;
    let mut held = first.begin().await.unwrap();
    let query = |status: &'static str| {
        sqlx::query_scalar::<_, String>(UPDATE).bind(world.workspace.uuid()).bind("a").bind(status).bind(None::<String>)
    };
    assert_eq!(query("done").fetch_one(&mut *held).await.unwrap(), "changed");
    let (db, workspace) = (world.test.another(), world.workspace);
    let waiting = tokio::spawn(async move {
        let query = sqlx::query_scalar::<_, String>(UPDATE).bind(workspace.uuid()).bind("a").bind("error").bind(None::<String>);
        query.fetch_one(db.pool()).await.unwrap()
    });
    // Another action of the same chat does not wait.
    assert_eq!(world.start("b", json!({})).await.0, "created");
    assert!(!waiting.is_finished(), "the action is held");
    held.commit().await.unwrap();
    assert_eq!(waiting.await.unwrap(), "ignored");
}

#[tokio::test]
async fn a_start_whose_transaction_failed_is_made_by_the_one_that_waited() {
    let world = World::new().await;
    let mut first = world.test.owner().await;
    let mut lost = first.begin().await.unwrap();
    let query = || sqlx::query_scalar::<_, String>(START).bind(world.workspace.uuid()).bind("a").bind("x");
    assert_eq!(query().fetch_one(&mut *lost).await.unwrap(), "created");
    let (db, workspace) = (world.test.another(), world.workspace);
    let waiting = tokio::spawn(async move {
        sqlx::query_scalar::<_, String>(START).bind(workspace.uuid()).bind("a").bind("x").fetch_one(db.pool()).await.unwrap()
    });
    lost.rollback().await.unwrap();
    assert_eq!(waiting.await.unwrap(), "created");
    assert_eq!(world.published("c").await.len(), 1);
}
