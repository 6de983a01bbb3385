//! Retention: every rule runs, whatever becomes of the others, and what fails is known.

use kernel::WorkspaceId;
use platform::{
    DbError, SqlModule, install,
    jobs::{Registry, Runner},
    module::put_schedules,
    retention::{self, RetentionRule},
};
use serde_json::{Value, json};
use testkit::TestDb;

async fn json(db: &TestDb, query: &'static str) -> Value {
    sqlx::query_scalar(query).fetch_one(db.db.pool()).await.unwrap()
}

#[tokio::test]
async fn a_rule_that_fails_is_recorded_and_tried_again_and_the_others_go_on() {
    let db = TestDb::frozen().await;
    sqlx::raw_sql("create table public.things (id int); insert into public.things select generate_series(1, 2500); grant all on public.things to public")
        .execute(&mut db.owner().await)
        .await
        .unwrap();
    let forget = "with gone as (delete from public.things where id in (select id from public.things limit $1) returning id)
                  select count(*)::int from gone";
    let rules = vec![
        RetentionRule::sql("broken.sql", "select 1 / 0 + $1"),
        RetentionRule::new("broken.code", |_db| async { Err(DbError::Bug(sqlx::Error::RowNotFound)) }),
        RetentionRule::sql("sample.things", forget),
    ];
    let mut registry = Registry::new();
    retention::register(&mut registry, &db.db, rules);
    let runner = Runner::new(db.db.clone(), registry, "test".to_owned());
    runner.register().await.unwrap();
    put_schedules(&db.db, &[retention::SCHEDULE]).await.unwrap();
    db.clock.advance(jiff::SignedDuration::from_hours(1));
    let drained = runner.drain().await.unwrap();
    assert_eq!((drained.picked, drained.failed), (1, 1), "it is tried again");
    assert_eq!(json(&db, "select to_jsonb(count(*)) from public.things").await, json!(0), "batch after batch");
    let errors = "select jsonb_agg(op order by id) from ops.errors where source = 'retention'";
    assert_eq!(json(&db, errors).await, json!(["broken.sql", "broken.code"]));
    let run = json(&db, "select data from ops.journal where action = 'retention'").await;
    assert_eq!(run["failed"], json!(["broken.sql", "broken.code"]));
    assert_eq!(run["rules"], json!(["broken.sql", "broken.code", "sample.things"]));
}

#[tokio::test]
async fn the_platform_makes_partitions_ahead_and_forgets_alerts_of_long_ago() {
    let db = TestDb::frozen().await;
    let workspace = db.workspace("ours").await;
    let raise = "insert into ops.alerts (workspace_id, module, alert, subject, count, cleared_at)
                 values ($1, 'm', 'over', '', 1, platform.now()), ($1, 'm', 'lasts', '', 1, null)";
    sqlx::query(raise).bind(workspace.uuid()).execute(db.db.pool()).await.unwrap();
    for (days, left) in [(89, json!(["lasts", "over"])), (2, json!(["lasts"]))] {
        db.clock.advance(jiff::SignedDuration::from_hours(days * 24));
        retention::run(&db.db, &retention::rules()).await.unwrap();
        assert_eq!(json(&db, "select jsonb_agg(alert order by alert) from ops.alerts").await, left);
    }
    let made = "select to_jsonb(count(*) > 0) from ops.journal where action = 'partition_made'";
    assert_eq!(json(&db, made).await, json!(true));
    let told = "select jsonb_agg(distinct workspace_id) from ops.journal where source = 'platform'";
    assert_eq!(json(&db, told).await, json!([WorkspaceId::SYSTEM.uuid()]));
}

#[tokio::test]
async fn the_recurring_jobs_that_modules_had_before_are_gone_after_an_upgrade() {
    let db = TestDb::empty().await;
    let is_new = |file: &install::File| file.text.contains("ops.findings") || file.text.contains("ops.alerts");
    let (migrations, functions): (Vec<_>, Vec<_>) = (
        platform::SQL.migrations.iter().take_while(|file| file.name != "0008_alerts").copied().collect(),
        platform::SQL.functions.iter().filter(|file| !is_new(file)).copied().collect(),
    );
    let before = SqlModule { migrations: migrations.leak(), functions: functions.leak(), ..platform::SQL };
    let mut owner = db.owner().await;
    install::install(&mut owner, &[before]).await.unwrap();
    let old = "insert into ops.job_types values ('posting.upkeep', 12, 60000), ('posting.pull_due', 12, 60000);
               insert into ops.schedules (workspace_id, name, job_type, every, next_fire_at)
               select '00000000-0000-0000-0000-000000000000', job_type, job_type, '1 hour', now() from ops.job_types;
               select ops.fire_schedules()";
    sqlx::raw_sql(old).execute(&mut owner).await.unwrap();
    install::install(&mut owner, &[platform::SQL]).await.unwrap();
    let left =
        "select jsonb_build_array((select jsonb_agg(job_type) from ops.schedules), (select jsonb_agg(job_type) from ops.jobs),
                                         (select jsonb_agg(job_type order by job_type) from ops.job_types))";
    let left: Value = sqlx::query_scalar(left).fetch_one(&mut owner).await.unwrap();
    assert_eq!(left, json!([["posting.pull_due"], ["posting.pull_due"], ["posting.pull_due"]]));
}
