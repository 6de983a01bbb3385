//! What is in the database before the clock starts: workspaces with their channels, and finished deliveries of the past.

use std::time::Instant;

use anyhow::{Context, Result};
use kernel::Secret;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use tokio::task::JoinSet;

/// A workspace, its push endpoint (whose secret is its name), its credentials and its channels.
/// `order` has `name`, `telegram` and `max` (how many channels), `rate` (a second for each; null is no limit) and `dead`
/// (whether there is one more channel that answers after 20 s).
pub(crate) async fn workspace(db: &mut PgConnection, order: &Value) -> Result<()> {
    let name = order["name"].as_str().context("`name`")?;
    let id: String = sqlx::query_scalar("select core.create_workspace($1)::text").bind(name).fetch_one(&mut *db).await?;
    sqlx::query("insert into core.workspace_endpoints (workspace_id, kind, secret_hash, ingress_rps) values ($1::uuid, 'webhook_push', $2, 1000000)")
        .bind(&id)
        .bind(Secret::new(name).sha256_hex())
        .execute(&mut *db)
        .await?;
    let query = "insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)
                 values ($1::uuid, 'bench', 'telegram', 'env:BENCH_TELEGRAM_TOKEN'), ($1::uuid, 'bench', 'max', 'env:BENCH_MAX_TOKEN')";
    sqlx::query(query).bind(&id).execute(&mut *db).await?;
    let query = "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, rate_rps, max_parallel)
                 select $1::uuid, 'tg-' || n, 'telegram', (-1001000000000 - n)::text, 'bench', 'bench', $4, 50 from generate_series(1, $2) n
                 union all
                 select $1::uuid, 'max-' || n, 'max', (-70000000000000 - n)::text, 'bench', 'bench', $4, 50 from generate_series(1, $3) n
                 union all
                 select $1::uuid, 'dead', 'telegram', '-1009999999999', 'bench', 'bench', $4, 50 where $5";
    let whole = |key: &str| order[key].as_i64().unwrap_or(0);
    sqlx::query(query)
        .bind(&id)
        .bind(whole("telegram"))
        .bind(whole("max"))
        .bind(order["rate"].as_f64())
        .bind(order["dead"] == true)
        .execute(&mut *db)
        .await?;
    db.execute("vacuum analyze posting.channels").await?;
    Ok(())
}

/// Deliveries that were sent during the last hours, with their messages and their events, as the functions would have left them.
pub(crate) async fn fill(db: &mut PgConnection, workspace: &str, rows: u64) -> Result<()> {
    let statements = [
        // No triggers and no foreign keys: what they would check is so by construction.
        "set session_replication_role = replica".to_owned(),
        format!(
            "create temporary table past as
             select w.workspace_id, platform.new_id() as message_id, md5('past ' || n) as content_hash,
                    now() - (30 + n % 7200) * interval '1 second' as at, n
               from core.workspaces w, generate_series(1, ({rows} / 40)::int) n where w.name = '{workspace}'"
        ),
        "insert into posting.messages (workspace_id, message_id, content_hash, payload, created_at, last_seen_at)
         select workspace_id, message_id, content_hash, jsonb_build_object('text', 'past post ' || n || repeat(' text', 40)), at, at from past order by at"
            .to_owned(),
        "create temporary table past_deliveries as
         select p.workspace_id, gen_random_uuid() as delivery_id, p.message_id, p.content_hash, c.channel_id, p.at, p.n
           from past p join posting.channels c on c.workspace_id = p.workspace_id"
            .to_owned(),
        "insert into posting.deliveries (workspace_id, delivery_id, message_id, content_hash, channel_id, created_at, rendered_text, render_meta,
                                         template_version, trace_id, status, attempt, not_before, provider_message_id, sent_at, updated_at)
         select workspace_id, delivery_id, message_id, content_hash, channel_id, at, 'past post ' || n || repeat(' text', 40), '{\"parse_mode\": \"None\"}',
                '1', md5(message_id::text), 'sent', 1, at, n::text, at + interval '1 second', at + interval '1 second'
           from past_deliveries order by at"
            .to_owned(),
        "insert into posting.events (workspace_id, delivery_id, message_id, channel_id, ts, action, attempt, result, meta)
         select d.workspace_id, d.delivery_id, d.message_id, d.channel_id, d.at + e.after, e.action, e.attempt, 'ok',
                jsonb_build_object('trace_id', md5(d.message_id::text))
           from past_deliveries d,
                (values ('enqueue', interval '0', 0), ('send_attempt', interval '0.5 second', 1), ('sent', interval '1 second', 1)) e (action, after, attempt)
          order by d.at + e.after"
            .to_owned(),
        "drop table past, past_deliveries".to_owned(),
        "reset session_replication_role".to_owned(),
        "vacuum analyze posting.messages".to_owned(),
        "vacuum analyze posting.deliveries".to_owned(),
        "vacuum analyze posting.events".to_owned(),
        "checkpoint".to_owned(),
    ];
    for statement in statements {
        db.execute(AssertSqlSafe(statement.clone())).await.with_context(|| statement)?;
    }
    Ok(())
}

/// How many rows there are, and how many bytes.
pub(crate) async fn sizes(db: &mut PgConnection) -> Result<Value> {
    let query = "select (select count(*) from posting.deliveries), (select count(*) from posting.events),
                        (select pg_total_relation_size('posting.deliveries')),
                        (select sum(pg_total_relation_size(inhrelid))::bigint from pg_inherits where inhparent = 'posting.events'::regclass)";
    let row = db.fetch_one(query).await?;
    Ok(json!({
        "deliveries": row.get::<i64, _>(0), "events": row.get::<i64, _>(1),
        "deliveries_bytes": row.get::<i64, _>(2), "events_bytes": row.get::<i64, _>(3),
    }))
}

/// Does what pgbench would: so many clients, each running the script so many times with a number of its own for `:batch`.
pub(crate) async fn batches(url: &str, sql: &str, clients: u64, each: u64) -> Result<Value> {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let (mut db, sql) = (PgConnection::connect(url).await?, sql.to_owned());
        tasks.spawn(async move {
            for batch in 0..each {
                db.execute(AssertSqlSafe(sql.replace(":batch", &(1_000_000_000 + client * each + batch).to_string()))).await?;
            }
            Ok::<_, anyhow::Error>(())
        });
    }
    while let Some(result) = tasks.join_next().await {
        result??;
    }
    Ok(json!({"seconds": started.elapsed().as_secs_f64()}))
}
