//! Conversations: where each stands, and what was said.

use platform::{
    DbError,
    reads::{Cursor, Time, maybe_time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection};
use uuid::Uuid;

use super::SCAN_MAX;

/// A chat, by its last message.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct ConversationRead {
    /// `max` or `telegram`.
    pub provider: String,
    pub chat_id: String,
    /// `default` outside of a scenario, also when the time of a state is over.
    pub state: String,
    /// Messages since the last pause.
    pub turns: i32,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Time>,
    /// Until then the bot is silent in this chat.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub muted_until: Option<Time>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Time,
    /// Redacted.
    pub last_message: String,
    /// `answered`, `re_asked`, `fallback`, `escalated`, `greeted`, `unsupported` or `muted`.
    pub last_outcome: String,
    pub last_rule_id: Option<String>,
    pub last_rule_version: Option<i32>,
    #[serde(skip)]
    pub log_id: i64,
}

impl ConversationRead {
    /// Its place in the order of the list.
    pub fn cursor(&self) -> Cursor {
        Cursor { micros: self.last_at.to_jiff().as_microsecond(), id: self.log_id }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ConversationFilter {
    pub provider: Option<String>,
    /// Only this chat.
    pub chat_id: Option<String>,
    /// Only conversations whose last message is before this: the last one of the page before.
    pub before: Option<Cursor>,
    pub limit: i64,
}

/// Conversations by their last message, newest first. A chat with a message after `before` was on an earlier page.
pub async fn conversations(tx: &mut PgConnection, filter: &ConversationFilter) -> Result<Vec<ConversationRead>, DbError> {
    let query = "with last as (
                     select distinct on (l.provider, l.chat_id) l.*
                       from (select l.* from shopbot.bot_logs l
                              where l.workspace_id = platform.workspace_id()
                                and ($1::text is null or l.provider = $1) and ($2::text is null or l.chat_id = $2)
                                and ($3::bigint is null
                                     or (l.ts, l.id) < (to_timestamp($3 / 1000000) + $3 % 1000000 * interval '1 microsecond', $4))
                              order by l.ts desc, l.id desc limit $5) l
                      where $3::bigint is null
                         or not exists (select from shopbot.bot_logs n
                                         where n.workspace_id = l.workspace_id and n.provider = l.provider and n.chat_id = l.chat_id
                                           and n.ts >= to_timestamp($3 / 1000000) + $3 % 1000000 * interval '1 microsecond'
                                           and (n.ts, n.id) >= (to_timestamp($3 / 1000000) + $3 % 1000000 * interval '1 microsecond', $4))
                      order by l.provider, l.chat_id, l.ts desc, l.id desc
                 )
                 select l.provider, l.chat_id, case when s.expires_at >= platform.now() then s.state else 'default' end as state,
                        case when s.expires_at >= platform.now() then coalesce((s.context->>'turns')::int, 0) else 0 end as turns,
                        s.expires_at, (s.context->>'muted_until')::timestamptz as muted_until, l.ts as last_at,
                        l.message_text as last_message, l.outcome as last_outcome, l.matched_rule_id as last_rule_id,
                        l.rule_version as last_rule_version, l.id as log_id
                   from last l
                   left join shopbot.bot_state s on s.workspace_id = l.workspace_id and s.provider = l.provider and s.chat_id = l.chat_id
                  order by l.ts desc, l.id desc limit $6";
    Ok(sqlx::query_as(query)
        .bind(&filter.provider)
        .bind(&filter.chat_id)
        .bind(filter.before.map(|before| before.micros))
        .bind(filter.before.map(|before| before.id))
        .bind(SCAN_MAX)
        .bind(filter.limit)
        .fetch_all(tx)
        .await?)
}

/// A message of a customer, and what became of it.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct MessageRead {
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
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub sent_at: Option<Time>,
}

impl MessageRead {
    pub fn cursor(&self) -> Cursor {
        Cursor { micros: self.ts.to_jiff().as_microsecond(), id: self.log_id }
    }
}

/// What was said in a chat, newest first.
pub async fn messages(
    tx: &mut PgConnection,
    provider: &str,
    chat_id: &str,
    before: Option<Cursor>,
    limit: i64,
) -> Result<Vec<MessageRead>, DbError> {
    let query = "select l.id as log_id, l.ts, l.inbound_provider_message_id, l.message_text, l.outcome, l.matched_rule_id, l.rule_version,
                        l.state_before, l.state_after, l.response_preview, l.meta, o.answer_id, o.status as answer_status, o.attempt,
                        o.unknown_outcomes, o.last_error, o.sent_at
                   from shopbot.bot_logs l
                   left join shopbot.bot_outbox o
                     on o.workspace_id = l.workspace_id and o.provider = l.provider and o.chat_id = l.chat_id
                    and o.inbound_provider_message_id = l.inbound_provider_message_id
                  where l.workspace_id = platform.workspace_id() and l.provider = $1 and l.chat_id = $2
                    and ($3::bigint is null or (l.ts, l.id) < (to_timestamp($3 / 1000000) + $3 % 1000000 * interval '1 microsecond', $4))
                  order by l.ts desc, l.id desc limit $5";
    Ok(sqlx::query_as(query)
        .bind(provider)
        .bind(chat_id)
        .bind(before.map(|before| before.micros))
        .bind(before.map(|before| before.id))
        .bind(limit)
        .fetch_all(tx)
        .await?)
}
