//! What people tell the bot itself: it introduces itself, is registered by an admin, and forgets.

use serde_json::{Value, json};

use crate::world::{ADMIN, Archive, GROUP, MEMBER, OUTSIDER, message, said};

const NEW: i64 = -1_009_000_000_001;

fn command(update_id: i64, chat: i64, sender: i64, text: &str, reply_to: Option<i64>) -> Value {
    let mut body = said(update_id, text);
    body["chat"]["id"] = json!(chat);
    body["from"]["id"] = json!(sender);
    if let Some(target) = reply_to {
        body["reply_to_message"] = json!({ "message_id": target, "date": 1_790_000_000, "chat": body["chat"].clone() });
    }
    json!({ "update_id": update_id, "message": body })
}

async fn said_in(archive: &Archive, chat: i64) -> Vec<String> {
    archive.say().await;
    archive.sent("telegram", chat).await.iter().map(|sent| sent["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_bot_that_is_added_to_a_group_says_once_what_it_keeps_and_how_to_forget() {
    let archive = Archive::new().await;
    let added = json!({ "update_id": 1, "my_chat_member": {
        "chat": { "id": NEW, "type": "supergroup", "title": "Новая" }, "date": 1_790_000_000,
        "from": { "id": ADMIN, "is_bot": false, "first_name": "Игорь" },
        "old_chat_member": { "status": "left", "user": { "id": 77, "is_bot": true, "first_name": "b" } },
        "new_chat_member": { "status": "member", "user": { "id": 77, "is_bot": true, "first_name": "b" } } } });
    archive.process(&added).await;
    archive.process(&added).await;
    let texts = archive.list("select text from knowledge.replies").await;
    assert_eq!(texts.len(), 1);
    assert!(texts[0].as_str().unwrap().contains("/forget") && texts[0].as_str().unwrap().contains("/register"));
}

#[tokio::test]
async fn an_admin_registers_a_chat_by_a_command_and_what_is_said_from_then_on_is_kept() {
    let archive = Archive::new().await;
    archive.process(&command(1, NEW, MEMBER, "/register", None)).await;
    archive.process(&command(2, NEW, MEMBER, "до регистрации", None)).await;
    assert_eq!(archive.count("tg.messages").await, 0);
    archive.process(&command(3, NEW, ADMIN, "/register", None)).await;
    archive.process(&command(4, NEW, MEMBER, "после регистрации", None)).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["после регистрации"]);
    archive.process(&command(5, NEW, ADMIN, "/unregister", None)).await;
    archive.process(&command(6, NEW, MEMBER, "после отключения", None)).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["после регистрации"]);
    let replies = archive.list("select text from knowledge.replies order by reply_to_message_id").await;
    assert_eq!(replies.len(), 3, "{replies:?}");
    assert!(replies[0].as_str().unwrap().contains("администратор") && replies[1].as_str().unwrap().starts_with("Чат подключён"));
}

#[tokio::test]
async fn a_command_that_comes_again_or_late_does_not_undo_a_later_one() {
    let archive = Archive::new().await;
    let status = format!("select status from core.tenant_chats where chat_id = {NEW}");
    let register = command(1, NEW, ADMIN, "/register", None);
    archive.process(&register).await;
    archive.process(&command(2, NEW, ADMIN, "/unregister", None)).await;
    archive.process(&register).await;
    assert_eq!(archive.list(&status).await, [json!("disabled")]);
    // In any order.
    archive.process(&command(4, NEW, ADMIN, "/register", None)).await;
    archive.process(&command(3, NEW, ADMIN, "/unregister", None)).await;
    assert_eq!(archive.list(&status).await, [json!("active")]);
    let other = NEW - 1;
    archive.process(&command(6, other, ADMIN, "/unregister", None)).await;
    archive.process(&command(5, other, ADMIN, "/register", None)).await;
    archive.process(&command(7, other, MEMBER, "не сохраняется", None)).await;
    assert_eq!(archive.ask(&format!("(select count(*) from tg.messages where chat_id = {other})")).await, 0);
    let journal = archive.list("select action from ops.journal where subject like '-1009%' order by id").await;
    assert_eq!(journal, [json!("chat_registered"), json!("chat_disabled"), json!("chat_registered")]);
}

#[tokio::test]
async fn a_forget_that_comes_again_is_not_written_down_twice() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "забудется")).await;
    let forget = command(2, GROUP, MEMBER, "/forget", Some(1));
    archive.process(&forget).await;
    archive.process(&forget).await;
    assert_eq!(archive.count("audit.forgettings").await, 1);
}

#[tokio::test]
async fn the_author_or_an_admin_forgets_a_message_by_answering_it_and_nobody_else() {
    let archive = Archive::new().await;
    for (id, text) in [(1, "первое"), (2, "второе"), (3, "третье")] {
        archive.process(&message(id, id, text)).await;
    }
    archive.work().await;
    archive.run(&format!("insert into core.tenant_users values ('{}', {OUTSIDER}, 'user')", archive.workspace)).await;
    archive.process(&command(10, GROUP, OUTSIDER, "/forget", Some(1))).await;
    assert_eq!(archive.texts().await, ["первое", "второе", "третье"]);
    archive.process(&command(11, GROUP, MEMBER, "/forget", Some(1))).await;
    archive.process(&command(12, GROUP, ADMIN, "/forget@archive_bot", Some(2))).await;
    assert_eq!(archive.texts().await, ["третье"]);
    archive.process(&message(13, 1, "первое")).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["третье"]);
    let answers = said_in(&archive, GROUP).await;
    assert_eq!(answers.iter().filter(|text| *text == "Забыто.").count(), 2, "{answers:?}");
}

#[tokio::test]
async fn an_author_who_is_not_on_the_allowlist_forgets_what_was_kept_of_them_and_nothing_else() {
    let archive = Archive::new().await;
    let mut own = message(1, 1, "сказано гостем");
    own["message"]["from"] = json!({ "id": OUTSIDER, "is_bot": false, "first_name": "Гость" });
    archive.process(&own).await;
    archive.process(&message(2, 2, "сказано своим")).await;
    archive.work().await;
    archive.process(&command(10, GROUP, OUTSIDER, "/forget", Some(2))).await;
    assert_eq!(archive.texts().await, ["сказано гостем", "сказано своим"]);
    archive.process(&command(11, GROUP, OUTSIDER, "/forget", Some(1))).await;
    assert_eq!(archive.texts().await, ["сказано своим"]);
    assert!(said_in(&archive, GROUP).await.contains(&"Забыто.".to_owned()));
    // A blocked person is an author too.
    archive.run(&format!("update core.tenant_users set role = 'blocked' where tg_user_id = {MEMBER}")).await;
    archive.process(&command(12, GROUP, MEMBER, "/forget", Some(2))).await;
    assert_eq!(archive.texts().await, [] as [&str; 0]);
}

#[tokio::test]
async fn an_author_forgets_a_message_whose_update_has_not_come_yet() {
    let archive = Archive::new().await;
    let mut forget = command(2, GROUP, MEMBER, "/forget", Some(1));
    forget["message"]["reply_to_message"]["from"] = json!({ "id": MEMBER, "is_bot": false, "first_name": "Анна" });
    archive.process(&forget).await;
    archive.process(&message(1, 1, "передумала")).await;
    archive.work().await;
    assert_eq!(archive.texts().await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_command_for_another_bot_is_not_obeyed() {
    let archive = Archive::new().await;
    archive.run(&format!(
        "insert into core.bot_transport_state (workspace_id, bot_id, mode, username) values ('{}', '{}', 'webhook', 'Archive_bot')",
        archive.workspace, archive.bot)).await;
    archive.process(&message(1, 1, "останется")).await;
    archive.work().await;
    archive.process(&command(2, GROUP, MEMBER, "/forget@other_bot", Some(1))).await;
    assert_eq!(archive.texts().await, ["останется"]);
    archive.process(&command(3, GROUP, MEMBER, "/forget@ARCHIVE_BOT", Some(1))).await;
    assert_eq!(archive.texts().await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_stranger_is_told_once_and_politely() {
    let archive = Archive::new().await;
    for id in 1..4 {
        archive.process(&command(id, GROUP, OUTSIDER, "/help", None)).await;
    }
    let replies = archive.list("select text from knowledge.replies").await;
    assert_eq!(replies.len(), 1);
    assert!(replies[0].as_str().unwrap().starts_with("Извините"));
}

#[tokio::test]
async fn a_reply_stands_in_its_topic_and_answers_its_message_once() {
    let archive = Archive::new().await;
    let mut help = command(5, GROUP, MEMBER, "/help", None);
    archive.process(&help).await;
    help["update_id"] = json!(6);
    archive.process(&help).await;
    archive.say().await;
    archive.say().await;
    let sent = archive.sent("telegram", GROUP).await;
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].to_string().contains("reply_parameters"), "{}", sent[0]);
    assert_eq!(archive.ask("(select to_jsonb(status) from knowledge.replies)").await, "sent");
}
