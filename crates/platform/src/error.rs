//! What the database answered, sorted by what the caller can do about it.

use kernel::Problem;

#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// Gone, overloaded, or a lost race: the same call may succeed later. A lost COMMIT answer is one of
    /// these, and means "unknown", so only calls that are harmless to repeat may be repeated blindly.
    #[error("the database does not answer: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// One of our own SQL functions refused, with a SQLSTATE of ours (`Z…`).
    #[error("{message}")]
    Refused {
        code: String,
        message: String,
        hint: Option<String>,
        /// What to correct, where the function knows (its `column`).
        field: Option<String>,
    },
    /// A constraint refused; its name is the sentence that was broken.
    #[error("the rule `{constraint}` was broken")]
    Constraint { constraint: String },
    /// A mistake of ours.
    #[error("database: {0}")]
    Bug(#[source] sqlx::Error),
}

impl DbError {
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }

    /// Whether somebody else held what was needed for longer than we wait.
    pub fn is_lock_timeout(&self) -> bool {
        let Self::Unavailable(source) = self else { return false };
        source.as_database_error().is_some_and(|error| error.code().as_deref() == Some("55P03"))
    }

    /// Whether a function of ours refused with this SQLSTATE.
    pub fn is_refusal(&self, sqlstate: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == sqlstate)
    }
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        let sqlx::Error::Database(database) = &error else {
            return match error {
                sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed
                | sqlx::Error::Protocol(_) => Self::Unavailable(error),
                other => Self::Bug(other),
            };
        };
        let code = database.code().unwrap_or_default().into_owned();
        if is_retryable_sqlstate(&code) {
            return Self::Unavailable(error);
        }
        if code == "22021" {
            let message = "a text holds a character that no text of the database can hold".to_owned();
            return Self::Refused { code, message, hint: None, field: None };
        }
        if code.starts_with('Z') {
            let postgres = database.try_downcast_ref::<sqlx::postgres::PgDatabaseError>();
            let hint = postgres.and_then(|postgres| postgres.hint()).map(ToOwned::to_owned);
            let field = postgres.and_then(|postgres| postgres.column()).map(ToOwned::to_owned);
            return Self::Refused { code, message: database.message().to_owned(), hint, field };
        }
        match database.constraint() {
            Some(constraint) => Self::Constraint { constraint: constraint.to_owned() },
            None => Self::Bug(error),
        }
    }
}

/// Connection lost, shutting down, starting, out of a resource, read-only after a failover, timed out, or a lost race.
fn is_retryable_sqlstate(code: &str) -> bool {
    matches!(code, "40001" | "40P01" | "25006" | "55P03" | "57014" | "57P01" | "57P02" | "57P03" | "57P05")
        || code.starts_with("08")
        || code.starts_with("53")
}

impl From<DbError> for Problem {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Unavailable(source) => {
                tracing::warn!(error = %source, "database.unavailable");
                Self::database_unavailable()
            }
            DbError::Refused { message, field: Some(field), .. } => Self::validation(&field, message),
            DbError::Refused { code, message, hint, field: None } => {
                let message = hint.map_or(message.clone(), |hint| format!("{message} ({hint})"));
                Self::bad_request("request.refused", message).with("sqlstate", code)
            }
            DbError::Constraint { constraint } => {
                Self::bad_request("request.constraint", format!("the rule `{}` was broken", constraint.replace('_', " ")))
                    .with("rule", constraint)
            }
            DbError::Bug(source) => {
                tracing::error!(error = %source, "database.bug");
                Self::internal()
            }
        }
    }
}
