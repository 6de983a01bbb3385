//! Alerts: raised once, told to every target, told again when they grow or last, taken on by people, cleared when they are over.

use jiff::SignedDuration;
use kernel::{Clock, WorkspaceId};
use platform::{
    alerts::{self, Acknowledgement, AlertKind, AlertSource, PLATFORM, StorageLimits},
    install::{File, SqlModule},
};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row};
use testkit::{TestDb, alerts::ToldAlerts};

/// A module whose troubles are rows of a table. `broken` makes its query fail, `endless` cannot be caught inside the database.
const SAMPLE: SqlModule = SqlModule {
    name: "sample",
    schemas: &["sample"],
    prelude: &[],
    migrations: &[File {
        name: "0001_troubles",
        text: "create table sample.troubles (workspace_id uuid, alert text, subject text, count bigint default 1, why text,
                                              remind_after interval);
               create table sample.targets (workspace_id uuid, kind text, address text, credential text)",
    }],
    functions: &[
        File {
            name: "find_trouble",
            text: "create or replace function sample.find_trouble(p_workspace_id uuid) returns setof ops.findings language plpgsql as $$
                   declare
                       bad text := (select min(t.alert) from sample.troubles t where t.alert in ('broken', 'endless')
                                       and (p_workspace_id is null or t.workspace_id = p_workspace_id));
                   begin
                       if bad is not null then
                           raise exception 'this query is %', bad
                               using errcode = case bad when 'broken' then 'data_exception' else 'query_canceled' end;
                       end if;
                       return query select t.workspace_id, t.alert, t.subject, t.count, null::text, null::timestamptz, t.why, t.remind_after
                                      from sample.troubles t where p_workspace_id is null or t.workspace_id = p_workspace_id;
                   end $$",
        },
        File {
            name: "alert_targets",
            text: "create or replace function sample.alert_targets(p_workspace_id uuid)
                   returns table (kind text, address text, credential text) language sql as $$
                       select t.kind, t.address, t.credential from sample.targets t
                        where t.workspace_id = p_workspace_id and 1 / length(t.address) >= 0 $$",
        },
    ],
};

const SOURCE: AlertSource = AlertSource {
    module: "sample",
    kinds: &[AlertKind { name: "leaks", title: "leaking pipes", advice: "Call the plumber.", page: "/console/pipes" }],
};

struct World {
    test: TestDb,
    workspace: WorkspaceId,
    told: ToldAlerts,
}

impl World {
    async fn new() -> Self {
        let test = TestDb::with(&[platform::SQL, SAMPLE], Clock::frozen("2026-03-02T09:00:00Z".parse().unwrap())).await;
        let workspace = test.workspace("ours").await;
        Self { test, workspace, told: ToldAlerts::default() }
    }

    /// A statement in which `$ws` is our workspace.
    async fn run(&self, statement: &str) {
        let statement = statement.replace("$ws", &format!("'{}'", self.workspace));
        sqlx::query(AssertSqlSafe(statement)).execute(self.test.db.pool()).await.unwrap();
    }

    async fn trouble(&self, subject: &str, count: i64) {
        let remove = format!("delete from sample.troubles where subject = '{subject}' and workspace_id = $ws");
        self.run(&remove).await;
        let add = format!("insert into sample.troubles values ($ws, 'leaks', '{subject}', {count}, 'rust of {subject}', null)");
        self.run(&add).await;
    }

    async fn target(&self, kind: &str, address: &str) {
        self.run(&format!("insert into sample.targets values ($ws, '{kind}', '{address}', 'env:TOKEN')")).await;
    }

    /// One look, and everything that it enqueued.
    async fn look(&self) -> i32 {
        let told = alerts::check(&self.test.db, &[SOURCE, PLATFORM], &StorageLimits::default()).await;
        self.told.runner(&self.test.db, &[SOURCE, PLATFORM]).drain().await.unwrap();
        told
    }

    async fn acknowledge(&self, subject: Option<&str>) -> i32 {
        let taken = Acknowledgement { module: "sample", alert: "leaks", subject, by: "ann", reason: "on it" };
        alerts::acknowledge(&self.test.db, self.workspace, taken).await.unwrap()
    }

    async fn rows(&self, query: &str) -> Vec<Value> {
        let query = format!("select to_jsonb(t) from ({}) t", query.replace("$ws", &format!("'{}'", self.workspace)));
        let rows = sqlx::query(AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// What the journal says of alerts, oldest first.
    async fn journal(&self) -> Vec<String> {
        let rows = self.rows("select action from ops.journal where action like 'alert_%' order by ts, id").await;
        rows.iter().map(|row| row["action"].as_str().unwrap()["alert_".len()..].to_owned()).collect()
    }

    fn advance(&self, seconds: i64) {
        self.test.clock.advance(SignedDuration::from_secs(seconds));
    }
}

#[tokio::test]
async fn an_alert_is_told_once_when_it_grows_at_most_once_a_minute_and_again_after_its_time() {
    let world = World::new().await;
    world.target("telegram", "777").await;
    world.trouble("kitchen", 2).await;
    assert_eq!((world.look().await, world.look().await), (1, 0));
    world.trouble("kitchen", 3).await;
    world.advance(59);
    assert_eq!(world.look().await, 0, "it grew, but was told less than a minute ago");
    world.advance(1);
    assert_eq!(world.look().await, 1);
    world.trouble("kitchen", 1).await;
    world.trouble("bath", 1).await;
    world.advance(60);
    assert_eq!(world.look().await, 1, "a new subject is growth, whatever became of the others");
    world.advance(3599);
    assert_eq!(world.look().await, 0);
    world.advance(1);
    assert_eq!(world.look().await, 1, "it lasts for an hour");
    world.run("update sample.troubles set remind_after = '5 minutes'").await;
    world.advance(300);
    assert_eq!(world.look().await, 1, "a finding may name a time of its own");
    assert_eq!(world.told.at("777").len(), 5);
    world.run("delete from sample.troubles").await;
    assert_eq!(world.look().await, 0);
    world.advance(600);
    world.trouble("kitchen", 1).await;
    assert_eq!(world.look().await, 1, "what was over for ten minutes is raised anew at once");
    assert_eq!(world.journal().await, ["raised", "grew", "grew", "reminded", "reminded", "cleared", "raised"]);
}

#[tokio::test]
async fn journal_and_bus_hear_of_an_alert_in_the_transaction_that_raises_or_clears_it() {
    let world = World::new().await;
    world.trouble("kitchen", 2).await;
    world.look().await;
    world.run("delete from sample.troubles").await;
    world.look().await;
    let published = world.rows("select payload from bus.messages where topic = 'alerts' order by xid, id").await;
    let raised = json!({ "event": "raised", "module": "sample", "alert": "leaks", "count": 2, "subjects": ["kitchen"],
                         "sample": null, "why": "rust of kitchen" });
    let cleared = json!({ "event": "cleared", "module": "sample", "alert": "leaks", "subjects": ["kitchen"] });
    assert_eq!(published, [json!({ "payload": raised }), json!({ "payload": cleared })]);
    let journal = world.rows("select source, action, subject from ops.journal where action like 'alert_%' order by id").await;
    assert_eq!(journal[0], json!({ "source": "sample", "action": "alert_raised", "subject": "leaks" }));
    let left = world.rows("select subject, cleared_at is not null as is_over from ops.alerts").await;
    assert_eq!(left, [json!({ "subject": "kitchen", "is_over": true })]);
}

#[tokio::test]
async fn an_alert_that_somebody_took_on_is_not_told_again_until_it_clears_unless_it_grows() {
    let world = World::new().await;
    assert_eq!(world.acknowledge(None).await, 0, "there is no such alert");
    world.trouble("kitchen", 1).await;
    world.trouble("bath", 1).await;
    assert_eq!(world.look().await, 1);
    assert_eq!(world.acknowledge(Some("bath")).await, 1);
    world.advance(3600);
    assert_eq!(world.look().await, 1, "nobody took the kitchen on");
    assert_eq!(world.acknowledge(None).await, 2);
    world.advance(36_000);
    assert_eq!(world.look().await, 0);
    world.trouble("bath", 2).await;
    assert_eq!(world.look().await, 1, "it grew");
    world.run("delete from sample.troubles").await;
    world.look().await;
    world.advance(600);
    world.trouble("bath", 1).await;
    assert_eq!(world.look().await, 1);
    world.advance(3600);
    assert_eq!(world.look().await, 1, "it is another one now, which nobody took on");
    let taken = world.rows("select data from ops.journal where action = 'alert_acknowledged' order by ts, id").await;
    assert_eq!(taken[0]["data"], json!({ "subjects": ["bath"], "by": "ann", "reason": "on it" }));
}

#[tokio::test]
async fn an_alert_that_comes_back_within_ten_minutes_is_the_same_one_still_taken_on_and_not_told_as_new() {
    let world = World::new().await;
    world.target("telegram", "777").await;
    world.trouble("kitchen", 2).await;
    assert_eq!(world.look().await, 1);
    assert_eq!(world.acknowledge(None).await, 1);
    let raised = world.rows("select raised_at from ops.alerts").await;
    for _ in 0..20 {
        world.run("delete from sample.troubles").await;
        world.look().await;
        world.advance(599);
        world.trouble("kitchen", 2).await;
        assert_eq!(world.look().await, 0, "it comes and goes");
    }
    assert_eq!(world.told.at("777").len(), 1);
    assert_eq!(world.rows("select raised_at from ops.alerts").await, raised, "it is the same alert");
    let taken = world.rows("select acknowledged_by, cleared_at from ops.alerts").await;
    assert_eq!(taken, [json!({ "acknowledged_by": "ann", "cleared_at": null })]);
    assert_eq!(world.journal().await[..4], ["raised", "acknowledged", "cleared", "reopened"]);
    world.run("delete from sample.troubles").await;
    world.look().await;
    world.trouble("kitchen", 3).await;
    assert_eq!(world.look().await, 1, "it came back worse than it was");
    assert_eq!(world.journal().await.last().unwrap(), "grew");
}

#[tokio::test]
async fn an_alert_of_which_one_subject_comes_and_goes_was_never_over() {
    let world = World::new().await;
    world.trouble("kitchen", 1).await;
    world.trouble("bath", 1).await;
    assert_eq!(world.look().await, 1);
    world.run("delete from sample.troubles where subject = 'bath'").await;
    assert_eq!(world.look().await, 0);
    world.trouble("bath", 1).await;
    assert_eq!(world.look().await, 0);
    assert_eq!(world.journal().await, ["raised"]);
}

#[tokio::test]
async fn a_message_names_every_subject_up_to_ten_the_reason_what_to_do_and_where_to_look() {
    let world = World::new().await;
    world.target("telegram", "777").await;
    world.target("email", "ann@example.org").await;
    world.trouble("kitchen", 3).await;
    world.trouble("bath", 1).await;
    world.look().await;
    let expected = "ours: leaking pipes (4)\n\
                    - kitchen (3): rust of kitchen, since 2026-03-02 09:00 UTC\n\
                    - bath: rust of bath, since 2026-03-02 09:00 UTC\n\
                    Call the plumber.\n\
                    https://console.test/console/pipes";
    assert_eq!(world.told.at("777"), [expected]);
    assert_eq!(world.told.all().iter().filter(|(_, message)| message.subject == "Beresta: leaking pipes in ours").count(), 2);
    for n in 0..11 {
        world.trouble(&format!("attic {n:02}"), 1).await;
    }
    world.advance(60);
    world.look().await;
    let told = world.told.at("777").remove(1);
    assert!(told.contains("(15)\n- kitchen (3)") && told.contains("- attic 08") && !told.contains("- attic 09"), "{told}");
    assert!(told.contains("\nand 3 more\n"), "{told}");
}

#[tokio::test]
async fn every_target_is_told_by_a_job_of_its_own_so_that_one_that_fails_repeats_no_other() {
    let world = World::new().await;
    world.target("telegram", "777").await;
    world.target("max", "900").await;
    world.target("email", "ann@example.org").await;
    world.told.refuse(Some("max"));
    world.trouble("kitchen", 1).await;
    world.look().await;
    assert_eq!((world.told.at("777").len(), world.told.at("ann@example.org").len()), (1, 1));
    world.trouble("bath", 1).await;
    world.told.refuse(None);
    world.advance(30);
    world.look().await;
    let told = world.told.at("900");
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("kitchen") && told[0].contains("bath"), "a target that was away is told what holds now: {told:?}");
    assert_eq!((world.told.at("777").len(), world.told.at("ann@example.org").len()), (1, 1));
    let (target, _) = world.told.all().pop().unwrap();
    assert_eq!((target.kind.as_str(), target.credential.as_deref()), ("max", Some("env:TOKEN")));
}

#[tokio::test]
async fn targets_that_cannot_be_found_are_recorded_and_the_alert_is_raised_all_the_same() {
    let world = World::new().await;
    world.target("telegram", "").await;
    world.trouble("kitchen", 1).await;
    assert_eq!(world.look().await, 1);
    assert_eq!(world.journal().await, ["raised"]);
    let errors = world.rows("select source, op, message from ops.errors").await;
    assert_eq!(errors, [json!({ "source": "sample", "op": "alert_targets", "message": "division by zero" })]);
}

#[tokio::test]
async fn an_alert_that_is_over_before_its_target_answers_is_told_no_more() {
    let world = World::new().await;
    world.target("max", "900").await;
    world.told.refuse(Some("max"));
    world.trouble("kitchen", 1).await;
    world.look().await;
    world.told.refuse(None);
    world.run("delete from sample.troubles").await;
    world.advance(30);
    world.look().await;
    assert!(world.told.all().is_empty());
    assert_eq!(world.rows("select from ops.jobs").await.len(), 0);
}

#[tokio::test]
async fn a_module_without_targets_of_its_own_tells_those_of_the_others_and_the_system_tells_everybody() {
    let world = World::new().await;
    world.target("telegram", "777").await;
    let theirs = world.test.workspace("theirs").await;
    sqlx::query("insert into sample.targets values ($1, 'telegram', '888', null)")
        .bind(theirs.uuid())
        .execute(world.test.db.pool())
        .await
        .unwrap();
    let targets = async |workspace: WorkspaceId, module: &str| {
        let query = "select string_agg(address, ' ' order by address) from ops.alert_targets($1, $2)";
        let row = sqlx::query_scalar::<_, Option<String>>(query).bind(workspace.uuid()).bind(module);
        row.fetch_one(world.test.db.pool()).await.unwrap().unwrap_or_default()
    };
    assert_eq!(targets(world.workspace, "sample").await, "777");
    assert_eq!(targets(world.workspace, "ops").await, "777");
    assert_eq!(targets(WorkspaceId::SYSTEM, "ops").await, "777 888");
    world
        .run("insert into sample.targets values ('00000000-0000-0000-0000-000000000000', 'email', 'root@example.org', null)")
        .await;
    assert_eq!(targets(WorkspaceId::SYSTEM, "ops").await, "root@example.org");
}

#[tokio::test]
async fn a_workspace_whose_trouble_cannot_be_found_becomes_an_alert_and_the_others_go_on() {
    let world = World::new().await;
    let theirs = world.test.workspace("theirs").await;
    world.trouble("kitchen", 1).await;
    assert_eq!(world.look().await, 1);
    let open = "select workspace_id = $ws as is_ours, alert, why from ops.alerts where cleared_at is null order by 1 desc, 2";
    world.run(&format!("insert into sample.troubles (workspace_id, alert) values ('{theirs}', 'broken')")).await;
    world.trouble("bath", 1).await;
    world.advance(60);
    for told in [2, 0] {
        assert_eq!(world.look().await, told, "ours grew, and theirs cannot be looked at");
        let alerts: Vec<String> = world.rows(open).await.iter().map(|row| row["alert"].as_str().unwrap().to_owned()).collect();
        assert_eq!(alerts, ["leaks", "leaks", "check_failed"]);
    }
    assert_eq!(world.rows(open).await[2]["why"], "this query is broken");
    let errors = world.rows("select source, op, message from ops.errors").await;
    assert_eq!(errors, [json!({ "source": "sample", "op": "find_trouble", "message": "this query is broken" })], "once");
    world.run("delete from sample.troubles where alert = 'broken'").await;
    world.look().await;
    assert_eq!(world.rows(open).await.len(), 2, "it can be looked at again");
}

#[tokio::test]
async fn a_look_that_does_not_end_is_an_alert_and_what_was_raised_stays_and_other_modules_go_on() {
    let world = World::new().await;
    world.trouble("kitchen", 1).await;
    world.look().await;
    world.run("insert into sample.troubles (workspace_id, alert) values ($ws, 'endless')").await;
    world.run("delete from sample.troubles where alert = 'leaks'").await;
    world.run("select ops.register_job_type('sample', 1, 60000), ops.enqueue_job($ws, 'sample', '{}')").await;
    world.run("update ops.jobs set status = 'running', lease_id = gen_random_uuid(), leased_until = platform.now()").await;
    world.run("update ops.jobs set status = 'failed', lease_id = null, leased_until = null, next_run_at = 'infinity'").await;
    assert_eq!(world.look().await, 2);
    let open = world.rows("select module, alert from ops.alerts where cleared_at is null order by 1, 2").await;
    let expected = [("ops", "failed_jobs"), ("sample", "check_failed"), ("sample", "leaks")];
    assert_eq!(open, expected.map(|(module, alert)| json!({ "module": module, "alert": alert })));
}

#[tokio::test]
async fn jobs_that_failed_for_good_are_an_alert_for_each_workspace_and_type() {
    let world = World::new().await;
    let theirs = world.test.workspace("theirs").await;
    for (workspace, job_type, count) in [(world.workspace, "mail", 2), (world.workspace, "pull", 1), (theirs, "mail", 1)] {
        let query = format!(
            "insert into ops.jobs (workspace_id, job_type, status, next_run_at, last_error)
             select '{workspace}', '{job_type}', 'failed', 'infinity', '{{\"code\": \"handler\", \"message\": \"no\"}}'
               from generate_series(1, {count})"
        );
        world.run(&query).await;
    }
    world.run("insert into ops.jobs (workspace_id, job_type, next_run_at) values ($ws, 'waits', platform.now())").await;
    assert_eq!(world.look().await, 2, "one for each workspace");
    let found = world.rows("select subject, count, sample, why from ops.alerts where workspace_id = $ws order by subject").await;
    let row = |subject: &str, count: i64| json!({ "subject": subject, "count": count, "sample": "handler", "why": "no" });
    assert_eq!(found, [row("mail", 2), row("pull", 1)]);
    world.run("update ops.jobs set status = 'queued', next_run_at = platform.now() where status = 'failed'").await;
    world.look().await;
    assert!(world.rows("select from ops.alerts where cleared_at is null").await.is_empty());
}

#[tokio::test]
async fn a_target_that_is_never_reached_is_told_of_its_failed_jobs_without_making_ever_more_of_them() {
    let world = World::new().await;
    world.target("max", "900").await;
    world.target("telegram", "777").await;
    world.told.refuse(Some("max"));
    world.trouble("kitchen", 1).await;
    for _ in 0..30 {
        world.look().await;
        world.advance(900);
    }
    let failed = world.rows("select from ops.jobs where status = 'failed'").await.len();
    assert!((1..=2).contains(&failed), "one for each alert: {failed}");
    let told = world.told.at("777");
    assert!(told.iter().any(|text| text.contains("failed jobs") && text.contains("ops.alert")), "{told:?}");
}

#[tokio::test]
async fn a_database_that_grows_and_a_disk_that_fills_are_alerts_of_the_system() {
    let world = World::new().await;
    world.target("telegram", "777").await;
    let dir = tempfile::tempdir().unwrap();
    let look = async |database_bytes_max: u64| {
        let limits = StorageLimits { database_bytes_max: Some(database_bytes_max), data_dir: Some(dir.path().to_owned()) };
        alerts::check(&world.test.db, &[PLATFORM], &limits).await;
        world.rows("select workspace_id, why from ops.alerts where alert = 'database_fills' and cleared_at is null").await
    };
    assert_eq!(look(1 << 40).await.len(), 0);
    let found = look(1 << 20).await;
    assert_eq!(found[0]["workspace_id"], WorkspaceId::SYSTEM.to_string());
    assert!(found[0]["why"].as_str().unwrap().ends_with("more than 1024 kB"), "{}", found[0]);
    world.told.runner(&world.test.db, &[PLATFORM]).drain().await.unwrap();
    assert!(world.told.at("777")[0].starts_with("system: the database grows\n- the database holds"), "{:?}", world.told.all());
    assert_eq!(look(1 << 40).await.len(), 0);
    let full = "select alert, why from (select set_config('ops.disk_free_bytes', '1000000', true),
                                               set_config('ops.disk_free_bytes_min', '2000000', true)) s, ops.find_trouble(null)";
    assert_eq!(
        world.rows(full).await,
        [json!({ "alert": "disk_fills", "why": "977 kB are free beside the database, less than 1953 kB" })]
    );
}

#[tokio::test]
async fn processes_that_look_at_once_tell_once() {
    let world = World::new().await;
    world.trouble("kitchen", 1).await;
    let others: Vec<_> = (0..8).map(|_| world.test.another()).collect();
    let limits = StorageLimits::default();
    let looks = others.iter().map(|db| alerts::check(db, &[SOURCE], &limits));
    assert_eq!(futures::future::join_all(looks).await.iter().sum::<i32>(), 1);
    assert_eq!(world.journal().await, ["raised"]);
}
