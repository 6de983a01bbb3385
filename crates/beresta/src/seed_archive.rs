//! The group of the demo: who is in it, and what they have said.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};
use kernel::WorkspaceId;
use knowledge::{
    Knowledge,
    import::{self, ImportRequest},
    workflows::{self, Request},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

const GROUP: i64 = -1_007_100_000_010;
const MEMBER: i64 = 7_100_000_001;
const ADMIN: i64 = 7_100_000_002;
const OUTSIDER: i64 = 7_100_000_003;
const TOPIC: i64 = 5;
const USERNAME: &str = "beresta_archive_bot";
/// When the first message was sent; a day lies between two.
const BEGINNING: i64 = 1_789_000_000;
const DAY: i64 = 86_400;

/// What one needs to talk to the demo bot as Telegram would.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ArchiveCredentials {
    pub(crate) secret: String,
    pub(crate) bot_id: Uuid,
    bot_username: String,
    pub(crate) group_chat_id: i64,
    pub(crate) member_id: i64,
    pub(crate) admin_id: i64,
    outsider_id: i64,
    topic_id: i64,
}

impl ArchiveCredentials {
    pub(crate) fn new(secret: String) -> Self {
        Self {
            secret,
            bot_id: Uuid::nil(),
            bot_username: USERNAME.to_owned(),
            group_chat_id: GROUP,
            member_id: MEMBER,
            admin_id: ADMIN,
            outsider_id: OUTSIDER,
            topic_id: TOPIC,
        }
    }
}

/// Who said what, in a topic or not.
const HISTORY: [(i64, bool, &str); 9] = [
    (ADMIN, false, "Коллеги, договорились: с 1 октября бесплатная доставка от 3000 рублей, а не от 2500."),
    (MEMBER, false, "Поняла. Поменяю баннер на сайте до пятницы."),
    (ADMIN, true, "Договор аренды нового склада подписан. Адрес: Новгород, ул. Берёзовая, 12. Ключи у Олега."),
    (MEMBER, true, "Переезд на новый склад — 14 ноября. Грузчики заказаны на 9 утра."),
    (ADMIN, false, "Возвраты принимаем 14 дней, чек не обязателен. Решение от сегодняшнего созвона."),
    (MEMBER, false, "Поставщик «Северный ветер» поднял цены на 7 %. Новый прайс пришлю отдельно."),
    (ADMIN, false, "Пароль от Wi-Fi в офисе сменили, спрашивайте у Анны лично, в чат не пишем."),
    (MEMBER, false, "Инвентаризация прошла: недостача 3 коробки чая, списали."),
    (ADMIN, true, "Сигнализацию на складе обслуживает «Страж», телефон на двери."),
];

const FILES: [SeedFile; 2] = [
    SeedFile {
        message: 11,
        sender: MEMBER,
        name: "price-list.pdf",
        mime: "application/pdf",
        bytes: include_bytes!("../assets/knowledge/price-list.pdf"),
        caption: "Прайс на корзины и короба, действует с октября.",
    },
    SeedFile {
        message: 12,
        sender: ADMIN,
        name: "contract.docx",
        mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        bytes: include_bytes!("../assets/knowledge/contract.docx"),
        caption: "Договор аренды склада, финальная версия.",
    },
];

/// A file that was shared, and the message that shares it.
struct SeedFile {
    message: i64,
    sender: i64,
    name: &'static str,
    mime: &'static str,
    bytes: &'static [u8],
    caption: &'static str,
}

/// A page that was linked. It was read when it was linked, and nobody serves it now.
const LINK: &str = "https://perevozchik.example/tarify";
const LINKED: &str = "<html><head><title>Тарифы перевозчика</title></head><body><article><h1>Тарифы перевозчика</h1>
    <p>Доставка по Новгороду стоит 350 рублей, по области 600 рублей. Хрупкий груз принимается в жёсткой упаковке, за неё берётся ещё 150 рублей.</p>
    <p>Заявки на завтра принимаются до шести вечера, в субботу до двух. По воскресеньям машины не ходят.</p></article></body></html>";

/// Plays the history, once however often it is called, and returns the bot.
pub(crate) async fn load(archive: &Knowledge, workspace: WorkspaceId, data_dir: &Path) -> Result<Uuid> {
    let query = "select bot_id from core.bots where (workspace_id, name) = ($1, 'archive')";
    let bot: Uuid = sqlx::query_scalar(query).bind(workspace.uuid()).fetch_one(archive.db.pool()).await?;
    // The queue takes jobs of registered types only, and no server may have run yet.
    knowledge::jobs::registry(archive).put_types(&archive.db).await?;
    call(archive, workspace, json!({ "update": topic_created() })).await?;
    for (at, (sender, in_topic, text)) in (2..).zip(HISTORY) {
        call(archive, workspace, json!({ "update": said(at, sender, in_topic, text) })).await?;
    }
    name_bot(archive, workspace, bot).await?;
    share_files(archive, workspace, bot, data_dir).await?;
    let text = format!("Тарифы перевозчика на зиму: {LINK}");
    call(archive, workspace, json!({ "update": said(13, MEMBER, false, &text) })).await?;
    keep_page(archive, workspace).await?;
    Ok(bot)
}

/// The name by which people call the bot, as the watchdog learns it from Telegram.
async fn name_bot(archive: &Knowledge, workspace: WorkspaceId, bot: Uuid) -> Result<()> {
    let query = "insert into core.bot_transport_state (workspace_id, bot_id, mode, username) values ($1, $2, 'webhook', $3)
                 on conflict (workspace_id, bot_id) do update set username = excluded.username";
    sqlx::query(query).bind(workspace.uuid()).bind(bot).bind(USERNAME).execute(archive.db.pool()).await?;
    Ok(())
}

/// Files come as an export brings them: no bot can download what no user sent.
async fn share_files(archive: &Knowledge, workspace: WorkspaceId, bot: Uuid, data_dir: &Path) -> Result<()> {
    let folder = data_dir.join("seed-export");
    fs::create_dir_all(&folder)?;
    let mut messages = Vec::new();
    for SeedFile { message: at, sender, name, mime, bytes, caption: text } in FILES {
        fs::write(folder.join(name), bytes)?;
        messages.push(json!({
            "id": at, "type": "message", "date_unixtime": (BEGINNING + at * DAY).to_string(),
            "from": if sender == ADMIN { "Игорь Белов" } else { "Анна Орлова" }, "from_id": format!("user{sender}"),
            "file": name, "file_name": name, "mime_type": mime, "text": text, "text_entities": [{ "type": "plain", "text": text }],
        }));
    }
    // The fields of a chat stand before its messages.
    let export = format!(
        r#"{{"name": "Лавка «Береста»", "type": "private_supergroup", "id": {}, "messages": {}}}"#,
        -GROUP - 1_000_000_000_000,
        Value::Array(messages)
    );
    let path = folder.join("result.json");
    fs::write(&path, export)?;
    let taken = import::run(archive, workspace, &ImportRequest { export: path, bot, chat: Some(GROUP) }, &mut |_| {}).await;
    fs::remove_dir_all(&folder)?;
    taken.context("the files of the demo group cannot be shared")?;
    Ok(())
}

/// The page as it was when it was linked, so that the job of its message need not fetch it.
async fn keep_page(archive: &Knowledge, workspace: WorkspaceId) -> Result<()> {
    let query = "select u.id, m.current_version_id from content.urls u, tg.messages m
                  where (u.workspace_id, u.normalized_url) = ($1, $2) and (m.workspace_id, m.chat_id, m.message_id) = ($1, $3, 13)
                    and not exists (select from content.url_fetches f where (f.workspace_id, f.url_id) = (u.workspace_id, u.id))";
    let query = sqlx::query_as(query).bind(workspace.uuid()).bind(LINK).bind(GROUP);
    let found: Option<(i64, i64)> = query.fetch_optional(archive.db.pool()).await?;
    let Some((url_id, version_id)) = found else { return Ok(()) };
    let key = "knowledge/seed-page";
    archive.objects.put(workspace, key, LINKED.as_bytes().to_vec().into()).await?;
    let mime = "text/html; charset=utf-8";
    sqlx::query(
        "select knowledge.store_fetch($1, $2, $3, $4, jsonb_build_object('sha256', encode(sha256($5), 'hex'), 'bytes', $6::int,
                                                                         'mime', $7::text, 'object_key', $8::text), null)",
    )
    .bind(workspace.uuid())
    .bind(url_id)
    .bind(json!({ "visibility": "group", "chat_id": GROUP, "message_version_id": version_id }))
    .bind(json!({ "status_code": 200, "final_url": LINK, "content_type": mime, "bytes": LINKED.len() }))
    .bind(LINKED.as_bytes())
    .bind(i32::try_from(LINKED.len())?)
    .bind(mime)
    .bind(key)
    .execute(archive.db.pool())
    .await?;
    Ok(())
}

async fn call(archive: &Knowledge, workspace: WorkspaceId, req: Value) -> Result<()> {
    let request = Request { workspace, req, trace: None, is_last_attempt: false };
    match workflows::run(archive, "WF20", request).await {
        Ok(_) => Ok(()),
        Err(problem) => bail!("{problem}"),
    }
}

fn said(at: i64, sender: i64, in_topic: bool, text: &str) -> Value {
    let mut message = base(at, sender);
    message["text"] = json!(text);
    if in_topic {
        message["is_topic_message"] = json!(true);
        message["message_thread_id"] = json!(TOPIC);
    }
    json!({ "update_id": at, "message": message })
}

fn topic_created() -> Value {
    let mut message = base(1, ADMIN);
    message["message_thread_id"] = json!(TOPIC);
    message["forum_topic_created"] = json!({ "name": "Новый склад", "icon_color": 0 });
    json!({ "update_id": 1, "message": message })
}

fn base(at: i64, sender: i64) -> Value {
    let (first, last) = if sender == ADMIN { ("Игорь", "Белов") } else { ("Анна", "Орлова") };
    json!({
        "message_id": at, "date": BEGINNING + at * DAY,
        "chat": { "id": GROUP, "type": "supergroup", "title": "Лавка «Береста»", "is_forum": true },
        "from": { "id": sender, "is_bot": false, "first_name": first, "last_name": last, "language_code": "ru" },
    })
}
