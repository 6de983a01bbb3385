//! WF20: reads an update and stores what it says.

use kernel::{Problem, WorkspaceId};
use platform::{DbError, failpoint, wake::Topic};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Request;
use crate::{
    Knowledge,
    model::{update, urls},
    replies::REPLIES,
    store,
};

/// What a message repeats of another one: that other one may be forgotten, so it is not kept here.
const QUOTED: [&str; 4] = ["reply_to_message", "pinned_message", "external_reply", "quote"];
/// Service messages that repeat the message with the checklist.
const OF_CHECKLISTS: [&str; 2] = ["checklist_tasks_done", "checklist_tasks_added"];

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    if let Some(raw_id) = request.optional_number("raw_id")? {
        return process_raw(knowledge, &request, raw_id).await;
    }
    let update = &request.req["update"];
    if !update.is_object() {
        return Err(Problem::validation("update", "`update` is an update of Telegram, an object"));
    }
    let bot = knowledge_bot(knowledge, request.workspace).await?;
    let stored = process(knowledge, &request, bot, update).await?;
    stored.map_err(|unreadable| Problem::validation("update", unreadable))
}

/// The job of WF10: the update is in the table. One that cannot be read stays there with the reason, and is not tried again.
async fn process_raw(knowledge: &Knowledge, request: &Request, raw_id: i64) -> Result<Value, Problem> {
    let query = "select bot_id, body from raw.telegram_updates where (workspace_id, id) = ($1, $2) and body is not null";
    let query = sqlx::query_as(query).bind(request.workspace.uuid()).bind(raw_id);
    let found: Option<(Uuid, Value)> = query.fetch_optional(knowledge.db.pool()).await.map_err(DbError::from)?;
    // It expired, or was forgotten before anybody read it.
    let Some((bot, update)) = found.filter(|(_, update)| update != &json!({})) else { return Ok(Value::Null) };
    let stored = process(knowledge, request, bot, &update).await?;
    failpoint::hit("knowledge.facts_stored");
    let (problem, is_forgotten) = match &stored {
        Ok(data) => (None, data["forgotten"] == true),
        Err(unreadable) => (Some(unreadable.as_str()), false),
    };
    store::end_update(&knowledge.db, request.workspace, raw_id, problem, is_forgotten).await?;
    Ok(stored.unwrap_or(Value::Null))
}

/// What was stored, or why the update cannot be read.
async fn process(knowledge: &Knowledge, request: &Request, bot: Uuid, update: &Value) -> Result<Result<Value, String>, Problem> {
    let (facts, payload) = match read_facts(update) {
        Ok(read) => read,
        Err(unreadable) => return Ok(Err(unreadable)),
    };
    let stored = store::store_facts(&knowledge.db, request.workspace, bot, &facts, &payload, request.trace()).await?;
    knowledge.db.wake().tell(Topic::JOBS);
    knowledge.db.wake().tell(Topic::BUS);
    knowledge.db.wake().tell(REPLIES);
    Ok(Ok(stored))
}

/// What an update says, as `knowledge.store_facts` takes it, and the message without what it quotes; or why it cannot be read.
pub(crate) fn read_facts(update: &Value) -> Result<(Value, Value), String> {
    let facts = update::read(update).map_err(|unreadable| unreadable.to_string())?;
    let kind = facts.kind.clone();
    let mut facts = json!(facts);
    if let Some(links) = facts.pointer_mut("/message/links").and_then(Value::as_array_mut) {
        for link in links {
            let url = link.as_str().unwrap_or_default().to_owned();
            *link = json!({ "normalized_url": urls::normalize(&url).ok(), "url": url });
        }
    }
    let mut payload = update[kind.as_str()].clone();
    if let Some(message) = payload.as_object_mut() {
        message.retain(|key, _| !QUOTED.contains(&key.as_str()));
        for change in OF_CHECKLISTS {
            if let Some(change) = message.get_mut(change).and_then(Value::as_object_mut) {
                change.remove("checklist_message");
            }
        }
    }
    Ok((facts, payload))
}

/// The bot whose update it is, where the contract does not say: the oldest one that serves knowledge.
async fn knowledge_bot(knowledge: &Knowledge, workspace: WorkspaceId) -> Result<Uuid, Problem> {
    let query = "select bot_id from core.bots where (workspace_id, serves, provider) = ($1, 'knowledge', 'telegram')
                  order by created_at, bot_id limit 1";
    let query = sqlx::query_scalar(query).bind(workspace.uuid());
    let bot: Option<Uuid> = query.fetch_optional(knowledge.db.pool()).await.map_err(DbError::from)?;
    bot.ok_or_else(|| Problem::not_found("knowledge bot"))
}
