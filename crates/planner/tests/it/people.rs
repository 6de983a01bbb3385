//! A person sees their own things and no others, of whatever workspace.

use kernel::Bundle;
use planner::ReadTool;
use serde_json::{Value, json};

use crate::world::{World, act, bad, id_of, step_in};

#[tokio::test]
async fn a_person_is_the_same_at_every_call_and_another_one_in_another_workspace() {
    let world = World::new().await;
    let theirs = world.test.workspace("theirs").await;
    let (once, again) = (world.caller("ann").await, world.caller("ann").await);
    let other = world.caller_in(theirs, "ann", &[Bundle::Read, Bundle::Write]).await;
    assert_eq!(once.person, again.person);
    assert_ne!(once.person, other.person);
    assert_eq!(world.count("planner.people").await, 2);
}

#[tokio::test]
async fn what_belongs_to_another_is_not_found_as_if_it_never_was() {
    let world = World::new().await;
    let theirs = world.test.workspace("theirs").await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a"]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let batch = world.change(&ann, &json!([act("habit.mark_completed", habit)])).await;
    let before = world.everything().await;
    for stranger in [world.caller("bob").await, world.caller_in(theirs, "ann", &[Bundle::Read, Bundle::Write]).await] {
        for (action, error) in [
            (act("goal.complete", goal), "Goal not found"),
            (act("goal.delete", goal), "Goal not found"),
            (step_in(goal, "S"), "Goal not found"),
            (act("step.delete", steps[0]), "Step not found"),
            (act("habit.unmark", habit), "Habit not found"),
            (act("habit.archive", habit), "Habit not found"),
        ] {
            assert_eq!(world.refuse(&stranger, &json!([action])).await["error"], error);
        }
        assert_eq!(bad(&world.undo_as(&stranger, id_of(&batch)).await)["error"], "Preview not found");
        assert_eq!(bad(&world.apply_as(&stranger, id_of(&batch), "k").await)["error"], "Preview not found");
        for (tool, arguments) in [
            (ReadTool::GetGoal, json!({ "goal_id": goal })),
            (ReadTool::GetStep, json!({ "step_id": steps[0] })),
            (ReadTool::GetHabit, json!({ "habit_id": habit })),
            (ReadTool::ListSteps, json!({ "goal_id": goal })),
        ] {
            let answer = world.planner.read(&stranger, tool, &crate::world::object(arguments)).await.unwrap();
            assert!(bad(&answer)["error"].as_str().unwrap().ends_with("not found"));
        }
        assert_eq!(world.read(&stranger, ReadTool::ListGoals, json!({ "status": "all" })).await["goals"], json!([]));
        assert_eq!(world.read(&stranger, ReadTool::ListSteps, json!({ "status": "all" })).await["steps"], json!([]));
        assert_eq!(world.read(&stranger, ReadTool::ListHabits, json!({ "include_archived": true })).await["habits"], json!([]));
        assert_eq!(world.read(&stranger, ReadTool::GetHistory, json!({})).await["batches"], json!([]));
        assert_eq!(world.xp(&stranger).await, 0);
    }
    assert_eq!(world.everything().await, before);
}

#[tokio::test]
async fn a_transaction_of_one_workspace_can_do_nothing_in_another() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let theirs = world.test.workspace("theirs").await;
    for query in [
        "select planner.find_person($1, 'eve ' || $2)",
        "select planner.run_action($1, $2, gen_random_uuid(), 0, 'goal.create', '{\"title\": \"T\"}')",
        "select planner.log_request($1, gen_random_uuid(), $2, gen_random_uuid(), 'x', '{}')",
    ] {
        let mut tx = world.test.db.begin(theirs).await.unwrap();
        let done = sqlx::query(query).bind(world.workspace.uuid()).bind(ann.person).execute(&mut *tx).await;
        assert!(done.is_err(), "{query}");
    }
}

#[tokio::test]
async fn lists_come_in_pages_by_status_and_category() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let goal = |n: i64| json!({ "action": "goal.create", "params": { "title": format!("G{n}"), "category": if n % 2 == 0 { "work" } else { "home" } } });
    let ids = crate::world::created(&world.change(&ann, &json!([goal(0), goal(1), goal(2), goal(3), goal(4)])).await);
    world.change(&ann, &json!([act("goal.complete", ids[0]), step_in(ids[1], "S")])).await;
    let list = async |arguments: Value| {
        let found = world.read(&ann, ReadTool::ListGoals, arguments).await;
        let titles: Vec<String> =
            found["goals"].as_array().unwrap().iter().map(|goal| goal["title"].as_str().unwrap().to_owned()).collect();
        (titles.join(" "), found["next"].clone())
    };
    assert_eq!(list(json!({})).await, ("G1 G2 G3 G4".to_owned(), Value::Null), "those that are open");
    assert_eq!(list(json!({ "status": "completed" })).await.0, "G0");
    assert_eq!(list(json!({ "status": "all", "category": "work" })).await.0, "G0 G2 G4");
    let (page, next) = list(json!({ "status": "all", "limit": 3 })).await;
    assert_eq!((page.as_str(), &next), ("G0 G1 G2", &json!(ids[2])));
    assert_eq!(list(json!({ "status": "all", "limit": 3, "after": next })).await, ("G3 G4".to_owned(), Value::Null));
    let goal = world.read(&ann, ReadTool::GetGoal, json!({ "goal_id": ids[1] })).await;
    assert_eq!(goal["goal"]["steps"][0]["title"], "S");
    let history = world.read(&ann, ReadTool::GetHistory, json!({ "limit": 1 })).await;
    assert_eq!(history["batches"][0]["actions"][0]["action"], "goal.complete");
    let older = world.read(&ann, ReadTool::GetHistory, json!({ "limit": 1, "after": history["next"] })).await;
    assert_eq!((older["batches"][0]["actions"].as_array().unwrap().len(), &older["next"]), (5, &Value::Null));
}
