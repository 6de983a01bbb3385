//! What the functions of this module refuse. `ZG001` and its kind are for the person: the message is the text of the specification, the
//! hint says what to do about it, and the detail is JSON where there is more to tell.

use platform::DbError;
use serde_json::Value;
use sqlx::postgres::PgDatabaseError;

/// One of our SQL functions refused.
#[derive(Clone, Debug)]
pub(crate) struct SqlRefusal {
    /// Its SQLSTATE.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) detail: Option<Value>,
}

impl SqlRefusal {
    pub(crate) fn is_expired(&self) -> bool {
        self.code == "ZG014"
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.code == "ZG015"
    }

    pub(crate) fn is_prevented(&self) -> bool {
        self.code == "ZG016"
    }
}

/// Why a call of the database came to nothing.
#[derive(Debug)]
pub(crate) enum Stop {
    /// By the rules: an answer for the person.
    Refused(SqlRefusal),
    Db(DbError),
}

impl From<DbError> for Stop {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

impl From<sqlx::Error> for Stop {
    fn from(error: sqlx::Error) -> Self {
        let found = error.as_database_error().and_then(|error| error.try_downcast_ref::<PgDatabaseError>());
        match found {
            // ZG002 is a mistake of ours: the arguments were checked before.
            Some(refused) if refused.code().starts_with("ZG") && refused.code() != "ZG002" => Self::Refused(SqlRefusal {
                code: refused.code().to_owned(),
                message: refused.message().to_owned(),
                hint: refused.hint().map(ToOwned::to_owned),
                detail: refused.detail().and_then(|detail| serde_json::from_str(detail).ok()),
            }),
            _ => Self::Db(error.into()),
        }
    }
}
