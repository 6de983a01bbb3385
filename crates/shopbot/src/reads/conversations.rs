//! Conversations: where each stands.

use platform::{
    DbError,
    reads::{Cursor, Time, maybe_time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection};
use uuid::Uuid;

use super::{ANSWERS_MAX, ConversationPage, SCAN_MAX};

/// As a filter by state: chats in which the bot is silent for a while. No state of a rule can have this name.
pub const MUTED: &str = "~muted";

/// A chat, by its last message.
#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct ConversationRead {
    /// The bot that the customer talks with.
    pub bot_id: Option<Uuid>,
    /// `max` or `telegram`.
    pub provider: String,
    pub chat_id: String,
    /// `default` outside of a scenario, also when the time of a state is over.
    pub state: String,
    /// The intent whose scenario is under way.
    pub intent: Option<String>,
    /// The versions of its rules on which the scenario finishes, by rule id.
    #[schema(value_type = Object)]
    pub versions: Value,
    /// What the customer has told in the scenario, redacted, by name.
    #[schema(value_type = Object)]
    pub captured: Value,
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
    /// Answers that are not sent yet; counting stops after 100.
    pub waiting: i64,
    /// Answers that will not be sent, while they are kept; counting stops after 100.
    pub failed: i64,
    #[serde(skip)]
    pub log_id: i64,
    /// The workspace has several bots in this messenger, so that the chat alone does not say which conversation it is.
    #[serde(skip)]
    pub is_one_of_several: bool,
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
    /// Only this bot.
    pub bot_id: Option<Uuid>,
    /// Only this chat.
    pub chat_id: Option<String>,
    /// Only chats in this state now, or [`MUTED`] ones; those are in no other.
    pub state: Option<String>,
    /// Only conversations whose last message is before this: `next` of the page before.
    pub before: Option<Cursor>,
    pub limit: i64,
}

/// Conversations by their last message, newest first. A chat with a message after `before` was on an earlier page.
pub async fn conversations(tx: &mut PgConnection, filter: &ConversationFilter) -> Result<ConversationPage, DbError> {
    let query = "with last as (
                     select distinct on (l.provider, l.bot, l.chat_id) l.*
                       from (select l.*, coalesce(l.bot_id, shopbot.first_bot(l.workspace_id, l.provider)) as bot
                               from shopbot.bot_logs l
                              where l.workspace_id = platform.workspace_id()
                                and ($1::text is null or l.provider = $1) and ($2::text is null or l.chat_id = $2)
                                and ($10::uuid is null
                                     or coalesce(l.bot_id, shopbot.first_bot(l.workspace_id, l.provider)) = $10)
                                and ($3::bigint is null
                                     or (l.ts, l.id) < (platform.at_micros($3), $4))
                              order by l.ts desc, l.id desc limit $5) l
                      where $3::bigint is null
                         or not exists (select from shopbot.bot_logs n
                                         where n.workspace_id = l.workspace_id and n.provider = l.provider and n.chat_id = l.chat_id
                                           and coalesce(n.bot_id, l.bot) is not distinct from l.bot and n.ts >= platform.at_micros($3)
                                           and (n.ts, n.id) >= (platform.at_micros($3), $4))
                      order by l.provider, l.bot, l.chat_id, l.ts desc, l.id desc
                 ), standing as (
                     select l.workspace_id, l.bot, l.provider, l.chat_id, l.ts, l.id, l.message_text, l.outcome, l.matched_rule_id, l.rule_version,
                            case when s.expires_at >= platform.now() then s.state else 'default' end as state,
                            case when s.expires_at >= platform.now() then s.context else '{}' end as context, s.expires_at,
                            case when (s.context->>'muted_until')::timestamptz > platform.now()
                                 then (s.context->>'muted_until')::timestamptz end as muted_until
                       from last l
                       left join shopbot.bot_state s on s.workspace_id = l.workspace_id and s.bot_id = l.bot and s.chat_id = l.chat_id
                 ), page as (
                     select * from standing l
                      where $6::text is null or $6 = case when l.muted_until is null then l.state else $7::text end
                      order by l.ts desc, l.id desc limit $8
                 )
                 select l.bot as bot_id, l.provider, l.chat_id, l.state, l.context->>'intent' as intent, coalesce(l.context->'versions', '{}') as versions,
                        coalesce(l.context->'shown', '{}') as captured, coalesce((l.context->>'turns')::int, 0) as turns, l.expires_at,
                        l.muted_until, l.ts as last_at, l.message_text as last_message, l.outcome as last_outcome,
                        l.matched_rule_id as last_rule_id, l.rule_version as last_rule_version, w.n as waiting, f.n as failed, l.id as log_id,
                        (select count(*) > 1 from shopbot.bots b where b.workspace_id = l.workspace_id and b.provider = l.provider)
                            as is_one_of_several
                   from page l
                  cross join lateral (select count(*) as n from (
                            select from shopbot.bot_outbox o where o.workspace_id = l.workspace_id and o.bot_id = l.bot
                               and o.chat_id = l.chat_id and o.phase = 'open' limit $9 + 1) o) w
                  cross join lateral (select count(*) as n from (
                            select from shopbot.bot_outbox o where o.workspace_id = l.workspace_id and o.bot_id = l.bot
                               and o.chat_id = l.chat_id and o.phase in ('failed', 'dead') limit $9 + 1) o) f
                  order by l.ts desc, l.id desc";
    let rows: Vec<ConversationRead> = sqlx::query_as(query)
        .bind(&filter.provider)
        .bind(&filter.chat_id)
        .bind(filter.before.map(|before| before.micros))
        .bind(filter.before.map(|before| before.id))
        .bind(SCAN_MAX)
        .bind(&filter.state)
        .bind(MUTED)
        .bind(filter.limit)
        .bind(ANSWERS_MAX)
        .bind(filter.bot_id)
        .fetch_all(&mut *tx)
        .await?;
    let next = if i64::try_from(rows.len()) == Ok(filter.limit) {
        rows.last().map(ConversationRead::cursor)
    } else {
        scan_end(tx, filter).await?
    };
    Ok(ConversationPage { rows, next })
}

/// Where the scan has stopped, if it stopped before the end of the logs.
async fn scan_end(tx: &mut PgConnection, filter: &ConversationFilter) -> Result<Option<Cursor>, DbError> {
    let query = "select l.ts, l.id from shopbot.bot_logs l
                  where l.workspace_id = platform.workspace_id()
                    and ($1::text is null or l.provider = $1) and ($2::text is null or l.chat_id = $2)
                    and ($6::uuid is null or coalesce(l.bot_id, shopbot.first_bot(l.workspace_id, l.provider)) = $6)
                    and ($3::bigint is null or (l.ts, l.id) < (platform.at_micros($3), $4))
                  order by l.ts desc, l.id desc offset $5 - 1 limit 1";
    let last: Option<(Time, i64)> = sqlx::query_as(query)
        .bind(&filter.provider)
        .bind(&filter.chat_id)
        .bind(filter.before.map(|before| before.micros))
        .bind(filter.before.map(|before| before.id))
        .bind(SCAN_MAX)
        .bind(filter.bot_id)
        .fetch_optional(tx)
        .await?;
    Ok(last.map(|(ts, id)| Cursor { micros: ts.to_jiff().as_microsecond(), id }))
}

/// One conversation; without a bot, the last one of the chat in this messenger.
pub async fn conversation(
    tx: &mut PgConnection,
    provider: &str,
    chat_id: &str,
    bot_id: Option<Uuid>,
) -> Result<Option<ConversationRead>, DbError> {
    let filter = ConversationFilter {
        bot_id,
        provider: Some(provider.to_owned()),
        chat_id: Some(chat_id.to_owned()),
        limit: 1,
        ..ConversationFilter::default()
    };
    Ok(conversations(tx, &filter).await?.rows.pop())
}

/// The states that rules are or were for, by name, at most 200.
pub async fn states(tx: &mut PgConnection) -> Result<Vec<String>, DbError> {
    let query = "select distinct r.state from shopbot.bot_rules r
                  where r.workspace_id = platform.workspace_id() and r.state is not null order by r.state limit 200";
    Ok(sqlx::query_scalar(query).fetch_all(tx).await?)
}
