//! Brings a database up to date: migrations once and for good, functions whenever their text changed.
//!
//! Everything happens in one transaction under one lock, so that many processes may start at once and a
//! failure leaves nothing half done.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use crate::DbError;

/// The SQL that a crate owns.
#[derive(Clone, Copy, Debug)]
pub struct SqlModule {
    pub name: &'static str,
    pub schemas: &'static [&'static str],
    /// Functions that the tables below need; they may not refer to a table.
    pub prelude: &'static [File],
    /// Tables, in order. Never changed once released.
    pub migrations: &'static [File],
    /// One function per file, in today's wording.
    pub functions: &'static [File],
}

#[derive(Clone, Copy, Debug)]
pub struct File {
    pub name: &'static str,
    pub text: &'static str,
}

/// Includes SQL files by name from a directory beside the crate's `src`.
#[macro_export]
macro_rules! sql_files {
    ($dir:literal: $($name:literal)*) => {
        &[$($crate::install::File {
            name: $name,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/sql/", $dir, "/", $name, ".sql")),
        }),*]
    };
}

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("{0}")]
    Unsuitable(String),
    #[error(
        "migration {migration} of {module} was changed after it had been applied; put its text back and add a new migration instead"
    )]
    Changed { module: String, migration: String },
    #[error("{file} of {module} failed")]
    Failed {
        module: &'static str,
        file: &'static str,
        #[source]
        source: sqlx::Error,
    },
    #[error(transparent)]
    Db(#[from] DbError),
}

impl InstallError {
    fn is_deadlock(&self) -> bool {
        let (Self::Failed { source, .. } | Self::Db(DbError::Unavailable(source))) = self else { return false };
        source.as_database_error().is_some_and(|error| error.code().as_deref() == Some("40P01"))
    }
}

impl From<sqlx::Error> for InstallError {
    fn from(error: sqlx::Error) -> Self {
        Self::Db(error.into())
    }
}

/// What an installation did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    pub migrations: Vec<String>,
    /// How many function files were applied anew.
    pub functions: usize,
    /// The database is ahead of this program, which then changes nothing.
    pub is_newer: bool,
}

const LOCK: &str = "select pg_advisory_xact_lock(hashtext('beresta.install'))";
const BOOKKEEPING: &str = "
    create schema if not exists platform;
    create table if not exists platform.migrations (
        module text not null, name text not null, sha256 text not null,
        applied_at timestamptz not null default now(), primary key (module, name));
    create table if not exists platform.functions (
        module text primary key, sha256 text not null, applied_at timestamptz not null default now());";

/// How often a deadlock with those who work meanwhile is answered with another try.
const DEADLOCKS_MAX: u32 = 5;

/// Installs the modules in the order given. The connection is the owner's, not one of the pool's.
pub async fn install(connection: &mut PgConnection, modules: &[SqlModule]) -> Result<Installed, InstallError> {
    check_server(connection).await?;
    let mut deadlocks = 0;
    let installed = loop {
        match install_all(connection, modules).await {
            // Processes of the version before work on, and lock the same tables in the order of their work.
            Err(error) if error.is_deadlock() && deadlocks < DEADLOCKS_MAX => deadlocks += 1,
            result => break result?,
        }
    };
    if installed.functions > 0 {
        // Outside: a long reader must not keep us from starting. The default partitions take rows until the next try.
        if let Err(error) = upkeep(connection).await {
            tracing::warn!(%error, "install.upkeep");
        }
    }
    Ok(installed)
}

/// In turn with other installations, which touch the same tables; whoever takes longer than we wait does it too.
async fn upkeep(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let mut tx = connection.begin().await?;
    tx.execute("set local lock_timeout = '10s'").await?;
    tx.execute(LOCK).await?;
    tx.execute("select platform.upkeep_journals()").await?;
    tx.commit().await
}

async fn install_all(connection: &mut PgConnection, modules: &[SqlModule]) -> Result<Installed, InstallError> {
    if is_up_to_date(connection, modules).await {
        connection.execute("select bus.mend()").await?;
        return Ok(Installed::default());
    }
    let mut tx = connection.begin().await?;
    tx.execute("set local client_min_messages = warning; set local check_function_bodies = off").await?;
    tx.execute(LOCK).await?;
    tx.execute(BOOKKEEPING).await?;
    // Somebody may have done it while we waited.
    if is_up_to_date(&mut tx, modules).await {
        tx.execute("select bus.mend()").await?;
        tx.commit().await?;
        return Ok(Installed::default());
    }
    tx.execute("create extension if not exists vector").await.map_err(|error| match error.as_database_error() {
        Some(refused) if refused.code().as_deref() == Some("42501") => InstallError::Unsuitable(
            "this role may not create the extension `vector`; ask an administrator to run `create extension vector` in this database once".into(),
        ),
        _ => error.into(),
    })?;
    let mut installed = Installed { is_newer: is_newer(&mut tx, modules).await?, ..Installed::default() };
    if installed.is_newer {
        return Ok(installed);
    }
    for module in modules {
        install_module(&mut tx, module, &mut installed).await?;
    }
    let schemas: Vec<&str> = modules.iter().flat_map(|module| module.schemas.iter().copied()).collect();
    sqlx::query("select platform.grant_access($1)").bind(&schemas).execute(&mut *tx).await?;
    tx.execute("select bus.mend()").await?;
    tx.commit().await?;
    Ok(installed)
}

/// The hash that names one state of all the SQL: two programs with the same hash want the same database.
pub fn fingerprint(modules: &[SqlModule]) -> String {
    let mut all = String::new();
    for module in modules {
        for file in module.prelude.iter().chain(module.migrations).chain(module.functions) {
            let _ = writeln!(all, "{} {} {}", module.name, file.name, sha256(file.text));
        }
    }
    sha256(&all)
}

async fn check_server(connection: &mut PgConnection) -> Result<(), InstallError> {
    let query =
        "select current_setting('server_version_num')::int, exists (select from pg_available_extensions where name = 'vector')";
    let (version, has_vector) = sqlx::query_as(query).fetch_one(connection).await?;
    judge_server(version, has_vector)
}

fn judge_server(version: i32, has_vector: bool) -> Result<(), InstallError> {
    let major = version / 10_000;
    if major < 15 {
        return Err(InstallError::Unsuitable(format!("this PostgreSQL is version {major}; Beresta needs 15 or newer")));
    }
    if !has_vector {
        return Err(InstallError::Unsuitable(format!(
            "this PostgreSQL lacks the extension `vector` (pgvector); install it there \
             (on Debian the package is postgresql-{major}-pgvector) and try again"
        )));
    }
    Ok(())
}

/// A look without a lock, so that a process that starts beside a busy system disturbs nobody.
async fn is_up_to_date(connection: &mut PgConnection, modules: &[SqlModule]) -> bool {
    let mut found = 0;
    for module in modules {
        let row = sqlx::query_scalar::<_, String>("select sha256 from platform.functions where module = $1")
            .bind(module.name)
            .fetch_optional(&mut *connection)
            .await;
        let Ok(Some(sha)) = row else { return false };
        let applied = sqlx::query_scalar::<_, i64>("select count(*) from platform.migrations where module = $1")
            .bind(module.name)
            .fetch_one(&mut *connection)
            .await;
        found +=
            usize::from(sha == module_hash(module) && applied.is_ok_and(|n| usize::try_from(n) == Ok(module.migrations.len())));
    }
    found == modules.len()
}

/// Whether a newer program was here: then its functions stay, and this one works with what there is.
async fn is_newer(connection: &mut PgConnection, modules: &[SqlModule]) -> Result<bool, InstallError> {
    for module in modules {
        let names: Vec<&str> = module.migrations.iter().map(|file| file.name).collect();
        let unknown: i64 = sqlx::query_scalar("select count(*) from platform.migrations where module = $1 and name <> all ($2)")
            .bind(module.name)
            .bind(&names)
            .fetch_one(&mut *connection)
            .await?;
        if unknown > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn install_module(tx: &mut PgConnection, module: &SqlModule, installed: &mut Installed) -> Result<(), InstallError> {
    for schema in module.schemas {
        tx.execute(AssertSqlSafe(format!("create schema if not exists {schema}"))).await?;
    }
    apply(tx, module, module.prelude).await?;
    for file in module.migrations {
        let sha = sha256(file.text);
        let before = sqlx::query("select sha256 from platform.migrations where module = $1 and name = $2")
            .bind(module.name)
            .bind(file.name)
            .fetch_optional(&mut *tx)
            .await?;
        if let Some(row) = before {
            if row.get::<String, _>(0) != sha {
                return Err(InstallError::Changed { module: module.name.into(), migration: file.name.into() });
            }
            continue;
        }
        apply(tx, module, std::slice::from_ref(file)).await?;
        sqlx::query("insert into platform.migrations (module, name, sha256) values ($1, $2, $3)")
            .bind(module.name)
            .bind(file.name)
            .bind(sha)
            .execute(&mut *tx)
            .await?;
        installed.migrations.push(format!("{}/{}", module.name, file.name));
    }
    apply(tx, module, module.functions).await?;
    installed.functions += module.functions.len() + module.prelude.len();
    let save = "insert into platform.functions (module, sha256) values ($1, $2)
                on conflict (module) do update set sha256 = excluded.sha256, applied_at = now()";
    sqlx::query(save).bind(module.name).bind(module_hash(module)).execute(&mut *tx).await?;
    Ok(())
}

async fn apply(tx: &mut PgConnection, module: &SqlModule, files: &'static [File]) -> Result<(), InstallError> {
    for file in files {
        tx.execute(file.text).await.map_err(|source| InstallError::Failed { module: module.name, file: file.name, source })?;
    }
    Ok(())
}

fn module_hash(module: &SqlModule) -> String {
    fingerprint(std::slice::from_ref(module))
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_too_old_or_lacks_vector_is_refused_with_what_to_do() {
        assert!(judge_server(150_018, true).is_ok());
        assert!(judge_server(180_006, true).is_ok());
        let error = judge_server(140_012, true).unwrap_err().to_string();
        assert_eq!(error, "this PostgreSQL is version 14; Beresta needs 15 or newer");
        let error = judge_server(160_001, false).unwrap_err().to_string();
        assert!(error.contains("lacks the extension `vector`") && error.contains("postgresql-16-pgvector"), "{error}");
    }
}
