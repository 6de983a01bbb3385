//! Snapshot and stream join without a hole: on mount, on reconnect, across processes and restarts, and when too much time has passed.

use actions::contract::ACTIONS_LISTED_MAX;
use kernel::Bundle;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn the_snapshot_lists_the_active_actions_by_their_last_change_newest_first() {
    let world = World::new().await;
    for id in ["a", "b", "d"] {
        world.start(id, json!({})).await;
        world.advance(1);
    }
    world.start("a", json!({})).await;
    world.update("d", "done", json!({})).await;
    world.start("elsewhere", json!({ "chatId": "other" })).await;
    let list = world.get(&format!("/api/chat/actions?workspaceId={}&chatId=c", world.workspace)).await;
    let ids: Vec<&str> = list["actions"].as_array().unwrap().iter().map(|action| action["actionId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(list["recent"], json!([]), "only on request");
}

#[tokio::test]
async fn those_that_ended_in_the_last_minutes_are_listed_on_request() {
    let world = World::new().await;
    for id in ["old", "new"] {
        world.start(id, json!({})).await;
        world.update(id, "error", json!({ "displayText": format!("Сбой {id}") })).await;
        world.advance(180);
    }
    let list = world.get("/api/chat/actions?chatId=c&recent=5").await;
    assert_eq!(list["actions"], json!([]));
    assert_eq!((list["recent"].as_array().unwrap().len(), &list["recent"][0]["displayText"]), (1, &json!("Сбой new")));
    assert_eq!(world.get("/api/chat/actions?chatId=c&recent=60").await["recent"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn what_happens_between_the_snapshot_and_the_stream_is_heard() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.test.settled().await;
    let snapshot = world.get("/api/chat/actions?chatId=c").await;
    world.update("a", "done", json!({})).await;
    world.test.settled().await;
    let history = world.get("/api/chats/c/messages").await;
    world.say("c", "между").await;
    let mut watching = world.watch_since("c", snapshot["cursor"].as_str().unwrap()).await;
    assert_eq!(watching.word().await, "a done");
    assert_eq!(watching.word().await, "между");
    let mut watching = world.watch_since("c", history["cursor"].as_str().unwrap()).await;
    assert_eq!(watching.word().await, "между");
}

#[tokio::test]
async fn a_cursor_taken_while_a_change_is_being_made_is_before_that_change() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    world.test.settled().await;
    let mut slow = world.test.db.begin(world.workspace).await.unwrap();
    sqlx::query("select actions.update_action($1, 'a', 'done')").bind(world.workspace.uuid()).execute(&mut *slow).await.unwrap();
    let snapshot = world.get("/api/chat/actions?chatId=c").await;
    assert_eq!(snapshot["actions"][0]["status"], "processing");
    world.start("b", json!({})).await;
    slow.commit().await.unwrap();
    let mut watching = world.watch_since("c", snapshot["cursor"].as_str().unwrap()).await;
    let mut heard = [watching.word().await, watching.word().await];
    heard.sort();
    assert_eq!(heard, ["a done", "b processing"]);
}

#[tokio::test]
async fn a_watcher_that_comes_back_to_another_process_hears_everything_in_between_once() {
    let world = World::new().await;
    let there = world.another_server();
    let mut watching = world.watch("c").await;
    world.say("c", "1").await;
    assert_eq!(watching.word().await, "1");
    let cursor = watching.cursor.clone();
    drop(watching);
    for text in ["2", "3", "4"] {
        world.say("c", text).await;
    }
    let mut watching = there.watch(&world.token, &format!("/api/chats/c/events?since={cursor}"), &[]).await;
    for text in ["2", "3", "4"] {
        assert_eq!(watching.word().await, text);
    }
    world.say("c", "5").await;
    assert_eq!(watching.word().await, "5", "and what happens now");
}

#[tokio::test]
async fn an_action_that_is_started_through_one_process_is_seen_through_the_other() {
    let world = World::new().await;
    let there = world.another_server();
    let mut watching = there.watch(&world.token, "/api/chats/c/events", &[]).await;
    world.start("a", json!({})).await;
    assert_eq!(watching.word().await, "a processing");
    let (_, list) = there.ask(&world.token, "GET", "/api/chat/actions?chatId=c", None, &[]).await;
    assert_eq!(list["data"]["actions"][0]["actionId"], "a");
    let end = Some(json!({ "actionId": "a", "status": "done" }));
    assert_eq!(there.ask(&world.token, "POST", "/api/chat/actions/update", end, &[]).await.0, 200);
    assert_eq!(watching.word().await, "a done");
}

#[tokio::test]
async fn the_header_of_a_browser_that_comes_back_goes_before_the_address_it_began_with() {
    let world = World::new().await;
    let first = world.get("/api/chat/actions?chatId=c").await["cursor"].as_str().unwrap().to_owned();
    let mut watching = world.watch_since("c", &first).await;
    world.say("c", "1").await;
    world.say("c", "2").await;
    assert_eq!(watching.word().await, "1");
    let heard = watching.cursor.clone();
    let path = format!("/api/chats/c/events?since={first}");
    let mut again = world.here.watch(&world.token, &path, &[("last-event-id", &heard)]).await;
    assert_eq!(again.word().await, "2");
    let mut anew = world.here.watch(&world.token, &path, &[("last-event-id", "")]).await;
    assert_eq!(anew.word().await, "1", "an empty header is none");
}

#[tokio::test]
async fn who_is_cut_off_before_the_first_event_comes_back_with_the_cursor_of_the_greeting() {
    let world = World::new().await;
    let watching = world.watch("c").await;
    let cursor = watching.cursor.clone();
    assert!(!cursor.is_empty());
    drop(watching);
    world.say("c", "пока никого не было").await;
    assert_eq!(world.watch_since("c", &cursor).await.word().await, "пока никого не было");
}

#[tokio::test]
async fn a_cursor_that_is_too_old_gets_exactly_one_resync_and_the_stream_goes_on_from_there() {
    let world = World::new().await;
    let old = world.get("/api/chat/actions?chatId=c").await["cursor"].as_str().unwrap().to_owned();
    world.say("c", "forgotten").await;
    world.start("a", json!({})).await;
    // Two days of retention, and the day that a partition spans.
    world.advance(4 * 24 * 3600);
    world.run("select platform.upkeep_journals()").await;
    let mut watching = world.watch_since("c", &old).await;
    assert_eq!(watching.cursor, "", "who is cut off before the resync comes back with the old cursor");
    let resync = watching.next().await.unwrap();
    assert_eq!((&resync["type"], &resync["cursor"]), (&json!("resync"), &json!(watching.cursor)));
    world.say("c", "new").await;
    assert_eq!(watching.word().await, "new", "nothing else in between");
    // What was missed is in what the client reads now.
    let list = world.get("/api/chat/actions?chatId=c&recent=60").await;
    assert_eq!(list["actions"][0]["actionId"], "a");
    let mut again = world.watch_since("c", resync["cursor"].as_str().unwrap()).await;
    assert_eq!(again.word().await, "new", "the cursor of the resync is good");
}

#[tokio::test]
async fn a_cursor_that_nobody_can_read_or_that_is_from_another_database_gets_one_resync_too() {
    let world = World::new().await;
    for cursor in ["nonsense", "99999999999999999999999-1", "18446744073709551615-1", "0-0", "-1"] {
        let mut watching = world.watch_since("c", cursor).await;
        assert_eq!(watching.word().await, "resync", "{cursor}");
        world.say("c", cursor).await;
        assert_eq!(watching.word().await, cursor);
    }
}

#[tokio::test]
async fn a_cursor_of_another_workspace_opens_nothing_of_it() {
    let world = World::new().await;
    let cursor = world.get("/api/chat/actions?chatId=c").await["cursor"].as_str().unwrap().to_owned();
    world.say("c", "ours").await;
    let theirs = world.test.workspace("theirs").await;
    let token = world.token_in(theirs, None, &[Bundle::Read, Bundle::Write]).await;
    let mut watching = world.here.watch(&token, &format!("/api/chats/c/events?since={cursor}"), &[]).await;
    let message = Some(json!({ "text": "theirs" }));
    assert_eq!(world.here.ask(&token, "POST", "/api/chats/c/messages", message, &[]).await.0, 201);
    assert_eq!(watching.word().await, "theirs");
}

#[tokio::test]
async fn whoever_watches_is_woken_and_does_not_wait_for_the_next_look() {
    // Nobody looks by themselves here (`world::NEVER`): what is heard at all is heard by a wake-up.
    let world = World::new().await;
    let there = world.another_server();
    let mut here = world.watch("c").await;
    let mut elsewhere = there.watch(&world.token, "/api/chats/c/events", &[]).await;
    for (n, status) in ["processing", "done", "processing"].into_iter().enumerate() {
        let id = if n < 2 { "a" } else { "b" };
        if status == "done" {
            world.update(id, status, json!({})).await;
        } else {
            world.start(id, json!({})).await;
        }
        assert_eq!(here.word().await, format!("{id} {status}"));
        assert_eq!(elsewhere.word().await, format!("{id} {status}"));
    }
    world.advance(2 * 3600);
    actions::watchdog::look(&world.test.db).await.unwrap();
    assert_eq!(elsewhere.word().await, "b error");
}

#[tokio::test]
async fn the_lists_stop_at_the_number_that_clients_know() {
    let world = World::new().await;
    let many = format!(
        "select count(actions.start_action($ws, 'c', 'a' || n, 'summarize', interval '2 hours')) from generate_series(1, {}) n",
        ACTIONS_LISTED_MAX + 1
    );
    world.run(&many).await;
    let listed = usize::try_from(ACTIONS_LISTED_MAX).unwrap();
    assert_eq!(world.get("/api/chat/actions?chatId=c").await["actions"].as_array().unwrap().len(), listed);
    world.run("select count(actions.update_action($ws, a.action_id, 'done')) from actions.actions a").await;
    let list = world.get("/api/chat/actions?chatId=c&recent=1").await;
    assert_eq!((list["actions"].as_array().unwrap().len(), list["recent"].as_array().unwrap().len()), (0, listed));
}

#[tokio::test]
async fn a_gap_that_opens_in_the_middle_of_a_replay_is_told_once_and_the_stream_goes_on() {
    let world = World::new().await;
    let cursor = world.watch("c").await.cursor;
    // More than one page, so that the rest is read when the first is told.
    world.run("select count(actions.add_message($ws, 'c', 'bot', n::text)) from generate_series(1, 1500) n").await;
    world.test.settled().await;
    let mut watching = world.watch_since("c", &cursor).await;
    world.advance(4 * 24 * 3600);
    world.run("select platform.upkeep_journals()").await;
    let mut heard = 0;
    let resync = loop {
        let event = watching.next().await.unwrap();
        if event["type"] == "resync" {
            break event;
        }
        heard += 1;
        assert_eq!(event["message"]["seq"], heard);
    };
    assert!((1..1500).contains(&heard), "{heard}");
    assert_eq!(resync["cursor"], watching.cursor);
    world.say("c", "new").await;
    assert_eq!(watching.word().await, "new");
}
