//! The bus: in order, without a gap, also across processes; a slow subscriber is dropped and comes back.

use jiff::SignedDuration;
use kernel::WorkspaceId;
use platform::{
    Db,
    bus::{self, Bus, Message, SubscribeError},
    wake::Topic,
};
use serde_json::{Value, json};
use testkit::TestDb;
use tokio_util::sync::{CancellationToken, DropGuard};

async fn publish(db: &Db, workspace: WorkspaceId, topic: &str, payload: Value) {
    let mut tx = db.begin(workspace).await.unwrap();
    bus::publish(&mut tx, workspace, topic, &payload).await.unwrap();
    tx.commit().await.unwrap();
    db.wake().tell(Topic::BUS);
}

fn said(message: &Message) -> Value {
    serde_json::from_str(&message.payload).unwrap()
}

/// A bus as a process of its own has it, with its listener.
fn process(db: &TestDb) -> (Db, Bus, DropGuard) {
    let own = db.another();
    let bus = Bus::new(own.clone());
    let stop = CancellationToken::new();
    tokio::spawn(own.wake().clone().listen(stop.clone()));
    tokio::spawn(bus.clone().run(stop.clone()));
    (own, bus, stop.drop_guard())
}

#[tokio::test]
async fn what_one_process_publishes_another_hears_in_order() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, here, _guard) = process(&db);
    let (there, _, _guard2) = process(&db);
    let mut subscription = here.subscribe(ours, "chat:1", None).await.unwrap();
    for n in 0..50 {
        publish(&there, ours, "chat:1", json!(n)).await;
        publish(&there, ours, "chat:2", json!("other topic")).await;
    }
    for n in 0..50 {
        assert_eq!(said(&subscription.next().await.unwrap().unwrap()), json!(n));
    }
}

#[tokio::test]
async fn nobody_hears_another_workspace() {
    let db = TestDb::new().await;
    let (ours, theirs) = (db.workspace("ours").await, db.workspace("theirs").await);
    let (_, here, _guard) = process(&db);
    let mut subscription = here.subscribe(ours, "chat:1", None).await.unwrap();
    publish(&db.db, theirs, "chat:1", json!("secret")).await;
    publish(&db.db, ours, "chat:1", json!("ours")).await;
    assert_eq!(said(&subscription.next().await.unwrap().unwrap()), json!("ours"));
}

#[tokio::test]
async fn a_watcher_hears_every_topic_of_its_workspace_and_nothing_of_another() {
    let db = TestDb::new().await;
    let (ours, theirs) = (db.workspace("ours").await, db.workspace("theirs").await);
    let (_, here, _guard) = process(&db);
    db.settled().await;
    let mut watcher = here.watch(ours).await.unwrap();
    for (workspace, topic) in [(ours, "chat:1"), (theirs, "chat:1"), (ours, "posting")] {
        publish(&db.db, workspace, topic, json!("news")).await;
    }
    for topic in ["chat:1", "posting"] {
        assert_eq!(*watcher.next().await.unwrap().unwrap().topic, *topic);
    }
}

#[tokio::test]
async fn a_subscriber_resumes_from_the_last_position_it_saw_without_a_gap() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, here, guard) = process(&db);
    let mut subscription = here.subscribe(ours, "t", None).await.unwrap();
    publish(&db.db, ours, "t", json!(1)).await;
    let seen = subscription.next().await.unwrap().unwrap().position;
    drop((subscription, guard));
    for n in 2..=2500 {
        publish(&db.db, ours, "t", json!(n)).await;
    }
    let (_, again, _guard) = process(&db);
    let mut subscription = again.subscribe(ours, "t", Some(seen)).await.unwrap();
    for n in 2..=2500 {
        assert_eq!(said(&subscription.next().await.unwrap().unwrap()), json!(n));
    }
    publish(&db.db, ours, "t", json!("live")).await;
    assert_eq!(said(&subscription.next().await.unwrap().unwrap()), json!("live"));
}

#[tokio::test]
async fn a_message_whose_transaction_commits_late_is_not_skipped() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, here, _guard) = process(&db);
    let mut subscription = here.subscribe(ours, "t", None).await.unwrap();
    let mut late = db.db.begin(ours).await.unwrap();
    bus::publish(&mut late, ours, "t", &json!("first taken, last committed")).await.unwrap();
    publish(&db.db, ours, "t", json!("second")).await;
    late.commit().await.unwrap();
    db.db.wake().tell(Topic::BUS);
    let mut heard = Vec::new();
    for _ in 0..2 {
        heard.push(said(&subscription.next().await.unwrap().unwrap()).as_str().unwrap().to_owned());
    }
    assert_eq!(heard, ["first taken, last committed", "second"]);
}

#[tokio::test]
async fn what_is_rolled_back_is_never_heard() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, here, _guard) = process(&db);
    let mut subscription = here.subscribe(ours, "t", None).await.unwrap();
    let mut tx = db.db.begin(ours).await.unwrap();
    bus::publish(&mut tx, ours, "t", &json!("never")).await.unwrap();
    tx.rollback().await.unwrap();
    publish(&db.db, ours, "t", json!("true")).await;
    assert_eq!(said(&subscription.next().await.unwrap().unwrap()), json!("true"));
}

#[tokio::test]
async fn a_slow_subscriber_is_dropped_and_comes_back_with_its_position() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, here, _guard) = process(&db);
    let mut slow = here.subscribe(ours, "t", None).await.unwrap();
    let mut quick = here.subscribe(ours, "t", None).await.unwrap();
    let mut tx = db.db.begin(ours).await.unwrap();
    for n in 0..3000 {
        bus::publish(&mut tx, ours, "t", &json!(n)).await.unwrap();
    }
    tx.commit().await.unwrap();
    db.db.wake().tell(Topic::BUS);
    // The quick one may be dropped too, but whoever returns with a position misses nothing.
    let mut heard = 0;
    while heard < 3000 {
        match quick.next().await.unwrap() {
            Some(message) => {
                assert_eq!(said(&message), json!(heard));
                heard += 1;
            }
            None => quick = here.subscribe(ours, "t", Some(quick.position())).await.unwrap(),
        }
    }
    let mut slowly = 0;
    while slow.next().await.unwrap().is_some() {
        slowly += 1;
    }
    assert!(slowly < 3000, "the slow one was dropped after {slowly}");
    let mut back = here.subscribe(ours, "t", Some(slow.position())).await.unwrap();
    assert_eq!(said(&back.next().await.unwrap().unwrap()), json!(slowly));
}

#[tokio::test]
async fn a_position_that_is_not_kept_any_more_is_told_as_a_gap() {
    let db = TestDb::frozen().await;
    let ours = db.workspace("ours").await;
    let (_, here, _guard) = process(&db);
    let old = here.position().await.unwrap();
    publish(&db.db, ours, "t", json!(1)).await;
    publish(&db.db, ours, "t", json!(2)).await;
    db.settled().await;
    // Two days of retention, and the day that the partition spans.
    db.clock.advance(SignedDuration::from_hours(24 * 4));
    sqlx::query("select platform.upkeep_journals()").execute(db.db.pool()).await.unwrap();
    assert!(matches!(here.subscribe(ours, "t", Some(old)).await, Err(SubscribeError::Gap)));
    // A position from another database, or made up, is one too.
    let foreign = "99999999999-1".parse().unwrap();
    assert!(matches!(here.subscribe(ours, "t", Some(foreign)).await, Err(SubscribeError::Gap)));
    assert!(here.subscribe(ours, "t", None).await.is_ok());
}

#[tokio::test]
async fn a_bus_that_was_restored_into_another_cluster_begins_anew_and_tells_old_positions_of_the_gap() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    // As a dump of an older cluster leaves it: ids of transactions that are yet to come here.
    let restored = "insert into bus.messages (workspace_id, topic, xid, payload) select workspace_id, 't', '99999999', '1' from core.workspaces;
                    update bus.forgotten set xid = '99999998'";
    sqlx::raw_sql(restored).execute(&mut db.owner().await).await.unwrap();
    // Something that began before the restoration still runs.
    let mut old = db.db.begin(ours).await.unwrap();
    bus::publish(&mut old, ours, "other", &json!(1)).await.unwrap();
    platform::install(&mut db.owner().await, &[platform::SQL]).await.unwrap();
    let (_, here, _guard) = process(&db);
    assert!(matches!(here.subscribe(ours, "t", Some("99999999-1".parse().unwrap())).await, Err(SubscribeError::Gap)));
    let mut subscription = here.subscribe(ours, "t", None).await.unwrap();
    old.rollback().await.unwrap();
    publish(&db.db, ours, "t", json!("new")).await;
    assert_eq!(said(&subscription.next().await.unwrap().unwrap()), json!("new"));
}

#[tokio::test]
async fn looking_for_news_reads_nothing_of_what_was_told_before() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let told = "select count(bus.publish($1, 'chat:' || n, '1')) from generate_series(1, 20000) n";
    sqlx::query(told).bind(ours.uuid()).execute(db.db.pool()).await.unwrap();
    db.settled().await;
    let walked = "select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint from pg_stat_xact_user_tables
                   where schemaname = 'bus' and relname like 'messages%'";
    // Sessions of their own, because what a session has walked before is counted with it.
    let mut tx = db.another().begin_system().await.unwrap();
    let look = "select count(*) from bus.read_all_after(bus.position(), 1000)";
    for _ in 0..10 {
        assert_eq!(sqlx::query_scalar::<_, i64>(look).fetch_one(&mut *tx).await.unwrap(), 0);
    }
    let rows: i64 = sqlx::query_scalar(walked).fetch_one(&mut *tx).await.unwrap();
    assert!(rows <= 100, "{rows} rows for ten looks");
    // Whoever has nothing there walks no further than the others.
    let mut quiet = db.another().begin(db.workspace("quiet").await).await.unwrap();
    for _ in 0..10 {
        sqlx::query("select bus.position()").execute(&mut *quiet).await.unwrap();
    }
    let rows: i64 = sqlx::query_scalar(walked).fetch_one(&mut *quiet).await.unwrap();
    assert!(rows <= 100, "{rows} rows for ten places");
}
