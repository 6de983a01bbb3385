//! Chats as the console lists them: with what the bots are doing there right now. Inside a transaction of one workspace, newest first and
//! by key, and no count goes on for ever.

use platform::{
    DbError,
    reads::{Cursor, Time},
};
use sqlx::{FromRow, PgConnection, types::Json};

use crate::contract::BotAction;

/// Active actions of one chat are counted up to this: more than this is "more than this".
pub const PROCESSING_MAX: i64 = 100;
/// How many active actions a row of the list tells about.
pub const DOINGS_MAX: i64 = 3;
/// How many active actions are looked at to find the chats that they are in.
const LOOKED_AT_MAX: i64 = 10_000;

/// A chat at a glance.
#[derive(Clone, Debug, FromRow)]
pub struct ChatAtAGlance {
    pub chat_id: String,
    /// Tells chats apart that were active at the same time.
    pub number: i64,
    /// When the last message came, or the chat began.
    pub active_at: Time,
    /// The number of the last message.
    pub messages: i64,
    /// How many actions are active; counting stops after [`PROCESSING_MAX`].
    pub processing: i64,
    /// Those of them that changed last.
    pub doings: Json<Vec<BotAction>>,
}

impl ChatAtAGlance {
    /// Its place in the order of the list.
    pub fn cursor(&self) -> Cursor {
        Cursor { micros: self.active_at.to_jiff().as_microsecond(), id: self.number }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ChatFilter {
    /// Only chats in which a bot is at work.
    pub is_at_work: bool,
    /// Only chats that were last active before this: the last one of the page before.
    pub before: Option<Cursor>,
    pub limit: i64,
}

/// Chats by their last message, newest first.
pub async fn chats(tx: &mut PgConnection, filter: &ChatFilter) -> Result<Vec<ChatAtAGlance>, DbError> {
    // Two halves of which one is empty: few chats are at work, and no plan is good for both questions.
    let query = "with page as (
                     (select c.* from actions.chats c
                       where not $4 and c.workspace_id = platform.workspace_id()
                         and ($1::bigint is null
                              or (c.active_at, c.number) < (platform.at_micros($1), $2))
                       order by c.active_at desc, c.number desc limit $3)
                     union all
                     (select c.* from (select distinct a.workspace_id, a.chat_id
                                         from (select a.workspace_id, a.chat_id from actions.actions a
                                                where a.workspace_id = platform.workspace_id() and a.status = 'processing' limit $5) a) a
                        join actions.chats c using (workspace_id, chat_id)
                       where $4
                         and ($1::bigint is null
                              or (c.active_at, c.number) < (platform.at_micros($1), $2))
                       order by c.active_at desc, c.number desc limit $3)
                 )
                 select c.chat_id, c.number, c.active_at, c.last_seq as messages, p.n as processing, d.doings
                   from page c
                  cross join lateral (select count(*) as n from (
                            select from actions.actions a where a.workspace_id = c.workspace_id and a.chat_id = c.chat_id
                               and a.status = 'processing' limit $6 + 1) a) p
                  cross join lateral (
                            select coalesce(jsonb_agg(actions.bot_action(a) order by a.updated_at desc, a.action_id), '[]') as doings
                              from (select a.* from actions.actions a where a.workspace_id = c.workspace_id and a.chat_id = c.chat_id
                                       and a.status = 'processing' order by a.updated_at desc, a.action_id limit $7) a) d
                  order by c.active_at desc, c.number desc";
    let rows = sqlx::query_as(query)
        .bind(filter.before.map(|before| before.micros))
        .bind(filter.before.map(|before| before.id))
        .bind(filter.limit)
        .bind(filter.is_at_work)
        .bind(LOOKED_AT_MAX)
        .bind(PROCESSING_MAX)
        .bind(DOINGS_MAX)
        .fetch_all(tx)
        .await?;
    Ok(rows)
}
