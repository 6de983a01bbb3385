//! What people and programs read about chats: the same for the API and the console. Inside a transaction of one workspace and by key.

use platform::{DbError, reads::Cursor};
use sqlx::{FromRow, PgConnection};

use crate::contract::ChatRead;

/// Active actions of a chat are counted up to this.
const PROCESSING_MAX: i64 = 100;

#[derive(FromRow)]
struct ChatRecord {
    chat_id: String,
    created_at: String,
    active_at: String,
    messages: i64,
    processing: i64,
    active_micros: i64,
    number: i64,
}

/// Chats by their last message, newest first, and where the next page begins.
pub async fn chats(
    tx: &mut PgConnection,
    before: Option<Cursor>,
    limit: i64,
) -> Result<(Vec<ChatRead>, Option<Cursor>), DbError> {
    let query = "select c.chat_id, platform.stamp(c.created_at) as created_at, platform.stamp(c.active_at) as active_at, c.last_seq as messages,
                        (select count(*) from (select from actions.actions a
                           where a.workspace_id = c.workspace_id and a.chat_id = c.chat_id and a.status = 'processing' limit $4) a) as processing,
                        (extract(epoch from c.active_at) * 1000000)::bigint as active_micros, c.number
                   from actions.chats c
                  where c.workspace_id = platform.workspace_id()
                    and ($1::bigint is null
                         or (c.active_at, c.number) < (platform.at_micros($1), $2))
                  order by c.active_at desc, c.number desc limit $3";
    let rows: Vec<ChatRecord> = sqlx::query_as(query)
        .bind(before.map(|before| before.micros))
        .bind(before.map(|before| before.id))
        .bind(limit)
        .bind(PROCESSING_MAX)
        .fetch_all(tx)
        .await?;
    let is_full = i64::try_from(rows.len()) == Ok(limit);
    let last = rows.last().map(|row| Cursor { micros: row.active_micros, id: row.number });
    let chats = rows.into_iter().map(|row| ChatRead {
        chat_id: row.chat_id,
        created_at: row.created_at,
        active_at: row.active_at,
        messages: row.messages,
        processing: row.processing,
    });
    Ok((chats.collect(), last.filter(|_| is_full)))
}
