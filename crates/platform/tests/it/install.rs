//! Migrations and functions: once, whole, and safe when many processes start at once.

use platform::install::{File, InstallError, Installed, SqlModule, install};
use sqlx::{Connection, Executor, PgConnection, Row};
use testkit::TestDb;

const MODULE: SqlModule = SqlModule {
    name: "sample",
    schemas: &["sample"],
    prelude: &[],
    migrations: &[File { name: "0001_things", text: "create table sample.things (id int primary key)" }],
    functions: &[File {
        name: "answer",
        text: "create or replace function sample.answer() returns int language sql as 'select 41'",
    }],
};

async fn answer(db: &TestDb) -> i32 {
    db.owner().await.fetch_one("select sample.answer()").await.unwrap().get(0)
}

#[tokio::test]
async fn a_second_installation_changes_nothing() {
    let db = TestDb::empty().await;
    let first = install(&mut db.owner().await, &[platform::SQL, MODULE]).await.unwrap();
    assert_eq!(first.migrations.last().unwrap(), "sample/0001_things");
    let second = install(&mut db.owner().await, &[platform::SQL, MODULE]).await.unwrap();
    assert_eq!(second, Installed::default());
}

#[tokio::test]
async fn a_function_is_applied_again_when_its_text_changes() {
    let db = TestDb::empty().await;
    install(&mut db.owner().await, &[platform::SQL, MODULE]).await.unwrap();
    assert_eq!(answer(&db).await, 41);
    let changed = SqlModule {
        functions: &[File {
            name: "answer",
            text: "create or replace function sample.answer() returns int language sql as 'select 42'",
        }],
        ..MODULE
    };
    let installed = install(&mut db.owner().await, &[platform::SQL, changed]).await.unwrap();
    assert!(installed.migrations.is_empty());
    assert_eq!(answer(&db).await, 42);
}

#[tokio::test]
async fn twenty_processes_that_start_at_once_install_everything_once() {
    let db = TestDb::empty().await;
    let starts = (0..20).map(|_| async {
        install(&mut db.owner().await, &[platform::SQL, MODULE]).await.map(|installed| installed.migrations.len())
    });
    let results: Vec<usize> = futures::future::join_all(starts).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(results.iter().filter(|made| **made > 0).count(), 1, "{results:?}");
    assert_eq!(answer(&db).await, 41);
}

#[tokio::test]
async fn an_installation_that_meets_those_who_work_in_a_deadlock_tries_again() {
    let db = TestDb::empty().await;
    install(&mut db.owner().await, &[platform::SQL, MODULE]).await.unwrap();
    let changed = SqlModule {
        functions: &[
            File { name: "first", text: "lock table sample.things" },
            // When the worker is there, and waits for the first: then this closes the circle.
            File {
                name: "second",
                text: "do $$ declare here oid := (select oid from pg_database where datname = current_database()); begin
                           while exists (select from pg_locks where database = here and relation = 'core.workspaces'::regclass and mode = 'AccessExclusiveLock')
                             and not exists (select from pg_locks where database = here and relation = 'sample.things'::regclass and not granted) loop
                               perform pg_sleep(0.01);
                           end loop;
                       end $$; lock table core.workspaces",
            },
        ],
        ..MODULE
    };
    let mut worker = db.owner().await;
    // Whoever looks for a deadlock is the one that is ended, and this one does not look.
    worker.execute("set deadlock_timeout = '1h'; begin; lock table core.workspaces").await.unwrap();
    let url = db.url.clone();
    let installing = tokio::spawn(async move {
        let mut owner = PgConnection::connect(&url).await.unwrap();
        owner.execute("set deadlock_timeout = '100ms'").await.unwrap();
        install(&mut owner, &[platform::SQL, changed]).await
    });
    let is_held =
        "select exists (select from pg_locks where relation = 'sample.things'::regclass and mode = 'AccessExclusiveLock'
                      and database = (select oid from pg_database where datname = current_database()))";
    while !sqlx::query_scalar::<_, bool>(is_held).fetch_one(&mut worker).await.unwrap() {
        assert!(!installing.is_finished(), "it waits for the worker");
        tokio::task::yield_now().await;
    }
    worker.execute("lock table sample.things; commit").await.unwrap();
    assert!(installing.await.unwrap().unwrap().functions > 0);
}

#[tokio::test]
async fn a_migration_that_fails_leaves_nothing_behind() {
    let db = TestDb::empty().await;
    let broken = SqlModule {
        migrations: &[
            File { name: "0001_things", text: "create table sample.things (id int primary key)" },
            File { name: "0002_broken", text: "create table sample.more (id int); select no_such_function()" },
        ],
        ..MODULE
    };
    let error = install(&mut db.owner().await, &[platform::SQL, broken]).await.unwrap_err();
    assert!(matches!(error, InstallError::Failed { file: "0002_broken", .. }), "{error}");
    let left: i64 = db
        .owner()
        .await
        .fetch_one("select count(*) from pg_namespace where nspname in ('sample', 'ops', 'core')")
        .await
        .unwrap()
        .get(0);
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_migration_that_was_edited_after_its_release_is_refused() {
    let db = TestDb::empty().await;
    install(&mut db.owner().await, &[platform::SQL, MODULE]).await.unwrap();
    let edited = SqlModule {
        migrations: &[File { name: "0001_things", text: "create table sample.things (id bigint primary key)" }],
        ..MODULE
    };
    let error = install(&mut db.owner().await, &[platform::SQL, edited]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "migration 0001_things of sample was changed after it had been applied; put its text back and add a new migration instead"
    );
}

#[tokio::test]
async fn an_older_program_leaves_the_functions_of_a_newer_one_alone() {
    let db = TestDb::empty().await;
    let newer = SqlModule {
        migrations: &[
            File { name: "0001_things", text: "create table sample.things (id int primary key)" },
            File { name: "0002_more", text: "create table sample.more (id int)" },
        ],
        functions: &[File {
            name: "answer",
            text: "create or replace function sample.answer() returns int language sql as 'select 42'",
        }],
        ..MODULE
    };
    install(&mut db.owner().await, &[platform::SQL, newer]).await.unwrap();
    let installed = install(&mut db.owner().await, &[platform::SQL, MODULE]).await.unwrap();
    assert!(installed.is_newer);
    assert_eq!(answer(&db).await, 42);
}

#[tokio::test]
async fn what_became_one_function_of_the_platform_is_gone_from_the_modules_that_had_it() {
    let db = TestDb::empty().await;
    let mut owner = db.owner().await;
    for (schema, function) in [
        ("actions", "stamp(timestamptz)"),
        ("planner", "stamp(timestamptz)"),
        ("posting", "id_at(timestamptz)"),
        ("posting", "redact_text(text)"),
        ("posting", "safe_error(jsonb)"),
        ("posting", "snippet(text, int)"),
        ("shopbot", "short_error(jsonb)"),
    ] {
        let before = format!(
            "create schema if not exists {schema}; create function {schema}.{function} returns text language sql as 'select null'"
        );
        owner.execute(sqlx::AssertSqlSafe(before)).await.unwrap();
    }
    install(&mut owner, &[platform::SQL]).await.unwrap();
    let left =
        "select count(*) from pg_proc where pronamespace::regnamespace::text in ('actions', 'planner', 'posting', 'shopbot')";
    assert_eq!(owner.fetch_one(left).await.unwrap().get::<i64, _>(0), 0);
}
