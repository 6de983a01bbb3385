//! One call of one method: who calls, with what, and what is written down about it.

use std::sync::Arc;

use serde::Serialize;

use crate::clock::unix_ms;
use crate::faults::Provider;
use crate::http::Part;
use crate::ledger::{Accepted, CallNote, Sent};
use crate::params::Params;
use crate::simulators::World;
use crate::sync::lock;

use super::bots::Bot;
use super::errors::Refusal;

pub(super) struct Call {
    pub(super) world: Arc<World>,
    pub(super) bot: Arc<Bot>,
    pub(super) method: &'static str,
    /// `chat_id` as the caller wrote it.
    pub(super) target: Option<Arc<str>>,
    pub(super) params: Params,
    pub(super) files: Vec<Part>,
    started_at: i64,
    /// Set by a fault: the answer comes late, and it is not yet known whether it arrives.
    pub(super) late: bool,
    pub(super) dropped: bool,
    pub(super) sent: Option<Arc<Sent>>,
}

#[derive(Serialize)]
struct Envelope<'a, T: ?Sized> {
    ok: bool,
    result: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
}

impl Call {
    pub(super) fn new(world: Arc<World>, bot: Arc<Bot>, method: &'static str, params: Params, files: Vec<Part>) -> Self {
        let target = params.text("chat_id").map(Arc::from);
        Self { world, bot, method, target, params, files, started_at: unix_ms(), late: false, dropped: false, sent: None }
    }

    /// Whether a fault's target is this call's chat, however either of them is written.
    pub(super) fn aims_at(&self, target: &str) -> bool {
        let Some(own) = self.target.as_deref() else {
            return false;
        };
        own == target || {
            let chats = &mut lock(&self.world.telegram.state).chats;
            chats.resolve(own).is_ok_and(|id| chats.resolve(target) == Ok(id))
        }
    }

    /// The rate limits of the provider, when the test switched them on.
    pub(super) fn admit(&self) -> Result<(), Refusal> {
        let limits = &self.world.telegram.limits;
        if limits.get() == (0, 0) {
            return Ok(());
        }
        let chat_id = self
            .target
            .as_deref()
            .filter(|_| self.method.starts_with("send"))
            .and_then(|target| lock(&self.world.telegram.state).chats.resolve(target).ok());
        if limits.admit(self.bot.user.id, chat_id) { Ok(()) } else { Err(Refusal::flood(1)) }
    }

    /// Writes the accepted call into the ledger. Called under the lock of the state, so that the ledger has the
    /// order in which message ids were given.
    pub(super) fn accept(&mut self, accepted: Accepted) {
        self.sent = Some(self.world.ledger.accept(accepted, !self.late));
    }

    pub(super) fn note_served(&self, status: u16, error: Option<&str>) {
        self.write_note(status, error, self.dropped, self.dropped);
    }

    pub(super) fn note(&self, status: u16, error: Option<&str>, dropped: bool) {
        self.write_note(status, error, true, dropped);
    }

    fn write_note(&self, status: u16, error: Option<&str>, fault: bool, dropped: bool) {
        self.world.ledger.call(CallNote {
            provider: Provider::Telegram,
            bot_id: self.bot.user.id,
            method: self.method,
            target: self.target.clone(),
            status,
            error: error.map(Into::into),
            started_at: self.started_at,
            fault,
            dropped,
        });
    }
}

/// A method's outcome: the body of the answer, already serialized.
pub(super) type Outcome = Result<Vec<u8>, Refusal>;

pub(super) fn success<T: Serialize + ?Sized>(result: &T) -> Outcome {
    described(result, None)
}

pub(super) fn described<T: Serialize + ?Sized>(result: &T, description: Option<&'static str>) -> Outcome {
    let envelope = Envelope { ok: true, result, description };
    serde_json::to_vec(&envelope).map_err(|_| Refusal::internal())
}
