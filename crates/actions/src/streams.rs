//! The open streams of this process: how many there may be for a token, for an address and in all, and whether their tokens still
//! have their rights.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kernel::Secret;
use platform::http::{App, Ctx};
use uuid::Uuid;

use crate::scopes;

/// What streams may cost.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// In all; the rest of the connections is left to plain requests.
    pub streams_max: usize,
    pub per_token_max: usize,
    pub per_address_max: usize,
    /// For so long the rights of a token count as checked: a revoked one hears nothing more after it.
    pub rights_for: Duration,
    /// While one stream of a token asks, the others go by the last answer for so much longer, and then wait for the new one.
    pub asked_within: Duration,
    /// A comment goes out after so much silence, because what stands between closes idle connections.
    pub heartbeat: Duration,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            streams_max: 8000,
            per_token_max: 1000,
            per_address_max: 1000,
            rights_for: Duration::from_secs(10),
            asked_within: Duration::from_secs(1),
            heartbeat: Duration::from_secs(15),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) limits: StreamLimits,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    streams: usize,
    tokens: HashMap<Uuid, Token>,
    addresses: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Token {
    streams: usize,
    checked_at: Instant,
    may_read: bool,
    /// One of the streams asks right now; the others go by the last answer.
    is_asking: bool,
}

impl Streams {
    pub(crate) fn new(limits: StreamLimits) -> Self {
        Self { limits, open: Mutex::default() }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more stream of a token that was checked just now; nothing when there are too many.
    pub(crate) fn enter(self: &Arc<Self>, token_id: Uuid, address: Option<IpAddr>) -> Option<Seat> {
        let mut open = self.open();
        let of_token = open.tokens.get(&token_id).map_or(0, |token| token.streams);
        let of_address = address.and_then(|address| open.addresses.get(&address).copied()).unwrap_or(0);
        let limits = &self.limits;
        if open.streams >= limits.streams_max || of_token >= limits.per_token_max || of_address >= limits.per_address_max {
            return None;
        }
        open.streams += 1;
        // A stream that was let in a moment before its token was revoked gives the others no more time.
        let now = Instant::now();
        let known = open.tokens.entry(token_id);
        let known = known.or_insert(Token { streams: 0, checked_at: now, may_read: true, is_asking: false });
        known.streams += 1;
        if !known.may_read {
            // It was let in, so the last answer may be no longer true: whoever looks next asks again.
            *known = Token { may_read: true, checked_at: now.checked_sub(limits.rights_for).unwrap_or(now), ..*known };
        }
        if let Some(address) = address {
            *open.addresses.entry(address).or_default() += 1;
        }
        metrics::gauge!("actions_streams_open").increment(1.0);
        Some(Seat { streams: Arc::clone(self), token_id, address })
    }
}

/// The right to one stream, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    streams: Arc<Streams>,
    token_id: Uuid,
    address: Option<IpAddr>,
}

impl Seat {
    /// Whether the token still has its rights; nothing when nobody can say. The streams of one token share the answer, so that thousands of
    /// them ask once.
    pub(crate) async fn may_go_on(&self, app: &App, token: &Secret) -> Option<bool> {
        {
            let mut open = self.streams.open();
            let Some(known) = open.tokens.get_mut(&self.token_id) else { return Some(false) };
            let age = known.checked_at.elapsed();
            let StreamLimits { rights_for, asked_within, .. } = self.streams.limits;
            if age < rights_for || known.is_asking {
                // While one of them asks, the others go by the last answer for a moment, and then wait.
                return Some(known.may_read).filter(|_| age < rights_for + asked_within);
            }
            known.is_asking = true;
        }
        let _asking = Asking(self);
        let answer = match Ctx::authenticate(app, token).await {
            Ok(ctx) => Some(ctx.principal.scopes.contains(scopes::WATCH)),
            Err(problem) if problem.status == 401 => Some(false),
            // A database that does not answer takes no rights away, and gives none.
            Err(_) => None,
        };
        if let (Some(may_read), Some(known)) = (answer, self.streams.open().tokens.get_mut(&self.token_id)) {
            known.checked_at = Instant::now();
            known.may_read = may_read;
        }
        answer
    }
}

/// Lets another stream ask, also when the one that asks ends before it has an answer.
struct Asking<'a>(&'a Seat);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(known) = self.0.streams.open().tokens.get_mut(&self.0.token_id) {
            known.is_asking = false;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        open.streams = open.streams.saturating_sub(1);
        if let Entry::Occupied(mut token) = open.tokens.entry(self.token_id) {
            token.get_mut().streams -= 1;
            if token.get().streams == 0 {
                token.remove();
            }
        }
        if let Some(address) = self.address
            && let Entry::Occupied(mut of_address) = open.addresses.entry(address)
        {
            *of_address.get_mut() -= 1;
            if *of_address.get() == 0 {
                of_address.remove();
            }
        }
        metrics::gauge!("actions_streams_open").decrement(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_limited_for_a_token_for_an_address_and_in_all_and_a_closed_one_makes_room() {
        let limits = StreamLimits { streams_max: 4, per_token_max: 2, per_address_max: 3, ..StreamLimits::default() };
        let streams = Arc::new(Streams::new(limits));
        let (one, two, three) = (Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3));
        let here = Some(IpAddr::from([10, 0, 0, 1]));
        let first = streams.enter(one, here).unwrap();
        let _second = streams.enter(one, here).unwrap();
        assert!(streams.enter(one, None).is_none(), "of the token");
        let _third = streams.enter(two, here).unwrap();
        assert!(streams.enter(two, here).is_none(), "of the address");
        let _fourth = streams.enter(two, None).unwrap();
        assert!(streams.enter(three, None).is_none(), "in all");
        drop(first);
        assert!(streams.enter(one, here).is_some());
    }

    #[test]
    fn nothing_is_remembered_of_streams_that_are_closed() {
        let streams = Arc::new(Streams::new(StreamLimits::default()));
        for n in 0..100 {
            let address = IpAddr::from([10, 0, 0, n]);
            drop(streams.enter(Uuid::from_u128(n.into()), Some(address)).unwrap());
        }
        let open = streams.open();
        assert_eq!((open.streams, open.tokens.len(), open.addresses.len()), (0, 0, 0));
    }
}
