//! The HTTP surface of actions.

mod actions;
mod caller;
mod chats;
mod events;
mod messages;

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    routing::{get, post},
};
use platform::http::App;
use utoipa::OpenApi;

use crate::{
    contract::{ChatEvent, Refusal, is_id},
    streams::{StreamLimits, Streams},
    watchdog,
};

/// How this process serves chats.
#[derive(Clone, Copy, Debug)]
pub struct ChatSettings {
    /// How long an action that starts here may be processing.
    pub processing_max: Duration,
    pub limits: StreamLimits,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self { processing_max: watchdog::PROCESSING_MAX, limits: StreamLimits::default() }
    }
}

/// What the handlers share: one per process, however many routers it has.
#[derive(Debug)]
pub struct Surface {
    processing_max: Duration,
    streams: Arc<Streams>,
}

impl Surface {
    pub fn new(settings: ChatSettings) -> Arc<Self> {
        Arc::new(Self { processing_max: settings.processing_max, streams: Arc::new(Streams::new(settings.limits)) })
    }
}

/// The API of chats and actions. The paths for no-code tools behave as the others do.
pub fn router(surface: Arc<Surface>) -> Router<App> {
    Router::new()
        .route("/api/chat/actions", get(actions::list_actions))
        .route("/api/chat/actions/start", post(actions::start_action))
        .route("/api/chat/actions/update", post(actions::update_action))
        .route("/api/no-code/callback/actions/start", post(actions::start_action_by_callback))
        .route("/api/no-code/callback/actions/update", post(actions::update_action_by_callback))
        .route("/api/no-code/callback/messages", post(messages::send_message_by_callback))
        .route("/api/chats", get(chats::list_chats))
        .route("/api/chats/{chat_id}/messages", get(messages::list_messages).post(messages::send_message))
        .route("/api/chats/{chat_id}/events", get(events::watch_chat))
        .layer(Extension(surface))
}

/// The documentation of these paths.
#[derive(OpenApi)]
#[openapi(
    paths(
        actions::list_actions,
        actions::start_action,
        actions::update_action,
        actions::start_action_by_callback,
        actions::update_action_by_callback,
        messages::send_message_by_callback,
        chats::list_chats,
        messages::list_messages,
        messages::send_message,
        events::watch_chat
    ),
    components(schemas(ChatEvent))
)]
pub struct Docs;

/// Refuses what can be no chat.
fn check_chat_id(chat_id: &str) -> Result<(), Refusal> {
    if is_id(chat_id) { Ok(()) } else { Err(Refusal::field("chatId")) }
}

/// A number of a query within these bounds, or nothing if it is absent. As text until here, so that a bad one is refused in our words.
fn number(name: &str, given: Option<&str>, bounds: std::ops::RangeInclusive<i64>) -> Result<Option<i64>, Refusal> {
    let number = |text: &str| text.parse().ok().filter(|number| bounds.contains(number)).ok_or_else(|| Refusal::field(name));
    given.map(number).transpose()
}
