//! A thousand at once through the door: whoever finds no room is told so, comes again with the same key, and is served.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{
    client::{Client, Era},
    stage::Stage,
};

/// Steps of one goal, each completed by its own preview.
const STEPS: usize = 49;
/// So many assistants apply each of them at once, with the same key.
const EACH: usize = 21;

/// A step and the call that completes it.
type Completion = (i64, Value);

/// Makes all these calls at once: what was answered, to the byte, and those that have to come again because there was no room or no time.
async fn at_once(client: &Arc<Client>, calls: Vec<Completion>) -> (Vec<(i64, String)>, Vec<Completion>) {
    let mut tasks = JoinSet::new();
    for (step, arguments) in calls {
        let client = Arc::clone(client);
        tasks.spawn(async move {
            let reply = client.request("tools/call", json!({ "name": "apply_actions", "arguments": arguments })).await;
            let result = &reply.message["result"];
            // Each refusal that may be over in a moment says so.
            let hint = result["structuredContent"]["hint"].as_str().unwrap_or_default();
            if reply.status >= 500 || hint.contains("Call again") {
                return Err((step, arguments));
            }
            assert_eq!(result["isError"], false, "{reply:?}");
            Ok((step, result["content"][0]["text"].as_str().unwrap().to_owned()))
        });
    }
    let (answers, left): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
    (answers.into_iter().flatten().collect(), left.into_iter().filter_map(Result::err).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_applies_at_once_change_one_goal_each_once_and_no_xp_is_lost() {
    let stage = Stage::new().await;
    let client = Arc::new(Client::open(&stage, Era::Modern).await);
    let (_, steps) = client.goal(STEPS).await;
    let mut calls = Vec::new();
    for step in steps {
        let preview_id = client.preview(json!([{ "action": "step.complete", "params": { "step_id": step } }])).await;
        calls.push((step, json!({ "preview_id": preview_id, "idempotency_key": format!("complete {step}") })));
    }
    let mut waiting: Vec<Completion> = std::iter::repeat_n(calls, EACH).flatten().collect();
    let mut answers = Vec::new();
    while !waiting.is_empty() {
        let (served, left) = at_once(&client, waiting).await;
        assert!(!served.is_empty(), "a crowd does not keep everybody from being served");
        answers.extend(served);
        waiting = left;
    }
    assert!(answers.len() > 1000);
    let mut by_step: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
    for (step, answer) in answers {
        by_step.entry(step).or_default().insert(answer);
    }
    assert!(by_step.values().all(|answers| answers.len() == 1), "the same to the byte for everybody who asked");
    let total = |answer: &String| serde_json::from_str::<Value>(answer).unwrap()["xp"]["total"].as_u64().unwrap();
    let totals: BTreeSet<u64> = by_step.values().flatten().map(total).collect();
    assert_eq!(totals, (1..=49).map(|n| n * 25).collect(), "each was told the total of its own moment");
    assert_eq!(stage.count("planner.xp_entries").await, 49);
    assert_eq!(client.xp().await, 49 * 25);
}
