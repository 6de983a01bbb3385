//! The handle to everything simulated, and the router that mounts it.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{any, get};
use serde_json::json;

use crate::clock::Clock;
use crate::control;
use crate::faults::Faults;
use crate::gemini::{self, Gemini};
use crate::http;
use crate::ledger::Ledger;
use crate::max::{self, Max};
use crate::openai::{self, Openai};
use crate::push::Pusher;
use crate::telegram::{self, Telegram};
use crate::vault::Vault;
use crate::web::{self, Pages};

/// All simulated providers and their control plane. Clones share the state.
#[derive(Clone, Default)]
pub struct Simulators(Arc<World>);

/// The shared state. Each part has a lock of its own; none is held across an await.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) ledger: Ledger,
    pub(crate) vault: Vault,
    pub(crate) pusher: Pusher,
    pub(crate) telegram: Telegram,
    pub(crate) max: Max,
    pub(crate) gemini: Gemini,
    pub(crate) openai: Openai,
    pub(crate) pages: Pages,
}

impl Simulators {
    /// Fresh providers: every well-formed token and key is valid, every chat can be written to, nothing goes wrong.
    pub fn new() -> Self {
        Self::default()
    }

    /// Mounts `/telegram`, `/max`, `/gemini`, `/openai`, `/web`, `/control` and a word of introduction at `/`.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/", get(introduction))
            .route("/telegram/{*path}", any(telegram::handle))
            .route("/max/{*path}", any(max::handle))
            .route("/gemini/{*path}", any(gemini::handle))
            .route("/openai/{*path}", any(openai::handle))
            .route("/web", any(web::handle))
            .route("/web/", any(web::handle))
            .route("/web/{*path}", any(web::handle))
            .nest("/control", control::router())
            .layer(DefaultBodyLimit::max(http::BODY_BYTES_MAX))
            .with_state(Arc::clone(&self.0))
    }

    /// Webhooks are pushed only while the server runs.
    pub(crate) fn set_pushing(&self, pushing: bool) {
        self.0.pusher.set_running(pushing);
    }
}

impl World {
    /// Back to fresh providers, webhooks included.
    pub(crate) fn reset(&self) {
        self.faults.reset();
        self.telegram.reset();
        self.max.reset();
        self.gemini.reset();
        self.openai.reset();
        self.pages.reset();
        self.ledger.reset();
        self.vault.reset();
        self.clock.set_scale(1.0);
    }
}

async fn introduction() -> axum::response::Response {
    http::json(
        200,
        &json!({
            "what": "Beresta provider simulators",
            "providers": {
                "telegram": "/telegram/bot<token>/<method>",
                "max": "/max",
                "gemini": "/gemini/v1beta",
                "openai": "/openai/v1",
                "web": "/web/<path>",
            },
            "control": "/control"
        }),
    )
}
