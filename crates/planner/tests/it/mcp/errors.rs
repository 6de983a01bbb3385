//! The kinds of errors and the matrix of errors: what is refused before anything runs, what fails on the way, and what is said about it.

use serde_json::{Value, json};

use super::in_both_eras;

#[tokio::test]
async fn a_batch_that_can_never_work_is_refused_before_anything_runs() {
    in_both_eras(async |stage, client| {
        let refused = client
            .refused(
                "preview_actions",
                json!({ "actions": [{ "action": "goal.create", "client_action_id": "uuid-xxx", "params": {} }] }),
            )
            .await;
        assert_eq!(refused["error"], "title is required");
        assert_eq!(refused["failed_action"]["action"], "goal.create");
        assert_eq!(refused["failed_action"]["client_action_id"], "uuid-xxx");
        assert!(refused.get("results").is_none(), "nothing was tried: {refused}");
        let bad_params = [
            json!({ "action": "goal.create", "params": { "title": "  " } }),
            json!({ "action": "goal.create", "params": { "title": "x".repeat(201) } }),
            json!({ "action": "goal.create", "params": { "title": 7 } }),
            json!({ "action": "goal.create", "params": { "title": "T", "priority": "urgent" } }),
            json!({ "action": "goal.create", "params": { "title": "T", "due_date": "tomorrow" } }),
            json!({ "action": "habit.create", "params": { "title": "T", "days": [] } }),
            json!({ "action": "step.create", "params": { "goal_id": 1, "title": "T", "order": -1 } }),
            json!({ "action": "goal.update", "params": { "goal_id": 1 } }),
            json!({ "action": "goal.complete", "params": {} }),
            json!({ "action": "goal.complete", "params": { "goal_id": -1 } }),
            json!({ "action": "goal.create", "client_action_id": "", "params": { "title": "T" } }),
            json!({ "action": "goal.create", "params": { "title": "a\u{0}b" } }),
            json!({ "action": "goal.explode", "params": {} }),
            json!({ "params": { "title": "T" } }),
        ];
        for action in bad_params {
            let refused = client.refused("preview_actions", json!({ "actions": [action] })).await;
            assert!(refused["error"].as_str().is_some_and(|error| !error.is_empty()), "{action}: {refused}");
        }
        assert_eq!((stage.count("planner.previews").await, stage.count("planner.goals").await), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn an_unknown_field_is_told_the_nearest_known_name() {
    in_both_eras(async |_stage, client| {
        let refuse = async |arguments: Value| client.refused("preview_actions", arguments).await.to_string();
        let in_params = refuse(json!({ "actions": [{ "action": "goal.create", "params": { "titel": "T" } }] })).await;
        assert!(in_params.contains("titel") && in_params.contains("did you mean `title`"), "{in_params}");
        let in_action =
            refuse(json!({ "actions": [{ "action": "goal.create", "client_id": "a", "params": { "title": "T" } }] })).await;
        assert!(in_action.contains("client_action_id"), "{in_action}");
        let on_top = refuse(json!({ "action": [] })).await;
        assert!(on_top.contains("actions"), "{on_top}");
        let of_apply = client.refused("apply_actions", json!({ "preview": "x", "idempotency_key": "k" })).await.to_string();
        assert!(of_apply.contains("preview_id"), "{of_apply}");
        let of_read = client.refused("list_goals", json!({ "state": "open" })).await.to_string();
        assert!(of_read.contains("status"), "{of_read}");
    })
    .await;
}

#[tokio::test]
async fn a_wrong_preview_or_key_is_refused_before_anything_runs() {
    in_both_eras(async |stage, client| {
        let preview_id = client.preview(json!([{ "action": "goal.create", "params": { "title": "T" } }])).await;
        let unknown = "018f3c1e-0000-7000-8000-000000000000";
        let cases = [
            (json!({ "idempotency_key": "k" }), "preview_id is required"),
            (json!({ "preview_id": preview_id }), "idempotency_key is required"),
            (json!({ "preview_id": unknown, "idempotency_key": "k" }), "Preview not found"),
            (json!({ "preview_id": "not an id", "idempotency_key": "k" }), "Preview not found"),
        ];
        for (arguments, error) in cases {
            let refused = client.refused("apply_actions", arguments.clone()).await;
            assert_eq!(refused["error"], error, "{arguments}");
            assert!(refused.get("results").is_none(), "{refused}");
        }
        for key in [json!(""), json!("x".repeat(256)), json!("two\nlines"), json!("ключ"), json!(7)] {
            client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": key })).await;
        }
        assert_eq!(stage.count("planner.goals").await, 0);
        client.done("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
    })
    .await;
}

#[tokio::test]
async fn a_failure_on_the_way_says_of_each_action_what_became_of_it() {
    in_both_eras(async |stage, client| {
        let (_, steps) = client.goal(1).await;
        let preview = client
            .done(
                "preview_actions",
                json!({ "actions": [
                    { "action": "goal.create", "params": { "title": "New" } },
                    { "action": "step.delete", "params": { "step_id": steps[0] } },
                    { "action": "step.complete", "client_action_id": "uuid-yyy", "params": { "step_id": steps[0] } },
                    { "action": "goal.create", "params": { "title": "Never" } },
                ] }),
            )
            .await;
        assert_eq!(
            (&preview["would_fail"]["index"], &preview["would_fail"]["error"]),
            (&json!(2), &json!("Step not found")),
            "{preview}"
        );
        let failed =
            client.refused("apply_actions", json!({ "preview_id": preview["preview_id"], "idempotency_key": "k" })).await;
        assert_eq!(failed["error"], "Step not found");
        assert_eq!(failed["failed_action"]["action"], "step.complete");
        assert_eq!(failed["failed_action"]["client_action_id"], "uuid-yyy");
        assert_eq!(failed["failed_action"]["index"], 2);
        let results = failed["results"].as_array().unwrap();
        assert_eq!(results[0], json!({ "action": "goal.create", "success": true, "rollback": true }));
        assert_eq!(results[1], json!({ "action": "step.delete", "success": true, "rollback": true }));
        assert_eq!(
            results[2],
            json!({ "action": "step.complete", "client_action_id": "uuid-yyy", "success": false, "error": "Step not found" })
        );
        assert_eq!(results[3], json!({ "action": "goal.create", "success": false, "not_reached": true }));
        assert_eq!(stage.count("planner.goals").await, 1);
    })
    .await;
}

#[tokio::test]
async fn what_does_not_exist_is_refused_at_the_preview() {
    in_both_eras(async |stage, client| {
        let (goal, steps) = client.goal(1).await;
        client.apply(json!([{ "action": "goal.complete", "params": { "goal_id": goal } }])).await;
        let cases = [
            (json!({ "action": "goal.complete", "params": { "goal_id": 999_999 } }), "Goal not found"),
            (json!({ "action": "step.complete", "params": { "step_id": 999_999 } }), "Step not found"),
            (json!({ "action": "habit.archive", "params": { "habit_id": 999_999 } }), "Habit not found"),
            (json!({ "action": "goal.complete", "params": { "goal_id": goal } }), "Goal already completed"),
            (json!({ "action": "step.reopen", "params": { "step_id": steps[0] } }), "Step is not completed"),
        ];
        for (action, error) in cases {
            let refused = client.refused("preview_actions", json!({ "actions": [action] })).await;
            assert_eq!(refused["error"], error, "{action}");
            assert_eq!(refused["failed_action"]["index"], 0);
        }
        assert_eq!(stage.count("planner.previews where status = 'pending'").await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_state_that_changed_since_the_preview_is_stale_and_named() {
    in_both_eras(async |stage, client| {
        let (goal, _) = client.goal(0).await;
        let rename = |title: &str| json!([{ "action": "goal.update", "params": { "goal_id": goal, "title": title } }]);
        let preview_id = client.preview(rename("First")).await;
        client.apply(rename("Second")).await;
        let refused = client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
        assert_eq!(refused["error"], "Preview stale");
        let stale = &refused["stale"][0];
        assert_eq!((&stale["entity"], &stale["id"]), (&json!("goal"), &json!(goal)), "{refused}");
        assert!(stale["previewed_version"].as_i64() < stale["current_version"].as_i64(), "{refused}");
        assert!(refused["hint"].is_string(), "{refused}");
        assert_eq!(stage.rows("select title from planner.goals").await, [json!({ "title": "Second" })]);
    })
    .await;
}
