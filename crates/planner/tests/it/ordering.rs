//! The order of actions, of results and of steps.

use serde_json::json;

use crate::world::{World, act, created, step_in};

#[tokio::test]
async fn actions_are_done_in_the_order_of_the_list_and_results_come_in_it() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let applied = world
        .change(
            &ann,
            &json!([
                { "action": "goal.create", "client_action_id": "uuid-goal", "params": { "title": "Выучить Python", "category": "work" } },
                { "action": "step.create", "client_action_id": "uuid-step-1", "params": { "goal_id": "$ref:uuid-goal", "title": "Изучить основы" } },
                { "action": "step.create", "client_action_id": "uuid-step-2", "params": { "goal_id": "$ref:uuid-goal", "title": "Написать первый проект" } },
            ]),
        )
        .await;
    let ids = created(&applied);
    let goal = ids[0];
    assert_eq!(
        applied["results"],
        json!([
            { "action": "goal.create", "client_action_id": "uuid-goal", "success": true, "created_id": goal },
            { "action": "step.create", "client_action_id": "uuid-step-1", "success": true, "created_id": ids[1] },
            { "action": "step.create", "client_action_id": "uuid-step-2", "success": true, "created_id": ids[2] },
        ])
    );
    assert_eq!(applied["summary"], json!({ "total": 3, "successful": 3, "failed": 0 }));
    assert_eq!(world.steps(goal).await, "Изучить основы Написать первый проект");
    assert_eq!(world.rows("select category from planner.goals").await, [json!({ "category": "work" })]);
}

#[tokio::test]
async fn an_action_sees_what_the_one_before_it_did() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, _) = world.goal(&ann, &[]).await;
    let applied = world
        .change(
            &ann,
            &json!([
                { "action": "step.create", "client_action_id": "s", "params": { "goal_id": goal, "title": "S" } },
                { "action": "step.update", "params": { "step_id": "$ref:s", "priority": "critical" } },
                { "action": "step.complete", "params": { "step_id": "$ref:s" } },
            ]),
        )
        .await;
    assert_eq!(applied["xp"], json!({ "change": 25, "total": 25 }));
    let step = world.rows("select priority, completed_at is not null as done, version from planner.steps").await;
    assert_eq!(step, [json!({ "priority": "critical", "done": true, "version": 3 })]);
}

#[tokio::test]
async fn a_step_goes_where_its_order_says_and_the_others_make_room() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b"]).await;
    let at = |title: &str, order: i64| json!({ "action": "step.create", "params": { "goal_id": goal, "title": title, "order": order } });
    world.change(&ann, &json!([at("first", 0), at("middle", 2), at("far", 99), step_in(goal, "last")])).await;
    assert_eq!(world.steps(goal).await, "first a middle b far last");
    let reorder = |step: i64, order: i64| json!([{ "action": "step.reorder", "params": { "step_id": step, "order": order } }]);
    world.change(&ann, &reorder(steps[1], 0)).await;
    assert_eq!(world.steps(goal).await, "b first a middle far last");
    world.change(&ann, &reorder(steps[1], 99)).await;
    assert_eq!(world.steps(goal).await, "first a middle far last b");
    world.change(&ann, &reorder(steps[0], 1)).await;
    assert_eq!(world.steps(goal).await, "first a middle far last b", "where it was");
    world.change(&ann, &json!([act("step.delete", steps[0])])).await;
    assert_eq!(world.steps(goal).await, "first middle far last b");
}

#[tokio::test]
async fn a_step_that_makes_room_keeps_its_version() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b", "c"]).await;
    world.change(&ann, &json!([{ "action": "step.reorder", "params": { "step_id": steps[2], "order": 0 } }])).await;
    let versions = world.rows("select title, version from planner.steps order by \"order\"").await;
    let expected = [("c", 2), ("a", 1), ("b", 1)].map(|(title, version)| json!({ "title": title, "version": version }));
    assert_eq!(versions, expected);
    let goal = world.rows(&format!("select version, steps_version from planner.goals where goal_id = {goal}")).await;
    assert_eq!(goal, [json!({ "version": 1, "steps_version": 5 })]);
}

#[tokio::test]
async fn a_new_step_takes_the_place_of_one_that_the_same_batch_deleted() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["old", "next"]).await;
    let create = json!({ "action": "step.create", "params": { "goal_id": goal, "order": 0, "title": "new" } });
    world.change(&ann, &json!([act("step.delete", steps[0]), create])).await;
    assert_eq!(world.steps(goal).await, "new next");
}

#[tokio::test]
async fn fifty_actions_fit_and_fifty_one_do_not() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let goals = |count: usize| json!(vec![json!({ "action": "goal.create", "params": { "title": "G" } }); count]);
    assert_eq!(world.change(&ann, &goals(50)).await["summary"]["successful"], 50);
    let refused = world.refuse(&ann, &goals(51)).await;
    assert_eq!(refused["error"], "too many actions: 51 of at most 50");
    assert_eq!(world.count("planner.goals").await, 50);
}
