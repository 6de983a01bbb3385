//! A workspace sees its own rows and no others, whatever a query says.

use platform::{
    DbError,
    jobs::{self, NewJob},
    tokens, workspaces,
};
use serde_json::json;
use sqlx::Row;
use testkit::TestDb;

async fn count(tx: &mut sqlx::PgConnection, query: &'static str) -> i64 {
    sqlx::query(query).fetch_one(tx).await.unwrap().get(0)
}

#[tokio::test]
async fn a_transaction_sees_only_the_workspace_it_names() {
    let db = TestDb::new().await;
    let (ours, theirs) = (db.workspace("ours").await, db.workspace("theirs").await);
    for workspace in [ours, theirs] {
        tokens::create(db.db.pool(), workspace, "t", &kernel::Scopes::all(), None, None).await.unwrap();
    }
    let mut tx = db.db.begin(ours).await.unwrap();
    assert_eq!(count(&mut tx, "select count(*) from core.api_tokens").await, 1);
    assert_eq!(count(&mut tx, "select count(*) from core.workspaces").await, 1);
    assert_eq!(count(&mut tx, "select count(*) from ops.journal").await, 2);
    drop(tx);
    let mut system = db.db.begin_system().await.unwrap();
    assert_eq!(count(&mut system, "select count(*) from core.api_tokens").await, 2);
}

#[tokio::test]
async fn a_transaction_cannot_write_into_another_workspace() {
    let db = TestDb::new().await;
    let (ours, theirs) = (db.workspace("ours").await, db.workspace("theirs").await);
    let mut tx = db.db.begin(ours).await.unwrap();
    let error: DbError =
        sqlx::query("select ops.append_journal($1, 'x', 'x')").bind(theirs.uuid()).execute(&mut *tx).await.unwrap_err().into();
    assert!(error.to_string().contains("row-level security"), "{error}");
}

#[tokio::test]
async fn without_a_workspace_the_ordinary_role_sees_nothing() {
    let db = TestDb::new().await;
    db.workspace("ours").await;
    let mut tx = db.db.begin_system().await.unwrap();
    sqlx::query("set local role beresta_app").execute(&mut *tx).await.unwrap();
    assert_eq!(count(&mut tx, "select count(*) from core.workspaces").await, 0);
}

#[tokio::test]
async fn the_workspace_of_a_transaction_does_not_leak_into_the_next_one_on_its_connection() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    for _ in 0..20 {
        drop(db.db.begin(ours).await.unwrap());
        let row = sqlx::query("select current_user::text, platform.workspace_id()").fetch_one(db.db.pool()).await.unwrap();
        assert_eq!(row.get::<String, _>(0), "beresta_system");
        assert_eq!(row.get::<Option<uuid::Uuid>, _>(1), None);
    }
}

#[tokio::test]
async fn a_job_for_a_workspace_that_does_not_exist_is_refused() {
    let db = TestDb::new().await;
    sqlx::query("select ops.register_job_type('sample', 3, 60000)").execute(db.db.pool()).await.unwrap();
    let mut tx = db.db.begin_system().await.unwrap();
    let error = jobs::enqueue(&mut tx, kernel::WorkspaceId::new(), NewJob::new("sample", json!({})), None).await.unwrap_err();
    assert!(error.is_refusal("ZP005"), "{error}");
}

#[tokio::test]
async fn an_unknown_workspace_is_refused_with_the_names_there_are() {
    let db = TestDb::new().await;
    assert_eq!(
        workspaces::find(&db.db, "demo").await.unwrap_err().message,
        "there is no workspace `demo`; there are none yet: `beresta seed` makes `demo`"
    );
    let ours = db.workspace("ours").await;
    assert_eq!(workspaces::find(&db.db, "our").await.unwrap_err().message, "there is no workspace `our`; there are: ours");
    assert_eq!(workspaces::find(&db.db, "ours").await.unwrap().id(), ours);
    assert_eq!(workspaces::find(&db.db, &ours.to_string()).await.unwrap().id(), ours);
    assert!(workspaces::find(&db.db, "system").await.is_err());
}

#[tokio::test]
async fn a_database_that_an_ordinary_role_owns_works_and_is_closed_to_that_role_too() {
    // Whoever installs first in a cluster makes the roles.
    drop(TestDb::new().await);
    let db = TestDb::empty().await;
    let role = format!("owner_{}", uuid::Uuid::new_v4().simple());
    let database = db.url.split('/').nth(3).and_then(|rest| rest.split('?').next()).unwrap().to_owned();
    // What an administrator of a managed PostgreSQL does once.
    testkit::admin(&format!("create role {role} login createrole")).await;
    testkit::admin(&format!("alter database {database} owner to {role}")).await;
    testkit::admin(&format!("grant beresta_app, beresta_system to {role}")).await;
    let url = db.url.replace("beresta@", &format!("{role}@"));
    let mut owner = <sqlx::PgConnection as sqlx::Connection>::connect(&url).await.unwrap();
    let error = platform::install(&mut owner, &[platform::SQL]).await.unwrap_err();
    assert!(error.to_string().contains("ask an administrator to run `create extension vector`"), "{error}");
    sqlx::query("create extension vector").execute(&mut db.owner().await).await.unwrap();
    platform::install(&mut owner, &[platform::SQL]).await.unwrap();
    let own = platform::Db::connect(&testkit::settings(&url), kernel::Clock::system()).unwrap();
    let ours = workspaces::create(own.pool(), "ours").await.unwrap();
    tokens::create(own.pool(), ours, "t", &kernel::Scopes::all(), None, None).await.unwrap();
    sqlx::query("select platform.upkeep_journals()").execute(own.pool()).await.unwrap();
    let mut tx = own.begin(ours).await.unwrap();
    assert_eq!(count(&mut tx, "select count(*) from core.api_tokens").await, 1);
    drop(tx);
    own.pool().close().await;
    drop(owner);
    drop(db);
    testkit::admin(&format!("drop role {role}")).await;
}

#[tokio::test]
async fn the_ordinary_role_can_neither_forget_journals_nor_change_what_belongs_to_all() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    for statement in [
        "select platform.upkeep_journals()",
        "select bus.mend()",
        "update platform.journals set keep = '1 second'",
        "update bus.forgotten set xid = '7'",
        "delete from ops.job_types",
        "delete from platform.migrations",
    ] {
        let mut tx = db.db.begin(ours).await.unwrap();
        let error = sqlx::query(statement).execute(&mut *tx).await.unwrap_err();
        assert!(error.to_string().contains("permission denied"), "{statement}: {error}");
    }
}

#[tokio::test]
async fn whoever_gives_up_beginning_leaves_no_transaction_behind() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let settings = platform::Settings { connections_max: 1, ..testkit::settings(&db.url) };
    let lone = platform::Db::connect(&settings, kernel::Clock::system()).unwrap();
    lone.ping().await.unwrap();
    let mut owner = db.owner().await;
    for polls in 1..=8 {
        let mut beginning = Box::pin(lone.begin(ours));
        for _ in 0..polls {
            if futures::poll!(&mut beginning).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(beginning);
        let next = "select current_user::text, pg_backend_pid()";
        let (user, pid): (String, i32) = sqlx::query_as(next).fetch_one(lone.pool()).await.unwrap();
        let state = "select state from pg_stat_activity where pid = $1";
        let state: String = sqlx::query_scalar(state).bind(pid).fetch_one(&mut owner).await.unwrap();
        assert_eq!((user.as_str(), state.as_str()), ("beresta_system", "idle"), "given up after {polls} looks");
    }
}
