//! What people and programs read about chats: the same for the API and the console. Inside a transaction of one workspace and by key.

use platform::{DbError, reads::Cursor};
use sqlx::{FromRow, PgConnection};

use crate::contract::ChatRead;

/// Active actions of a chat are counted up to this.
const PROCESSING_MAX: i64 = 100;

#[derive(FromRow)]
struct Row {
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
    let query = "select c.chat_id, actions.stamp(c.created_at) as created_at, actions.stamp(c.active_at) as active_at, c.last_seq as messages,
                        (select count(*) from (select from actions.actions a
                           where a.workspace_id = c.workspace_id and a.chat_id = c.chat_id and a.status = 'processing' limit $4) a) as processing,
                        (extract(epoch from c.active_at) * 1000000)::bigint as active_micros, c.number
                   from actions.chats c
                  where c.workspace_id = platform.workspace_id()
                    and ($1::bigint is null
                         or (c.active_at, c.number) < (to_timestamp($1 / 1000000) + $1 % 1000000 * interval '1 microsecond', $2))
                  order by c.active_at desc, c.number desc limit $3";
    let rows: Vec<Row> = sqlx::query_as(query)
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

/// Changes when a chat begins, somebody says something, or an action begins, has another text or ends.
pub async fn pulse(tx: &mut PgConnection) -> Result<String, DbError> {
    let query = "select concat_ws(' ',
                        (select md5(string_agg(concat_ws(' ', c.number, c.last_seq), ' ' order by c.active_at desc, c.number desc))
                           from (select c.number, c.last_seq, c.active_at from actions.chats c
                                  where c.workspace_id = platform.workspace_id() order by c.active_at desc, c.number desc limit 100) c),
                        (select count(*) || ' ' || coalesce(sum(hashtext(concat_ws(' ', a.action_id, a.display_text))::bigint), 0)
                           from (select a.action_id, a.display_text from actions.actions a
                                  where a.workspace_id = platform.workspace_id() and a.status = 'processing' limit 1000) a))";
    Ok(sqlx::query_scalar(query).fetch_one(tx).await?)
}
