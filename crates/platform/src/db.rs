//! The connections to the database. A transaction of a workspace ([`Db::begin`]) sees that workspace only, whatever its queries say; one of the system and
//! a statement on the pool itself see all of them, and are for work that is no request of one workspace.

use std::{str::FromStr, sync::Arc, time::Duration};

use kernel::{Clock, Secret, WorkspaceId};
use sqlx::{
    Connection, PgConnection, PgPool, Postgres, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use tokio::sync::Semaphore;

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
    door: Arc<Semaphore>,
    acquire_timeout: Duration,
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
        let (lent, fresh) = (clock.clone(), clock.clone());
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections_max)
            .acquire_timeout(settings.acquire_timeout)
            .max_lifetime(Duration::from_mins(30))
            // A connection is tried when it comes back. To try it before each use as well would cost a request two more
            // round trips, one for its token and one for its work.
            .test_before_acquire(false)
            .before_acquire(move |connection, meta| Box::pin(is_good(connection, meta.idle_for, lent.clone())))
            .after_connect(move |connection, _| Box::pin(set_frozen_now(connection, fresh.clone())));
        let pool = pool.connect_lazy_with(options);
        // One connection listens for wake-ups, and a quarter of the others is for those who are inside already.
        let passes = settings.connections_max.saturating_sub(1) * 3 / 4;
        let door = Arc::new(Semaphore::new(usize::try_from(passes).unwrap_or(1).max(1)));
        Ok(Self { wake: Wake::new(pool.clone()), pool, clock, door, acquire_timeout: settings.acquire_timeout })
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

    /// For those who come from outside and have nothing yet: who they are is asked in here. Connections are lent in the order of asking, and a
    /// crowd would otherwise stand before whoever has a turn, a lease or a result to record, and needs one more connection to be done.
    ///
    /// On a task of its own: whoever gives up waiting leaves the work to come to its end, with its pass, and not in the way of those inside.
    pub async fn at_the_door<T, F>(&self, work: F) -> Result<T, DbError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, DbError>> + Send + 'static,
    {
        let away = || DbError::Unavailable(sqlx::Error::PoolTimedOut);
        let pass = tokio::time::timeout(self.acquire_timeout, Arc::clone(&self.door).acquire_owned()).await;
        let Ok(Ok(pass)) = pass else { return Err(away()) };
        // As long for the connection, and as long for the answer.
        let limit = self.acquire_timeout * 2;
        let work = tokio::spawn(async move {
            let _pass = pass;
            within(limit, work).await
        });
        work.await.map_err(|_| away())?
    }

    /// A transaction that sees and changes this workspace only, whatever its queries say.
    pub async fn begin(&self, workspace: WorkspaceId) -> Result<Transaction<'static, Postgres>, DbError> {
        let mut tx = self.begin_system().await?;
        sqlx::query("select set_config('role', 'beresta_app', true), set_config('platform.workspace_id', $1, true)")
            .bind(workspace.to_string())
            .execute(&mut *tx)
            .await?;
        Ok(tx)
    }

    /// A transaction of the system: claims, monitors, retention. Never on behalf of a request for one workspace.
    pub async fn begin_system(&self) -> Result<Transaction<'static, Postgres>, DbError> {
        // On a task of its own, which comes to its end whoever gives up waiting. sqlx takes a transaction for begun only when the answer is there: a
        // connection that was given up before that would go back to the pool inside a transaction that nobody ends.
        let pool = self.pool.clone();
        let begun = tokio::spawn(async move { pool.begin().await }).await;
        begun.map_err(|_| DbError::Unavailable(sqlx::Error::WorkerCrashed))?.map_err(DbError::from)
    }

    /// Whether the database answers, and how fast.
    pub async fn ping(&self) -> Result<Duration, DbError> {
        let started = std::time::Instant::now();
        sqlx::query("select 1").execute(&self.pool).await?;
        Ok(started.elapsed())
    }
}

/// Longer than any statement of ours may take: what has not answered by then never will.
pub const ANSWER_MAX: Duration = Duration::from_mins(1);

/// Gives up on an answer that a broken network swallowed: the server's own timeouts do not reach us then.
pub async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    match tokio::time::timeout(limit, work).await {
        Ok(result) => result,
        Err(_elapsed) => Err(DbError::Unavailable(sqlx::Error::PoolTimedOut)),
    }
}

/// For this long a connection that came back is taken to be as it was.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

/// Whether a connection of the pool can be lent; sqlx closes it and takes another one if not.
async fn is_good(connection: &mut PgConnection, idle_for: Duration, clock: Clock) -> Result<bool, sqlx::Error> {
    if idle_for > TRUSTED_FOR {
        connection.ping().await?;
    }
    set_frozen_now(connection, clock).await.map(|()| true)
}

/// A clock that stands still stands still in the database too.
async fn set_frozen_now(connection: &mut PgConnection, clock: Clock) -> Result<(), sqlx::Error> {
    if clock.frozen_at().is_some() {
        let now = clock.now().to_string();
        sqlx::query("select set_config('platform.now', $1, false)").bind(now).execute(connection).await?;
    }
    Ok(())
}
