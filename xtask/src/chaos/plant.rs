//! Faults planted into the database's functions, to see that the checker finds them. Each rewrites the text of the function
//! that is there, and says so when that text no longer has the words it looks for.

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use sqlx::{AssertSqlSafe, Executor, PgPool};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plant {
    /// Whoever reports the end of a send is believed, whether or not it still holds the lease
    NoFencing,
    /// One request in ten dies between the commit of its receipt and the work
    ReceiptFirst,
    /// Eight more at once than a channel's gate lets through, and slots ten milliseconds apart
    NoGates,
}

pub(super) async fn install(db: &PgPool, plant: Plant) -> Result<()> {
    match plant {
        Plant::NoFencing => {
            rewrite(db, "posting.mark_sent_many", "(g.token is null or d.claim_token = g.token)", "true").await?;
            let check = "delivery.status <> 'sending' or delivery.claim_token is distinct from p_claim_token";
            rewrite(db, "posting.hold_delivery", check, "delivery.status <> 'sending'").await?;
            rewrite(db, "posting.still_held", "and d.claim_token = p_claim_token", "").await
        }
        // What such a request leaves: its receipt, no message, and a sender that got no answer and tries again. An answer
        // that is not one makes the API fail after the commit.
        Plant::ReceiptFirst => {
            let after_receipt = "if first_copy.receipt_id is not null then";
            // By the number of the post and not by chance, so that a short run has some for certain.
            let dies = "if first_copy.receipt_id is null and source_ref like '%3' then return '{}'; end if;";
            rewrite(db, "posting.enqueue_messages_and_deliveries", after_receipt, &format!("{dies} {after_receipt}")).await
        }
        Plant::NoGates => {
            for function in ["posting.claim_deliveries", "posting.start_sending"] {
                rewrite(db, function, "c.max_parallel - coalesce(", "c.max_parallel + 8 - coalesce(").await?;
            }
            rewrite(db, "posting.claim_deliveries", "interval '1 second' / k.rate_rps::float8", "interval '10 milliseconds'")
                .await
        }
    }
}

/// A function is named with its schema.
pub(super) async fn rewrite(db: &PgPool, function: &str, from: &str, to: &str) -> Result<()> {
    let query = "select pg_get_functiondef(p.oid) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                  where n.nspname || '.' || p.proname = $1";
    let text: String = sqlx::query_scalar(query).bind(function).fetch_one(db).await.with_context(|| function.to_owned())?;
    ensure!(text.contains(from), "{function} has changed: it no longer says `{from}`, so this plant does not fit");
    db.execute(AssertSqlSafe(text.replace(from, to))).await.with_context(|| format!("the plant in {function}"))?;
    Ok(())
}
