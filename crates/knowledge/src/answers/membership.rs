//! What a person gets in private from a group they are in: who is a member is asked of Telegram when the last proof is old.

use std::time::Duration;

use kernel::{AdapterError, Kind, Problem, WorkspaceId};
use platform::DbError;
use uuid::Uuid;

use super::QuestionTurn;
use crate::{
    Knowledge,
    search::{Asker, QuestionChannel},
    workflows::bot_access,
};

/// How many groups of one person are asked about for one question; the others are taken as they are known.
const ASKED_MAX: i64 = 20;

/// Asks about the groups whose proof is older than the setting. Where Telegram cannot be asked there is no answer yet: what a group
/// shared is not told outside of it on an old proof. The bot that was asked asks Telegram; where none was, the oldest that serves
/// knowledge. A workspace without a bot has nothing to prove by.
pub(crate) async fn prove(knowledge: &Knowledge, workspace: WorkspaceId, asker: Asker, bot: Option<Uuid>) -> Result<(), Problem> {
    if asker.channel == QuestionChannel::Group {
        return Ok(());
    }
    let query = "select m.chat_id from tg.chat_memberships_current m
                   join core.tenant_chats c on (c.workspace_id, c.chat_id, c.status) = (m.workspace_id, m.chat_id, 'active')
                  where (m.workspace_id, m.tg_user_id, m.is_member) = ($1, $2, true)
                    and m.proved_at < platform.now() - $3 * interval '1 second'
                  order by m.proved_at limit $4";
    let query = sqlx::query_scalar(query)
        .bind(workspace.uuid())
        .bind(asker.tg_user_id)
        .bind(knowledge.membership_proof_max.as_secs_f64())
        .bind(ASKED_MAX);
    let chats: Vec<i64> = query.fetch_all(knowledge.db.pool()).await.map_err(DbError::from)?;
    if chats.is_empty() {
        return Ok(());
    }
    let Some(bot) = bot_or_oldest(knowledge, workspace, bot).await? else { return Ok(()) };
    let secret = secret_of(knowledge, workspace, bot).await?;
    let (telegram, token) = bot_access(knowledge, &secret).await.map_err(|error| unproved(&error))?;
    for chat in chats {
        let member = telegram.get_chat_member(&token, chat, asker.tg_user_id).await.map_err(|error| unproved(&error))?;
        let status = member.as_ref().and_then(|member| member["status"].as_str()).unwrap_or("left").to_owned();
        let is_member = match status.as_str() {
            "creator" | "administrator" | "member" => true,
            "restricted" => member.as_ref().is_some_and(|member| member["is_member"] == true),
            _ => false,
        };
        let query = sqlx::query("select knowledge.prove_membership($1, $2, $3, $4, $5)")
            .bind(workspace.uuid())
            .bind(chat)
            .bind(asker.tg_user_id)
            .bind(&status)
            .bind(is_member);
        query.execute(knowledge.db.pool()).await.map_err(DbError::from)?;
    }
    Ok(())
}

async fn bot_or_oldest(knowledge: &Knowledge, workspace: WorkspaceId, asked: Option<Uuid>) -> Result<Option<Uuid>, DbError> {
    if asked.is_some() {
        return Ok(asked);
    }
    let query = "select bot_id from core.bots
                  where (workspace_id, serves, provider, enabled) = ($1, 'knowledge', 'telegram', true)
                  order by created_at, bot_id limit 1";
    Ok(sqlx::query_scalar(query).bind(workspace.uuid()).fetch_optional(knowledge.db.pool()).await?)
}

async fn secret_of(knowledge: &Knowledge, workspace: WorkspaceId, bot: Uuid) -> Result<String, DbError> {
    let query = sqlx::query_scalar("select secret_ref from core.bots where (workspace_id, bot_id) = ($1, $2)");
    Ok(query.bind(workspace.uuid()).bind(bot).fetch_one(knowledge.db.pool()).await?)
}

/// The chat sees that an answer is coming. Whether it can be shown changes nothing about the answer.
pub(super) async fn show_typing(knowledge: &Knowledge, workspace: WorkspaceId, turn: &QuestionTurn) {
    let Some(bot) = turn.bot_id else { return };
    let Ok(secret) = secret_of(knowledge, workspace, bot).await else { return };
    let Ok((telegram, token)) = bot_access(knowledge, &secret).await else { return };
    let shown = telegram.send_typing(&token, turn.chat_id, turn.thread_id.map(Into::into)).await;
    if let Err(error) = shown {
        tracing::debug!(code = %error.code, "knowledge.typing_not_shown");
    }
}

fn unproved(error: &AdapterError) -> Problem {
    let words = format!("it cannot be asked who is a member of the groups now: {}", error.message);
    let mut problem = Problem::new(502, Kind::Upstream, "knowledge.membership_unknown", words);
    problem.retryable = true;
    problem.retry_after = error.retry_after_ms.map(Duration::from_millis);
    problem
}
