//! Who comes from outside, and who is inside already, ask for connections of the same pool.

use std::time::Duration;

use platform::DbError;
use testkit::TestDb;
use tokio::task::JoinSet;

/// Many times as many as there are connections.
const CROWD: usize = 200;
/// Of the eight connections of a test: three quarters of all but the one that listens.
const PASSES: i64 = 5;
/// Less than the crowd waits for its lock, and for its connections.
const IN_TIME: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_crowd_at_the_door_does_not_stand_before_those_who_are_inside() {
    let test = TestDb::new().await;
    let mut owner = test.owner().await;
    sqlx::query("select pg_advisory_lock(7)").execute(&mut owner).await.unwrap();
    let mut crowd = JoinSet::new();
    for _ in 0..CROWD {
        let db = test.db.clone();
        crowd.spawn(async move {
            let pool = db.pool().clone();
            let ask = async move { Ok(sqlx::query("select pg_advisory_xact_lock_shared(7)").execute(&pool).await?) };
            db.at_the_door(ask).await
        });
    }
    // Until whoever fits is in, and waits.
    let waiting = "select count(*) from pg_stat_activity where wait_event = 'advisory' and datname = current_database()";
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut owner).await.unwrap() < PASSES {
        tokio::task::yield_now().await;
    }
    let inside = tokio::time::timeout(IN_TIME, test.db.begin_system()).await;
    assert!(inside.is_ok_and(|begun| begun.is_ok()), "a quarter of the connections is left to them");
    // Those who waited for too long are told to come back; the others are served.
    sqlx::query("select pg_advisory_unlock(7)").execute(&mut owner).await.unwrap();
    let served = crowd.join_all().await;
    assert!(served.iter().all(|one| matches!(one, Ok(_) | Err(DbError::Unavailable(_)))));
    assert!(served.iter().any(Result::is_ok));
}
