//! The group of the demo: who is in it, and what they have said.

use anyhow::{Result, bail};
use kernel::WorkspaceId;
use knowledge::{
    Knowledge,
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
    admin_id: i64,
    outsider_id: i64,
    topic_id: i64,
}

impl ArchiveCredentials {
    pub(crate) fn new(secret: String) -> Self {
        Self {
            secret,
            bot_id: Uuid::nil(),
            bot_username: "beresta_archive_bot".to_owned(),
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

/// Plays the history, once however often it is called, and returns the bot.
pub(crate) async fn load(archive: &Knowledge, workspace: WorkspaceId) -> Result<Uuid> {
    let query = "select bot_id from core.bots where (workspace_id, name) = ($1, 'archive')";
    let bot: Uuid = sqlx::query_scalar(query).bind(workspace.uuid()).fetch_one(archive.db.pool()).await?;
    // The queue takes jobs of registered types only, and no server may have run yet.
    knowledge::jobs::registry(archive).put_types(&archive.db).await?;
    call(archive, workspace, json!({ "update": topic_created() })).await?;
    for (at, (sender, in_topic, text)) in (2..).zip(HISTORY) {
        call(archive, workspace, json!({ "update": said(at, sender, in_topic, text) })).await?;
    }
    Ok(bot)
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
