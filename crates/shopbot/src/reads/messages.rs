//! Messages: what was said in a conversation, which rule answered, and where the answer stands.

use platform::{
    DbError,
    reads::{Cursor, Time, maybe_time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection};
use uuid::Uuid;

use super::ConversationRead;

/// A message of a customer, and what became of it.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct TurnRead {
    #[serde(skip)]
    pub log_id: i64,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub ts: Time,
    pub inbound_provider_message_id: String,
    /// Redacted.
    pub message_text: String,
    pub outcome: String,
    pub matched_rule_id: Option<String>,
    pub rule_version: Option<i32>,
    pub state_before: String,
    pub state_after: String,
    /// The beginning of the answer, redacted.
    pub response_preview: Option<String>,
    /// Which keyword matched and how a tie was decided, the trace id, the idempotency key.
    #[schema(value_type = Object)]
    pub meta: Value,
    /// Where the answer stands; absent when there is none, or it is forgotten.
    pub answer_id: Option<Uuid>,
    /// `queued`, `sending`, `retry`, `sent`, `failed` or `dead`.
    pub answer_status: Option<String>,
    pub attempt: Option<i32>,
    /// Attempts whose end nobody could read.
    pub unknown_outcomes: Option<i32>,
    #[schema(value_type = Option<Object>)]
    pub last_error: Option<Value>,
    /// Of an answer that waits: when it may be sent.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_retry_at: Option<Time>,
    /// The messenger's id of the answer.
    pub provider_message_id: Option<String>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub sent_at: Option<Time>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub failed_at: Option<Time>,
}

impl TurnRead {
    pub fn cursor(&self) -> Cursor {
        Cursor { micros: self.ts.to_jiff().as_microsecond(), id: self.log_id }
    }
}

/// What was said in a conversation, newest first.
pub async fn messages(
    tx: &mut PgConnection,
    conversation: &ConversationRead,
    before: Option<Cursor>,
    limit: i64,
) -> Result<Vec<TurnRead>, DbError> {
    let query = "select l.id as log_id, l.ts, l.inbound_provider_message_id, l.message_text, l.outcome, l.matched_rule_id, l.rule_version,
                        l.state_before, l.state_after, l.response_preview, l.meta, o.answer_id, o.status as answer_status, o.attempt,
                        o.unknown_outcomes, o.last_error, case when o.status in ('queued', 'retry') then o.next_retry_at end as next_retry_at,
                        o.provider_message_id, o.sent_at, o.failed_at
                   from shopbot.bot_logs l
                   left join shopbot.bot_outbox o
                     on o.workspace_id = l.workspace_id and o.bot_id = $6 and o.chat_id = l.chat_id
                    and o.inbound_provider_message_id = l.inbound_provider_message_id
                  where l.workspace_id = platform.workspace_id() and l.provider = $1 and l.chat_id = $2
                    and coalesce(l.bot_id, shopbot.first_bot(l.workspace_id, l.provider)) is not distinct from $6
                    and ($3::bigint is null or (l.ts, l.id) < (platform.at_micros($3), $4))
                  order by l.ts desc, l.id desc limit $5";
    Ok(sqlx::query_as(query)
        .bind(&conversation.provider)
        .bind(&conversation.chat_id)
        .bind(before.map(|before| before.micros))
        .bind(before.map(|before| before.id))
        .bind(limit)
        .bind(conversation.bot_id)
        .fetch_all(tx)
        .await?)
}
