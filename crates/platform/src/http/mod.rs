//! The ground that every HTTP handler stands on: who calls, how answers look, and the limits around them.

mod answer;
pub mod api;
mod body;
mod ctx;
pub mod docs;
mod layers;
mod origins;

pub use answer::{Answer, Failure};
pub use body::{Json, Path, Query, parse_json};
pub use ctx::{Ctx, Page, bearer};
pub use layers::{Limits, current_trace, fallback, method_not_allowed, take_up_to, wrap};
pub use origins::{loopback_origins, with_cors};

use kernel::Clock;
use tokio_util::sync::CancellationToken;

use crate::{Db, bus::Bus, objects::Objects};

/// What handlers share.
#[derive(Clone, Debug)]
pub struct App {
    pub db: Db,
    pub bus: Bus,
    pub objects: Objects,
    /// Cancelled when the process stops: long streams end on it.
    pub stop: CancellationToken,
}

impl App {
    pub fn clock(&self) -> &Clock {
        self.db.clock()
    }
}
