//! The state machine: idempotency, and what comes out of order. The four examples of the specification are here by number.

use serde_json::{Value, json};

use crate::world::{World, code};

#[tokio::test]
async fn example_1_a_start_that_is_sent_three_times_is_one_processing_action_whose_updated_at_moves() {
    let world = World::new().await;
    let (outcome, first) = world.start("uuid-123", json!({})).await;
    assert_eq!((outcome.as_str(), &first["status"]), ("created", &json!("processing")));
    assert_eq!(
        (&first["createdAt"], &first["updatedAt"]),
        (&json!("2026-03-02T09:00:00.000000Z"), &json!("2026-03-02T09:00:00.000000Z"))
    );
    world.advance(5);
    let (outcome, second) = world.start("uuid-123", json!({})).await;
    assert_eq!((outcome.as_str(), &second["updatedAt"]), ("unchanged", &json!("2026-03-02T09:00:05.000000Z")));
    let (_, third) = world.start("uuid-123", json!({})).await;
    assert!(third["updatedAt"].as_str() > second["updatedAt"].as_str(), "also at the same moment");
    assert_eq!(third["createdAt"], first["createdAt"]);
    assert_eq!(world.get("/api/chat/actions?chatId=c").await["actions"].as_array().unwrap().len(), 1);
    assert_eq!(world.published("c").await.len(), 1, "a repeat is no event");
    assert_eq!(world.journal("uuid-123").await, "action_started");
}

#[tokio::test]
async fn example_2_an_update_that_is_sent_again_changes_nothing() {
    let world = World::new().await;
    world.start("uuid-123", json!({})).await;
    let (outcome, done) = world.update("uuid-123", "done", json!({ "payload": { "pages": 3 } })).await;
    assert_eq!((outcome.as_str(), &done["status"]), ("changed", &json!("done")));
    world.advance(5);
    for more in [json!({}), json!({ "payload": { "pages": 3 } }), json!({ "payload": null, "displayText": " " })] {
        let (outcome, again) = world.update("uuid-123", "done", more).await;
        assert_eq!((outcome.as_str(), &again), ("unchanged", &done));
    }
    assert_eq!(world.published("c").await.len(), 2);
    assert_eq!(world.journal("uuid-123").await, "action_started action_done");
}

#[tokio::test]
async fn example_3_a_start_after_the_end_does_not_go_back() {
    let world = World::new().await;
    for ending in ["done", "error"] {
        world.start(ending, json!({})).await;
        let (_, ended) = world.update(ending, ending, json!({})).await;
        let (outcome, after) = world.start(ending, json!({ "displayText": "again" })).await;
        assert_eq!((outcome.as_str(), &after), ("ignored", &ended));
        let (outcome, after) = world.update(ending, "processing", json!({ "displayText": "on" })).await;
        assert_eq!((outcome.as_str(), &after), ("ignored", &ended));
    }
    assert_eq!(world.published("c").await.len(), 4);
    assert_eq!(world.get("/api/chat/actions?chatId=c").await["actions"], json!([]));
}

#[tokio::test]
async fn example_4_an_update_before_its_start_is_404_in_the_words_of_the_specification_and_the_start_then_works() {
    let world = World::new().await;
    for path in ["/api/chat/actions/update", "/api/no-code/callback/actions/update"] {
        let (status, answer) = world.post(path, json!({ "actionId": "uuid-123", "status": "done" })).await;
        assert_eq!(status, 404, "{answer}");
        assert_eq!(answer["error"]["message"], "Действие с actionId 'uuid-123' не найдено. Сначала вызовите start.");
        assert_eq!(answer["error"]["details"]["code"], "actions.unknown_action");
    }
    assert_eq!(world.start("uuid-123", json!({})).await.0, "created");
    assert_eq!(world.update("uuid-123", "done", json!({})).await.0, "changed");
}

#[tokio::test]
async fn a_repeated_start_with_another_text_or_payload_takes_it_and_is_published() {
    let world = World::new().await;
    world.start("a", json!({ "displayText": "Слушаем…", "payload": { "file": "1.ogg" } })).await;
    assert_eq!(world.start("a", json!({ "displayText": "Слушаем…" })).await.0, "unchanged");
    let (outcome, action) = world.start("a", json!({ "displayText": "Пишем…" })).await;
    assert_eq!(
        (outcome.as_str(), &action["displayText"], &action["payload"]),
        ("changed", &json!("Пишем…"), &json!({ "file": "1.ogg" }))
    );
    let (outcome, action) = world.start("a", json!({ "payload": { "file": "2.ogg" } })).await;
    assert_eq!(
        (outcome.as_str(), &action["displayText"], &action["payload"]),
        ("changed", &json!("Пишем…"), &json!({ "file": "2.ogg" }))
    );
    let texts: Vec<Value> = world.published("c").await.iter().map(|action| action["displayText"].clone()).collect();
    assert_eq!(texts, ["Слушаем…", "Пишем…", "Пишем…"]);
}

#[tokio::test]
async fn changes_are_compared_by_content_and_an_update_that_changes_nothing_publishes_nothing() {
    let world = World::new().await;
    world.start("a", json!({ "payload": { "progress": 0.5, "step": "разбор", "list": [1, 2] } })).await;
    let same = json!({ "payload": { "list": [1, 2], "step": "разбор", "progress": 0.50 } });
    assert_eq!(world.update("a", "processing", same).await.0, "unchanged");
    let spelled_otherwise = json!({ "payload": { "progress": 5e-1, "step": "разбор", "list": [1.0, 20e-1] } });
    assert_eq!(world.update("a", "processing", spelled_otherwise).await.0, "unchanged");
    let (outcome, action) = world.update("a", "processing", json!({ "payload": { "progress": 0.75 } })).await;
    assert_eq!(
        (outcome.as_str(), &action["payload"], &action["status"]),
        ("changed", &json!({ "progress": 0.75 }), &json!("processing"))
    );
    assert_eq!(world.published("c").await.len(), 2);
}

#[tokio::test]
async fn an_ending_with_the_same_status_and_another_content_is_taken_and_published() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.update("a", "error", json!({ "displayText": "Сбой" })).await;
    let (outcome, action) = world.update("a", "error", json!({ "payload": { "code": "no_audio" } })).await;
    assert_eq!(
        (outcome.as_str(), &action["displayText"], &action["payload"]["code"]),
        ("changed", &json!("Сбой"), &json!("no_audio"))
    );
    assert_eq!(world.published("c").await.len(), 3);
}

#[tokio::test]
async fn the_first_ending_wins_and_a_second_one_of_the_other_kind_is_kept_in_the_journal_once() {
    let world = World::new().await;
    for (first, second) in [("done", "error"), ("error", "done")] {
        world.start(first, json!({})).await;
        let (_, ended) = world.update(first, first, json!({})).await;
        for _ in 0..3 {
            let (outcome, after) = world.update(first, second, json!({ "displayText": "late" })).await;
            assert_eq!((outcome.as_str(), &after), ("ignored", &ended));
        }
        assert_eq!(world.journal(first).await, format!("action_started action_{first} action_late"));
    }
    let late = world.rows("select data from ops.journal where action = 'action_late' order by id").await;
    assert_eq!((&late[0]["data"]["status"], &late[0]["data"]["late_status"]), (&json!("done"), &json!("error")));
    assert_eq!(world.published("c").await.len(), 4, "what is ignored is not published");
}

#[tokio::test]
async fn the_paths_for_no_code_tools_behave_as_the_others_do() {
    let world = World::new().await;
    let start = json!({ "workspaceId": world.workspace, "chatId": "c", "actionId": "n", "actionType": "summarize" });
    for outcome in ["created", "unchanged"] {
        let (status, answer) = world.post("/api/no-code/callback/actions/start", start.clone()).await;
        assert_eq!((status, &answer["data"]["outcome"]), (200, &json!(outcome)));
    }
    let end = json!({ "workspaceId": world.workspace, "actionId": "n", "status": "done" });
    for outcome in ["changed", "unchanged"] {
        let (status, answer) = world.post("/api/no-code/callback/actions/update", end.clone()).await;
        assert_eq!((status, &answer["data"]["outcome"]), (200, &json!(outcome)));
    }
    assert_eq!(world.start("n", json!({ "actionType": "summarize" })).await.0, "ignored");
    let message = json!({ "chatId": "c", "messageId": "m", "role": "bot", "text": "Готово" });
    for status in [201, 200] {
        assert_eq!(world.post("/api/no-code/callback/messages", message.clone()).await.0, status);
    }
}

#[tokio::test]
async fn every_pair_of_statuses_is_walked_and_only_the_listed_edges_pass() {
    let world = World::new().await;
    let statuses = ["processing", "done", "error"];
    let consistent = |status: &str| {
        format!("status = '{status}', ended_at = {}", if status == "processing" { "null" } else { "platform.now()" })
    };
    world.start("a", json!({})).await;
    for from in statuses {
        for to in statuses {
            world.run("alter table actions.actions disable trigger action_edge").await;
            world.run(&format!("update actions.actions set {}", consistent(from))).await;
            world.run("alter table actions.actions enable trigger action_edge").await;
            let result = world.try_run(&format!("update actions.actions set {}", consistent(to))).await;
            let is_allowed = from == to || from == "processing";
            match result {
                Ok(rows) => assert!(is_allowed && rows == 1, "{from} -> {to} passed"),
                Err(error) => assert!(!is_allowed && code(&error) == "ZP003", "{from} -> {to}: {error}"),
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_type_is_taken_as_it_is_and_its_text_is_left_to_whoever_shows_it() {
    let world = World::new().await;
    let (_, action) = world.start("a", json!({ "actionType": "of_the_future" })).await;
    assert_eq!(action["actionType"], "of_the_future");
    assert_eq!(action.get("displayText"), None, "what is absent is left out");
    assert_eq!(action.get("payload"), None);
}

#[tokio::test]
async fn a_displayed_text_is_cleaned_on_its_way_in_and_empty_means_absent() {
    let world = World::new().await;
    let (_, action) =
        world.start("a", json!({ "displayText": "  <b>Готовим</b>\n\u{202e}стенограмму…<script>x</script> " })).await;
    assert_eq!(action["displayText"], "Готовим стенограмму…");
    let (_, action) = world.start("b", json!({ "displayText": "<i></i>" })).await;
    assert_eq!(action.get("displayText"), None);
    let (_, action) = world.update("b", "error", json!({ "displayText": "ё".repeat(400) })).await;
    assert_eq!(action["displayText"], "ё".repeat(300));
}

#[tokio::test]
async fn an_error_without_a_text_does_not_keep_the_one_that_said_what_was_being_done() {
    let world = World::new().await;
    world.start("a", json!({ "displayText": "Слушаем запись…" })).await;
    let (_, action) = world.update("a", "error", json!({ "payload": { "code": "no_audio" } })).await;
    assert_eq!((action.get("displayText"), &action["payload"]["code"]), (None, &json!("no_audio")));
    world.start("b", json!({ "displayText": "Слушаем запись…" })).await;
    let (_, action) = world.update("b", "error", json!({ "displayText": "В записи нет звука" })).await;
    assert_eq!(action["displayText"], "В записи нет звука");
    world.start("c", json!({ "displayText": "Слушаем запись…" })).await;
    let (_, action) = world.update("c", "done", json!({})).await;
    assert_eq!(action["displayText"], "Слушаем запись…");
}
