//! What is in the database before the clock starts, and what has to be there when it has stopped.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kernel::Secret;
use serde_json::Value;
use sqlx::{Connection, Executor, PgConnection, Row};

use crate::script::Chats;

const SEED: &str = include_str!("../../../../../db/seed.sql");

/// The demo shop with a webhook of this secret, and a bot that nothing slows down. Returns the bot and its rules, for whoever
/// wants to play the same shop.
pub(crate) async fn prepare(db: &mut PgConnection, secret: &str) -> Result<Value> {
    let mut tx = db.begin().await?;
    let settings = [
        ("seed.telegram_secret_hash", Secret::new(secret).sha256_hex()),
        ("seed.telegram_secret_ref", "env:BENCH_TELEGRAM_TOKEN".to_owned()),
    ];
    for (name, value) in settings {
        sqlx::query("select set_config($1, $2, true)").bind(name).bind(value).execute(&mut *tx).await?;
    }
    tx.execute(SEED).await.context("db/seed.sql")?;
    tx.execute("update shopbot.bots set rate_rps = null, chat_rps = null, turns_max = 1000000").await?;
    tx.commit().await?;
    db.execute("vacuum analyze shopbot.bots").await?;
    db.execute("vacuum analyze shopbot.bot_rules").await?;
    let query = "select jsonb_build_object(
                            'bot', (select to_jsonb(b) from shopbot.bots b where b.provider = 'telegram'),
                            'rules', (select jsonb_agg(to_jsonb(r) order by r.rule_id) from shopbot.bot_rules r where r.enabled))::text";
    let shop: String = sqlx::query_scalar(query).fetch_one(db).await?;
    Ok(serde_json::from_str(&shop)?)
}

/// Waits until our server has written down what became of every answer.
pub(crate) async fn settle(db: &mut PgConnection) -> Result<()> {
    let query = "select exists (select from shopbot.bot_outbox where phase = 'open')";
    while sqlx::query_scalar::<_, bool>(query).fetch_one(&mut *db).await? {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Ours: each message has its receipt, its answer, sent at the first attempt, and its line in the log; nothing was poison; no
/// customer was left in the middle of a return.
pub(crate) async fn check_ours(db: &mut PgConnection, chats: Chats) -> Result<()> {
    let query = "select count(*), count(distinct (i.chat_id, i.provider_message_id)),
                        count(*) filter (where o.status = 'sent' and o.attempt = 1 and o.provider_message_id is not null),
                        count(*) filter (where l.outcome = 'answered' and l.matched_rule_id is not null and l.meta->>'answer_id' = o.answer_id::text)
                   from shopbot.bot_inbox i
                   left join shopbot.bot_outbox o on o.workspace_id = i.workspace_id and o.bot_id = i.bot_id and o.chat_id = i.chat_id
                                                 and o.inbound_provider_message_id = i.provider_message_id
                   left join shopbot.bot_logs l on l.workspace_id = i.workspace_id and l.provider = i.provider and l.chat_id = i.chat_id
                                               and l.inbound_provider_message_id = i.provider_message_id
                  where i.provider = 'telegram' and i.chat_id::bigint between $1 and $2";
    let (first, last) = (chats.first, chats.id(chats.count) - 1);
    let row = sqlx::query(query).bind(first).bind(last).fetch_one(&mut *db).await?;
    let counts: [i64; 4] = std::array::from_fn(|column| row.get(column));
    let wanted = i64::try_from(chats.messages())?;
    ensure!(counts == [wanted; 4], "rows, messages, sent at once, logged: {counts:?} instead of {wanted} each");
    let query = "select (select count(*) from shopbot.bot_state where state = 'default' and chat_id::bigint between $1 and $2),
                        (select count(*) from shopbot.bot_poison)";
    let row = sqlx::query(query).bind(first).bind(last).fetch_one(db).await?;
    let found: [i64; 2] = std::array::from_fn(|column| row.get(column));
    ensure!(
        found == [i64::try_from(chats.count)?, 0],
        "finished conversations, poison: {found:?} instead of {} and none",
        chats.count
    );
    Ok(())
}

/// A peer's: every customer has a session, and it is where the conversation ends.
pub(crate) async fn check_peer(db: &mut PgConnection, chats: Chats) -> Result<()> {
    let query = "select count(*) from bot_sessions where value::jsonb->>'state' = 'default' and key::bigint between $1 and $2";
    let sessions: i64 = sqlx::query_scalar(query).bind(chats.first).bind(chats.id(chats.count) - 1).fetch_one(db).await?;
    ensure!(u64::try_from(sessions)? == chats.count, "{sessions} sessions of {} chats are at their end", chats.count);
    Ok(())
}
