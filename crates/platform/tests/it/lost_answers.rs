//! The answer of the database is lost on its way: what waits for it gives it up, and goes on.

use std::time::Duration;

use platform::{
    Db,
    bus::{self, Bus},
    jobs::JobType,
    wake::Topic,
};
use serde_json::json;
use testkit::{LossyWire, PATIENCE, TestDb};
use tokio_util::sync::CancellationToken;

/// A process over a wire that loses answers from now on. It has a connection, so that what is lost is the answer to a question.
async fn deaf_process(test: &TestDb) -> (Db, LossyWire) {
    let (process, wire) = test.over_a_wire();
    process.ping().await.unwrap();
    while process.pool().num_idle() == 0 {
        tokio::task::yield_now().await;
    }
    wire.lose_answers();
    (process, wire)
}

/// On the machine's clock: how long a test waits for what should happen at once.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it waits for an answer that never comes")
}

#[tokio::test]
async fn a_wake_up_whose_answer_is_lost_holds_back_no_later_one() {
    let test = TestDb::new().await;
    let other = test.another();
    let mut news = other.wake().subscribe(Topic::JOBS);
    let stop = CancellationToken::new();
    let _guard = stop.clone().drop_guard();
    tokio::spawn(other.wake().clone().listen(stop));
    // Rung once it listens.
    soon(news.changed()).await.unwrap();
    let (process, wire) = deaf_process(&test).await;
    process.wake().tell(Topic::JOBS);
    wire.lose_one_answer_for_a_minute().await;
    soon(process.wake().flush()).await;
    process.wake().tell(Topic::JOBS);
    soon(news.changed()).await.unwrap();
}

#[tokio::test]
async fn a_process_that_ends_waits_for_its_wake_ups_no_longer_than_half_a_minute() {
    let test = TestDb::new().await;
    let (process, wire) = deaf_process(&test).await;
    process.wake().tell(Topic::JOBS);
    wire.until_lost().await;
    let mut flushing = std::pin::pin!(process.wake().flush());
    assert!(futures::poll!(&mut flushing).is_pending());
    // Told again and again: the line is never at rest.
    let told = process.clone();
    let telling = tokio::spawn(async move {
        loop {
            told.wake().tell(Topic::JOBS);
            tokio::task::yield_now().await;
        }
    });
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(30)).await;
    tokio::time::resume();
    soon(flushing).await;
    telling.abort();
}

#[tokio::test]
async fn the_reader_of_the_bus_gives_up_a_lost_answer_and_reads_on() {
    let test = TestDb::new().await;
    let ours = test.workspace("ours").await;
    let (process, wire) = test.over_a_wire();
    let bus = Bus::new(process).looking_every(Duration::from_millis(10));
    let mut subscription = bus.subscribe(ours, "t", None).await.unwrap();
    let stop = CancellationToken::new();
    let reading = tokio::spawn(bus.run(stop.clone()));
    wire.lose_answers();
    wire.until_lost().await;
    let mut tx = test.db.begin(ours).await.unwrap();
    bus::publish(&mut tx, ours, "t", &json!("news")).await.unwrap();
    tx.commit().await.unwrap();
    wire.lose_one_answer_for_a_minute().await;
    assert_eq!(&*soon(subscription.next()).await.unwrap().unwrap().payload, "\"news\"");
    stop.cancel();
    soon(reading).await.unwrap();
}

#[tokio::test]
async fn a_reader_of_the_bus_that_waits_for_a_lost_answer_stops_when_it_is_told_to() {
    let test = TestDb::new().await;
    let ours = test.workspace("ours").await;
    let (process, wire) = test.over_a_wire();
    let bus = Bus::new(process).looking_every(Duration::from_millis(10));
    let _subscription = bus.subscribe(ours, "t", None).await.unwrap();
    let stop = CancellationToken::new();
    let reading = tokio::spawn(bus.run(stop.clone()));
    wire.lose_answers();
    wire.until_lost().await;
    let before = std::time::Instant::now();
    stop.cancel();
    soon(reading).await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(30), "it waited for the answer");
}

#[tokio::test]
async fn a_position_of_the_bus_whose_answer_is_lost_is_an_error_after_a_minute() {
    let test = TestDb::new().await;
    let (process, wire) = deaf_process(&test).await;
    let bus = Bus::new(process);
    let asking = async { bus.position().await };
    let (position, ()) = tokio::join!(asking, wire.lose_one_answer_for_a_minute());
    assert!(position.unwrap_err().is_retryable());
    assert!(bus.position().await.is_ok());
}

#[tokio::test]
async fn a_process_that_cannot_report_itself_stops_when_it_is_told_to() {
    let test = TestDb::new().await;
    let (process, wire) = deaf_process(&test).await;
    let stop = CancellationToken::new();
    let reporting = tokio::spawn(platform::process::report(process, vec!["api"], "1", stop.clone()));
    wire.until_lost().await;
    wire.mend();
    stop.cancel();
    soon(reporting).await.unwrap();
}

#[tokio::test]
async fn a_process_whose_report_was_lost_reports_itself_again() {
    let test = TestDb::new().await;
    let (process, wire) = deaf_process(&test).await;
    let stop = CancellationToken::new();
    let _guard = stop.clone().drop_guard();
    tokio::spawn(platform::process::report(process, vec!["api"], "1", stop));
    wire.lose_one_answer_for_a_minute().await;
    // It gives the answer up, and sleeps.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    // The time between two reports.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    testkit::until("the process is on the list", async || {
        let count: i64 = sqlx::query_scalar("select count(*) from ops.processes").fetch_one(test.db.pool()).await.unwrap();
        (count == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_runner_that_cannot_make_its_types_known_stops_when_it_is_told_to() {
    let test = TestDb::new().await;
    let (process, wire) = deaf_process(&test).await;
    let runner = crate::jobs::runner(&process, JobType::new(crate::jobs::TYPE), |_| async { Ok(()) });
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    wire.until_lost().await;
    stop.cancel();
    soon(running).await.unwrap();
}
