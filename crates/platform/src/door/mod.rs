//! The door: one way in for what comes from outside. A request shows the secret of an endpoint, and `core.admit` looks at secret, size and rate in
//! one statement before the body is read: a request that is refused costs neither memory nor parsing. What the body says is for the module behind the door.

mod webhooks;

pub use webhooks::{BotModule, BotUpdate, Docs, InnerDoor, PolledUpdate, router};

use std::time::Duration;

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::HeaderMap,
};
use futures::StreamExt;
use kernel::{Problem, Secret};
use uuid::Uuid;

use crate::{
    Db, DbError,
    http::{Failure, Limits},
};

/// A longer text is no secret of ours and not worth a look.
const SECRET_BYTES_MAX: usize = 512;

/// Which endpoints an address is for, and how a request shows the secret of one.
#[derive(Clone, Copy, Debug)]
pub struct Entrance {
    pub kind: &'static str,
    /// The messenger, where an endpoint is the webhook of a bot.
    pub provider: Option<&'static str>,
    pub header: &'static str,
}

/// What `core.admit` said of a request: the endpoint that its secret led to, and whether it may come in.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Admission {
    pub workspace_id: Uuid,
    pub endpoint_id: Uuid,
    /// How large a body may be, here and now.
    pub bytes_max: i32,
    /// `admitted`, `too_large`, `rate_limited` or `unmeasured`.
    pub verdict: String,
    retry_after_seconds: Option<i32>,
    /// How many refusals are to be told now, if it is time to tell of any.
    pub refused: Option<i32>,
    /// The bot whose webhook it is, the module that it serves, and whether it is switched on.
    bot_id: Option<Uuid>,
    serves: Option<String>,
    is_on: Option<bool>,
}

impl Admission {
    fn bytes_max(&self) -> usize {
        usize::try_from(self.bytes_max).unwrap_or_default()
    }

    /// What is wrong with a request that is too large, in words.
    pub fn size_problem(&self) -> String {
        format!("the body is larger than it may be: this endpoint takes {} bytes", self.bytes_max)
    }
}

/// What became of a request at the door.
#[derive(Debug)]
pub enum Passage {
    /// No secret, more than one, or one that leads nowhere: the same answer for all of them.
    Unknown,
    TooLarge {
        admission: Admission,
        /// As far as it is known.
        bytes: u64,
        /// Still unread; empty if the sender did not say its length.
        body: Body,
    },
    RateLimited {
        admission: Admission,
        bytes: u64,
        retry_after: Duration,
    },
    Admitted {
        admission: Admission,
        body: Bytes,
    },
}

impl Entrance {
    /// The secret that a request shows: in one header, once.
    pub fn secret<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let mut given = headers.get_all(self.header).iter();
        match (given.next(), given.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    }

    /// Takes a request through the gates, and only then reads its body.
    pub async fn admit(&self, db: &Db, secret: Option<&str>, request: Request) -> Result<Passage, Failure> {
        let Some(secret) = secret.filter(|secret| !secret.is_empty() && secret.len() <= SECRET_BYTES_MAX) else {
            return Ok(Passage::Unknown);
        };
        // Looked up by its hash, so no timing tells how far a guess was right.
        let hash = Secret::new(secret).sha256_hex();
        let limits = request.extensions().get::<Limits>().copied().unwrap_or_default();
        let mut body = request.into_body();
        // Exact when the sender says the length: the server takes no byte more from it then.
        let mut bytes = body.size_hint().exact();
        let mut admission = self.ask(db, &hash, bytes, limits).await?;
        if let (None, Some(found)) = (bytes, &admission) {
            let read = read(body, found.bytes_max()).await?;
            bytes = u64::try_from(read.len()).ok();
            body = if read.len() > found.bytes_max() { Body::empty() } else { Body::from(read) };
            admission = self.ask(db, &hash, bytes, limits).await?;
        }
        let (Some(admission), Some(bytes)) = (admission, bytes) else { return Ok(Passage::Unknown) };
        Ok(match admission.verdict.as_str() {
            "admitted" => Passage::Admitted { body: read(body, admission.bytes_max()).await?, admission },
            "too_large" => Passage::TooLarge { admission, bytes, body },
            _ => {
                let seconds = admission.retry_after_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(1);
                Passage::RateLimited { admission, bytes, retry_after: Duration::from_secs(seconds) }
            }
        })
    }

    async fn ask(&self, db: &Db, hash: &str, bytes: Option<u64>, limits: Limits) -> Result<Option<Admission>, DbError> {
        let query = sqlx::query_as("select * from core.admit($1, $2, $3, $4, $5)")
            .bind(self.kind)
            .bind(hash.to_owned())
            .bind(bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)))
            .bind(i32::try_from(limits.body_bytes_max).unwrap_or(i32::MAX))
            .bind(self.provider);
        let pool = db.pool().clone();
        db.at_the_door(async move { Ok(query.fetch_optional(&pool).await?) }).await
    }
}

/// Reads a body, but no more of it than the limit and one chunk.
async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let mut stream = body.into_data_stream();
    let mut read = Vec::new();
    while read.len() <= bytes_max
        && let Some(chunk) = stream.next().await
    {
        read.extend_from_slice(&chunk.map_err(|_| Problem::bad_request("request.body", "the body did not arrive whole"))?);
    }
    Ok(read.into())
}
