//! All or nothing: what a failed apply leaves behind, and what it says.

use serde_json::{Value, json};

use crate::world::{World, act, bad, good, id_of};

#[tokio::test]
async fn a_failed_apply_takes_everything_back_and_says_of_each_action_what_became_of_it() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (goal, steps) = world.goal(&ann, &["a", "b", "c"]).await;
    world.change(&ann, &json!([act("step.complete", steps[2])])).await;
    let preview = world
        .preview(
            &ann,
            &json!([
                { "action": "goal.create", "client_action_id": "new", "params": { "title": "New" } },
                { "action": "step.update", "params": { "step_id": steps[0], "title": "Other" } },
                act("step.complete", steps[0]),
                act("step.reopen", steps[2]),
                { "action": "step.reorder", "params": { "step_id": steps[2], "order": 0 } },
                act("step.delete", steps[1]),
                { "action": "step.complete", "client_action_id": "uuid-yyy", "params": { "step_id": steps[1] } },
                act("goal.complete", goal),
            ]),
        )
        .await;
    let before = (world.everything().await, world.count("planner.xp_entries").await, world.count("planner.changes").await);
    let failed = bad(&world.apply_as(&ann, id_of(&preview), "k").await);
    assert_eq!(failed["error"], "Step not found");
    let at = json!({ "action": "step.complete", "client_action_id": "uuid-yyy", "index": 6, "field": "step_id" });
    assert_eq!(failed["failed_action"], at);
    let results = failed["results"].as_array().unwrap();
    assert_eq!(results[0], json!({ "action": "goal.create", "client_action_id": "new", "success": true, "rollback": true }));
    assert!(
        results[..6].iter().all(|done| done["rollback"] == true && done.get("created_id").is_none() && done.get("xp").is_none())
    );
    assert_eq!(
        results[6],
        json!({ "action": "step.complete", "client_action_id": "uuid-yyy", "success": false, "error": "Step not found" })
    );
    assert_eq!(results[7], json!({ "action": "goal.complete", "success": false, "not_reached": true }));
    assert_eq!(failed["summary"], json!({ "total": 8, "successful": 0, "failed": 1 }));
    let after = (world.everything().await, world.count("planner.xp_entries").await, world.count("planner.changes").await);
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_failed_apply_stores_nothing_under_its_key_and_its_preview_stays_usable() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let (_, steps) = world.goal(&ann, &["a"]).await;
    let twice = world.preview(&ann, &json!([act("step.complete", steps[0]), act("step.complete", steps[0])])).await;
    let first = world.apply_as(&ann, id_of(&twice), "k").await;
    assert_eq!(bad(&first)["error"], "Step already completed");
    assert_eq!(world.apply_as(&ann, id_of(&twice), "k").await, first, "it fails anew, in the same words");
    let pending: Value = json!({ "status": "pending", "idempotency_key": null, "result": null, "applied_at": null });
    let query = format!(
        "select status, idempotency_key, result, applied_at from planner.previews where preview_id = '{}'",
        id_of(&twice)
    );
    assert_eq!(world.rows(&query).await, [pending]);
    // The key is free for another preview, because it stands for nothing.
    let once = world.preview(&ann, &json!([act("step.complete", steps[0])])).await;
    good(&world.apply_as(&ann, id_of(&once), "k").await);
    assert_eq!(world.xp(&ann).await, 25);
}

#[tokio::test]
async fn a_commit_that_fails_leaves_nothing_and_the_same_call_may_be_made_again() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let preview = world.preview(&ann, &json!([{ "action": "goal.create", "params": { "title": "At the end" } }])).await;
    world
        .try_run(
            "create function planner.not_today() returns trigger language plpgsql as
             $$ begin raise exception 'not today' using errcode = '40001'; end $$",
        )
        .await
        .unwrap();
    let trigger = "create constraint trigger not_today after insert on planner.goals deferrable initially deferred
                   for each row execute function planner.not_today()";
    world.try_run(trigger).await.unwrap();
    let arguments = crate::world::object(json!({ "preview_id": id_of(&preview), "idempotency_key": "k" }));
    let error = world.planner.apply(&ann, &arguments, &()).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert_eq!((world.count("planner.goals").await, world.count("planner.previews where status = 'pending'").await), (0, 1));
    world.try_run("drop trigger not_today on planner.goals").await.unwrap();
    good(&world.apply_as(&ann, id_of(&preview), "k").await);
}
