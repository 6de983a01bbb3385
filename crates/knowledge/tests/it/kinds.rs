//! WF20: every kind of update, as facts.

use serde_json::{Value, json};

use crate::world::{ADMIN, Archive, GROUP, MEMBER, message, said};

const CHANNEL: i64 = -1_008_000_000_001;

fn post(update_id: i64, kind: &str, text: &str) -> Value {
    let mut body = said(1, text);
    body.as_object_mut().expect("a message").remove("from");
    body["chat"] = json!({ "id": CHANNEL, "type": "channel", "title": "Новости лавки" });
    body["sender_chat"] = body["chat"].clone();
    if kind == "edited_channel_post" {
        body["edit_date"] = json!(1_790_000_100);
    }
    json!({ "update_id": update_id, kind: body })
}

async fn register(archive: &Archive, chat: i64) {
    let call = format!("knowledge.register_chat('{}', {chat}, '{}', {ADMIN})", archive.workspace.uuid(), archive.bot);
    archive.ask(&format!("(select count(*) from {call})")).await;
}

#[tokio::test]
async fn a_post_of_a_channel_and_its_edit_are_found_under_the_name_of_the_channel() {
    let archive = Archive::new().await;
    register(&archive, CHANNEL).await;
    archive.process(&post(1, "channel_post", "Открываемся в десять")).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["Открываемся в десять"]);
    archive.process(&post(2, "edited_channel_post", "Открываемся в девять")).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["Открываемся в девять"]);
    let message = archive.ask("(select jsonb_build_array(kind, tg_user_id, sender_chat_id) from tg.messages)").await;
    assert_eq!(message, json!(["channel_post", null, CHANNEL]));
    assert_eq!(archive.ask("(select author from content.documents)").await, "Новости лавки");
    assert_eq!(archive.count("tg.chat_memberships_current").await, 0, "a channel is no member of itself");
}

#[tokio::test]
async fn what_is_said_for_a_chat_is_the_chats_and_makes_nobody_a_member() {
    let archive = Archive::new().await;
    let mut update = message(1, 1, "объявление");
    update["message"]["sender_chat"] = update["message"]["chat"].clone();
    update["message"]["from"] = json!({ "id": 1_087_968_824, "is_bot": true, "first_name": "Group" });
    archive.process(&update).await;
    let message = archive.ask("(select jsonb_build_array(kind, tg_user_id, sender_chat_id) from tg.messages)").await;
    assert_eq!(message, json!(["message", null, GROUP]));
    assert_eq!(archive.ask("(select author from content.documents)").await, "Отдел продаж");
    assert_eq!(archive.count("tg.chat_memberships_current").await, 0);
}

#[tokio::test]
async fn joins_and_leaves_are_events_and_no_documents() {
    let archive = Archive::new().await;
    let mut joined = message(1, 1, "");
    joined["message"]["from"] = json!({ "id": ADMIN, "is_bot": false, "first_name": "Игорь" });
    joined["message"]["new_chat_members"] = json!([
        { "id": MEMBER, "is_bot": false, "first_name": "Анна" }, { "id": 77, "is_bot": false, "first_name": "Пётр" }]);
    let mut left = message(2, 2, "");
    left["message"]["left_chat_member"] = json!({ "id": 77, "is_bot": false, "first_name": "Пётр" });
    archive.process(&joined).await;
    archive.process(&left).await;
    let members =
        format!("(select jsonb_object_agg(tg_user_id, is_member) from tg.chat_memberships_current where tg_user_id <> {ADMIN})");
    assert_eq!(archive.ask(&members).await, json!({ MEMBER.to_string(): true, "77": false }));
    assert_eq!(archive.list("select kind from tg.messages order by id").await, [json!("service"), json!("service")]);
    assert_eq!((archive.count("tg.chat_member_events").await, archive.count("content.documents").await), (3, 0));
}

#[tokio::test]
async fn every_kind_of_attachment_is_a_file_and_those_with_a_text_are_downloaded() {
    let archive = Archive::new().await;
    let kinds = ["document", "photo", "video", "audio", "voice", "video_note", "animation", "sticker"];
    let mut downloaded = Vec::new();
    for (id, kind) in (1..).zip(kinds) {
        let mut update = message(id, id, "");
        let file = json!({ "file_id": format!("F{id}"), "file_unique_id": format!("U{id}"), "file_size": 10 });
        update["message"][kind] = if kind == "photo" { json!([file]) } else { file };
        let stored = archive.process(&update).await;
        if stored["created_jobs"]["file_jobs"] != json!([]) {
            downloaded.push(kind);
        }
    }
    let stored = archive.list("select kind from tg.message_attachments order by id").await;
    assert_eq!(stored, kinds.map(|kind| json!(kind)));
    assert_eq!((archive.count("tg.files").await, archive.count("tg.file_instances").await), (8, 8));
    assert_eq!(downloaded, ["document", "photo", "audio", "voice", "video_note"]);
}

#[tokio::test]
async fn a_link_behind_words_is_counted_in_utf16_and_fetched() {
    let archive = Archive::new().await;
    let url = archive.page("a", json!({ "body": "<p>Прайс-лист на берестяные короба и лукошки.</p>" })).await;
    let mut update = message(1, 1, &format!("🎉 прайс и {url}"));
    // An emoji is two units of UTF-16; the address begins at unit 11.
    update["message"]["entities"] = json!([
        { "type": "text_link", "offset": 3, "length": 5, "url": format!("{url}?from=text") },
        { "type": "url", "offset": 11, "length": url.encode_utf16().count() }]);
    let stored = archive.process(&update).await;
    assert_eq!(stored["created_jobs"]["url_jobs"].as_array().unwrap().len(), 2, "{stored}");
    let links = archive.list("select url from tg.message_links order by link_no").await;
    assert_eq!(links, [json!(format!("{url}?from=text")), json!(url)]);
}

#[tokio::test]
async fn parts_of_an_album_are_messages_of_one_group() {
    let archive = Archive::new().await;
    for id in 1..=3 {
        let mut update = message(id, id, "");
        update["message"]["media_group_id"] = json!("album");
        update["message"]["text"] = Value::Null;
        update["message"]["caption"] = if id == 1 { json!("ярмарка") } else { Value::Null };
        update["message"]["photo"] = json!([{ "file_id": format!("F{id}"), "file_unique_id": format!("U{id}") }]);
        archive.process(&update).await;
    }
    assert_eq!(archive.ask("(select count(*) from tg.messages where media_group_id = 'album')").await, 3);
    assert_eq!(archive.list("select text from content.documents where doc_type = 'message'").await, [json!("ярмарка")]);
}
