//! What people and programs read about posts, deliveries, events, channels and ingest: the same for the API and the console.
//!
//! Everything is read inside a transaction of one workspace and by key, and nothing goes on for ever: counts stop, and a
//! filter that no index knows is tried on [`SCAN_MAX`] rows at a time. Its page may then be shorter than its limit and
//! still have a `next`.
//!
//! A time or place to begin at is always a query of its own, `(select …)`: row security keeps a condition out of an index
//! if it holds an expression that PostgreSQL does not trust, and `coalesce`, which is inside `platform.now()`, is one.

mod channels;
mod deliveries;
mod events;
mod health;
mod ingest;
mod messages;

pub use channels::*;
pub use deliveries::*;
pub use events::*;
pub use health::*;
pub use ingest::*;
pub use messages::*;

use platform::DbError;
use sqlx::{PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

/// How many rows one page looks at, at most.
pub const SCAN_MAX: i64 = 10_000;

/// One page of a list that is ordered by id, newest first.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    pub rows: Vec<T>,
    /// Where the next page begins, if there may be one.
    pub next: Option<Uuid>,
}

impl<T> Rows<T> {
    /// A page of an ordinary query: full means that there may be more.
    fn full(rows: Vec<T>, limit: i64, id: impl Fn(&T) -> Uuid) -> Self {
        let next = (i64::try_from(rows.len()) == Ok(limit)).then(|| rows.last().map(id)).flatten();
        Self { rows, next }
    }
}

/// Where a scan of this table that began at `before` has stopped, if it stopped before the end of the table.
async fn scan_end(
    tx: &mut PgConnection,
    table: &'static str,
    id: &'static str,
    before: Option<Uuid>,
) -> Result<Option<Uuid>, DbError> {
    let mut query =
        QueryBuilder::<Postgres>::new(format!("select {id} from {table} where workspace_id = platform.workspace_id()"));
    if let Some(before) = before {
        query.push(format_args!(" and {id} < ")).push_bind(before);
    }
    query.push(format_args!(" order by {id} desc offset {} limit 1", SCAN_MAX - 1));
    Ok(query.build_query_scalar().fetch_optional(tx).await?)
}
