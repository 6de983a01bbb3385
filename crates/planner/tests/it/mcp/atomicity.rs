//! All or nothing: every row of "what is rolled back" and of "what is not".

use serde_json::{Value, json};

use super::{
    client::{Client, created},
    in_both_eras,
    stage::Stage,
};

/// Everything a person has, to compare before and after.
async fn everything(stage: &Stage) -> Vec<Value> {
    let mut all = Vec::new();
    for table in ["goals", "steps", "habits", "marks", "xp_entries", "changes"] {
        all.extend(stage.rows(&format!("select * from planner.{table} order by 1, 2")).await);
    }
    all
}

/// Makes a preview of actions of which the last will fail when it is applied: the one before it deletes what it names.
async fn doomed(client: &Client, mut actions: Vec<Value>) -> String {
    let (goal, _) = client.goal(0).await;
    actions.push(json!({ "action": "goal.delete", "params": { "goal_id": goal } }));
    actions.push(json!({ "action": "goal.complete", "client_action_id": "too-late", "params": { "goal_id": goal } }));
    let preview = client.done("preview_actions", json!({ "actions": actions })).await;
    assert_eq!(preview["would_fail"]["error"], "Goal not found", "{preview}");
    preview["preview_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn whatever_a_batch_did_goes_back_when_a_later_action_fails() {
    in_both_eras(async |stage, client| {
        let (goal, steps) = client.goal(3).await;
        client.apply(json!([{ "action": "step.complete", "params": { "step_id": steps[2] } }])).await;
        let rows: [(&str, Vec<Value>); 6] = [
            ("CREATE", vec![json!({ "action": "goal.create", "params": { "title": "New" } })]),
            ("UPDATE", vec![json!({ "action": "step.update", "params": { "step_id": steps[0], "title": "Other" } })]),
            ("DELETE", vec![json!({ "action": "step.delete", "params": { "step_id": steps[1] } })]),
            ("XP given", vec![json!({ "action": "step.complete", "params": { "step_id": steps[0] } })]),
            ("XP taken back", vec![json!({ "action": "step.reopen", "params": { "step_id": steps[2] } })]),
            ("order", vec![json!({ "action": "step.reorder", "params": { "step_id": steps[2], "order": 0 } })]),
        ];
        for (row, actions) in rows {
            let preview_id = doomed(&client, actions).await;
            let before = everything(&stage).await;
            let xp = client.xp().await;
            let failed = client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": row })).await;
            assert_eq!(failed["error"], "Goal not found", "{row}");
            assert_eq!(failed["failed_action"]["client_action_id"], "too-late", "{row}");
            let results = failed["results"].as_array().unwrap();
            assert!(results[..2].iter().all(|done| done["success"] == true && done["rollback"] == true), "{row}: {failed}");
            assert!(results.iter().all(|result| result.get("created_id").is_none()), "{row}: {failed}");
            assert_eq!((&results[2]["success"], &results[2]["error"]), (&json!(false), &json!("Goal not found")), "{row}");
            assert_eq!(everything(&stage).await, before, "{row}");
            assert_eq!(client.xp().await, xp, "{row}");
            let status =
                format!("select status, idempotency_key, result from planner.previews where preview_id = '{preview_id}'");
            let pending = json!({ "status": "pending", "idempotency_key": null, "result": null });
            assert_eq!(stage.rows(&status).await, [pending], "{row}: the preview is not applied");
        }
        assert!(client.done("get_goal", json!({ "goal_id": goal })).await.to_string().contains("Step 0"));
    })
    .await;
}

#[tokio::test]
async fn the_request_log_stays_when_the_work_goes_back() {
    in_both_eras(async |stage, client| {
        let preview_id = doomed(&client, Vec::new()).await;
        client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
        let log = stage
            .rows("select * from planner.mcp_request_log where tool_name = 'apply_actions' order by created_at, request_id")
            .await;
        assert_eq!(log.last().unwrap()["error_message"], "Goal not found");
    })
    .await;
}

#[tokio::test]
async fn an_overdue_preview_is_marked_expired_though_its_apply_is_refused() {
    in_both_eras(async |stage, client| {
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "Late" } }])).await;
        stage.advance(301);
        let refused = client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
        assert_eq!(refused["error"], "Preview expired");
        let status = format!("select status from planner.previews where preview_id = '{preview_id}'");
        assert_eq!(stage.rows(&status).await, [json!({ "status": "expired" })]);
    })
    .await;
}

#[tokio::test]
async fn a_commit_that_fails_leaves_nothing_and_may_be_tried_again() {
    in_both_eras(async |stage, client| {
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "At the end" } }])).await;
        let arguments = json!({ "preview_id": preview_id, "idempotency_key": "k" });
        stage
            .run(
                "create function planner.refuse_at_the_end() returns trigger language plpgsql as $$
                     begin raise exception 'not today' using errcode = '40001'; end $$;
                 create constraint trigger refuse after insert on planner.goals deferrable initially deferred
                     for each row execute function planner.refuse_at_the_end();",
            )
            .await;
        let failed = client.refused("apply_actions", arguments.clone()).await;
        assert!(failed["hint"].as_str().unwrap().contains("idempotency_key"), "{failed}");
        assert_eq!(stage.count("planner.goals").await, 0);
        stage.run("drop trigger refuse on planner.goals").await;
        assert_eq!(created(&client.done("apply_actions", arguments).await).len(), 1);
    })
    .await;
}
