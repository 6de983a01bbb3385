//! Plays one fault on one request: a delay, an error instead of the service, or a dropped connection.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde_json::Value;

use crate::connection::{Connection, hang_up};
use crate::faults::Drop;
use crate::http;
use crate::ledger::Sent;

pub(crate) struct Injection {
    pub(crate) status: Option<u16>,
    pub(crate) body: Option<Value>,
    pub(crate) retry_after: Option<u32>,
    pub(crate) delay: Option<Duration>,
    pub(crate) drop: Option<Drop>,
}

/// A request that was really served.
pub(crate) struct Served {
    pub(crate) response: Response,
    pub(crate) sent: Option<Arc<Sent>>,
}

impl Injection {
    /// The request never reaches the provider's rules: it is refused or dropped at the door.
    pub(crate) fn strikes_before_service(&self) -> bool {
        match self.drop {
            Some(Drop::Before) => true,
            Some(Drop::After) => false,
            None => self.status.is_some(),
        }
    }

    /// Refuses or drops the request unserved. `own_error` makes the provider's own body for a status.
    pub(crate) async fn refuse(
        self,
        connection: Option<Connection>,
        own_error: impl FnOnce(u16, Option<u32>) -> Response,
    ) -> Response {
        if let Some(delay) = self.delay {
            tokio::time::sleep(delay).await;
        }
        let Some(status) = self.status.filter(|_| self.drop.is_none()) else {
            return hang_up(connection).await;
        };
        let mut response = match self.body {
            None => own_error(status, self.retry_after),
            // A text body is a front proxy's page, not the provider's JSON.
            Some(Value::String(page)) => http::bytes(status, "text/html; charset=utf-8", page),
            Some(body) => http::json(status, &body),
        };
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    /// Serves the request late, or serves it and loses the answer.
    pub(crate) async fn serve(
        self,
        connection: Option<Connection>,
        service: impl Future<Output = Served> + Send + 'static,
    ) -> Response {
        // A task of its own: a provider finishes what it accepted even when the client has gone away meanwhile.
        let work = tokio::spawn(async move {
            if let Some(delay) = self.delay {
                tokio::time::sleep(delay).await;
            }
            service.await
        });
        match (work.await, self.drop) {
            (Ok(served), None) => {
                if let Some(sent) = served.sent {
                    sent.mark_answered();
                }
                served.response
            }
            _ => hang_up(connection).await,
        }
    }
}
