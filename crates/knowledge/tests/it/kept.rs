//! Only what is allowed is kept.

use serde_json::json;

use crate::world::{Archive, MEMBER, OUTSIDER, message};

#[tokio::test]
async fn of_a_chat_that_is_not_registered_only_its_name_is_kept() {
    let archive = Archive::new().await;
    let mut update = message(1, 1, "чужое");
    update["message"]["chat"] = json!({"id": -77, "type": "group", "title": "Другая группа"});
    let data = archive.process(&update).await;
    assert_eq!((&data["kept"], &data["message_fk"]), (&json!(false), &json!(null)));
    for table in ["tg.messages", "tg.message_versions", "tg.users", "content.documents", "tg.chat_memberships_current"] {
        assert_eq!(archive.count(table).await, 0, "{table}");
    }
    assert_eq!(archive.ask("(select title from tg.chats)").await, "Другая группа");
}

#[tokio::test]
async fn a_private_message_is_the_private_document_of_its_sender() {
    let archive = Archive::new().await;
    let mut update = message(1, 1, "только для меня");
    update["message"]["chat"] = json!({"id": MEMBER, "type": "private", "first_name": "Анна"});
    archive.process(&update).await;
    archive.work().await;
    let document = archive.ask("(select jsonb_build_array(visibility, dm_owner_user_id, chat_id) from content.documents)").await;
    assert_eq!(document, json!(["dm", MEMBER, MEMBER]));
    assert_eq!(archive.texts().await, ["только для меня"]);
}

#[tokio::test]
async fn of_people_who_are_not_on_the_allowlist_or_blocked_nothing_private_is_kept() {
    let archive = Archive::new().await;
    archive.run(&format!("update core.tenant_users set role = 'blocked' where tg_user_id = {MEMBER}")).await;
    for user in [OUTSIDER, MEMBER] {
        let mut update = message(user, 1, "впустите");
        update["message"]["chat"] = json!({"id": user, "type": "private"});
        update["message"]["from"]["id"] = json!(user);
        archive.process(&update).await;
    }
    assert_eq!(archive.count("tg.messages").await, 0);
    assert_eq!(archive.count("content.documents").await, 0);
}

#[tokio::test]
async fn a_command_is_for_the_bot_and_not_for_the_archive() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "/start привет")).await;
    assert_eq!(archive.count("content.documents").await, 0);
    assert_eq!(archive.count("tg.messages").await, 1);
}

#[tokio::test]
async fn an_update_that_nobody_knows_changes_nothing() {
    let archive = Archive::new().await;
    let data = archive.process(&json!({"update_id": 5, "poll_answer": {"poll_id": "1"}})).await;
    assert_eq!(data["message_fk"], json!(null));
    assert_eq!(archive.count("tg.chats").await, 0);
}

#[tokio::test]
async fn files_links_replies_forwards_topics_and_albums_are_facts() {
    let archive = Archive::new().await;
    let mut update = message(1, 10, "");
    let body = &mut update["message"];
    body["text"] = json!(null);
    body["caption"] = json!("смета https://example.org/smeta");
    body["document"] = json!({"file_id": "F1", "file_unique_id": "U1", "file_name": "смета.pdf", "mime_type": "application/pdf", "file_size": 1000});
    body["media_group_id"] = json!("g1");
    body["is_topic_message"] = json!(true);
    body["message_thread_id"] = json!(4);
    body["reply_to_message"] = json!({"message_id": 9});
    body["forward_origin"] = json!({"type": "user", "date": 1, "sender_user": {"id": 77, "first_name": "Пётр"}});
    archive.process(&update).await;
    let fact = archive
        .ask("(select jsonb_build_array(media_group_id, thread_id, reply_to_message_id, forward_origin->>'name') from tg.messages)")
        .await;
    assert_eq!(fact, json!(["g1", 4, 9, "Пётр"]));
    assert_eq!(
        archive.ask("(select jsonb_build_array(file_unique_id, file_name, bytes) from tg.files)").await,
        json!(["U1", "смета.pdf", 1000])
    );
    assert_eq!(archive.ask("(select file_id from tg.file_instances)").await, "F1");
    assert_eq!(archive.ask("(select normalized_url from tg.message_links)").await, "https://example.org/smeta");
    assert_eq!(archive.count("tg.message_attachments").await, 1);
}

fn service(update_id: i64, field: &str, value: serde_json::Value) -> serde_json::Value {
    let mut update = message(update_id, update_id, "");
    update["message"]["message_thread_id"] = json!(50);
    update["message"][field] = value;
    update
}

#[tokio::test]
async fn names_states_and_pins_are_the_latest_whatever_the_order() {
    let renamed = |update_id: i64, title: &str| {
        let mut update = message(update_id, update_id, "слово");
        update["message"]["chat"]["title"] = json!(title);
        update
    };
    let updates = [
        service(1, "forum_topic_created", json!({ "name": "Склад", "icon_color": 0 })),
        service(2, "forum_topic_edited", json!({ "name": "Новый склад" })),
        service(3, "forum_topic_closed", json!({})),
        service(4, "forum_topic_edited", json!({ "icon_custom_emoji_id": "5" })),
        renamed(5, "Старое имя"),
        service(6, "pinned_message", crate::world::said(5, "слово")),
        renamed(7, "Новое имя"),
    ];
    for order in [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [2, 0, 6, 5, 1, 4, 3]] {
        let archive = Archive::new().await;
        for at in order {
            archive.process(&updates[at]).await;
        }
        let topic = archive.ask("(select jsonb_build_array(name, is_closed) from tg.topics where thread_id = 50)").await;
        assert_eq!(topic, json!(["Новый склад", true]), "{order:?}");
        assert_eq!(
            archive.ask(&format!("(select title from tg.chats where chat_id = {})", crate::world::GROUP)).await,
            "Новое имя"
        );
        assert_eq!(archive.list("select message_id from tg.messages where is_pinned").await, [json!(5)], "{order:?}");
    }
}

#[tokio::test]
async fn a_command_is_not_found_and_a_path_is() {
    let archive = Archive::new().await;
    let texts = ["/etc/nginx/nginx.conf поправил", "/help", "/help@other_bot что умеешь", "/start_now все", "/ опечатка"];
    for (id, text) in (1..).zip(texts) {
        archive.process(&message(id, id, text)).await;
    }
    archive.work().await;
    assert_eq!(archive.texts().await, ["/etc/nginx/nginx.conf поправил", "/ опечатка"]);
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_keeps_its_registration_and_its_documents() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "до переезда")).await;
    let mut moved = message(2, 2, "");
    moved["message"]["migrate_to_chat_id"] = json!(-100_999);
    archive.process(&moved).await;
    archive.process(&moved).await;
    assert_eq!(archive.ask("(select chat_id from content.documents)").await, -100_999);
    let mut later = message(3, 1, "после переезда");
    later["message"]["chat"]["id"] = json!(-100_999);
    archive.process(&later).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["до переезда", "после переезда"]);
}
