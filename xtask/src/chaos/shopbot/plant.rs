//! Faults planted into the shop bot's database, to see that the checker finds them.

use anyhow::{Context, Result};
use clap::ValueEnum;
use sqlx::{Executor, PgPool};

use crate::chaos::plant::rewrite;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerPlant {
    /// The receipt of a message stops no copy of it: each has an arrival of its own, and an answer
    NoInbox,
    /// Any answer that is due may be sent, not only the oldest unfinished one of its chat
    NoOrder,
}

pub(super) async fn install(db: &PgPool, plant: AnswerPlant) -> Result<()> {
    match plant {
        // Without the two keys nothing ever conflicts; the functions are as they were.
        AnswerPlant::NoInbox => {
            let sql = "alter table shopbot.bot_inbox drop constraint bot_inbox_pkey;
                       alter table shopbot.bot_outbox drop constraint one_answer_to_each_message;";
            db.execute(sql).await.context("the plant in shopbot.bot_inbox")?;
            Ok(())
        }
        AnswerPlant::NoOrder => {
            rewrite(db, "shopbot.claim_answers", "select distinct on (o.chat_id) o.ctid", "select o.ctid").await
        }
    }
}
