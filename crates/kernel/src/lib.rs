//! Words and pure rules that every room of the house uses. Nothing here does I/O.

pub mod adapter;
pub mod clock;
pub mod envelope;
pub mod ids;
pub mod oid;
pub mod problem;
pub mod redact;
pub mod retry;
pub mod scope;
pub mod secret;
pub mod text;

pub use adapter::{AdapterError, Category, ErrorKind, ErrorScope};
pub use clock::Clock;
pub use envelope::{Correlation, Envelope, EnvelopeMeta, ErrorBody};
pub use ids::{TraceId, WorkspaceId, new_id};
pub use oid::{ObjectId, Oid};
pub use problem::{Kind, Problem};
pub use retry::{NextTry, RetryPolicy};
pub use scope::{Bundle, Scope, Scopes};
pub use secret::{Secret, SecretRef};
