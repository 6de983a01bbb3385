//! A query to somebody's PostgreSQL, read into items.
//!
//! The watermark is the pair (ts, id) of the last row, so rows of one instant are neither lost nor repeated. The
//! session can only read, is bounded in time and rows, and is closed when the rows are here.

use std::{str::FromStr, time::Duration};

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use kernel::Secret;
use serde_json::Value;
use sqlx::{
    AssertSqlSafe, Connection, Encode, PgConnection, Postgres, Row, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgConnectOptions, PgRow, PgTypeInfo},
};

use super::item::{Item, SUMMARY_CHARS_MAX, TEXT_CHARS_MAX, TITLE_CHARS_MAX, shown, shown_link};

const STATEMENT_TIMEOUT: &str = "10000";
const DEADLINE: Duration = Duration::from_secs(20);

/// Which rows to ask for.
#[derive(Clone, Debug)]
pub(super) struct WantedRows {
    /// The watermark; nothing before the first row was seen.
    pub(super) after: Option<Mark>,
    /// From the end instead of from the beginning: the first run, when it posts only the latest.
    pub(super) is_latest: bool,
    pub(super) rows_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) ts: Timestamp,
    pub(super) id: String,
}

/// The rows, oldest first, each with its watermark.
pub(super) async fn read(url: &Secret, query: &str, wanted: &WantedRows) -> Result<Vec<(Item, Mark)>, String> {
    match tokio::time::timeout(DEADLINE, rows(url, query, wanted)).await {
        Ok(result) => result,
        Err(_elapsed) => Err("the database of the source did not answer in time".into()),
    }
}

async fn rows(url: &Secret, query: &str, wanted: &WantedRows) -> Result<Vec<(Item, Mark)>, String> {
    let options = PgConnectOptions::from_str(url.expose())
        .map_err(|_| "the secret `database_url` is not an address of PostgreSQL, such as postgres://reader:…@host/news")?
        .application_name("beresta-pull")
        .options([
            ("default_transaction_read_only", "on"),
            ("statement_timeout", STATEMENT_TIMEOUT),
            ("lock_timeout", STATEMENT_TIMEOUT),
            ("idle_in_transaction_session_timeout", STATEMENT_TIMEOUT),
            ("timezone", "UTC"),
        ]);
    let mut connection = PgConnection::connect_with(&options).await.map_err(|error| explain(&error))?;
    // A query that does not mention both parameters is still given both, and their types are ours to say.
    let direction = if wanted.is_latest { "desc" } else { "asc" };
    let text = format!(
        "with beresta_mark as (select $1::timestamptz, $2::text)
         select q.id::text as id, q.ts::timestamptz as ts, to_jsonb(q) as fields from (\n{query}\n) q
          order by q.ts {direction}, q.id {direction} limit {}",
        wanted.rows_max
    );
    let since = Since(wanted.after.as_ref().map(|mark| mark.ts));
    let id = wanted.after.as_ref().map(|mark| mark.id.clone());
    let found = async {
        let mut tx = connection.begin().await?;
        sqlx::query("set transaction read only").execute(&mut *tx).await?;
        let found = sqlx::query(AssertSqlSafe(text)).bind(since).bind(id).fetch_all(&mut *tx).await?;
        tx.rollback().await?;
        Ok(found)
    };
    let found: Result<Vec<PgRow>, sqlx::Error> = found.await;
    let _ = connection.close().await;
    let mut items =
        found.and_then(|rows| rows.iter().map(item).collect::<Result<Vec<_>, _>>()).map_err(|error| explain(&error))?;
    if wanted.is_latest {
        items.reverse();
    }
    Ok(items)
}

/// A time to compare with. Nothing means before everything: a row comparison then never looks at the id, which has no
/// smallest value. jiff has no such time, so it is written as PostgreSQL keeps it.
struct Since(Option<Timestamp>);

impl Type<Postgres> for Since {
    fn type_info() -> PgTypeInfo {
        <jiff_sqlx::Timestamp as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Since {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match self.0 {
            Some(time) => Encode::<Postgres>::encode_by_ref(&time.to_sqlx(), buffer),
            None => Encode::<Postgres>::encode_by_ref(&i64::MIN, buffer),
        }
    }
}

fn item(row: &PgRow) -> Result<(Item, Mark), sqlx::Error> {
    let id: String = row.try_get("id")?;
    let ts = row.try_get::<jiff_sqlx::Timestamp, _>("ts")?.to_jiff();
    let fields: Value = row.try_get("fields")?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let text_of_post = text("text").ok_or_else(|| sqlx::Error::ColumnNotFound("text".into()))?;
    let item = Item {
        text: shown(text_of_post, TEXT_CHARS_MAX),
        title: text("title").and_then(|title| shown(title, TITLE_CHARS_MAX)),
        summary: text("summary").and_then(|summary| shown(summary, SUMMARY_CHARS_MAX)),
        link: text("link").and_then(shown_link),
        tags: tags(fields.get("tags")),
        published: Some(ts),
        ..Item::new(&id)
    };
    Ok((item, Mark { ts, id }))
}

/// An array, or words with commas or spaces between them.
fn tags(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
        Some(Value::String(tags)) => {
            tags.split([',', ' ', ';']).filter(|tag| !tag.trim().is_empty()).map(|tag| tag.trim().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// What went wrong, in words that hold neither the address nor the password of the database.
fn explain(error: &sqlx::Error) -> String {
    const COLUMNS: &str = "the query has to return the columns id, text and ts";
    match error {
        sqlx::Error::Database(database) => match database.code().as_deref() {
            Some("28P01" | "28000") => "the database of the source refuses the user or the password".into(),
            Some("57014") => "the query of the source took longer than 10 seconds".into(),
            Some("25006") => "the query of the source tries to write, and it may only read".into(),
            Some("42703") => format!("{COLUMNS}: {}", database.message()),
            _ => format!("the query of the source fails: {}", database.message()),
        },
        sqlx::Error::ColumnNotFound(_) | sqlx::Error::ColumnDecode { .. } => format!("{COLUMNS}, none of them null"),
        _ => "the database of the source cannot be reached".into(),
    }
}
