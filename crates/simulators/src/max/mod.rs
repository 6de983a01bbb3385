//! The MAX Bot API. All paths hang off `/max`; uploads go to addresses of the simulator too.

mod attachments;
mod bots;
mod call;
mod chats;
mod edit;
mod inbox;
mod info;
mod keyboard;
mod markup;
mod markup_html;
mod markup_markdown;
mod message;
mod polling;
mod problem;
mod pusher;
mod route;
mod send;
mod steer;
mod subscriptions;
mod uploads;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::{Request, State as AxumState};
use axum::response::Response;

use crate::clock::unix_ms;
use crate::connection::Connection;
use crate::faults::Provider;
use crate::http;
use crate::injection::Served;
use crate::ledger::CallNote;
use crate::limits::Limits;
use crate::simulators::World;
use crate::sync::lock;

use self::bots::Bots;
use self::call::Call;
use self::chats::Chats;
use self::message::Messages;
use self::problem::Problem;
use self::route::{Endpoint, Route};
use self::uploads::Uploads;

pub(crate) use self::chats::Access;
pub(crate) use self::steer::{ChatWish, push_update, text_update};

#[derive(Default)]
pub(crate) struct Max {
    state: Mutex<State>,
    pub(crate) limits: Limits,
    /// How many sends of a fresh file or video are answered with `attachment.not.ready`.
    not_ready_sends: AtomicU32,
}

#[derive(Default)]
struct State {
    bots: Bots,
    chats: Chats,
    messages: Messages,
    uploads: Uploads,
}

impl Max {
    pub(crate) fn reset(&self) {
        let old = std::mem::take(&mut *lock(&self.state));
        for bot in old.bots.all() {
            lock(&bot.inbox).clear();
            bot.news.notify_waiters();
        }
        self.limits.set(0, 0);
        self.set_not_ready_sends(0);
    }

    pub(crate) fn set_not_ready_sends(&self, sends: u32) {
        self.not_ready_sends.store(sends, Ordering::Relaxed);
    }

    pub(crate) fn not_ready_sends(&self) -> u32 {
        self.not_ready_sends.load(Ordering::Relaxed)
    }
}

pub(crate) async fn handle(AxumState(world): AxumState<Arc<World>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let connection = Connection::of(&parts.extensions);
    let route = match Route::read(&parts.method, parts.uri.path()) {
        Ok(route) => route,
        Err(problem) => {
            note_refusal(&world, 0, "unknown", &problem);
            return problem.response();
        }
    };
    // The upload host and the file host know no tokens.
    let bot = if matches!(route.endpoint, Endpoint::Upload | Endpoint::Download) {
        Ok(None)
    } else {
        bots::token(&parts.headers).and_then(|token| lock(&world.max.state).bots.find(token)).map(Some)
    };
    let bot = match bot {
        Ok(bot) => bot,
        Err(problem) => {
            note_refusal(&world, 0, route.endpoint.name(), &problem);
            return problem.response();
        }
    };
    match Call::read(&world, bot, route, &parts, body).await {
        Ok(call) => exchange(call, connection).await,
        Err((name, problem)) => {
            note_refusal(&world, 0, name, &problem);
            problem.response()
        }
    }
}

/// Serves one call, or lets the fault aimed at it strike.
async fn exchange(mut call: Call, connection: Option<Connection>) -> Response {
    let name = call.route.endpoint.name();
    let struck = call.world.faults.strike(Provider::Max, name, |target| call.aims_at(target));
    let Some(injection) = struck else {
        return serve(call).await.response;
    };
    if injection.strikes_before_service() {
        call.note(injection.drop.map_or(injection.status.unwrap_or(0), |_| 0), None, injection.drop.is_some());
        let target = call.target.clone().unwrap_or_else(|| "0".into());
        let own_error = |status, _| Problem::of_status(status, &target).response();
        return injection.refuse(connection, own_error).await;
    }
    call.late = true;
    call.dropped = injection.drop.is_some();
    injection.serve(connection, serve(call)).await
}

async fn serve(mut call: Call) -> Served {
    let outcome = match call.admit() {
        Ok(()) => route::run(&mut call).await,
        Err(problem) => Err(problem),
    };
    let (response, status, error) = match outcome {
        Ok(response) => {
            let status = response.status().as_u16();
            (response, status, None)
        }
        Err(problem) => (problem.response(), problem.status, Some(format!("{}: {}", problem.code, problem.message))),
    };
    call.note_served(status, error.as_deref());
    Served { response, sent: call.sent }
}

fn note_refusal(world: &World, bot_id: i64, method: &'static str, problem: &Problem) {
    world.ledger.call(CallNote {
        provider: Provider::Max,
        bot_id,
        method,
        target: None,
        status: problem.status,
        error: Some(format!("{}: {}", problem.code, problem.message).into()),
        started_at: unix_ms(),
        fault: false,
        dropped: false,
    });
}

/// `{"success":true}`, the answer of every action.
fn done() -> Response {
    http::bytes(200, "application/json", r#"{"success":true}"#)
}

/// A refusal in the clothes of a success: HTTP 200 and `success: false`.
fn undone(message: &str) -> Response {
    http::json(200, &serde_json::json!({"success": false, "message": message}))
}
