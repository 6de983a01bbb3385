//! What the tests share.

use testkit::TestDb;

use crate::world::MODULES;

/// A database with posting installed, on a clock that moves only when told to.
pub(crate) async fn frozen() -> TestDb {
    TestDb::frozen_with(MODULES).await
}
