//! What the tests share.

use testkit::TestDb;

/// A database with posting installed, on a clock that moves only when told to.
pub(crate) async fn frozen() -> TestDb {
    let start = "2026-03-02T09:00:00Z".parse().unwrap();
    TestDb::with(&[platform::SQL, posting::SQL], kernel::Clock::frozen(start)).await
}
