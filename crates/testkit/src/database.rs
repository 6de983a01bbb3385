//! A database per test: a copy of a template that has everything installed.

use std::{collections::BTreeSet, future::Future, sync::Mutex, time::Duration};

use jiff::Timestamp;
use kernel::{Clock, WorkspaceId};
use platform::{Db, Settings, SqlModule, install};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::server;

/// Frozen tests start here.
const START: &str = "2026-03-02T09:00:00Z";

/// A fresh database, dropped with this value.
pub struct TestDb {
    pub db: Db,
    pub clock: Clock,
    pub url: String,
    name: String,
}

impl TestDb {
    /// Everything that the platform installs, on the system's clock.
    pub async fn new() -> Self {
        Self::with(&[platform::SQL], Clock::system()).await
    }

    /// The same, with a clock that moves only when told to.
    pub async fn frozen() -> Self {
        Self::frozen_with(&[platform::SQL]).await
    }

    pub async fn frozen_with(modules: &[SqlModule]) -> Self {
        Self::with(modules, Clock::frozen(START.parse::<Timestamp>().expect("a time"))).await
    }

    pub async fn with(modules: &[SqlModule], clock: Clock) -> Self {
        let template = template(modules).await;
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        admin(&format!("create database {name} template {template} strategy file_copy")).await;
        Self::open(name, clock)
    }

    /// A database with nothing in it.
    pub async fn empty() -> Self {
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        admin(&format!("create database {name}")).await;
        Self::open(name, Clock::system())
    }

    fn open(name: String, clock: Clock) -> Self {
        let url = server().url(&name);
        let db = Db::connect(&settings(&url), clock.clone()).expect("a usable URL");
        Self { db, clock, url, name }
    }

    /// A connection of the owner, whom row security does not hold back.
    pub async fn owner(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the test database answers")
    }

    /// A pool of its own on the same database, as another process would have.
    pub fn another(&self) -> Db {
        Db::connect(&settings(&self.url), self.clock.clone()).expect("a usable URL")
    }

    pub async fn workspace(&self, name: &str) -> WorkspaceId {
        platform::workspaces::create(self.db.pool(), name).await.expect("a workspace is made")
    }

    /// Waits until so many wait in this database for a table, a row or a turn that somebody else has. A NOTIFY may wait too, for those of other
    /// tests: that is none of these.
    pub async fn until_waiting(&self, count: i64) {
        let query = "select count(*) from pg_stat_activity where datname = current_database()
                        and wait_event in ('relation', 'tuple', 'transactionid', 'advisory')";
        let mut owner = self.owner().await;
        let waiting = async {
            while sqlx::query_scalar::<_, i64>(query).fetch_one(&mut owner).await.expect("the activity is read") < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), waiting).await.expect("somebody waits");
    }

    /// Waits until what was published is behind every transaction that runs on the server, those of other tests too: from then on it is
    /// the past for everyone. A position that is taken earlier is from before it, and whoever subscribes from there hears it again.
    pub async fn settled(&self) {
        let query = "select coalesce((select m.xid from bus.messages m order by m.xid desc, m.id desc limit 1)
                              < pg_snapshot_xmin(pg_current_snapshot()), true)";
        while !sqlx::query_scalar::<_, bool>(query).fetch_one(self.db.pool()).await.expect("the bus is read") {
            tokio::task::yield_now().await;
        }
    }
}

/// Few connections, so that a crowd has to wait for them; and patience, so that a busy machine is not taken for a database that is away.
pub fn settings(url: &str) -> Settings {
    Settings { connections_max: 8, acquire_timeout: Duration::from_mins(1), ..Settings::new(url) }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        let statement = format!("drop database if exists {} with (force)", self.name);
        block_on(async move { admin(&statement).await });
    }
}

/// Runs a statement on the cluster as its owner.
pub async fn admin(statement: &str) {
    let mut connection = PgConnection::connect(&server().url("postgres")).await.expect("the test cluster answers");
    connection.execute(AssertSqlSafe(statement.to_owned())).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
}

/// The template of these modules, made by whichever test process comes first.
async fn template(modules: &[SqlModule]) -> String {
    static MADE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let name = format!("template_{}", &install::fingerprint(modules)[..16]);
    let is_made = MADE.lock().expect("nothing panics with this lock").contains(&name);
    if !is_made {
        make_template(modules, &name).await;
        MADE.lock().expect("nothing panics with this lock").insert(name.clone());
    }
    name
}

async fn make_template(modules: &[SqlModule], name: &str) {
    let mut connection = PgConnection::connect(&server().url("postgres")).await.expect("the test cluster answers");
    connection.execute("select pg_advisory_lock(hashtext('testkit.template'))").await.expect("the lock is taken");
    let is_ready: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1 and datistemplate)")
        .bind(name)
        .fetch_one(&mut connection)
        .await
        .expect("the catalog answers");
    if !is_ready {
        // Its locks and its new statistics would come whenever they come, to databases that live for seconds.
        for statement in ["alter system set autovacuum = off", "select pg_reload_conf()"] {
            connection.execute(statement).await.expect("the owner may configure the cluster");
        }
        let mut run = async |statement: String| {
            connection.execute(AssertSqlSafe(statement.clone())).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        };
        run(format!("drop database if exists {name} with (force)")).await;
        run(format!("create database {name}")).await;
        let mut owner = PgConnection::connect(&server().url(name)).await.expect("the template answers");
        if let Err(error) = platform::install(&mut owner, modules).await {
            panic!("the SQL does not install: {error}: {:?}", std::error::Error::source(&error).map(ToString::to_string));
        }
        owner.close().await.expect("the template is closed");
        run(format!("alter database {name} is_template true")).await;
    }
}

fn block_on(work: impl Future<Output = ()> + Send + 'static) {
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(work);
    });
    let _ = thread.join();
}

/// A module as it was before this migration, for tests of an installation that is brought up to date.
pub fn before(module: SqlModule, migration: &str) -> SqlModule {
    let count = module.migrations.iter().position(|file| file.name == migration).expect("there is such a migration");
    SqlModule { migrations: &module.migrations[..count], ..module }
}
