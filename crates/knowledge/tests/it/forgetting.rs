//! Deleted means gone, and stays so.

use serde_json::json;
use testkit::http::ask;

use crate::world::{Archive, GROUP, MEMBER, edit, message, said};

const SECRET: &str = "пароль-от-сейфа";

async fn where_it_is(archive: &Archive) -> Vec<String> {
    where_is(archive, SECRET).await
}

/// Every table of the module that still has the text somewhere.
async fn where_is(archive: &Archive, text: &str) -> Vec<String> {
    let tables: Vec<String> = sqlx::query_scalar(
        "select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('raw', 'tg', 'content', 'kg', 'audit', 'ops', 'bus') and c.relkind in ('r', 'p') and not c.relispartition
          order by 1")
        .fetch_all(archive.test.db.pool()).await.expect("the tables are read");
    let mut found = Vec::new();
    for table in tables {
        let query = format!("(select exists (select from {table} t where t::text like '%{text}%'))");
        if archive.ask(&query).await == true {
            found.push(table);
        }
    }
    found
}

async fn forget(archive: &Archive, kind: &str, message_id: i64) -> serde_json::Value {
    let call = format!("knowledge.forget('{}', '{kind}', {GROUP}, {message_id}, {MEMBER}, 'test')", archive.workspace.uuid());
    archive.ask(&call).await
}

async fn told(archive: &Archive) {
    archive.data("WF10", json!({"bot_id": archive.bot, "update": message(1, 1, SECRET)})).await;
    let mut answer = said(2, "понял");
    answer["reply_to_message"] = said(1, SECRET);
    archive.data("WF10", json!({"bot_id": archive.bot, "update": {"update_id": 2, "message": answer}})).await;
    archive.work().await;
}

#[tokio::test]
async fn a_forgotten_message_is_nowhere_not_even_in_what_answered_it() {
    let archive = Archive::new().await;
    told(&archive).await;
    assert!(where_it_is(&archive).await.contains(&"kg.chunks".to_owned()), "the search finds what is there");
    let counts = forget(&archive, "message", 1).await;
    assert_eq!((&counts["messages"], &counts["chunks"]), (&json!(1), &json!(1)), "{counts}");
    assert_eq!(where_it_is(&archive).await, [""; 0]);
    assert_eq!(archive.texts().await, ["понял"], "the answer to it stays");
    assert_eq!(archive.ask("(select kind from audit.forgettings)").await, "message");
}

#[tokio::test]
async fn a_forgotten_message_does_not_come_back_with_a_late_update() {
    let archive = Archive::new().await;
    told(&archive).await;
    forget(&archive, "message", 1).await;
    archive.data("WF10", json!({"bot_id": archive.bot, "update": edit(3, 1, SECRET, 30)})).await;
    archive.work().await;
    assert_eq!(where_it_is(&archive).await, [""; 0]);
}

#[tokio::test]
async fn a_message_that_is_forgotten_before_its_update_is_read_never_appears() {
    let archive = Archive::new().await;
    archive.data("WF10", json!({"bot_id": archive.bot, "update": message(1, 1, SECRET)})).await;
    forget(&archive, "message", 1).await;
    archive.work().await;
    assert_eq!(where_it_is(&archive).await, [""; 0]);
    assert_eq!(archive.count("tg.messages").await, 0);
}

/// Message 2, which answers message 1 and quotes it.
fn answer() -> serde_json::Value {
    let mut answer = said(2, "понял");
    answer["reply_to_message"] = said(1, SECRET);
    answer["quote"] = json!({"text": SECRET, "position": 0});
    json!({"update_id": 2, "message": answer})
}

#[tokio::test]
async fn a_checklist_that_is_forgotten_is_not_in_what_tells_of_its_tasks() {
    let archive = Archive::new().await;
    let done = |update_id: i64| {
        let mut done = said(update_id, "");
        done["checklist_tasks_done"] = json!({ "marked_as_done_task_ids": [1], "checklist_message": said(1, SECRET) });
        json!({ "update_id": update_id, "message": done })
    };
    for update in [message(1, 1, SECRET), done(2)] {
        archive.data("WF10", json!({ "bot_id": archive.bot, "update": update })).await;
    }
    archive.work().await;
    assert_eq!(archive.list("select kind from tg.messages order by id").await, [json!("message"), json!("service")]);
    // One was read and one waits.
    archive.data("WF10", json!({ "bot_id": archive.bot, "update": done(3) })).await;
    forget(&archive, "message", 1).await;
    archive.work().await;
    assert_eq!(where_it_is(&archive).await, [""; 0]);
    archive.data("WF10", json!({ "bot_id": archive.bot, "update": done(4) })).await;
    archive.work().await;
    assert_eq!(where_it_is(&archive).await, [""; 0], "nor in what comes late");
    assert_eq!(archive.count("tg.messages").await, 3);
}

#[tokio::test]
async fn an_answer_that_waits_while_what_it_quotes_is_forgotten_is_not_lost() {
    let archive = Archive::new().await;
    archive.data("WF10", json!({"bot_id": archive.bot, "update": message(1, 1, SECRET)})).await;
    archive.work().await;
    archive.data("WF10", json!({"bot_id": archive.bot, "update": answer()})).await;
    forget(&archive, "message", 1).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["понял"]);
    assert_eq!(archive.ask("(select reply_to_message_id from tg.messages)").await, 1);
    assert_eq!(where_it_is(&archive).await, [""; 0]);
}

#[tokio::test]
async fn an_answer_that_comes_after_the_forgetting_brings_nothing_back() {
    for kind in ["message", "person", "chat"] {
        let archive = Archive::new().await;
        // Also if what is quoted never came.
        forget(&archive, kind, 1).await;
        let mut update = answer();
        update["message"]["from"]["id"] = json!(crate::world::ADMIN);
        update["message"]["date"] = archive.ask("(select extract(epoch from platform.now())::bigint + 5)").await;
        update["message"]["reply_to_message"]["date"] = json!(1_700_000_000);
        archive.data("WF10", json!({"bot_id": archive.bot, "update": update})).await;
        archive.work().await;
        assert_eq!(archive.texts().await, ["понял"], "{kind}");
        assert_eq!(where_it_is(&archive).await, [""; 0], "{kind}");
    }
}

#[tokio::test]
async fn a_message_that_is_being_stored_while_it_is_forgotten_is_forgotten() {
    // By an update, and by an import.
    for store in ["knowledge.store_facts($1, $2, $3, $4, null)", "knowledge.store_imported($1, $2, $3, $4, null)"] {
        forgotten_while_it_is_stored(store).await;
    }
}

async fn forgotten_while_it_is_stored(store: &str) {
    let archive = Archive::new().await;
    let mut storing = archive.test.db.pool().begin().await.expect("a transaction");
    let update = message(1, 1, SECRET);
    let facts = json!({"kind": "message", "chat": {"chat_id": GROUP, "type": "supergroup", "is_forum": false}, "users": [], "members": [], "message": {
        "message_id": 1, "date": "2026-09-21T00:00:00Z", "kind": "message", "tg_user_id": MEMBER, "text": SECRET,
        "normalized_text": SECRET, "links": [], "attachments": []}});
    sqlx::query(sqlx::AssertSqlSafe(format!("select {store}")))
        .bind(archive.workspace.uuid())
        .bind(archive.bot)
        .bind(facts)
        .bind(&update["message"])
        .execute(&mut *storing)
        .await
        .expect("it is stored");
    // The one that forgets waits for the end of the other, and sees the message.
    let end = async {
        while archive.ask("(select not exists (select from pg_locks where locktype = 'advisory' and not granted))").await == true
        {
            tokio::task::yield_now().await;
        }
        storing.commit().await.expect("it is stored");
    };
    let (counts, ()) = tokio::join!(forget(&archive, "message", 1), end);
    assert_eq!(counts["messages"], 1, "{counts}");
    assert_eq!(where_it_is(&archive).await, [""; 0]);
}

#[tokio::test]
async fn a_document_that_went_while_it_was_cut_is_not_found_and_not_a_bug() {
    let archive = Archive::new().await;
    for sql in [
        "create function content.vanish() returns trigger language plpgsql as
             $$ begin raise exception 'there is no document' using errcode = 'ZK003'; end $$",
        "create trigger vanish before insert on kg.chunks for each row execute function content.vanish()",
    ] {
        archive.try_run(sql).await.unwrap();
    }
    archive.data("WF10", json!({"bot_id": archive.bot, "update": message(1, 1, "слова")})).await;
    let ran = archive.work().await;
    assert_eq!((&ran["failed"], archive.count("ops.jobs").await), (&json!(0), 0), "{ran}");
}

#[tokio::test]
async fn forgetting_a_person_or_a_chat_takes_everything_of_it_and_later_messages_are_new() {
    for kind in ["person", "chat"] {
        let archive = Archive::new().await;
        told(&archive).await;
        forget(&archive, kind, 0).await;
        assert_eq!(where_it_is(&archive).await, [""; 0], "{kind}");
        assert_eq!(archive.count("tg.messages").await, 0);
        let mut later = message(9, 9, "новое");
        let now = archive.ask("(select extract(epoch from platform.now())::bigint + 5)").await;
        later["message"]["date"] = now;
        archive.process(&later).await;
        archive.work().await;
        assert_eq!(archive.texts().await, ["новое"], "{kind}");
    }
}

#[tokio::test]
async fn the_updates_of_a_message_are_found_by_an_index() {
    let archive = Archive::new().await;
    archive.data("WF10", json!({"bot_id": archive.bot, "update": answer()})).await;
    // A number that fits nowhere is no reason to refuse an update.
    let odd = json!({"update_id": 3, "message": {"message_id": 1e300, "chat": {"id": GROUP}}});
    archive.data("WF10", json!({"bot_id": archive.bot, "update": odd})).await;
    let columns =
        archive.ask("(select jsonb_build_array(message_id, reply_to_message_id) from raw.telegram_updates where update_id = 2)");
    assert_eq!(columns.await, json!([2, 1]));
    let query = format!("explain select from knowledge.raw_of_messages('{}', '{{{GROUP}}}', '{{1}}')", archive.workspace.uuid());
    let mut tx = archive.test.db.pool().begin().await.unwrap();
    sqlx::query("set local enable_seqscan = off").execute(&mut *tx).await.unwrap();
    let plan: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_all(&mut *tx).await.expect("a plan");
    let plan = plan.join("\n");
    for index in ["raw_updates_by_message", "raw_updates_by_answered", "raw_updates_by_subject"] {
        assert!(plan.contains(index), "{index}: {plan}");
    }
}

#[tokio::test]
async fn the_audit_of_forgetting_cannot_be_changed() {
    let archive = Archive::new().await;
    told(&archive).await;
    forget(&archive, "message", 1).await;
    assert!(archive.try_run("delete from audit.forgettings").await.is_err());
    assert!(archive.try_run("update audit.forgettings set kind = 'chat'").await.is_err());
}

#[tokio::test]
async fn forgetting_over_http_needs_the_right_and_names_what_is_not_there() {
    let archive = Archive::new().await;
    told(&archive).await;
    let body = json!({"kind": "message", "chat_id": GROUP, "message_id": 1});
    let path = "/api/knowledge/forget";
    let reader = archive.token(&["read"]).await;
    assert_eq!(ask(&archive.router, Some(&reader), "POST", path, Some(&body)).await.0, 403);
    let writer = archive.token(&["write"]).await;
    let (status, answer) = ask(&archive.router, Some(&writer), "POST", path, Some(&body)).await;
    assert_eq!((status, &answer["data"]["messages"]), (200, &json!(1)), "{answer}");
    let (status, _) = ask(&archive.router, Some(&writer), "POST", path, Some(&body)).await;
    assert_eq!(status, 404);
    let (_, listed) = ask(&archive.router, Some(&reader), "GET", "/api/knowledge/documents", None).await;
    let documents = listed["data"]["documents"].as_array().unwrap();
    assert_eq!((documents.len(), &documents[0]["chunks"]), (1, &json!(1)), "{listed}");
}

#[tokio::test]
async fn another_workspace_can_neither_forget_nor_list_what_is_here() {
    let archive = Archive::new().await;
    told(&archive).await;
    let other = archive.test.workspace("other").await;
    let token = archive.token_in(other, None, &["read", "write", "workflows"]).await;
    let body = json!({"kind": "chat", "chat_id": GROUP});
    ask(&archive.router, Some(&token), "POST", "/api/knowledge/forget", Some(&body)).await;
    assert_eq!(archive.texts().await.len(), 2);
    let (_, listed) = ask(&archive.router, Some(&token), "GET", "/api/knowledge/documents", None).await;
    assert_eq!(listed["data"]["documents"], json!([]));
}

/// Forgets over HTTP; the counts.
async fn ask_to_forget(archive: &Archive, what: serde_json::Value) -> serde_json::Value {
    let writer = archive.token(&["write"]).await;
    let (status, answer) = ask(&archive.router, Some(&writer), "POST", "/api/knowledge/forget", Some(&what)).await;
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

/// A page that no message shares, with its text.
async fn lone_page(archive: &Archive, ctx: serde_json::Value) {
    let page = json!({ "body": format!("<p>{SECRET} лежит на этой странице, и больше нигде.</p>"),
                       "headers": { "content-type": "text/html; charset=utf-8" } });
    let url = archive.page("lone", page).await;
    let taken = archive.data("WF30", json!({ "url": url, "ctx": ctx })).await;
    archive.data("WF31", json!({ "url_id": taken["url_id"], "ctx": ctx })).await;
    archive.work().await;
    assert!(archive.texts().await.concat().contains(SECRET));
}

#[tokio::test]
async fn forgetting_a_chat_takes_pages_that_no_message_shares_and_its_names_and_who_came_and_went() {
    let archive = Archive::new().await;
    lone_page(&archive, json!({ "chat_id": GROUP, "visibility": "group" })).await;
    let mut topic = said(5, "");
    topic["text"].take();
    topic["message_thread_id"] = json!(5);
    topic["forum_topic_created"] = json!({ "name": SECRET, "icon_color": 0 });
    topic["chat"]["title"] = json!(SECRET);
    archive.process(&json!({ "update_id": 5, "message": topic })).await;
    let mut joined = said(6, "");
    joined["text"].take();
    joined["new_chat_members"] = json!([{ "id": MEMBER, "is_bot": false, "first_name": "Анна" }]);
    joined["chat"]["title"] = json!(SECRET);
    archive.process(&json!({ "update_id": 6, "message": joined })).await;
    assert_eq!(archive.count("tg.chat_member_events").await, 1);
    let counted =
        archive.ask(&format!("knowledge.count_forgetting('{}', 'chat', {GROUP}, null, null)", archive.workspace.uuid())).await;
    let counts = ask_to_forget(&archive, json!({ "kind": "chat", "chat_id": GROUP })).await;
    assert_eq!((&counts["documents"], &counted["documents"]), (&json!(1), &json!(1)), "{counts}");
    archive.work().await;
    assert_eq!(where_it_is(&archive).await, [""; 0]);
    for table in ["content.documents", "content.urls", "content.blob_objects", "tg.topics", "tg.chat_member_events"] {
        assert_eq!(archive.count(table).await, 0, "{table}");
    }
    assert_eq!(archive.count("tg.chat_memberships_current").await, 1, "access is judged by it");
}

#[tokio::test]
async fn forgetting_a_person_takes_their_own_pages() {
    let archive = Archive::new().await;
    lone_page(&archive, json!({ "visibility": "dm", "dm_owner_user_id": MEMBER })).await;
    let counts = ask_to_forget(&archive, json!({ "kind": "person", "tg_user_id": MEMBER })).await;
    assert_eq!(counts["documents"], 1, "{counts}");
    archive.work().await;
    assert_eq!(where_it_is(&archive).await, [""; 0]);
    assert_eq!(archive.count("content.documents").await, 0);
}

const NAME: &str = "Секлетинья";
/// Seconds after which everything that the tests say was said in the past.
const LATER: i64 = 210 * 86_400;

/// The person, by a name that occurs nowhere else.
fn person() -> serde_json::Value {
    json!({ "id": MEMBER, "is_bot": false, "first_name": NAME, "last_name": NAME, "username": NAME })
}

fn by(update_id: i64, from: &serde_json::Value, text: &str) -> serde_json::Value {
    let mut update = message(update_id, update_id, text);
    update["message"]["from"] = from.clone();
    update
}

fn admin() -> serde_json::Value {
    json!({ "id": crate::world::ADMIN, "is_bot": false, "first_name": "Игорь" })
}

/// What the admin does to and with the person: answers, forwards, mentions, adds, promotes, and shares the same file.
fn told_of_the_person(first: i64) -> Vec<serde_json::Value> {
    let mut answer = by(first, &admin(), "согласен");
    answer["message"]["reply_to_message"] = by(1, &person(), SECRET)["message"].clone();
    let mut forward = by(first + 1, &admin(), "переслано");
    forward["message"]["forward_origin"] = json!({ "type": "user", "date": 1_700_000_000, "sender_user": person() });
    let mut mention = by(first + 2, &admin(), "спросите её");
    mention["message"]["entities"] = json!([{ "type": "text_mention", "offset": 8, "length": 2, "user": person() }]);
    let mut added = by(first + 3, &admin(), "");
    added["message"]["new_chat_members"] = json!([person()]);
    let promoted = json!({ "update_id": first + 4, "chat_member": {
        "chat": { "id": GROUP, "type": "supergroup", "title": "Отдел продаж" }, "date": 1_790_000_100, "from": admin(),
        "old_chat_member": { "user": person(), "status": "member" },
        "new_chat_member": { "user": person(), "status": "administrator" } } });
    vec![answer, forward, mention, added, promoted]
}

#[tokio::test]
async fn forgetting_a_person_takes_their_name_and_leaves_what_others_said() {
    // The updates were read before, wait to be read, and come afterwards.
    for moment in ["before", "meanwhile", "after"] {
        let archive = Archive::new().await;
        archive.advance(LATER);
        let take = async |update: &serde_json::Value| {
            archive.data("WF10", json!({ "bot_id": archive.bot, "update": update })).await;
        };
        take(&by(1, &person(), SECRET)).await;
        let mut private = by(2, &person(), SECRET);
        private["message"]["chat"] = json!({ "id": MEMBER, "type": "private", "first_name": NAME, "username": NAME });
        take(&private).await;
        archive.work().await;
        assert!(where_is(&archive, NAME).await.contains(&"tg.users".to_owned()), "the search finds what is there");
        if moment != "after" {
            for update in told_of_the_person(10) {
                take(&update).await;
            }
        }
        if moment == "before" {
            archive.work().await;
        }
        ask_to_forget(&archive, json!({ "kind": "person", "tg_user_id": MEMBER })).await;
        if moment == "after" {
            for update in told_of_the_person(10) {
                take(&update).await;
            }
            take(&by(20, &person(), SECRET)).await;
            private["message"]["message_id"] = json!(21);
            private["update_id"] = json!(21);
            take(&private).await;
        }
        archive.work().await;
        assert_eq!(where_is(&archive, NAME).await, [""; 0], "{moment}");
        assert_eq!(where_it_is(&archive).await, [""; 0], "{moment}");
        assert_eq!(archive.texts().await, ["согласен", "переслано", "спросите её"], "{moment}");
        let status = archive.list("select status from tg.chat_memberships_current order by tg_user_id").await;
        assert_eq!(status[0], "administrator", "{moment}: access is judged by it");
    }
}

#[tokio::test]
async fn a_file_that_others_share_too_loses_the_name_of_who_was_forgotten() {
    let archive = Archive::new().await;
    let made = archive
        .control(
            "files",
            json!({ "provider": "telegram", "token": "123456:test-token", "kind": "document", "name": "a.txt",
                    "mime": "text/plain", "bytes_base64": "0JHQtdGA0ZHQt9Cw" }),
        )
        .await;
    for (at, from) in [(1, person()), (2, admin())] {
        let mut update = by(at, &from, "");
        let body = update["message"].as_object_mut().expect("a message");
        body.remove("text");
        body.extend(made["message"].as_object().expect("fields of a message").clone());
        archive.process(&update).await;
        archive.work().await;
    }
    assert!(where_is(&archive, NAME).await.contains(&"kg.chunks".to_owned()));
    ask_to_forget(&archive, json!({ "kind": "person", "tg_user_id": MEMBER })).await;
    archive.work().await;
    assert_eq!(where_is(&archive, NAME).await, [""; 0]);
    assert_eq!(archive.texts().await, ["Берёза"]);
    assert_eq!(archive.ask("(select author from content.documents)").await, "Игорь");
}

#[tokio::test]
async fn leaving_ends_access_also_if_the_person_is_forgotten_before_it_is_read() {
    let archive = Archive::new().await;
    archive.advance(LATER);
    archive.process(&message(1, 1, "я здесь")).await;
    let mut left = message(2, 2, "");
    left["message"]["left_chat_member"] = json!({ "id": MEMBER, "is_bot": false, "first_name": "Анна" });
    archive.data("WF10", json!({ "bot_id": archive.bot, "update": left })).await;
    forget(&archive, "person", 0).await;
    archive.work().await;
    let asked = json!({ "tg_user_id": MEMBER, "chat_id": GROUP, "channel": "group" });
    assert_eq!(archive.call("WF00c", asked).await.0, 403);
    assert_eq!(archive.count("tg.messages").await, 0);
}

#[tokio::test]
async fn a_person_who_is_forgotten_has_no_name_left() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "что-то сказано")).await;
    archive.work().await;
    archive.ask(&format!("knowledge.forget('{}', 'person', null, null, {MEMBER}, 'test')", archive.workspace)).await;
    assert_eq!(archive.texts().await, [] as [&str; 0]);
    let everything = archive.ask("(select jsonb_agg(u) from tg.users u)").await.to_string();
    assert!(!everything.contains("Анна") && !everything.contains("anna"), "{everything}");
}
