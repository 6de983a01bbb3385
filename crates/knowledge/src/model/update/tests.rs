use serde_json::{Value, json};

use super::*;

fn message(extra: &Value) -> Value {
    let mut body = json!({
        "message_id": 7, "date": 1_760_000_000, "chat": {"id": -1_001_234_567_890_123_i64, "type": "supergroup", "title": "Отдел"},
        "from": {"id": 5_000_000_001_i64, "is_bot": false, "first_name": "Анна"},
    });
    for (key, value) in extra.as_object().unwrap() {
        body[key] = value.clone();
    }
    json!({ "update_id": 1, "message": body })
}

fn said(extra: &Value) -> Value {
    read(&message(extra)).unwrap().message.unwrap()
}

#[test]
fn ids_of_64_bits_come_through_digit_for_digit() {
    let facts = read(&message(&json!({"text": "привет"}))).unwrap();
    assert_eq!(facts.chat.unwrap()["chat_id"], -1_001_234_567_890_123_i64);
    assert_eq!(facts.message.unwrap()["tg_user_id"], 5_000_000_001_i64);
}

#[test]
fn links_of_entities_are_counted_in_utf16() {
    let text = "🎉 смотри https://example.org/a и сюда";
    let said = said(&json!({"text": text, "entities": [
        {"type": "url", "offset": 10, "length": 21}, {"type": "text_link", "offset": 32, "length": 6, "url": "https://b.example/"}]}));
    assert_eq!(said["links"], json!(["https://example.org/a", "https://b.example/"]));
}

#[test]
fn an_entity_that_reaches_beyond_the_text_is_cut_at_its_end() {
    let said = said(&json!({"text": "🎉", "entities": [{"type": "url", "offset": 1, "length": 18_446_744_073_709_551_615_u64}]}));
    assert_eq!(said["links"], json!([]));
}

#[test]
fn an_address_in_plain_text_ends_before_the_punctuation_of_the_sentence() {
    let said = said(&json!({"text": "см. (https://ru.example/Берест_(письмо)), и www.example.org."}));
    assert_eq!(said["links"], json!(["https://ru.example/Берест_(письмо)", "www.example.org"]));
}

#[test]
fn characters_that_nobody_sees_are_not_indexed() {
    assert_eq!(said(&json!({"text": "до\u{ad}го\u{200b}вор\u{a0}№ 5\r\nда"}))["normalized_text"], "договор № 5\nда");
}

#[test]
fn a_message_without_words_has_no_text() {
    let said = said(&json!({"photo": [{"file_id": "s", "file_unique_id": "us"}, {"file_id": "l", "file_unique_id": "ul"}]}));
    assert_eq!(said["normalized_text"], Value::Null);
    assert_eq!(said["attachments"][0]["file_id"], "l", "the largest size");
}

#[test]
fn an_animation_is_one_file_although_it_is_named_twice() {
    let file = json!({"file_id": "a", "file_unique_id": "ua"});
    assert_eq!(said(&json!({"animation": file, "document": file}))["attachments"].as_array().unwrap().len(), 1);
}

#[test]
fn a_rich_message_is_read_in_its_order_with_its_links_and_files() {
    let rich = json!({ "rich_message": { "blocks": [
        { "type": "heading", "size": 1, "text": "Прайс" },
        { "type": "paragraph", "text": ["Короб ", { "type": "bold", "text": "1200 ₽" }, ", ",
            { "type": "url", "text": "каталог", "url": "https://a.example/catalog" }] },
        { "type": "list", "items": [
            { "label": "1.", "blocks": [{ "type": "paragraph", "text": "лукошко" }] },
            { "label": "2.", "blocks": [{ "type": "paragraph", "text": "туесок, см. https://b.example/t." }] }] },
        { "type": "table", "caption": "Скидки", "cells": [[{ "text": "от 10" }, { "text": "5 %" }], [{ "text": "от 50" }, {}]] },
        { "type": "details", "summary": "Доставка", "blocks": [{ "type": "pre", "text": "по пятницам" }] },
        { "type": "blockquote", "blocks": [{ "type": "paragraph", "text": "Берёза вечна" }], "credit": "Игорь" },
        { "type": "photo", "photo": [{ "file_id": "s", "file_unique_id": "us" }, { "file_id": "l", "file_unique_id": "ul" }],
          "caption": { "text": "Склад", "credit": "фото Анны" } },
        { "type": "voice_note", "voice_note": { "file_id": "v", "file_unique_id": "uv" } },
        { "type": "divider" }, { "type": "of tomorrow", "text": "новое" }] } });
    let said = said(&rich);
    let expected = "Прайс\nКороб 1200 ₽, каталог\nлукошко\nтуесок, см. https://b.example/t.\nот 10\t5 %\nот 50\t\nСкидки\nДоставка\n\
                    по пятницам\nБерёза вечна\nИгорь\nСклад\nфото Анны\nновое";
    assert_eq!(said["normalized_text"], expected);
    assert_eq!(said["links"], json!(["https://a.example/catalog", "https://b.example/t"]));
    let files: Vec<&Value> = said["attachments"].as_array().unwrap().iter().map(|file| &file["file_id"]).collect();
    assert_eq!(files, ["l", "v"]);
}

#[test]
fn paid_media_are_files_and_a_contact_is_words() {
    let paid = json!({ "paid_media": { "star_count": 5, "paid_media": [
        { "type": "preview", "width": 1 },
        { "type": "photo", "photo": [{ "file_id": "p", "file_unique_id": "up" }] },
        { "type": "video", "video": { "file_id": "v", "file_unique_id": "uv" } }] }, "caption": "Открытка" });
    let said_paid = said(&paid);
    let kinds: Vec<&Value> = said_paid["attachments"].as_array().unwrap().iter().map(|file| &file["kind"]).collect();
    assert_eq!(kinds, ["photo", "video"]);
    let contact = json!({ "contact": { "phone_number": "+79990000000", "first_name": "Олег", "last_name": "Склад" } });
    assert_eq!(said(&contact)["normalized_text"], "Олег\nСклад\n+79990000000");
}

#[test]
fn whoever_writes_in_a_group_is_a_member_of_it() {
    let facts = read(&message(&json!({"text": "x"}))).unwrap();
    assert_eq!((facts.members.len(), &facts.members[0]["source"]), (1, &json!("message")));
    let anonymous = read(&message(&json!({"text": "x", "sender_chat": {"id": -100}}))).unwrap();
    assert!(anonymous.members.is_empty());
    assert_eq!(anonymous.message.unwrap()["tg_user_id"], Value::Null);
}

#[test]
fn leaving_is_told_by_the_service_message_and_nothing_else() {
    let facts = read(&message(&json!({"left_chat_member": {"id": 5_000_000_001_i64, "first_name": "Анна"}}))).unwrap();
    assert_eq!(facts.members.len(), 1);
    assert_eq!(facts.members[0]["is_member"], false);
    assert_eq!(facts.message.unwrap()["kind"], "service");
}

#[test]
fn somebody_restricted_is_a_member_only_if_it_says_so() {
    for (is_member, expected) in [(json!(true), true), (json!(false), false), (Value::Null, false)] {
        let update = json!({"update_id": 2, "chat_member": {"chat": {"id": -5, "type": "group"}, "date": 1, "from": {"id": 1},
            "new_chat_member": {"user": {"id": 9}, "status": "restricted", "is_member": is_member}}});
        assert_eq!(read(&update).unwrap().members[0]["is_member"], expected);
    }
}

#[test]
fn a_command_is_known_with_its_bot_and_arguments() {
    assert_eq!(
        said(&json!({"text": "/Forget@Archive_bot  всё "}))["command"],
        json!({"name": "forget", "args": "всё", "bot": "Archive_bot"})
    );
    assert_eq!(said(&json!({"text": "/ нет"}))["command"], Value::Null);
}

#[test]
fn an_update_that_nobody_knows_says_nothing() {
    let facts = read(&json!({"update_id": 3, "business_message": {"x": 1}})).unwrap();
    assert_eq!((facts.kind.as_str(), facts.chat, facts.message), ("unknown", None, None));
}

#[test]
fn what_has_no_identity_is_refused_by_the_name_of_the_field() {
    for (update, field) in [
        (json!({}), "update_id"),
        (json!([1]), "update_id"),
        (json!({"update_id": 1e30}), "update_id"),
        (json!({"update_id": 1, "message": {"date": 1, "message_id": 1}}), "chat.id"),
        (json!({"update_id": 1, "message": {"chat": {"id": 1, "type": "private"}, "message_id": 1}}), "date"),
        (
            json!({"update_id": 1, "message": {"chat": {"id": 1, "type": "private"}, "date": 1, "message_id": 9_999_999_999_i64}}),
            "message_id",
        ),
    ] {
        let refused = read(&update).unwrap_err().to_string();
        assert!(refused.contains(field), "{refused}");
    }
}

#[test]
fn a_group_that_became_a_supergroup_is_told_from_both_sides() {
    assert_eq!(read(&message(&json!({"migrate_to_chat_id": -1005}))).unwrap().migration.unwrap()["to_chat_id"], -1005);
    assert_eq!(read(&message(&json!({"migrate_from_chat_id": -5}))).unwrap().migration.unwrap()["from_chat_id"], -5);
}
