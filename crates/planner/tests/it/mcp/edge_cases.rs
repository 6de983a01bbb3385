//! The edge cases of the specification, word for word, and the fields for diagnosis.

use serde_json::{Value, json};

use super::{
    client::{Client, created},
    in_both_eras,
};

async fn order_of(client: &Client, goal: i64) -> Vec<String> {
    let steps = client.done("list_steps", json!({ "goal_id": goal, "status": "all" })).await;
    let mut steps: Vec<(i64, String)> = steps["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["order"].as_i64().unwrap(), step["title"].as_str().unwrap().to_owned()))
        .collect();
    steps.sort();
    let places: Vec<i64> = steps.iter().map(|(place, _)| *place).collect();
    assert_eq!(places, (0..i64::try_from(steps.len()).unwrap()).collect::<Vec<_>>(), "without holes");
    steps.into_iter().map(|(_, title)| title).collect()
}

#[tokio::test]
async fn a_step_takes_the_place_of_one_that_is_deleted_before_it() {
    in_both_eras(async |_stage, client| {
        let (goal, steps) = client.goal(2).await;
        let applied = client
            .apply(json!([
                { "action": "step.delete", "params": { "step_id": steps[0] } },
                { "action": "step.create", "params": { "goal_id": goal, "order": 0, "title": "Instead" } },
            ]))
            .await;
        assert_eq!(applied["summary"]["successful"], 2);
        assert_eq!(order_of(&client, goal).await, ["Instead", "Step 1"]);
        // The example leaves the title out, which a step cannot.
        let actions = json!([
            { "action": "step.delete", "params": { "step_id": steps[1] } },
            { "action": "step.create", "params": { "goal_id": goal, "order": 0 } },
        ]);
        let refused = client.refused("preview_actions", json!({ "actions": actions })).await;
        assert_eq!((&refused["error"], &refused["failed_action"]["index"]), (&json!("title is required"), &json!(1)));
    })
    .await;
}

#[tokio::test]
async fn an_update_of_what_was_deleted_before_it_fails_and_nothing_is_deleted() {
    in_both_eras(async |_stage, client| {
        let (goal, steps) = client.goal(1).await;
        let preview_id = client
            .preview(json!([
                { "action": "step.delete", "params": { "step_id": steps[0] } },
                { "action": "step.update", "params": { "step_id": steps[0], "title": "…" } },
            ]))
            .await;
        let failed = client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
        assert_eq!((&failed["error"], &failed["failed_action"]["index"]), (&json!("Step not found"), &json!(1)));
        assert_eq!(failed["results"][0], json!({ "action": "step.delete", "success": true, "rollback": true }));
        assert_eq!(order_of(&client, goal).await, ["Step 0"]);
    })
    .await;
}

#[tokio::test]
async fn completing_twice_fails_and_gives_no_xp() {
    in_both_eras(async |stage, client| {
        let (_, steps) = client.goal(1).await;
        let complete = || json!({ "action": "step.complete", "params": { "step_id": steps[0] } });
        let preview_id = client.preview(json!([complete(), complete()])).await;
        let failed = client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
        assert_eq!((&failed["error"], &failed["failed_action"]["index"]), (&json!("Step already completed"), &json!(1)));
        assert_eq!(client.xp().await, 0);
        assert_eq!(stage.rows("select completed_at from planner.steps").await, [json!({ "completed_at": null })]);
        let once = client.apply(json!([complete()])).await;
        assert_eq!(once["xp"], json!({ "change": 25, "total": 25 }));
    })
    .await;
}

#[tokio::test]
async fn unrelated_actions_in_one_batch_go_back_together() {
    in_both_eras(async |stage, client| {
        let (goal, _) = client.goal(0).await;
        client.apply(json!([{ "action": "habit.create", "params": { "title": "Walk" } }])).await;
        let habit = stage.rows("select habit_id from planner.habits").await[0]["habit_id"].as_i64().unwrap();
        let preview_id = client
            .preview(json!([
                { "action": "goal.create", "params": { "title": "Цель 1" } },
                { "action": "goal.complete", "params": { "goal_id": goal } },
                { "action": "habit.mark_completed", "params": { "habit_id": habit } },
                { "action": "habit.mark_completed", "params": { "habit_id": habit } },
            ]))
            .await;
        let failed = client.refused("apply_actions", json!({ "preview_id": preview_id, "idempotency_key": "k" })).await;
        assert_eq!(failed["error"], "Habit already completed");
        assert_eq!((client.xp().await, stage.count("planner.goals").await, stage.count("planner.marks").await), (0, 1, 0));
    })
    .await;
}

#[tokio::test]
async fn an_answer_has_what_diagnosis_needs() {
    in_both_eras(async |_stage, client| {
        let applied =
            client.apply(json!([{ "action": "goal.create", "client_action_id": "uuid-xxx", "params": { "title": "T" } }])).await;
        let [id] = created(&applied)[..] else { panic!("{applied}") };
        assert_eq!(applied["success"], true);
        assert_eq!(
            applied["results"],
            json!([{ "action": "goal.create", "client_action_id": "uuid-xxx", "success": true, "created_id": id }])
        );
        assert_eq!(applied["summary"], json!({ "total": 1, "successful": 1, "failed": 0 }));
    })
    .await;
}

#[tokio::test]
async fn a_preview_says_what_would_change_and_changes_nothing() {
    in_both_eras(async |stage, client| {
        let (goal, _) = client.goal(1).await;
        let before = stage.rows("select * from planner.goals order by goal_id").await;
        let preview = client
            .done(
                "preview_actions",
                json!({ "actions": [
                    { "action": "goal.update", "params": { "goal_id": goal, "title": "Renamed" } },
                    { "action": "step.create", "client_action_id": "s", "params": { "goal_id": goal, "title": "More" } },
                    { "action": "step.complete", "params": { "step_id": "$ref:s" } },
                ] }),
            )
            .await;
        let change = json!({ "field": "title", "before": "A goal", "after": "Renamed" });
        assert!(preview["actions"][0]["changes"].as_array().unwrap().contains(&change), "{preview}");
        assert_eq!(preview["actions"][1]["id"], "$ref:s", "no id is promised before there is one: {preview}");
        assert_eq!(preview["xp"], json!({ "before": 0, "change": 25, "after": 25 }));
        assert!(preview["diff"].as_str().unwrap().contains("Renamed"), "{preview}");
        assert_eq!(preview["expires_at"].as_str().unwrap().get(..16), Some("2026-03-02T09:05"));
        assert_eq!(stage.rows("select * from planner.goals order by goal_id").await, before);
        assert_eq!((client.xp().await, stage.count("planner.steps").await), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn an_undo_is_a_preview_that_reverses_an_applied_one_exactly() {
    in_both_eras(async |stage, client| {
        let (goal, steps) = client.goal(2).await;
        let before = (order_of(&client, goal).await, client.xp().await);
        let applied = client
            .apply(json!([
                { "action": "step.complete", "params": { "step_id": steps[0] } },
                { "action": "step.delete", "params": { "step_id": steps[1] } },
                { "action": "goal.complete", "params": { "goal_id": goal } },
            ]))
            .await;
        assert_eq!(client.xp().await, 125);
        let undo = client.done("undo_actions", json!({ "preview_id": applied["preview_id"] })).await;
        assert_eq!(undo["xp"]["change"], -125, "{undo}");
        assert_eq!(client.xp().await, 125, "an undo is only a preview");
        client.done("apply_actions", json!({ "preview_id": undo["preview_id"], "idempotency_key": "undo" })).await;
        assert_eq!((order_of(&client, goal).await, client.xp().await), before);
        let twice = client.refused("undo_actions", json!({ "preview_id": applied["preview_id"] })).await;
        assert!(twice["error"].as_str().unwrap().contains("undone"), "{twice}");
        let later = client.apply(json!([{ "action": "goal.update", "params": { "goal_id": goal, "title": "Later" } }])).await;
        let first: Value = stage
            .rows("select preview_id from planner.previews where status = 'applied' order by last_change_id limit 1")
            .await[0]["preview_id"]
            .clone();
        let prevented = client.refused("undo_actions", json!({ "preview_id": first })).await;
        assert!(prevented["prevented_by"].to_string().contains(later["preview_id"].as_str().unwrap()), "{prevented}");
    })
    .await;
}
