//! The PostgreSQL that every contestant uses, with its durability on. Answers one JSON line to each line of input:
//! `new NAME` makes an empty database, `drop NAME` removes one, `sample` reads the counters of the server.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use platform::embedded::{ClusterConfig, Embedded, Use};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::main]
async fn main() -> Result<()> {
    let dir = std::env::args().nth(1).context("a data directory")?;
    let mut config = ClusterConfig::new(dir, Use::Share);
    config.linger = Duration::ZERO;
    let server = Embedded::start(config).await?;
    let mut admin = PgConnection::connect(&server.url("postgres")).await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let answer = match line.split_once(' ') {
            Some(("new", name)) => {
                admin.execute(AssertSqlSafe(format!("drop database if exists {name} with (force)"))).await?;
                admin.execute(AssertSqlSafe(format!("create database {name}"))).await?;
                // Every run starts from the same place: nothing left to write, and full pages logged anew.
                admin.execute("checkpoint").await?;
                json!({"url": server.url(name)})
            }
            Some(("drop", name)) => {
                admin.execute(AssertSqlSafe(format!("drop database if exists {name} with (force)"))).await?;
                json!({})
            }
            _ => sample(&mut admin, server.server_pid().context("a running server")?).await?,
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

async fn sample(admin: &mut PgConnection, pid: i32) -> Result<serde_json::Value> {
    // Statistics are handed in with a delay, unless asked for.
    let query =
        "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8, (select sum(xact_commit)::float8 from pg_stat_database),
                        current_setting('fsync'), current_setting('synchronous_commit')";
    let row = admin.fetch_one(query).await?;
    Ok(json!({
        "wal_bytes": row.get::<f64, _>(0), "commits": row.get::<f64, _>(1),
        "fsync": row.get::<String, _>(2), "synchronous_commit": row.get::<String, _>(3),
        "cpu_seconds": tree_cpu_seconds(pid), "programs": programs(pid),
    }))
}

/// The folder of the server's own programs: its pgbench is there.
fn programs(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()?.parent().map(Path::to_owned)
}

/// The CPU time of the server, of its children, and of those that have ended.
fn tree_cpu_seconds(pid: i32) -> f64 {
    let stats = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let mut ticks = 0_u64;
    for stat in stats {
        let Some((head, rest)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = rest.split(' ').collect();
        let number = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let own: i32 = head.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0);
        if own == pid {
            ticks += number(11) + number(12) + number(13) + number(14);
        } else if number(1) == u64::try_from(pid).unwrap_or(0) {
            ticks += number(11) + number(12);
        }
    }
    // The kernel counts in hundredths of a second.
    ticks as f64 / 100.0
}
