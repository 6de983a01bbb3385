//! The key: every row of its table and both stories of a retry.

use serde_json::json;

use super::{
    client::{Client, Era},
    in_both_eras,
    stage::Stage,
};

#[tokio::test]
async fn the_first_call_with_a_key_works_and_a_repeat_returns_the_same_bytes() {
    in_both_eras(async |stage, client| {
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "Once" } }])).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "550e8400-e29b-41d4-a716-446655440000" });
        let first = client.call_for_text("apply_actions", arguments.clone()).await;
        let second = client.call_for_text("apply_actions", arguments).await;
        assert!(!first.0 && first == second);
        assert_eq!(stage.count("planner.goals").await, 1);
    })
    .await;
}

#[tokio::test]
async fn another_key_for_an_applied_preview_and_a_used_key_for_another_preview_are_refused() {
    in_both_eras(async |stage, client| {
        let create = || json!([{ "action": "goal.create", "params": { "title": "Once" } }]);
        let (one, other) = (client.preview(create()).await, client.preview(create()).await);
        client.done("apply_actions", json!({ "preview_id": one, "idempotency_key": "a" })).await;
        let again = client.refused("apply_actions", json!({ "preview_id": one, "idempotency_key": "b" })).await;
        assert_eq!(again["error"], "Preview already applied");
        let reused = client.refused("apply_actions", json!({ "preview_id": other, "idempotency_key": "a" })).await;
        assert_eq!(reused["error"], "Idempotency key already used for another preview");
        assert_eq!(stage.count("planner.goals").await, 1);
        client.done("apply_actions", json!({ "preview_id": other, "idempotency_key": "b" })).await;
    })
    .await;
}

#[tokio::test]
async fn a_late_retry_of_a_success_is_never_told_that_the_preview_expired() {
    in_both_eras(async |stage, client| {
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "Once" } }])).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        let first = client.call_for_text("apply_actions", arguments.clone()).await;
        stage.advance(3600);
        assert_eq!(client.call_for_text("apply_actions", arguments).await, first);
    })
    .await;
}

#[tokio::test]
async fn a_failed_apply_stores_nothing_under_its_key() {
    in_both_eras(async |stage, client| {
        let (_, steps) = client.goal(1).await;
        let doomed = json!([
            { "action": "step.delete", "params": { "step_id": steps[0] } },
            { "action": "step.complete", "params": { "step_id": steps[0] } },
        ]);
        let doomed = client.preview(doomed).await;
        for _ in 0..2 {
            let failed = client.refused("apply_actions", json!({ "preview_id": doomed, "idempotency_key": "k" })).await;
            assert_eq!(failed["error"], "Step not found", "it fails anew, not from a cache");
        }
        let good = client.preview(json!([{ "action": "step.complete", "params": { "step_id": steps[0] } }])).await;
        client.done("apply_actions", json!({ "preview_id": good, "idempotency_key": "k" })).await;
        assert_eq!(stage.rows("select completed_at is not null as done from planner.steps").await, [json!({ "done": true })]);
    })
    .await;
}

/// The network broke after the work: nobody read the answer, and the same call comes again.
#[tokio::test]
async fn an_answer_that_was_lost_comes_again_and_nothing_is_done_twice() {
    for era in Era::BOTH {
        let stage = Stage::new().await;
        let client = Client::open(&stage, era).await;
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "Once" } }])).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        // The answer is on its way, and its reader is gone.
        drop(client.send(90, "tools/call", json!({ "name": "apply_actions", "arguments": arguments })).send().await.unwrap());
        let retried = client.done("apply_actions", arguments).await;
        assert_eq!(retried["summary"]["successful"], 1);
        assert_eq!(stage.count("planner.goals").await, 1);
    }
}

/// The network broke before the work: the server hears of it for the first time.
#[tokio::test]
async fn a_call_that_never_arrived_is_made_by_its_retry() {
    in_both_eras(async |stage, client| {
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "Once" } }])).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        let request = client.send(90, "tools/call", json!({ "name": "apply_actions", "arguments": arguments }));
        let lost = request.timeout(std::time::Duration::ZERO).send().await;
        assert!(lost.is_err(), "it never left");
        client.done("apply_actions", arguments).await;
        assert_eq!(stage.count("planner.goals").await, 1);
    })
    .await;
}

/// While the first call still runs, the second waits for it and gets its answer.
#[tokio::test]
async fn a_second_call_waits_for_the_first() {
    for era in Era::BOTH {
        let stage = Stage::new().await;
        let client = Client::open(&stage, era).await;
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "Once" } }])).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        let mut held = stage.run("begin; lock table planner.goals in access exclusive mode").await;
        let calls = async {
            tokio::join!(
                client.call_for_text("apply_actions", arguments.clone()),
                client.call_for_text("apply_actions", arguments.clone())
            )
        };
        let release = async {
            stage.test.until_waiting(1).await;
            sqlx::raw_sql("rollback").execute(&mut held).await.unwrap();
        };
        let ((first, second), ()) = tokio::join!(calls, release);
        assert!(!first.0 && first == second, "{first:?} {second:?}");
        assert_eq!(stage.count("planner.goals").await, 1);
    }
}
