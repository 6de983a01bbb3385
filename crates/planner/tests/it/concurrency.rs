//! A thousand at once, on one goal of one person: nobody waits for ever, nothing is done twice, no XP is lost.

use std::{collections::BTreeSet, time::Duration};

use planner::{Caller, Planner};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::world::{World, apply, object};

const MANY: usize = 1000;
/// So many actions fit in one batch.
const BATCH_MAX: usize = 50;
/// A thousand turns on a slow machine; who waits longer is locked out.
const PATIENCE: Duration = Duration::from_mins(2);

/// A goal with this many steps: its id and theirs, in their order.
async fn goal_with_steps(world: &World, caller: &Caller, count: usize) -> (i64, Vec<i64>) {
    let goal = json!([{ "action": "goal.create", "params": { "title": "a long way" } }]);
    let goal = world.change(caller, &goal).await["results"][0]["created_id"].as_i64().unwrap();
    let mut steps = Vec::new();
    while steps.len() < count {
        let create = |n| json!({ "action": "step.create", "params": { "goal_id": goal, "title": format!("step {n}") } });
        let batch: Vec<Value> = (steps.len()..count).take(BATCH_MAX).map(create).collect();
        let done = world.change(caller, &json!(batch)).await;
        steps.extend(done["results"].as_array().unwrap().iter().map(|result| result["created_id"].as_i64().unwrap()));
    }
    (goal, steps)
}

/// Previews that complete one of these steps each, asked for all at once.
async fn previews(planner: &Planner, caller: &Caller, steps: impl IntoIterator<Item = i64>) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for (n, step) in steps.into_iter().enumerate() {
        let (planner, caller) = (planner.clone(), caller.clone());
        tasks.spawn(async move {
            let actions = json!([{ "action": "step.complete", "params": { "step_id": step } }]);
            let answer = planner.preview(&caller, &object(json!({ "actions": actions }))).await.unwrap();
            let body: Value = serde_json::from_str(&answer.body).unwrap();
            (n, body["preview_id"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned())
        });
    }
    let mut made = in_time(tasks).await;
    made.sort();
    made.into_iter().map(|(_, id)| id).collect()
}

/// Makes all calls of apply at once, each through its process, with its preview and key: the answers in the order of the calls. One
/// that ends in a deadlock, or any other error of the database, fails the test.
async fn apply_all(caller: &Caller, calls: Vec<(Planner, String, String)>) -> Vec<String> {
    let mut tasks = JoinSet::new();
    for (n, (planner, preview_id, key)) in calls.into_iter().enumerate() {
        let caller = caller.clone();
        tasks.spawn(async move { (n, apply(&planner, &caller, &preview_id, &key).await.body) });
    }
    let mut answers = in_time(tasks).await;
    answers.sort();
    answers.into_iter().map(|(_, body)| body).collect()
}

async fn in_time<T: 'static>(tasks: JoinSet<T>) -> Vec<T> {
    tokio::time::timeout(PATIENCE, tasks.join_all()).await.expect("everybody gets a turn")
}

/// What the answers say, in two heaps: how many succeeded, and why the others did not.
fn counted(answers: &[String]) -> (usize, BTreeSet<String>) {
    let read = |text: &String| serde_json::from_str::<Value>(text).unwrap();
    let (good, bad): (Vec<Value>, Vec<Value>) = answers.iter().map(read).partition(|answer| answer["success"] == true);
    (good.len(), bad.iter().map(|answer| answer["error"].as_str().unwrap().to_owned()).collect())
}

/// The sum of the ledger, how many entries it has, and how many steps are completed.
async fn ledger(world: &World, caller: &Caller) -> (i64, i64, i64) {
    let query = "select coalesce(sum(amount), 0), count(*),
                        (select count(*) from planner.steps where person_id = $1 and completed_at is not null)
                   from planner.xp_entries where person_id = $1";
    sqlx::query_as(query).bind(caller.person).fetch_one(world.test.db.pool()).await.unwrap()
}

fn same(planner: &Planner, previews: &[String]) -> Vec<(Planner, String, String)> {
    previews.iter().enumerate().map(|(n, id)| (planner.clone(), id.clone(), format!("key-{n}"))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_applies_on_one_goal_all_succeed_and_no_xp_is_lost() {
    let world = World::new().await;
    let caller = world.caller("ada").await;
    let (goal, steps) = goal_with_steps(&world, &caller, MANY).await;
    let previews = previews(&world.planner, &caller, steps.iter().copied()).await;
    let answers = apply_all(&caller, same(&world.planner, &previews)).await;
    assert_eq!(counted(&answers), (MANY, BTreeSet::new()));
    assert_eq!(ledger(&world, &caller).await, (25_000, 1000, 1000));
    // Each was told the total of its own moment: every one from 25 to 25 000, once.
    let totals = answers.iter().map(|text| serde_json::from_str::<Value>(text).unwrap()["xp"]["total"].as_i64().unwrap());
    assert_eq!(totals.collect::<BTreeSet<i64>>(), (1..=1000).map(|n| n * 25).collect::<BTreeSet<i64>>());
    let order = "select step_id from planner.steps where goal_id = $1 order by \"order\"";
    let order: Vec<i64> = sqlx::query_scalar(order).bind(goal).fetch_all(world.test.db.pool()).await.unwrap();
    assert_eq!(order, steps, "completing moves nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_thousand_applies_on_one_step_one_succeeds_and_the_others_are_stale() {
    let world = World::new().await;
    let caller = world.caller("ada").await;
    let (_, steps) = goal_with_steps(&world, &caller, 1).await;
    let previews = previews(&world.planner, &caller, std::iter::repeat_n(steps[0], MANY)).await;
    let answers = apply_all(&caller, same(&world.planner, &previews)).await;
    assert_eq!(counted(&answers), (1, BTreeSet::from(["Preview stale".to_owned()])));
    assert_eq!(ledger(&world, &caller).await, (25, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_with_one_key_are_one_apply_and_one_answer() {
    let world = World::new().await;
    let caller = world.caller("ada").await;
    let (_, steps) = goal_with_steps(&world, &caller, 1).await;
    let preview = previews(&world.planner, &caller, steps).await.remove(0);
    let calls = vec![(world.planner.clone(), preview, "one key".to_owned()); MANY];
    let answers = apply_all(&caller, calls).await;
    assert_eq!(counted(&answers), (MANY, BTreeSet::new()));
    assert_eq!(answers.iter().collect::<BTreeSet<_>>().len(), 1, "the same to the byte");
    assert_eq!(ledger(&world, &caller).await, (25, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_that_apply_the_same_previews_do_each_once_and_answer_alike() {
    let world = World::new().await;
    let caller = world.caller("ada").await;
    let (_, steps) = goal_with_steps(&world, &caller, 150).await;
    let there = world.another_planner();
    let previews = previews(&there, &caller, steps.iter().copied()).await;
    // Both get every preview, with the same key, and begin at opposite ends.
    let here = same(&world.planner, &previews);
    let calls = here.into_iter().chain(same(&there, &previews).into_iter().rev()).collect();
    let answers = apply_all(&caller, calls).await;
    assert_eq!(counted(&answers), (300, BTreeSet::new()));
    let (here, there) = answers.split_at(previews.len());
    assert!(here.iter().eq(there.iter().rev()), "the same to the byte, whoever was asked");
    assert_eq!(ledger(&world, &caller).await, (150 * 25, 150, 150));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_thousand_applies_of_one_person_wait_another_is_served() {
    let world = World::new().await;
    let (busy, quiet) = (world.caller("ada").await, world.caller("grace").await);
    let (_, steps) = goal_with_steps(&world, &busy, 100).await;
    let previews = previews(&world.planner, &busy, steps.iter().copied()).await;
    // Whoever has the turn of the busy one keeps it until the other is served.
    let mut holder = world.test.owner().await;
    let turn = "select planner.take_turn($1, $2)";
    sqlx::raw_sql("begin").execute(&mut holder).await.unwrap();
    sqlx::query(turn).bind(busy.workspace.uuid()).bind(busy.person).execute(&mut holder).await.unwrap();
    let mut tasks = JoinSet::new();
    for (planner, preview_id, key) in std::iter::repeat_n(same(&world.planner, &previews), MANY / previews.len()).flatten() {
        let busy = busy.clone();
        tasks.spawn(async move { apply(&planner, &busy, &preview_id, &key).await.body });
    }
    let own = json!([{ "action": "goal.create", "params": { "title": "mine" } }]);
    assert_eq!(world.change(&quiet, &own).await["success"], true);
    assert!(tasks.try_join_next().is_none(), "the others were still waiting");
    sqlx::raw_sql("rollback").execute(&mut holder).await.unwrap();
    let answers = in_time(tasks).await;
    assert_eq!(counted(&answers).1, BTreeSet::new());
    assert_eq!(ledger(&world, &busy).await, (2500, 100, 100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_keys_for_one_preview_at_once_one_applies_it_and_the_others_are_told_so() {
    let world = World::new().await;
    let caller = world.caller("ada").await;
    let (_, steps) = goal_with_steps(&world, &caller, 1).await;
    let preview = previews(&world.planner, &caller, steps).await.remove(0);
    let there = world.another_planner();
    let calls = (0..100).map(|n| {
        let planner = if n % 2 == 0 { &world.planner } else { &there };
        (planner.clone(), preview.clone(), format!("key-{n}"))
    });
    let answers = apply_all(&caller, calls.collect()).await;
    assert_eq!(counted(&answers), (1, BTreeSet::from(["Preview already applied".to_owned()])));
    assert_eq!(ledger(&world, &caller).await, (25, 1, 1));
}
