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
