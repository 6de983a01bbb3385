//! What a preview refuses before it looks at anything, and in which words; and what no token may do.

use kernel::Bundle;
use planner::ReadTool;
use serde_json::{Value, json};

use crate::world::{World, bad, object, principal, step_in};

#[tokio::test]
async fn a_batch_that_can_never_work_is_refused_with_the_action_and_the_field() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let goal = |params: Value| json!({ "action": "goal.create", "client_action_id": "c", "params": params });
    let cases = [
        (goal(json!({})), "title is required", "title"),
        (goal(json!({ "title": " " })), "title is required", "title"),
        (goal(json!({ "title": 7 })), "title is a string, not a number", "title"),
        (goal(json!({ "title": "T", "priority": "urgent" })), "priority is one of low, medium, high, critical", "priority"),
        (goal(json!({ "titel": "T" })), "unknown field `titel` in goal.create; did you mean `title`?", "titel"),
    ];
    for (action, error, field) in cases {
        let refused = world.refuse(&ann, &json!([step_in(1, "never"), action])).await;
        assert_eq!(refused["error"], error);
        let failed = json!({ "action": "goal.create", "client_action_id": "c", "index": 1, "field": field });
        assert_eq!(refused["failed_action"], failed, "{error}");
        assert!(refused.get("results").is_none() && refused.get("preview_id").is_none());
    }
    assert_eq!((world.count("planner.previews").await, world.count("planner.changes").await), (0, 0));
}

#[tokio::test]
async fn a_reference_that_leads_nowhere_good_is_refused_at_the_preview() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let goal = json!({ "action": "goal.create", "client_action_id": "g", "params": { "title": "G" } });
    let habit = json!({ "action": "habit.create", "client_action_id": "h", "params": { "title": "H" } });
    let done = json!({ "action": "goal.complete", "client_action_id": "d", "params": { "goal_id": "$ref:g" } });
    let named = json!({ "action": "step.create", "client_action_id": "s", "params": { "goal_id": "$ref:s", "title": "S" } });
    for (actions, error) in [
        (json!([step_in("$ref:x", "S")]), "unknown reference `$ref:x`"),
        (json!([step_in("$ref:g", "S"), goal]), "`$ref:g` refers to a later action"),
        (json!([named]), "`$ref:s` refers to its own action"),
        (json!([habit, step_in("$ref:h", "S")]), "goal_id refers to habit.create `h`, which creates a habit, not a goal"),
        (json!([goal, done, step_in("$ref:d", "S")]), "goal_id refers to goal.complete `d`, which creates nothing"),
        (json!([goal, goal]), "duplicate client_action_id `g`"),
        (json!([step_in("$ref:", "S")]), "goal_id is a positive integer or \"$ref:<client_action_id>\""),
    ] {
        let refused = world.refuse(&ann, &actions).await;
        assert_eq!(refused["error"], error);
        assert!(refused["failed_action"]["field"].is_string() && refused["failed_action"]["index"].is_number());
    }
}

#[tokio::test]
async fn a_reference_means_nothing_outside_of_ids() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let applied = json!([{ "action": "goal.create", "client_action_id": "g", "params": { "title": "$ref:g", "description": "$ref:nobody" } }]);
    world.change(&ann, &applied).await;
    let stored = world.rows("select title, description from planner.goals").await;
    assert_eq!(stored, [json!({ "title": "$ref:g", "description": "$ref:nobody" })]);
}

#[tokio::test]
async fn the_arguments_of_the_other_tools_are_checked_in_the_same_words() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    for (arguments, error) in [
        (json!({ "idempotency_key": "k" }), "preview_id is required"),
        (json!({ "preview_id": "", "idempotency_key": "k" }), "preview_id is required"),
        (json!({ "preview_id": "abc-123" }), "idempotency_key is required"),
        (json!({ "preview_id": "abc-123", "idempotency_key": "k" }), "Preview not found"),
        (json!({ "preview_id": 7, "idempotency_key": "k" }), "preview_id is a string, not a number"),
        (json!({ "preview_id": "abc-123", "idempotency_key": "ключ" }), "idempotency_key has 1 to 255 visible ASCII characters"),
        (json!({ "preview_id": "abc-123", "key": "k" }), "unknown field `key` in apply_actions; did you mean `idempotency_key`?"),
    ] {
        let answer = world.planner.apply(&ann, &object(arguments), &()).await.unwrap();
        let planner::Applied::Answered(answer) = answer else { panic!("nobody cancelled it") };
        assert_eq!(bad(&answer)["error"], error);
    }
    let undo = async |arguments: Value| bad(&world.planner.undo(&ann, &object(arguments)).await.unwrap());
    assert_eq!(undo(json!({})).await["error"], "preview_id is required");
    assert_eq!(undo(json!({ "preview_id": "abc" })).await["error"], "Preview not found");
    for (tool, arguments, error) in [
        (ReadTool::ListGoals, json!({ "state": "open" }), "unknown field `state` in list_goals; did you mean `status`?"),
        (ReadTool::ListGoals, json!({ "status": "done" }), "status is one of open, completed, all"),
        (ReadTool::ListGoals, json!({ "limit": 101 }), "limit is an integer from 1 to 100"),
        (ReadTool::GetGoal, json!({}), "goal_id is required"),
        (ReadTool::GetGoal, json!({ "goal_id": "7" }), "goal_id is a positive integer"),
        (ReadTool::GetGoal, json!({ "goal_id": 7 }), "Goal not found"),
        (ReadTool::GetStep, json!({ "step_id": 7 }), "Step not found"),
        (ReadTool::GetHabit, json!({ "habit_id": 7 }), "Habit not found"),
        (ReadTool::ListSteps, json!({ "goal_id": 7 }), "Goal not found"),
        (ReadTool::GetXp, json!({ "limit": 1 }), "unknown field `limit` in get_xp"),
    ] {
        let answer = world.planner.read(&ann, tool, &object(arguments)).await.unwrap();
        assert_eq!(bad(&answer)["error"], error, "{tool:?}");
    }
}

#[tokio::test]
async fn what_a_token_may_not_do_is_refused_and_names_the_scope() {
    let world = World::new().await;
    let reader = world.caller_in(world.workspace, "ann", &[Bundle::Read]).await;
    let writer = world.caller_in(world.workspace, "ann", &[Bundle::Write]).await;
    let refused = world.refuse(&reader, &json!([{ "action": "goal.create", "params": { "title": "T" } }])).await;
    assert!(refused["error"].as_str().unwrap().contains("scope `planner:write`"), "{refused}");
    let of_another_module = world.caller_in(world.workspace, "ann", &["posting:write", "posting:read"]).await;
    for refused in [
        world.undo_as(&of_another_module, "x").await,
        world.planner.read(&of_another_module, ReadTool::GetXp, &object(json!({}))).await.unwrap(),
        world.apply_as(&reader, "x", "k").await,
        world.undo_as(&reader, "x").await,
        world.planner.set_time_zone(&reader, &object(json!({ "time_zone": "UTC" }))).await.unwrap(),
        world.planner.read(&writer, ReadTool::GetXp, &object(json!({}))).await.unwrap(),
    ] {
        assert!(bad(&refused)["error"].as_str().unwrap().contains("lacks the scope"), "{refused:?}");
    }
    assert_eq!(world.xp(&reader).await, 0);
}

#[tokio::test]
async fn a_token_that_names_nobody_is_refused() {
    let world = World::new().await;
    let nobody = principal(world.workspace, None, &[Bundle::Read, Bundle::Write]);
    let problem = world.planner.caller(&nobody, kernel::TraceId::new()).await.unwrap_err();
    assert_eq!(problem.status, 403);
}
