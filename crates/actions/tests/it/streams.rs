//! The stream itself: what is said, who may listen and for how long, and what becomes of those who are too slow or too many.

use std::{sync::Arc, time::Duration};

use actions::{StreamLimits, contract::ChatEvent, http::ChatSettings};
use platform::{tokens, wake::Topic};
use serde_json::json;
use tokio::{sync::Semaphore, task::JoinSet};

use crate::world::World;

/// Of the eight connections of a test.
const PASSES: u32 = 5;

fn limited(limits: StreamLimits) -> ChatSettings {
    ChatSettings { limits, ..ChatSettings::default() }
}

#[tokio::test]
async fn what_is_said_and_done_in_a_chat_is_heard_in_order_as_the_contract_writes_it() {
    let world = World::new().await;
    let mut watching = world.watch("c").await;
    world.say("c", "Расшифруй").await;
    world.start("a", json!({ "displayText": "Слушаем…", "payload": { "progress": 0.1 } })).await;
    world.start("a", json!({})).await;
    world.say("other", "в другом чате").await;
    world.update("a", "done", json!({})).await;
    let mut events: Vec<ChatEvent> = Vec::new();
    for _ in 0..3 {
        events.push(serde_json::from_value(watching.next().await.unwrap()).unwrap());
    }
    let ChatEvent::Message { message } = &events[0] else { panic!("{:?}", events[0]) };
    assert_eq!((message.seq, message.text.as_str()), (1, "Расшифруй"));
    let ChatEvent::BotAction { action } = &events[1] else { panic!("{:?}", events[1]) };
    assert_eq!((action.action_id.as_str(), action.display_text.as_deref()), ("a", Some("Слушаем…")));
    let ChatEvent::BotAction { action } = &events[2] else { panic!("{:?}", events[2]) };
    assert_eq!(action.status.as_str(), "done");
    let history = world.get("/api/chats/c/messages").await;
    assert_eq!(history["messages"].as_array().unwrap().len(), 1, "an action never becomes a message");
}

#[tokio::test]
async fn clients_are_told_different_times_to_come_back() {
    let world = World::new().await;
    let mut times = Vec::new();
    for _ in 0..8 {
        let watching = world.watch("c").await;
        assert!((2000..=5000).contains(&watching.retry_ms), "{}", watching.retry_ms);
        times.push(watching.retry_ms);
    }
    times.sort_unstable();
    times.dedup();
    assert!(times.len() > 1, "{times:?}");
}

#[tokio::test]
async fn a_silent_stream_has_a_heartbeat_that_is_no_event() {
    let heartbeat = Duration::from_millis(10);
    let world = World::with(limited(StreamLimits { heartbeat, ..StreamLimits::default() })).await;
    let mut watching = world.watch("c").await;
    let before = watching.cursor.clone();
    for _ in 0..3 {
        assert_eq!(watching.block().await, Some(json!(null)));
    }
    assert_eq!(watching.cursor, before);
    world.say("c", "x").await;
    assert_eq!(watching.word().await, "x");
}

#[tokio::test]
async fn a_token_that_is_revoked_hears_nothing_more_live_or_replayed() {
    let world = World::with(limited(StreamLimits { rights_for: Duration::ZERO, ..StreamLimits::default() })).await;
    let mut watching = world.watch("c").await;
    let cursor = watching.cursor.clone();
    world.say("c", "before").await;
    assert_eq!(watching.word().await, "before");
    let found = tokens::authenticate(world.test.db.pool(), &world.token).await.unwrap().unwrap();
    assert!(tokens::revoke(world.test.db.pool(), world.workspace, found.token_id).await.unwrap());
    // As somebody else would say it.
    let said = "select actions.add_message($1, 'c', 'user', 'secret')";
    sqlx::query(said).bind(world.workspace.uuid()).execute(world.test.db.pool()).await.unwrap();
    world.test.db.wake().tell(Topic::BUS);
    assert_eq!(watching.next().await, None);
    let path = format!("/api/chats/c/events?since={cursor}");
    assert_eq!(world.here.ask(&world.token, "GET", &path, None, &[]).await.0, 401);
}

#[tokio::test]
async fn a_token_that_expires_and_one_whose_workspace_is_disabled_hear_nothing_more() {
    let world = World::with(limited(StreamLimits { rights_for: Duration::ZERO, ..StreamLimits::default() })).await;
    for (lose, give_back) in [
        ("update core.api_tokens set expires_at = platform.now()", "update core.api_tokens set expires_at = null"),
        (
            "update core.workspaces set status = 'disabled' where workspace_id = $ws",
            "update core.workspaces set status = 'active' where workspace_id = $ws",
        ),
    ] {
        let mut watching = world.watch("c").await;
        world.run(lose).await;
        world.run("select actions.add_message($ws, 'c', 'user', 'secret')").await;
        world.test.db.wake().tell(Topic::BUS);
        assert_eq!(watching.next().await, None, "{lose}");
        world.run(give_back).await;
    }
}

#[tokio::test]
async fn while_nobody_can_say_whether_a_token_is_good_what_came_is_held_back_and_not_lost() {
    let world = World::with(limited(StreamLimits { rights_for: Duration::ZERO, ..StreamLimits::default() })).await;
    let mut watching = world.watch("c").await;
    world.say("c", "first").await;
    assert_eq!(watching.word().await, "first");
    world.run("alter table core.api_tokens rename to hidden").await;
    world.run("select actions.add_message($ws, 'c', 'user', 'second')").await;
    world.test.db.wake().tell(Topic::BUS);
    let early = tokio::time::timeout(Duration::from_millis(300), watching.next()).await;
    assert!(early.is_err(), "{early:?}");
    world.run("alter table core.hidden rename to api_tokens").await;
    assert_eq!(watching.word().await, "second");
}

#[tokio::test]
async fn while_one_stream_of_a_token_asks_the_others_go_by_the_last_answer_for_a_moment_only() {
    let limits = StreamLimits { rights_for: Duration::ZERO, asked_within: Duration::ZERO, ..StreamLimits::default() };
    let world = World::with(limited(limits)).await;
    let mut streams = [world.watch("c").await, world.watch("c").await];
    // Whoever asks waits for an answer: somebody has taken every pass.
    let (began, end) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let mut crowd = JoinSet::new();
    for _ in 0..PASSES {
        let (db, began, end) = (world.test.db.clone(), Arc::clone(&began), Arc::clone(&end));
        let stay = async move {
            began.add_permits(1);
            end.acquire().await.unwrap().forget();
            Ok(())
        };
        crowd.spawn(async move { db.at_the_door(stay).await });
    }
    began.acquire_many(PASSES).await.unwrap().forget();
    let said = "select actions.add_message($1, 'c', 'user', 'secret')";
    sqlx::query(said).bind(world.workspace.uuid()).execute(world.test.db.pool()).await.unwrap();
    world.test.db.wake().tell(Topic::BUS);
    for watching in &mut streams {
        let early = tokio::time::timeout(Duration::from_millis(300), watching.next()).await;
        assert!(early.is_err(), "{early:?}");
    }
    end.add_permits(usize::try_from(PASSES).unwrap());
    for watching in &mut streams {
        assert_eq!(watching.word().await, "secret");
    }
}

#[tokio::test]
async fn too_many_streams_of_one_token_are_refused_with_a_time_to_come_back_and_a_closed_one_makes_room() {
    let world = World::with(limited(StreamLimits { per_token_max: 2, ..StreamLimits::default() })).await;
    let first = world.watch("c").await;
    let _second = world.watch("d").await;
    let (status, answer) = world.here.ask(&world.token, "GET", "/api/chats/c/events", None, &[]).await;
    assert_eq!((status, &answer["error"]["details"]["code"]), (429, &json!("actions.too_many_streams")));
    assert!(answer["error"]["details"]["retry_after_ms"].as_u64().unwrap() > 0);
    assert!(answer["error"]["message"].as_str().unwrap().contains("Слишком много"), "{answer}");
    drop(first);
    drop(world.watch("c").await);
}

#[tokio::test]
async fn a_slow_reader_is_dropped_and_comes_back_with_its_cursor_and_no_event_is_lost() {
    let world = World::new().await;
    let mut slow = world.watch("c").await;
    let mut quick = world.watch("c").await;
    let many = "select count(actions.add_message($1, 'c', 'bot', n::text)) from generate_series(1, 3000) n";
    sqlx::query(many).bind(world.workspace.uuid()).execute(world.test.db.pool()).await.unwrap();
    world.test.db.wake().tell(Topic::BUS);
    // When the quick one has heard it all, whatever it took, the slow one has been dropped.
    let mut heard = 0;
    while heard < 3000 {
        match quick.next().await {
            Some(event) => {
                heard += 1;
                assert_eq!(event["message"]["seq"], heard);
            }
            None => quick = world.watch_since("c", &quick.cursor).await,
        }
    }
    let mut slowly = 0;
    while let Some(event) = slow.next().await {
        slowly += 1;
        assert_eq!(event["message"]["seq"], slowly);
    }
    assert!(slowly < 3000, "it was dropped after {slowly}");
    let mut back = world.watch_since("c", &slow.cursor).await;
    while slowly < 3000 {
        slowly += 1;
        assert_eq!(back.next().await.unwrap()["message"]["seq"], slowly);
    }
}

#[tokio::test]
async fn streams_end_when_the_server_stops_and_their_cursor_is_good_at_the_next_one() {
    let world = World::new().await;
    let mut watching = world.watch("c").await;
    world.here.app.stop.cancel();
    assert_eq!(watching.next().await, None);
    let next = world.another_server();
    world.say("c", "after the restart").await;
    let path = format!("/api/chats/c/events?since={}", watching.cursor);
    assert_eq!(next.watch(&world.token, &path, &[]).await.word().await, "after the restart");
}

#[tokio::test]
async fn a_token_that_is_revoked_in_the_middle_of_a_replay_hears_no_more_of_it() {
    let world = World::with(limited(StreamLimits { rights_for: Duration::ZERO, ..StreamLimits::default() })).await;
    let cursor = world.watch("c").await.cursor;
    let many = "select count(actions.add_message($1, 'c', 'bot', n::text)) from generate_series(1, 2500) n";
    sqlx::query(many).bind(world.workspace.uuid()).execute(world.test.db.pool()).await.unwrap();
    let mut watching = world.watch_since("c", &cursor).await;
    for n in 1..=10 {
        assert_eq!(watching.next().await.unwrap()["message"]["seq"], n);
    }
    let found = tokens::authenticate(world.test.db.pool(), &world.token).await.unwrap().unwrap();
    assert!(tokens::revoke(world.test.db.pool(), world.workspace, found.token_id).await.unwrap());
    assert_eq!(watching.next().await, None);
}
