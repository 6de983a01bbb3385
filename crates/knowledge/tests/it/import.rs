//! An export of Telegram Desktop is imported once, and nothing that it names or holds does harm.

use std::path::{Path, PathBuf};

use knowledge::import::{self, Error, ImportRequest, ImportSummary};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{ADMIN, Archive, GROUP, MEMBER, OUTSIDER, edit, message};

/// As an export names the group.
const EXPORTED: i64 = 1_234_567_890;

fn said(id: i64, text: &str, more: &Value) -> Value {
    let mut message = json!({
        "id": id, "type": "message", "date": "2026-09-21T16:53:20", "date_unixtime": (1_790_000_000 + id).to_string(),
        "from": "Анна Орлова", "from_id": format!("user{MEMBER}"), "text": text,
        "text_entities": [{"type": "plain", "text": text}],
    });
    for (field, value) in more.as_object().expect("an object") {
        message[field] = value.clone();
    }
    message
}

fn plain(id: i64, text: &str) -> Value {
    said(id, text, &json!({}))
}

/// In the order in which Telegram Desktop writes the fields.
fn chat(id: i64, kind: &str, messages: &[Value]) -> String {
    format!(r#"{{"name": "Отдел продаж", "type": "{kind}", "id": {id}, "messages": {}}}"#, json!(messages))
}

fn group(messages: &[Value]) -> String {
    chat(EXPORTED, "private_supergroup", messages)
}

struct Export {
    dir: TempDir,
}

impl Export {
    fn of(text: &str) -> Self {
        let export = Self { dir: tempfile::tempdir().expect("a folder") };
        export.put("result.json", text);
        export
    }

    fn put(&self, path: &str, content: &str) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("result.json")
    }
}

async fn try_import(archive: &Archive, export: &Export, chat: Option<i64>) -> Result<ImportSummary, Error> {
    let request = ImportRequest { export: export.path(), bot: archive.bot, chat };
    import::run(&archive.knowledge, archive.workspace, &request, &mut |_| {}).await
}

async fn take(archive: &Archive, export: &Export) -> ImportSummary {
    let summary = try_import(archive, export, None).await.expect("an import");
    archive.work().await;
    summary
}

/// Everything that an import can write, as text.
async fn everything(archive: &Archive) -> Vec<Value> {
    let mut all = Vec::new();
    for table in [
        "tg.messages",
        "tg.message_versions",
        "tg.message_attachments",
        "tg.files",
        "tg.topics",
        "tg.users",
        "tg.chats",
        "tg.chat_member_events",
        "tg.chat_memberships_current",
        "content.documents",
        "content.blob_objects",
        "kg.chunks",
    ] {
        all.push(archive.ask(&format!("(select coalesce(jsonb_agg(t order by t::text), '[]') from {table} t)")).await);
    }
    all
}

#[tokio::test]
async fn an_export_is_imported_once_however_often_it_is_given() {
    let archive = Archive::new().await;
    let export = Export::of(&group(&[
        plain(1, "первое"),
        plain(2, "второе"),
        said(
            3,
            "см. https://a.example/x",
            &json!({"reply_to_message_id": 1, "forwarded_from": "Новости", "forwarded_from_id": "channel9"}),
        ),
    ]));
    let summary = take(&archive, &export).await;
    assert_eq!((summary.messages_new, summary.messages_known, summary.broken), (3, 0, 0), "{summary:?}");
    assert_eq!((summary.chats[0].chat_id, summary.chats[0].messages), (GROUP, 3));
    assert_eq!(archive.texts().await, ["первое", "второе", "см. https://a.example/x"]);
    assert_eq!(
        archive.ask("(select author from content.documents where doc_type = 'message' order by id limit 1)").await,
        "Анна Орлова"
    );
    assert_eq!(archive.ask("(select reply_to_message_id from tg.messages where message_id = 3)").await, 1);
    assert_eq!(archive.ask("(select forward_origin ->> 'name' from tg.messages where message_id = 3)").await, "Новости");
    assert_eq!(archive.count("tg.message_links").await, 1);
    let before = everything(&archive).await;
    let again = take(&archive, &export).await;
    assert_eq!((again.messages_new, again.messages_newer, again.messages_known), (0, 0, 3), "{again:?}");
    assert_eq!(everything(&archive).await, before);
}

#[tokio::test]
async fn exports_that_overlap_bring_what_the_others_lack() {
    let archive = Archive::new().await;
    take(&archive, &Export::of(&group(&[plain(1, "один"), plain(2, "два")]))).await;
    let later = take(&archive, &Export::of(&group(&[plain(2, "два"), plain(3, "три")]))).await;
    assert_eq!((later.messages_new, later.messages_known), (1, 1));
    assert_eq!(archive.texts().await, ["один", "два", "три"]);
}

#[tokio::test]
async fn an_edit_is_the_version_said_when_it_was_edited_and_an_older_one_changes_nothing() {
    let archive = Archive::new().await;
    let edited = |text, later: i64| said(1, text, &json!({"edited_unixtime": (1_790_000_001 + later).to_string()}));
    take(&archive, &Export::of(&group(&[plain(1, "было")]))).await;
    let newer = take(&archive, &Export::of(&group(&[edited("стало", 60)]))).await;
    assert_eq!((newer.messages_new, newer.messages_newer), (0, 1));
    assert_eq!(archive.texts().await, ["стало"]);
    let older = take(&archive, &Export::of(&group(&[edited("между", 30)]))).await;
    assert_eq!((older.messages_newer, older.messages_known), (0, 1));
    assert_eq!((archive.texts().await, archive.count("tg.message_versions").await), (vec!["стало".to_owned()], 2));
}

#[tokio::test]
async fn what_live_updates_brought_stays_with_its_newer_version_and_its_names() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "живое")).await;
    archive.process(&edit(2, 2, "исправленное", 90)).await;
    archive.work().await;
    let root = group(&[plain(1, "живое"), said(2, "до правки", &json!({"edited_unixtime": "1790000030"}))]);
    let root = root.replace("Отдел продаж", "Старое имя");
    let before = everything(&archive).await;
    let summary = take(&archive, &Export::of(&root)).await;
    assert_eq!((summary.messages_known, summary.messages_new), (2, 0), "{summary:?}");
    assert_eq!(everything(&archive).await, before);
    // The same the other way round: the message stays one, and what the update says is what is found.
    take(&archive, &Export::of(&group(&[plain(7, "сначала импорт")]))).await;
    archive.process(&message(3, 7, "сначала импорт")).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["живое", "исправленное", "сначала импорт"]);
    assert_eq!(archive.ask("(select username from tg.users)").await, "anna");
    assert_eq!(archive.ask("(select title from tg.chats)").await, "Отдел продаж");
}

#[tokio::test]
async fn messages_belong_to_the_topic_that_their_replies_lead_to() {
    let archive = Archive::new().await;
    let made = json!({"id": 10, "type": "service", "date_unixtime": "1790000010", "actor": "Игорь", "actor_id": format!("user{ADMIN}"),
        "action": "topic_created", "title": "Новый склад"});
    take(&archive, &Export::of(&group(&[plain(9, "вне темы"), made, said(11, "в теме", &json!({"reply_to_message_id": 10}))])))
        .await;
    // The next export begins after the topic did.
    take(
        &archive,
        &Export::of(&group(&[
            said(12, "ответ", &json!({"reply_to_message_id": 11})),
            said(13, "ещё", &json!({"reply_to_message_id": 12})),
            said(14, "в теме снова", &json!({"reply_to_message_id": 10})),
            said(15, "ответ вне темы", &json!({"reply_to_message_id": 9})),
        ])),
    )
    .await;
    assert_eq!(
        archive.list("select coalesce(thread_id, 0) from tg.messages order by message_id").await,
        [0, 10, 10, 10, 10, 10, 0]
    );
    assert_eq!(archive.ask("(select name from tg.topics)").await, "Новый склад");
}

#[tokio::test]
async fn files_beside_the_export_become_documents_once() {
    let archive = Archive::new().await;
    let file = |id, path: &str, text: &str| said(id, text, &json!({"file": path, "mime_type": "text/plain"}));
    let root = group(&[
        file(1, "files/план.txt", "вот план"),
        file(2, "files/copy.txt", ""),
        file(3, "(File not included. Change data exporting settings to download.)", "без файла"),
        file(4, "files/none.txt", ""),
        said(5, "", &json!({"file": "stickers/a.webp", "media_type": "sticker"})),
    ]);
    let export = Export::of(&root);
    export.put("files/план.txt", "Переезд на новый склад в ноябре.");
    export.put("files/copy.txt", "Переезд на новый склад в ноябре.");
    let summary = take(&archive, &export).await;
    assert_eq!((summary.messages_new, summary.files_taken, summary.files_missing), (5, 2, 2), "{summary:?}");
    assert_eq!(summary.files_skipped.values().sum::<u64>(), 1);
    archive.work().await;
    archive.work().await;
    assert_eq!(archive.documents().await, [("done".to_owned(), None)], "one content is one document of a chat");
    assert_eq!(archive.ask("(select title from content.documents where doc_type = 'file')").await, "план.txt");
    assert_eq!(archive.count("content.document_sources").await, 2);
    assert!(archive.texts().await.contains(&"Переезд на новый склад в ноябре.".to_owned()));
    let id = archive.ask("(select file_unique_id from tg.files)").await;
    assert!(id.as_str().is_some_and(|id| id.starts_with("import-") && id.len() == 39), "{id}");
    assert_eq!((archive.count("tg.file_instances").await, archive.count("content.blob_objects").await), (0, 1));
    let before = everything(&archive).await;
    let again = take(&archive, &export).await;
    assert_eq!((again.messages_known, again.files_taken), (5, 0), "{again:?}");
    assert_eq!(everything(&archive).await, before);
}

#[tokio::test]
async fn a_later_export_brings_the_files_that_an_earlier_one_lacked() {
    let archive = Archive::new().await;
    let without = "(File not included. Change data exporting settings to download.)";
    let with = |path: &str| group(&[said(1, "план", &json!({"file": path}))]);
    assert_eq!(take(&archive, &Export::of(&with(without))).await.files_missing, 1);
    let export = Export::of(&with("план.txt"));
    export.put("план.txt", "Переезд в ноябре.");
    let later = take(&archive, &export).await;
    assert_eq!((later.messages_new, later.messages_newer, later.files_taken), (0, 1, 1), "{later:?}");
    archive.work().await;
    archive.work().await;
    assert_eq!(archive.texts().await.len(), 2);
    let before = everything(&archive).await;
    for export in [&export, &Export::of(&with(without)), &Export::of(&with("gone.txt"))] {
        assert_eq!(take(&archive, export).await.messages_known, 1);
    }
    assert_eq!(everything(&archive).await, before);
}

#[tokio::test]
async fn a_chat_whose_policy_allows_no_files_gets_none() {
    let archive = Archive::new().await;
    archive
        .ask(&format!(
            "(select knowledge.set_policy('{}', {GROUP}, '{{\"allow_file_download\": false}}'))",
            archive.workspace.uuid()
        ))
        .await;
    let export = Export::of(&group(&[said(1, "текст", &json!({"file": "a.txt"}))]));
    export.put("a.txt", "тайна");
    let summary = take(&archive, &export).await;
    assert_eq!((summary.messages_new, summary.files_taken), (1, 0));
    assert_eq!((archive.count("tg.files").await, archive.count("content.object_garbage").await), (0, 0));
}

#[tokio::test]
async fn what_was_forgotten_or_is_too_old_does_not_come_with_an_export() {
    let archive = Archive::new().await;
    let export = Export::of(&group(&[
        plain(1, "забыть"),
        plain(2, "оставить"),
        said(3, "давно", &json!({"date_unixtime": "1000000000"})),
        said(4, "от уходящего", &json!({"from_id": format!("user{OUTSIDER}"), "date_unixtime": "1700000000", "file": "a.txt"})),
    ]));
    export.put("a.txt", "файл");
    let workspace = archive.workspace.uuid();
    archive.ask(&format!("knowledge.forget('{workspace}', 'message', {GROUP}, 1, null, 'test')")).await;
    archive.ask(&format!("knowledge.forget('{workspace}', 'person', null, null, {OUTSIDER}, 'test')")).await;
    let summary = take(&archive, &export).await;
    assert_eq!(summary.messages_new, 1);
    assert_eq!(summary.messages_skipped.get("forgotten"), Some(&2), "{summary:?}");
    assert_eq!(summary.messages_skipped.get("older than the policy of the chat keeps"), Some(&1));
    assert_eq!((archive.texts().await, archive.count("content.object_garbage").await), (vec!["оставить".to_owned()], 0));
    archive.ask(&format!("knowledge.forget('{workspace}', 'chat', {GROUP}, null, null, 'test')")).await;
    assert_eq!(take(&archive, &export).await.messages_new, 0);
    assert_eq!((archive.count("tg.messages").await, archive.texts().await.len()), (0, 0));
}

#[tokio::test]
async fn paths_that_lead_out_of_the_folder_bring_nothing_and_the_messages_stay() {
    let archive = Archive::new().await;
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret.txt"), "тайна").expect("a file");
    let absolute = outside.path().join("secret.txt").to_string_lossy().into_owned();
    let paths = ["../secret.txt", &absolute, "link.txt", "files/../../x", "/etc/passwd"];
    let messages: Vec<Value> = (1..).zip(paths).map(|(id, path)| said(id, "текст", &json!({"file": path}))).collect();
    let export = Export::of(&group(&messages));
    std::os::unix::fs::symlink(&absolute, export.dir.path().join("link.txt")).expect("a link");
    let summary = take(&archive, &export).await;
    assert_eq!((summary.messages_new, summary.files_taken), (5, 0));
    assert_eq!(summary.files_skipped.get("outside of the folder of the export"), Some(&5), "{summary:?}");
    assert_eq!((archive.count("tg.files").await, archive.count("content.blob_objects").await), (0, 0));
}

#[tokio::test]
async fn broken_elements_are_counted_with_their_places_and_the_rest_is_taken() {
    let archive = Archive::new().await;
    let good = [plain(1, "цело"), plain(8, "тоже")].map(|message| message.to_string());
    let text = format!(
        r#"{{"name": "x", "type": "private_supergroup", "id": {EXPORTED}, "messages": [{}, 5, {{"id": "no"}}, {{"id": 3, "text": "\ud800"}},
            {{"id": 1e999}}, {}, {}]}}"#,
        good[0],
        said(7, "нуль \u{0} в тексте", &json!({"from": "a\u{0}b"})),
        good[1]
    );
    let summary = take(&archive, &Export::of(&text)).await;
    assert_eq!((summary.messages_new, summary.broken), (3, 4), "{summary:?}");
    assert_eq!(summary.broken_at.iter().map(|broken| broken.position).collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert_eq!(archive.texts().await.len(), 3);
}

#[tokio::test]
async fn a_file_that_ends_early_is_told_and_what_stands_before_is_taken() {
    let archive = Archive::new().await;
    let whole = group(&[plain(1, "раз"), plain(2, "два")]);
    // In the middle of the second message.
    let cut: String = whole.chars().take(whole.chars().count() - 40).collect();
    let summary = take(&archive, &Export::of(&cut)).await;
    assert!(summary.ended_early.is_some(), "{summary:?}");
    assert_eq!(archive.texts().await, ["раз"]);
    assert_eq!(take(&archive, &Export::of(&whole)).await.messages_new, 1);
}

#[tokio::test]
async fn what_is_no_export_or_of_a_chat_that_is_not_registered_is_refused_with_words() {
    let archive = Archive::new().await;
    for text in ["", "[1, 2]", "{}", "not json", r#"{"messages": [1]}"#, r#"{"about": "x"}"#, "null"] {
        let error = try_import(&archive, &Export::of(text), None).await.expect_err(text).to_string();
        assert!(error.contains("not an export of Telegram Desktop"), "{text}: {error}");
    }
    let html = try_import(&archive, &Export::of("\n<!DOCTYPE html>"), None).await.expect_err("html").to_string();
    assert!(html.contains("JSON"), "{html}");
    let other = Export::of(&chat(77, "private_group", &[plain(1, "x")]));
    let error = try_import(&archive, &other, None).await.expect_err("not registered").to_string();
    assert!(error.contains("beresta knowledge chat register -77"), "{error}");
    let asked = try_import(&archive, &other, Some(GROUP)).await.expect_err("another chat").to_string();
    assert!(asked.contains("another chat was asked for"), "{asked}");
    let missing = ImportRequest { export: "/nowhere/result.json".into(), bot: archive.bot, chat: None };
    let error = import::run(&archive.knowledge, archive.workspace, &missing, &mut |_| {}).await.expect_err("missing").to_string();
    assert!(error.contains("cannot be read"), "{error}");
    assert_eq!(archive.count("tg.messages").await, 0);
}

#[tokio::test]
async fn of_an_account_only_registered_chats_and_people_on_the_allowlist_are_taken() {
    let archive = Archive::new().await;
    let private = |person: i64| {
        chat(
            person,
            "personal_chat",
            &[said(5, "личное", &json!({"from_id": format!("user{person}")})), said(6, "ответ", &json!({"from_id": "user42"}))],
        )
    };
    let chats = [
        group(&[plain(1, "в группе")]),
        private(MEMBER),
        private(OUTSIDER),
        chat(55, "private_channel", &[plain(1, "чужое")]),
        chat(42, "saved_messages", &[plain(1, "себе")]),
    ];
    let account = format!(
        r#"{{"about": "…", "personal_information": {{"user_id": 42}}, "chats": {{"about": "…", "list": [{}]}},
            "left_chats": {{"list": [{}]}}}}"#,
        chats.join(","),
        chat(66, "private_group", &[])
    );
    let export = Export::of(&account);
    let summary = take(&archive, &export).await;
    assert_eq!(summary.chats.iter().map(|chat| chat.chat_id).collect::<Vec<_>>(), [GROUP, MEMBER]);
    assert_eq!((summary.messages_new, summary.chats_left.len()), (2, 4), "{summary:?}");
    assert_eq!(
        archive.list("select format('%s %s %s', visibility, dm_owner_user_id, text) from content.documents order by id").await,
        [json!("group  в группе"), json!(format!("dm {MEMBER} личное"))]
    );
    // The bot's own private chat counts its messages anew.
    let mut own = message(1, 5, "боту");
    own["message"]["chat"] = json!({"id": MEMBER, "type": "private"});
    archive.process(&own).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["в группе", "личное", "боту"]);
    let only = try_import(&archive, &export, Some(MEMBER)).await.expect("one chat");
    assert_eq!((only.chats.len(), only.messages_known), (1, 1), "{only:?}");
    assert!(matches!(try_import(&archive, &export, Some(-5)).await, Err(Error::NoSuchChat(-5))));
}

#[tokio::test]
async fn an_export_makes_nobody_a_member_and_obeys_no_command() {
    let archive = Archive::new().await;
    let service = |id: i64, action: &str, members: Value| {
        json!({"id": id, "type": "service", "date_unixtime": (1_790_000_000 + id).to_string(), "actor": "Игорь",
            "actor_id": format!("user{ADMIN}"), "action": action, "members": members})
    };
    archive.process(&message(1, 1, "живое")).await;
    let member = "(select is_member from tg.chat_memberships_current where tg_user_id =";
    let export = Export::of(&group(&[
        plain(1, "живое"),
        service(2, "join_group_by_link", Value::Null),
        said(3, "/unregister", &json!({"from_id": format!("user{ADMIN}")})),
        said(4, "да", &json!({"from_id": format!("user{ADMIN}")})),
        service(5, "invite_members", json!(["Кто-то"])),
    ]));
    let summary = take(&archive, &export).await;
    assert_eq!((summary.messages_new, summary.messages_skipped.get("service message")), (3, Some(&1)), "{summary:?}");
    assert_eq!(archive.ask("(select status from core.tenant_chats)").await, "active");
    assert_eq!((archive.count("knowledge.replies").await, archive.ask(&format!("{member} {ADMIN})")).await), (0, Value::Null));
    assert_eq!(archive.list("select status from tg.chat_member_events").await, ["member"]);
    // Whoever went is not a member any more.
    archive
        .process(&json!({"update_id": 9, "message": {"message_id": 6, "date": 1_790_000_006, "text": "здесь",
        "chat": {"id": GROUP, "type": "supergroup"}, "from": {"id": ADMIN, "first_name": "Игорь"}}}))
        .await;
    assert_eq!(archive.ask(&format!("{member} {ADMIN})")).await, true);
    take(&archive, &Export::of(&group(&[service(7, "remove_members", json!(["Игорь"]))]))).await;
    assert_eq!(archive.ask(&format!("{member} {ADMIN})")).await, false);
}
