//! One request to a provider without bots: a fault strikes it or it is served, and the ledgers get their lines.

use std::sync::Arc;

use axum::http::header;
use axum::response::Response;

use crate::clock::unix_ms;
use crate::connection::Connection;
use crate::faults::Provider;
use crate::injection::Served;
use crate::ledger::{Accepted, CallNote, FileNote, Sent};
use crate::params::Params;
use crate::simulators::World;

/// A request that was read.
pub(crate) struct Asked {
    pub(crate) world: Arc<World>,
    pub(crate) provider: Provider,
    /// 0 where there are no bots.
    pub(crate) bot_id: i64,
    pub(crate) method: &'static str,
    /// The model, or the path of a page.
    pub(crate) target: Arc<str>,
    /// What `GET /control/sent` shows of it.
    pub(crate) params: Params,
    pub(crate) files: Vec<FileNote>,
    /// How much of the ledger it takes.
    pub(crate) weight: usize,
    pub(crate) connection: Option<Connection>,
}

/// What the provider's own rules made of it.
pub(crate) struct Reply {
    pub(crate) response: Response,
    /// The text of a refusal.
    pub(crate) error: Option<String>,
    /// Whether it is shown among the accepted.
    pub(crate) is_accepted: bool,
}

/// How one provider words the errors that a fault asks for.
#[derive(Clone, Copy)]
pub(crate) struct Manners {
    pub(crate) own_error: fn(u16, Option<u32>) -> Response,
    /// Gemini names the pause in the body only: a client that looks at the header alone must fail here too.
    pub(crate) has_retry_header: bool,
}

/// Serves a request, or lets the fault aimed at it strike. `service` runs only if the provider gets to see it.
pub(crate) async fn exchange(asked: Asked, manners: Manners, service: impl Future<Output = Reply> + Send + 'static) -> Response {
    let started_at = unix_ms();
    let target = Arc::clone(&asked.target);
    let aims_at = |aim: &str| aim.trim_start_matches('/') == target.trim_start_matches('/');
    let Some(injection) = asked.world.faults.strike(asked.provider, asked.method, aims_at) else {
        return serve(asked, started_at, None, service).await.response;
    };
    let connection = asked.connection.clone();
    let is_dropped = injection.drop.is_some();
    if injection.strikes_before_service() {
        let status = if is_dropped { 0 } else { injection.status.unwrap_or(0) };
        asked.note(started_at, (status, None), Some(is_dropped));
        let mut response = injection.refuse(connection, manners.own_error).await;
        if !manners.has_retry_header {
            response.headers_mut().remove(header::RETRY_AFTER);
        }
        return response;
    }
    injection.serve(connection, serve(asked, started_at, Some(is_dropped), service)).await
}

/// `late` is set by a fault: the answer comes later or, when it is true, never.
async fn serve(asked: Asked, started_at: i64, late: Option<bool>, service: impl Future<Output = Reply>) -> Served {
    let reply = service.await;
    let status = reply.response.status().as_u16();
    asked.note(started_at, (status, reply.error.as_deref()), late.filter(|is_dropped| *is_dropped));
    let sent = reply.is_accepted.then(|| asked.accept(late.is_none()));
    Served { response: reply.response, sent }
}

impl Asked {
    /// `fault` is there when a fault decided, and true when it dropped the connection.
    fn note(&self, started_at: i64, (status, error): (u16, Option<&str>), fault: Option<bool>) {
        self.world.ledger.call(CallNote {
            provider: self.provider,
            bot_id: self.bot_id,
            method: self.method,
            target: Some(Arc::clone(&self.target)),
            status,
            error: error.map(Into::into),
            started_at,
            fault: fault.is_some(),
            dropped: fault == Some(true),
        });
    }

    fn accept(self, is_answered: bool) -> Arc<Sent> {
        let accepted = Accepted {
            provider: self.provider,
            bot_id: self.bot_id,
            method: self.method,
            target: self.target,
            chat_id: 0,
            text: None,
            parse_mode: None,
            entities: None,
            params: self.params,
            files: self.files,
            message_ids: Vec::new(),
        };
        self.world.ledger.accept_weighed(accepted, is_answered, self.weight)
    }
}
