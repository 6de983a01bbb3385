use super::*;

fn chat() -> ExportChat {
    ExportChat { chat_id: -1_000_000_000_077, chat_type: "supergroup", title: Some("Отдел".to_owned()), person: None }
}

fn said(id: i64, more: &Value) -> Value {
    let mut message = json!({"id": id, "type": "message", "date": "2024-01-01T00:00:00", "date_unixtime": "1704067200",
        "from": "Анна", "from_id": "user5", "text": "да"});
    for (field, value) in more.as_object().expect("an object") {
        message[field] = value.clone();
    }
    message
}

fn body(message: &Value) -> Value {
    let read = read(&chat(), message, &mut Topics::new()).expect("a message");
    read.update.as_object().expect("an update").values().find(|value| value.is_object()).expect("a message").clone()
}

#[test]
fn a_message_of_a_topic_is_found_by_its_chain_of_replies() {
    let mut topics = Topics::new();
    let made = json!({"id": 10, "type": "service", "date_unixtime": "1704067200", "actor": "Игорь", "actor_id": "user6",
        "action": "topic_created", "title": "Склад"});
    let all = [
        made,
        said(11, &json!({"reply_to_message_id": 10})),
        said(12, &json!({"reply_to_message_id": 11})),
        said(13, &json!({"reply_to_message_id": 5})),
    ];
    let read: Vec<Value> = all.iter().map(|one| read(&chat(), one, &mut topics).expect("a message").update).collect();
    assert_eq!(read[0]["message"]["forum_topic_created"]["name"], "Склад");
    assert_eq!((&read[1]["message"]["message_thread_id"], &read[1]["message"]["reply_to_message"]), (&json!(10), &Value::Null));
    assert_eq!(read[2]["message"]["message_thread_id"], 10);
    assert_eq!(read[2]["message"]["reply_to_message"]["message_id"], 11);
    assert_eq!((&read[3]["message"]["message_thread_id"], &read[3]["message"]["is_topic_message"]), (&Value::Null, &Value::Null));
}

#[test]
fn who_sent_it_and_where_it_came_from_is_kept() {
    assert_eq!(body(&said(1, &json!({})))["from"], json!({"id": 5, "first_name": "Анна"}));
    assert_eq!(body(&said(1, &json!({"from_id": 5})))["from"]["id"], 5);
    assert_eq!(body(&said(1, &json!({"from_id": "channel9"})))["sender_chat"]["id"], -1_000_000_000_009_i64);
    let forwarded = body(&said(1, &json!({"forwarded_from": "Новости", "forwarded_from_id": "channel9"})));
    assert_eq!(
        forwarded["forward_origin"],
        json!({"type": "channel", "chat": {"id": -1_000_000_000_009_i64, "title": "Новости"}})
    );
    assert_eq!(body(&said(1, &json!({"forwarded_from": "Кто-то"})))["forward_origin"]["type"], "hidden_user");
    let poll = body(&said(1, &json!({"poll": {"question": "Где?", "answers": [{"text": "Тут"}, {"text": "Там"}]}})));
    assert_eq!(poll["poll"], json!({"question": "Где?", "options": [{"text": "Тут"}, {"text": "Там"}]}));
}

#[test]
fn members_who_come_and_go_by_themselves_are_told_and_others_have_no_number() {
    let service = |action: &str, members: Value| {
        let message = json!({"id": 3, "type": "service", "date_unixtime": "1704067200", "actor": "Анна", "actor_id": "user5",
            "action": action, "members": members});
        read(&chat(), &message, &mut Topics::new()).map(|read| read.update["message"].clone()).map_err(|not| format!("{not:?}"))
    };
    assert_eq!(service("join_group_by_link", Value::Null).expect("joined")["new_chat_members"][0]["id"], 5);
    assert_eq!(service("remove_members", json!(["Анна"])).expect("left")["left_chat_member"]["id"], 5);
    service("remove_members", json!(["Пётр"])).expect_err("somebody without a number");
    service("phone_call", Value::Null).expect_err("nothing to keep");
}

#[test]
fn a_message_whose_identity_cannot_be_read_is_broken() {
    for (field, value) in [
        ("id", json!("x")),
        ("id", json!(1_i64 << 40)),
        ("date_unixtime", json!("yesterday")),
        ("date_unixtime", Value::Null),
        ("edited_unixtime", json!([])),
        ("type", json!("other")),
        ("date_unixtime", json!(-5)),
    ] {
        let not = read(&chat(), &said(1, &json!({field: value})), &mut Topics::new()).err();
        assert_eq!(not, Some(NotTaken::Broken(format!("`{field}` is missing or not what it should be"))), "{field}");
    }
    assert!(matches!(read(&chat(), &json!([]), &mut Topics::new()), Err(NotTaken::Broken(_))));
}

#[test]
fn files_are_named_and_those_that_were_left_out_are_told_apart() {
    let file = |more: Value| read_file(&said(1, &more));
    assert_eq!(file(json!({})), FileNote::Absent);
    assert_eq!(file(json!({"file": "(File not included. Change data exporting settings to download.)"})), FileNote::NotIncluded);
    assert_eq!(file(json!({"file": "stickers/a.webp", "media_type": "sticker"})), FileNote::WithoutText);
    let named = |kind, name: Option<&str>, path: &str| {
        FileNote::Named(NamedFile { path: path.to_owned(), kind, mime: None, name: name.map(ToOwned::to_owned) })
    };
    assert_eq!(file(json!({"photo": "photos/1.jpg"})), named("photo", None, "photos/1.jpg"));
    assert_eq!(file(json!({"file": "files/a.pdf"})), named("document", Some("a.pdf"), "files/a.pdf"));
    assert_eq!(file(json!({"file": "v/1.ogg", "media_type": "voice_message"})), named("voice", None, "v/1.ogg"));
}

#[test]
fn an_edit_is_said_when_it_was_edited_and_a_private_chat_keeps_the_words_of_its_person() {
    assert_eq!(body(&said(1, &json!({"edited_unixtime": "1704067300"})))["edit_date"], 1_704_067_300);
    let private = ExportChat { chat_id: 5, chat_type: "private", title: None, person: Some(5) };
    let own = read(&private, &said(7, &json!({"reply_to_message_id": 6})), &mut Topics::new()).expect("a message");
    let body = &own.update["message"];
    assert_eq!((&body["message_id"], &body["reply_to_message"]["message_id"]), (&json!(-7), &json!(-6)));
    let other = read(&private, &said(8, &json!({"from_id": "user6"})), &mut Topics::new());
    assert!(matches!(other, Err(NotTaken::Skipped(_))));
}
