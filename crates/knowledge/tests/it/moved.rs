//! A group that became a supergroup is one chat: its audience, its policy and its history go together.

use serde_json::{Value, json};
use testkit::http::ask;

use crate::world::{ADMIN, Archive, GROUP, MEMBER, edit, message};

const SUPERGROUP: i64 = -1_009_999_999_999;

fn moves(update_id: i64, message_id: i64) -> Value {
    let mut moved = message(update_id, message_id, "");
    moved["message"]["migrate_to_chat_id"] = json!(SUPERGROUP);
    moved
}

fn page(text: &str) -> Value {
    json!({ "body": format!("<p>{text}</p>"), "headers": { "content-type": "text/html; charset=utf-8" } })
}

async fn forget_chat(archive: &Archive, chat: i64) -> Value {
    let writer = archive.token(&["write"]).await;
    let what = json!({ "kind": "chat", "chat_id": chat });
    let (status, answer) = ask(&archive.router, Some(&writer), "POST", "/api/knowledge/forget", Some(&what)).await;
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

#[tokio::test]
async fn what_waits_while_the_group_moves_ends_in_the_supergroup() {
    let archive = Archive::new().await;
    let url = archive.page("a", page("Страница о берестяных коробах и лукошках для ягод.")).await;
    let stored = archive.process(&message(1, 1, &url)).await;
    archive.process(&message(2, 2, "до правки")).await;
    archive.process(&moves(3, 3)).await;
    // The job that fetches the page, an edit and a late message name the old chat.
    assert_eq!(stored["created_jobs"]["url_jobs"].as_array().unwrap().len(), 1, "{stored}");
    archive.process(&edit(4, 2, "после правки", 10)).await;
    archive.process(&message(5, 4, "опоздало")).await;
    archive.work().await;
    assert_eq!(archive.documents().await, [("done".to_owned(), None)]);
    assert_eq!(archive.list("select distinct chat_id from content.documents").await, [json!(SUPERGROUP)]);
    let texts = archive.texts().await.join("|");
    assert!(texts.contains("после правки") && texts.contains("опоздало") && texts.contains("лукошках"), "{texts}");
    assert!(!texts.contains("до правки"), "{texts}");
}

#[tokio::test]
async fn forgetting_the_supergroup_forgets_what_was_said_in_the_group() {
    for chat in [SUPERGROUP, GROUP] {
        let archive = Archive::new().await;
        archive.data("WF10", json!({ "bot_id": archive.bot, "update": message(1, 1, "сказано в группе") })).await;
        archive.work().await;
        archive.process(&moves(2, 2)).await;
        let count = format!("knowledge.count_forgetting('{}', 'chat', {chat}, null, null)", archive.workspace.uuid());
        let counted = archive.ask(&count).await;
        let counts = forget_chat(&archive, chat).await;
        assert_eq!((&counts["messages"], &counted["messages"]), (&json!(2), &json!(2)), "{counts} {counted}");
        assert_eq!((archive.count("content.documents").await, archive.count("tg.messages").await), (0, 0));
        assert_eq!(archive.ask("(select count(*) from raw.telegram_updates where body <> '{}')").await, 0);
        // A late copy of what was said in the group does not bring it back.
        archive.process(&message(1, 1, "сказано в группе")).await;
        assert_eq!(archive.count("tg.messages").await, 0);
    }
}

#[tokio::test]
async fn the_policy_of_the_supergroup_ends_what_was_said_in_the_group() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "сказано в группе")).await;
    archive.process(&moves(2, 2)).await;
    archive
        .ask(&format!(
            "to_jsonb(knowledge.set_policy('{}', {SUPERGROUP}, '{{\"retention_days_documents\": 30}}'))",
            archive.workspace.uuid()
        ))
        .await;
    archive.run("update tg.messages set date = platform.now() - interval '31 days'").await;
    let counts = archive.data("WF60", json!({ "chat_id": SUPERGROUP })).await;
    assert_eq!(counts["messages"], 2, "{counts}");
    assert_eq!(archive.count("content.documents").await, 0);
}

#[tokio::test]
async fn a_page_that_both_have_is_one_document_afterwards() {
    let archive = Archive::new().await;
    let url = archive.page("a", page("Общая страница о доставке берестяных коробов по городу.")).await;
    archive.process(&message(1, 1, &url)).await;
    archive.work().await;
    archive
        .ask(&format!(
            "(select count(*) from knowledge.register_chat('{}', {SUPERGROUP}, '{}', {ADMIN}))",
            archive.workspace.uuid(),
            archive.bot
        ))
        .await;
    let mut other = message(2, 1, &url);
    other["message"]["chat"]["id"] = json!(SUPERGROUP);
    archive.process(&other).await;
    archive.work().await;
    assert_eq!(archive.documents().await.len(), 2);
    archive.process(&moves(3, 2)).await;
    assert_eq!(archive.documents().await.len(), 1);
    assert_eq!(archive.count("content.document_sources").await, 2);
    // It goes with the last message that shares it.
    archive.ask(&format!("knowledge.forget('{}', 'message', {SUPERGROUP}, 1, null, 'test')", archive.workspace.uuid())).await;
    assert_eq!(archive.documents().await.len(), 1);
    archive.ask(&format!("knowledge.forget('{}', 'message', {GROUP}, 1, null, 'test')", archive.workspace.uuid())).await;
    assert_eq!(archive.documents().await.len(), 0);
}

#[tokio::test]
async fn a_person_who_left_before_the_move_is_no_member_after_it() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "я здесь")).await;
    let mut moved = moves(3, 3);
    moved["message"]["from"] = json!({ "id": ADMIN, "is_bot": false, "first_name": "Игорь" });
    archive.process(&moved).await;
    let allowed = json!({ "tg_user_id": MEMBER, "chat_id": SUPERGROUP, "channel": "group" });
    assert_eq!(archive.call("WF00c", allowed.clone()).await.0, 200);
    let mut left = message(2, 2, "");
    left["message"]["left_chat_member"] = json!({ "id": MEMBER, "is_bot": false, "first_name": "Анна" });
    archive.process(&left).await;
    assert_eq!(archive.call("WF00c", allowed).await.0, 403);
}
