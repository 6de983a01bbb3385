//! Brings up the database of this process: its own, or the one that `DATABASE_URL` names.

use std::time::Duration;

use anyhow::{Context, Result};
use kernel::{Clock, Secret};
use platform::{
    Db, Settings,
    embedded::{Embedded, Use},
    install::{Installed, install},
};
use sqlx::{Connection, Executor, PgConnection};

use crate::{config::Config, modules};

/// The name of our database on the embedded server.
pub(crate) const NAME: &str = "beresta";
/// An external database may be starting at the same moment as we are.
const WAIT_MAX: Duration = Duration::from_secs(30);

pub(crate) struct Database {
    pub(crate) db: Db,
    /// Where it is: for a second pool with a clock of its own.
    pub(crate) url: Secret,
    /// Present while the server is ours; keeps it running.
    pub(crate) embedded: Option<Embedded>,
    pub(crate) place: String,
    pub(crate) installed: Installed,
}

impl Database {
    /// Starts or finds the database and brings it up to date.
    pub(crate) async fn open(config: &Config, mode: Use, progress: fn(&str)) -> Result<Self> {
        let (url, embedded, place) = if let Some(url) = &config.database_url {
            (url.clone(), None, "external, by DATABASE_URL".to_owned())
        } else {
            let mut embedded = platform::embedded::ClusterConfig::new(&config.data_dir, mode);
            embedded.progress = progress;
            let server = Embedded::start(embedded).await?;
            make_database(&server).await?;
            (Secret::new(server.url(NAME)), Some(server), "embedded, in the data directory".to_owned())
        };
        let mut owner = connect(&url, progress).await?;
        let installed = install(&mut owner, &modules::sql()).await.context("the database cannot be brought up to date")?;
        owner.close().await.ok();
        let settings = Settings {
            connections_max: config.database_connections_max,
            statement_timeout: config.statement_timeout,
            ..Settings::new(url.expose())
        };
        let db = Db::connect(&settings, Clock::system())?;
        Ok(Self { db, url, embedded, place, installed })
    }
}

async fn make_database(server: &Embedded) -> Result<()> {
    let mut connection =
        PgConnection::connect(&server.url("postgres")).await.context("the embedded PostgreSQL does not answer")?;
    let exists: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
        .bind(NAME)
        .fetch_one(&mut connection)
        .await?;
    if exists {
        return Ok(());
    }
    match connection.execute("create database beresta").await {
        // Another process made it in between.
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42P04") => Ok(()),
        result => result.map(|_| ()).context("the database cannot be made"),
    }
}

/// Connects as the owner, waiting a while for a database that is still on its way up.
async fn connect(url: &Secret, progress: fn(&str)) -> Result<PgConnection> {
    let deadline = tokio::time::Instant::now() + WAIT_MAX;
    let mut has_told = false;
    loop {
        let error = match PgConnection::connect(url.expose()).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let may_come = platform::DbError::from(error);
        if !may_come.is_retryable() || tokio::time::Instant::now() > deadline {
            return Err(may_come)
                .context("the database cannot be reached; check DATABASE_URL, or leave it out to use the embedded PostgreSQL");
        }
        if !has_told {
            progress("waiting for the database …");
            has_told = true;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
