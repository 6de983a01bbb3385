//! Guarantees of order: one after another, results as the actions stand, ids of earlier actions for later ones, and the limits.

use serde_json::{Value, json};

use super::{client::created, in_both_eras};

#[tokio::test]
async fn actions_run_strictly_in_the_order_of_the_list_and_results_come_in_it() {
    in_both_eras(async |_stage, client| {
        let names = ["goal.create", "step.create", "step.create", "step.complete", "goal.complete"];
        let applied = client
            .apply(json!([
                { "action": "goal.create", "client_action_id": "uuid-goal", "params": { "title": "Выучить Python", "category": "work" } },
                { "action": "step.create", "client_action_id": "uuid-step-1", "params": { "goal_id": "$ref:uuid-goal", "title": "Изучить основы" } },
                { "action": "step.create", "client_action_id": "uuid-step-2", "params": { "goal_id": "$ref:uuid-goal", "title": "Написать первый проект" } },
                { "action": "step.complete", "params": { "step_id": "$ref:uuid-step-1" } },
                { "action": "goal.complete", "params": { "goal_id": "$ref:uuid-goal" } },
            ]))
            .await;
        let results = applied["results"].as_array().unwrap();
        let order: Vec<&str> = results.iter().map(|result| result["action"].as_str().unwrap()).collect();
        assert_eq!(order, names);
        assert_eq!(results[1]["client_action_id"], "uuid-step-1");
        assert_eq!(applied["summary"], json!({ "total": 5, "successful": 5, "failed": 0 }));
        let [goal, first, second] = created(&applied)[..] else { panic!("{applied}") };
        assert!(first < second, "the first step was made first");
        let steps = client.done("list_steps", json!({ "goal_id": goal, "status": "all" })).await;
        let titles: Vec<(&str, i64)> =
            list(&steps, "steps").iter().map(|step| (step["title"].as_str().unwrap(), step["order"].as_i64().unwrap())).collect();
        assert_eq!(titles, [("Изучить основы", 0), ("Написать первый проект", 1)]);
    })
    .await;
}

#[tokio::test]
async fn an_action_sees_what_the_one_before_it_did() {
    in_both_eras(async |_stage, client| {
        let (goal, _) = client.goal(0).await;
        let applied = client
            .apply(json!([
                { "action": "step.create", "client_action_id": "s", "params": { "goal_id": goal, "title": "New" } },
                { "action": "step.update", "params": { "step_id": "$ref:s", "priority": "critical" } },
                { "action": "step.complete", "params": { "step_id": "$ref:s" } },
            ]))
            .await;
        let step = &client.done("get_step", json!({ "step_id": created(&applied)[0] })).await["step"];
        assert_eq!(step["priority"], "critical");
        assert!(step["completed_at"].is_string(), "{step}");
        assert_eq!(client.xp().await, 25);
    })
    .await;
}

#[tokio::test]
async fn fifty_actions_are_the_most_and_the_list_is_flat_and_not_empty() {
    in_both_eras(async |stage, client| {
        let goals = |count: usize| -> Vec<Value> {
            (0..count).map(|n| json!({ "action": "goal.create", "params": { "title": format!("Goal {n}") } })).collect()
        };
        assert_eq!(client.apply(json!(goals(50))).await["summary"]["successful"], 50);
        let too_many = client.refused("preview_actions", json!({ "actions": goals(51) })).await;
        assert!(too_many["error"].as_str().unwrap().contains("50"), "{too_many}");
        client.refused("preview_actions", json!({ "actions": [] })).await;
        client.refused("preview_actions", json!({ "actions": [[goals(1)[0].clone()]] })).await;
        client.refused("preview_actions", json!({ "actions": [{ "actions": goals(1) }] })).await;
        assert_eq!(stage.count("planner.goals").await, 50);
    })
    .await;
}

#[tokio::test]
async fn a_reference_goes_back_to_an_action_that_creates_the_right_kind() {
    in_both_eras(async |stage, client| {
        let (goal, steps) = client.goal(1).await;
        let made = json!({ "action": "goal.create", "client_action_id": "g", "params": { "title": "G" } });
        let step_of = |reference: &str| json!({ "action": "step.create", "client_action_id": "s", "params": { "goal_id": reference, "title": "S" } });
        let bad = [
            json!([step_of("$ref:nobody")]),
            json!([step_of("$ref:g"), made]),
            json!([step_of("$ref:s")]),
            json!([made, step_of("$ref:g"), { "action": "step.create", "params": { "goal_id": "$ref:s", "title": "S" } }]),
            json!([{ "action": "step.complete", "client_action_id": "c", "params": { "step_id": steps[0] } }, step_of("$ref:c")]),
            json!([made, made]),
        ];
        for actions in bad {
            let refused = client.refused("preview_actions", json!({ "actions": actions })).await;
            assert!(refused["failed_action"]["index"].is_number() && refused["error"].is_string(), "{refused}");
        }
        assert_eq!(stage.count("planner.previews where status = 'pending'").await, 0);
        let quoted = client.refused("preview_actions", json!({ "actions": [{ "action": "goal.complete", "params": { "goal_id": goal.to_string() } }] })).await;
        assert!(quoted.to_string().contains("without quotes"), "{quoted}");
    })
    .await;
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a Vec<Value> {
    answer[name].as_array().unwrap_or_else(|| panic!("{answer}"))
}
