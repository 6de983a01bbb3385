//! Undo: exactly back, XP included, or the name of what is in the way.

use planner::ReadTool;
use serde_json::{Value, json};

use crate::world::{World, act, bad, good, id_of, step_in};

#[tokio::test]
async fn an_undo_is_a_preview_that_puts_everything_back_as_it_was() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b", "c"]).await;
    let habit = world.habit(&ann, json!({ "title": "Run", "days": ["mon"] })).await;
    world.change(&ann, &json!([act("step.complete", steps[2])])).await;
    let before = world.everything().await;
    let batch = world
        .change(
            &ann,
            &json!([
                { "action": "goal.create", "client_action_id": "g", "params": { "title": "New" } },
                step_in("$ref:g", "first"),
                { "action": "step.reorder", "params": { "step_id": steps[1], "order": 0 } },
                act("step.complete", steps[0]),
                act("step.delete", steps[0]),
                act("step.reopen", steps[2]),
                { "action": "step.create", "params": { "goal_id": goal, "title": "d", "order": 1 } },
                { "action": "goal.update", "params": { "goal_id": goal, "title": "Other", "category": "work" } },
                act("goal.complete", goal),
                { "action": "habit.update", "params": { "habit_id": habit, "days": ["tue", "wed"] } },
                act("habit.mark_completed", habit),
                act("habit.archive", habit),
            ]),
        )
        .await;
    let after = world.everything().await;
    let preview = good(&world.undo_as(&ann, id_of(&batch)).await);
    assert_eq!(preview["xp"], json!({ "before": 135, "change": -110, "after": 25 }));
    assert_eq!(preview["actions"].as_array().unwrap().len(), 12);
    assert_eq!(preview["actions"][0]["action"], "undo habit.archive", "from the last to the first");
    assert_eq!(preview["actions"][11]["summary"], "Undo goal.create: goal “New” goes");
    assert_eq!(world.everything().await, after, "it is only a preview");
    let undone = good(&world.apply_as(&ann, id_of(&preview), "undo").await);
    assert_eq!(undone["xp"], json!({ "change": -110, "total": 25 }));
    assert_eq!(world.everything().await, before);
    let redone = world.undo(&ann, &undone).await;
    assert_eq!(world.everything().await, after, "an undo can be undone");
    world.undo(&ann, &redone).await;
    assert_eq!(world.everything().await, before, "and so on");
}

#[tokio::test]
async fn a_deleted_goal_comes_back_with_its_steps_and_what_they_earned() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b", "c"]).await;
    world.change(&ann, &json!([act("step.complete", steps[1]), act("goal.complete", goal)])).await;
    let before = world.everything().await;
    let batch = world.change(&ann, &json!([act("goal.delete", goal)])).await;
    assert_eq!((world.count("planner.steps").await, world.xp(&ann).await), (0, 125), "what was earned stays");
    world.undo(&ann, &batch).await;
    assert_eq!(world.everything().await, before);
    // The award is the same as before, so that reopening still takes it back, once.
    world.change(&ann, &json!([act("goal.reopen", goal), act("step.reopen", steps[1])])).await;
    assert_eq!(world.xp(&ann).await, 0);
}

#[tokio::test]
async fn an_award_that_undo_gave_again_can_be_taken_back_again() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, _) = world.goal(&ann, &[]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    world.change(&ann, &json!([act("goal.complete", goal), act("habit.mark_completed", habit)])).await;
    for _ in 0..3 {
        let back = world.change(&ann, &json!([act("goal.reopen", goal), act("habit.unmark", habit)])).await;
        assert_eq!(world.xp(&ann).await, 0);
        world.undo(&ann, &back).await;
        assert_eq!(world.xp(&ann).await, 110);
    }
    let twice =
        world.rows("select takes_back from planner.xp_entries where takes_back is not null group by 1 having count(*) > 1").await;
    assert_eq!(twice, Vec::<Value>::new());
}

#[tokio::test]
async fn a_later_change_prevents_an_undo_and_is_named() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let first =
        world.change(&ann, &json!([{ "action": "goal.create", "client_action_id": "g", "params": { "title": "G" } }])).await;
    let goal = crate::world::created(&first)[0];
    let batch = world.change(&ann, &json!([step_in(goal, "a"), act("habit.mark_completed", habit)])).await;
    let step = crate::world::created(&batch)[0];
    for later in [
        json!([{ "action": "step.update", "params": { "step_id": step, "title": "Later" } }]),
        json!([act("step.complete", step)]),
        json!([step_in(goal, "another")]),
        json!([act("goal.delete", goal)]),
        json!([act("habit.unmark", habit)]),
    ] {
        let later = world.change(&ann, &later).await;
        let refused = bad(&world.undo_as(&ann, id_of(&batch)).await);
        assert_eq!(refused["error"], "Undo prevented by a later change");
        let named = &refused["prevented_by"][0];
        assert_eq!((&named["preview_id"], &named["action"]), (&later["preview_id"], &later["results"][0]["action"]), "{refused}");
        assert!(named["title"].is_string() || named["action"] == "goal.delete", "{refused}");
        // Once the later change is undone, nothing is in the way.
        world.undo(&ann, &later).await;
        good(&world.undo_as(&ann, id_of(&batch)).await);
    }
    // What did not touch the same things never was.
    world.change(&ann, &json!([{ "action": "goal.update", "params": { "goal_id": goal, "title": "GG" } }])).await;
    world.undo(&ann, &batch).await;
    assert_eq!((world.count("planner.steps").await, world.xp(&ann).await), (0, 0));
}

#[tokio::test]
async fn a_goal_that_got_steps_later_and_a_habit_that_got_marks_are_not_taken_away() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let made = json!([
        { "action": "goal.create", "params": { "title": "G" } },
        { "action": "habit.create", "params": { "title": "H" } },
    ]);
    for which in [0, 1] {
        let batch = world.change(&ann, &made).await;
        let ids = crate::world::created(&batch);
        let later = if which == 0 { json!([step_in(ids[0], "S")]) } else { json!([act("habit.mark_completed", ids[1])]) };
        let later = world.change(&ann, &later).await;
        let refused = bad(&world.undo_as(&ann, id_of(&batch)).await);
        assert_eq!(refused["prevented_by"][0]["preview_id"], later["preview_id"], "{refused}");
        // And a step does not come back to a goal that is gone.
        let gone = world.undo(&ann, &later).await;
        world.undo(&ann, &batch).await;
        let refused = bad(&world.undo_as(&ann, id_of(&gone)).await);
        assert_eq!(refused["error"], "Undo prevented by a later change");
    }
}

#[tokio::test]
async fn what_was_not_applied_or_was_undone_already_cannot_be_undone() {
    let world = World::new().await;
    let (ann, bob) = (world.caller("ann").await, world.caller("bob").await);
    let preview = world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    assert_eq!(bad(&world.undo_as(&ann, id_of(&preview)).await)["error"], "Preview not applied");
    good(&world.apply_as(&ann, id_of(&preview), "k").await);
    assert_eq!(bad(&world.undo_as(&bob, id_of(&preview)).await)["error"], "Preview not found");
    let (one, other) = (good(&world.undo_as(&ann, id_of(&preview)).await), good(&world.undo_as(&ann, id_of(&preview)).await));
    good(&world.apply_as(&ann, id_of(&one), "one").await);
    let refused = bad(&world.apply_as(&ann, id_of(&other), "other").await);
    assert_eq!(refused["error"], "Preview already undone");
    let refused = bad(&world.undo_as(&ann, id_of(&preview)).await);
    assert_eq!(refused["error"], "Preview already undone");
    assert!(refused["hint"].as_str().unwrap().contains(id_of(&one)), "{refused}");
    let history = world.read(&ann, ReadTool::GetHistory, json!({})).await;
    assert_eq!(history["batches"][0]["undoes"], preview["preview_id"]);
    assert_eq!(history["batches"][1]["undone_by"], one["preview_id"]);
}

#[tokio::test]
async fn an_undo_whose_things_changed_since_its_preview_is_stale_or_prevented() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, _) = world.goal(&ann, &[]).await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    let rename = |title: &str| json!([{ "action": "goal.update", "params": { "goal_id": goal, "title": title } }]);
    let batch = world.change(&ann, &rename("One")).await;
    let undo = good(&world.undo_as(&ann, id_of(&batch)).await);
    world.change(&ann, &rename("Two")).await;
    assert_eq!(bad(&world.apply_as(&ann, id_of(&undo), "k").await)["error"], "Preview stale");
    let (other, _) = world.goal(&ann, &[]).await;
    let batch = json!([act("goal.complete", goal), act("goal.complete", other)]);
    let batch = world.change(&ann, &batch).await;
    let undo = good(&world.undo_as(&ann, id_of(&batch)).await);
    world.change(&ann, &rename("Three")).await;
    let refused = bad(&world.apply_as(&ann, id_of(&undo), "k").await);
    assert_eq!(
        (&refused["stale"][0]["id"], &refused["failed_action"]["index"]),
        (&goal.into(), &json!(1)),
        "the other one comes first"
    );
    let batch = world.change(&ann, &json!([act("habit.mark_completed", habit)])).await;
    let undo = good(&world.undo_as(&ann, id_of(&batch)).await);
    world.change(&ann, &json!([act("habit.unmark", habit)])).await;
    let refused = bad(&world.apply_as(&ann, id_of(&undo), "k").await);
    assert_eq!(refused["error"], "Undo prevented by a later change");
    assert_eq!(refused["prevented_by"][0]["action"], "habit.unmark");
}

#[tokio::test]
async fn the_preview_of_undoing_a_move_says_from_where_to_where() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (_, steps) = world.goal(&ann, &["a", "b", "c"]).await;
    let batch = world.change(&ann, &json!([{ "action": "step.reorder", "params": { "step_id": steps[2], "order": 0 } }])).await;
    let preview = good(&world.undo_as(&ann, id_of(&batch)).await);
    assert_eq!(preview["actions"][0]["changes"], json!([{ "field": "order", "before": 0, "after": 2 }]));
}

#[tokio::test]
async fn whoever_undoes_what_was_undone_and_done_again_is_told_what_to_undo() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let batch = world.change(&ann, &json!([{ "action": "goal.create", "params": { "title": "G" } }])).await;
    let undo = world.undo(&ann, &batch).await;
    let hint = |answer: &planner::ToolAnswer| bad(answer)["hint"].as_str().unwrap().to_owned();
    assert!(hint(&world.undo_as(&ann, id_of(&batch)).await).contains(&format!("have its changes back, undo {}", id_of(&undo))));
    let redo = world.undo(&ann, &undo).await;
    assert!(hint(&world.undo_as(&ann, id_of(&batch)).await).contains(&format!("made again by {}", id_of(&redo))));
    world.undo(&ann, &redo).await;
    assert_eq!(world.count("planner.goals").await, 0);
}
