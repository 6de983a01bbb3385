//! WF51: answers a question. The job of a question that came in a chat names its turn; a caller over HTTP gives the question.

use kernel::{Kind, Problem};
use platform::DbError;
use serde_json::Value;
use uuid::Uuid;

use super::Request;
use crate::{Knowledge, answers, store};

const QUESTION_CHARS_MAX: usize = 4096;

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let turn_id = match request.optional_number("turn_id")? {
        Some(turn_id) => turn_id,
        None => open(knowledge, &request).await?,
    };
    let turn = answers::answer_turn(knowledge, request.workspace, turn_id).await?;
    Ok(answers::told(&turn))
}

/// The turn of a question that a caller gives, once for one version of a message.
async fn open(knowledge: &Knowledge, request: &Request) -> Result<i64, Problem> {
    let user = request.number("tg_user_id")?;
    let channel = request.channel()?;
    let chat = request.chat_of(channel, user)?;
    let question = request.text("question")?.trim();
    if question.is_empty() || question.chars().count() > QUESTION_CHARS_MAX || question.contains('\0') {
        return Err(Problem::validation("question", format!("`question` has 1 to {QUESTION_CHARS_MAX} characters")));
    }
    let version = request.optional_number("question_message_version_id")?;
    let context = store::load_context(&knowledge.db, request.workspace, user, Some(chat), channel.as_str()).await?;
    if let Some(status) = context["status"].as_u64() {
        let reason = context["reason"].as_str().unwrap_or_default().to_owned();
        return Err(match status {
            403 => Problem::new(403, Kind::Auth, "knowledge.not_allowed", reason),
            _ => Problem::new(404, Kind::NotFound, "knowledge.chat_not_registered", reason),
        });
    }
    if let Some(version) = version {
        let query = "select exists (select from tg.message_versions v
                       join tg.messages m on (m.workspace_id, m.id) = (v.workspace_id, v.message_fk)
                      where (v.workspace_id, v.id, m.chat_id) = ($1, $2, $3) and m.tg_user_id is not distinct from $4)";
        let query = sqlx::query_scalar(query).bind(request.workspace.uuid()).bind(version).bind(chat).bind(user);
        let is_there: bool = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
        if !is_there {
            return Err(Problem::not_found("message version of this person in this chat"));
        }
    }
    let bot = "select coalesce((select c.bot_id from core.tenant_chats c where (c.workspace_id, c.chat_id) = ($1, $2)),
                      (select b.bot_id from core.bots b where (b.workspace_id, b.serves, b.provider) = ($1, 'knowledge', 'telegram')
                        order by b.created_at, b.bot_id limit 1))";
    let bot = sqlx::query_scalar(bot).bind(request.workspace.uuid()).bind(chat);
    let bot: Option<Uuid> = bot.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
    let query = sqlx::query_scalar("select knowledge.open_turn($1, $2, $3, $4, $5, $6, $7, $8)")
        .bind(request.workspace.uuid())
        .bind(bot)
        .bind(user)
        .bind(channel.as_str())
        .bind(chat)
        .bind(question)
        .bind(version)
        .bind(request.trace());
    let turn_id: i64 = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
    let query = sqlx::query_scalar("select question = $3 from audit.qa_turns where (workspace_id, id) = ($1, $2)");
    let query = query.bind(request.workspace.uuid()).bind(turn_id).bind(question);
    let is_it: bool = query.fetch_one(knowledge.db.pool()).await.map_err(DbError::from)?;
    // A message asks one thing: the answer to something else would be a wrong one.
    if is_it {
        Ok(turn_id)
    } else {
        Err(Problem::conflict("knowledge.another_question", "this message version asked something else"))
    }
}
