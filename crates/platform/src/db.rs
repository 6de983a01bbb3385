//! The only door to the database: every transaction names the workspace it works for, or says that it is the system.

use std::{str::FromStr, time::Duration};

use kernel::{Clock, Secret, WorkspaceId};
use sqlx::{
    PgPool, Postgres, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::{DbError, wake::Wake};

/// How to reach the database and how long to wait for it.
#[derive(Clone, Debug)]
pub struct Settings {
    pub url: Secret,
    pub connections_max: u32,
    pub acquire_timeout: Duration,
    pub statement_timeout: Duration,
}

impl Settings {
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: Secret::new(url),
            connections_max: 20,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Db {
    pool: PgPool,
    clock: Clock,
    wake: Wake,
}

impl Db {
    /// A lazy pool: the database may be away now and come later. Sessions start in the system role, which is
    /// not the owner and not a superuser; a transaction for a workspace steps down to the ordinary role.
    pub fn connect(settings: &Settings, clock: Clock) -> Result<Self, DbError> {
        let timeout = |name: &'static str, value: Duration| (name, value.as_millis().to_string());
        let options = PgConnectOptions::from_str(settings.url.expose())?
            .application_name("beresta")
            .options([("role", "beresta_system")])
            .options([
                timeout("statement_timeout", settings.statement_timeout),
                timeout("lock_timeout", settings.statement_timeout / 2),
                timeout("idle_in_transaction_session_timeout", settings.statement_timeout),
                // A connection that went half-open dies in seconds, not hours.
                timeout("tcp_user_timeout", Duration::from_secs(20)),
            ]);
        let mut pool = PgPoolOptions::new()
            .max_connections(settings.connections_max)
            .acquire_timeout(settings.acquire_timeout)
            .max_lifetime(Duration::from_mins(30));
        if clock.frozen_at().is_some() {
            let lent = clock.clone();
            let fresh = clock.clone();
            pool = pool.before_acquire(move |connection, _| Box::pin(set_frozen_now(connection, lent.clone()))).after_connect(
                move |connection, _| {
                    let clock = fresh.clone();
                    Box::pin(async move { set_frozen_now(connection, clock).await.map(|_| ()) })
                },
            );
        }
        let pool = pool.connect_lazy_with(options);
        Ok(Self { wake: Wake::new(pool.clone()), pool, clock })
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub fn wake(&self) -> &Wake {
        &self.wake
    }

    /// A transaction that sees and changes this workspace only, whatever its queries say.
    pub async fn begin(&self, workspace: WorkspaceId) -> Result<Transaction<'static, Postgres>, DbError> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("select set_config('role', 'beresta_app', true), set_config('platform.workspace_id', $1, true)")
            .bind(workspace.to_string())
            .execute(&mut *tx)
            .await?;
        Ok(tx)
    }

    /// A transaction of the system: claims, monitors, retention. Never on behalf of a request for one workspace.
    pub async fn begin_system(&self) -> Result<Transaction<'static, Postgres>, DbError> {
        Ok(self.pool.begin().await?)
    }

    /// Whether the database answers, and how fast.
    pub async fn ping(&self) -> Result<Duration, DbError> {
        let started = std::time::Instant::now();
        sqlx::query("select 1").execute(&self.pool).await?;
        Ok(started.elapsed())
    }
}

/// After this long the lease of whatever is to be recorded is long over, and what a sweeper decided stands.
const KEEP_TRYING_FOR: Duration = Duration::from_mins(10);

/// Calls again and again while the database is away, for what must not be forgotten: the result of something that was done
/// outside. Nothing when the database refused, or was away for too long.
pub async fn insist<T, F: Future<Output = Result<T, DbError>>>(what: &str, call: impl Fn() -> F) -> Option<T> {
    let started = std::time::Instant::now();
    let mut pause = Duration::from_millis(50);
    loop {
        match call().await {
            Ok(value) => return Some(value),
            Err(error) if error.is_retryable() && started.elapsed() < KEEP_TRYING_FOR => {
                tracing::warn!(%error, what, "db.insist");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(2));
            }
            Err(error) => {
                tracing::error!(%error, what, "db.insist");
                return None;
            }
        }
    }
}

/// Gives up on an answer that a broken network swallowed: the server's own timeouts do not reach us then.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    match tokio::time::timeout(limit, work).await {
        Ok(result) => result,
        Err(_elapsed) => Err(DbError::Unavailable(sqlx::Error::PoolTimedOut)),
    }
}

async fn set_frozen_now(connection: &mut sqlx::PgConnection, clock: Clock) -> Result<bool, sqlx::Error> {
    let now = clock.now().to_string();
    sqlx::query("select set_config('platform.now', $1, false)").bind(now).execute(connection).await?;
    Ok(true)
}
