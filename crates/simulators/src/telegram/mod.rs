//! The Telegram Bot API under `/telegram/bot<token>/<method>` and `/telegram/file/bot<token>/<path>`.

mod album;
mod bots;
mod call;
mod callbacks;
mod chats;
mod edit;
mod entity;
mod errors;
mod files;
mod html;
mod html_entities;
mod images;
mod inbox;
mod keyboard;
mod links;
mod markdown;
mod markdown_v2;
mod me;
mod media;
mod members;
mod message;
mod methods;
mod polling;
mod pusher;
mod request;
mod send;
mod steer;
mod text;
mod users_files;
mod webhook;

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

use self::bots::{Bot, Bots};
use self::call::Call;
use self::chats::Chats;
use self::errors::Refusal;
use self::files::Files;
use self::members::Members;
use self::message::Messages;

pub(crate) use self::chats::Access;
pub(crate) use self::members::MemberWish;
pub(crate) use self::steer::{ChatWish, Health, WebhookWish, push_update, set_webhook, text_update};
pub(crate) use self::users_files::{FileWish, put as put_file};

#[derive(Default)]
pub(crate) struct Telegram {
    state: Mutex<State>,
    pub(crate) limits: Limits,
}

/// Everything one Bot API server remembers.
#[derive(Default)]
struct State {
    bots: Bots,
    chats: Chats,
    messages: Messages,
    files: Files,
    members: Members,
    last_album: u64,
}

impl Telegram {
    fn bot(&self, token: &str) -> Result<Arc<Bot>, Refusal> {
        lock(&self.state).bots.find(token)
    }

    pub(crate) fn reset(&self) {
        let old = std::mem::take(&mut *lock(&self.state));
        for bot in old.bots.all() {
            lock(&bot.inbox).clear();
            bot.news.notify_waiters();
        }
        self.limits.set(0, 0);
    }
}

enum Route {
    Method { token: String, method: String },
    File { token: String, path: String },
}

pub(crate) async fn handle(AxumState(world): AxumState<Arc<World>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(route) = route(parts.uri.path()) else {
        return Refusal::not_found().response();
    };
    let connection = Connection::of(&parts.extensions);
    let (token, method) = match route {
        Route::File { token, path } => return files::download(world, &token, path, connection).await,
        Route::Method { token, method } => (token, method),
    };
    let found = world.telegram.bot(&token).and_then(|bot| {
        let method = methods::find(&method).ok_or_else(Refusal::method_not_found)?;
        Ok((bot, method))
    });
    let (bot, method) = match found {
        Ok(found) => found,
        Err(refusal) => {
            note_refusal(&world, bots::bot_id(&token).unwrap_or(0), "unknown", &refusal);
            return refusal.response();
        }
    };
    match request::read(&parts, body).await {
        Ok((params, files)) => exchange(Call::new(world, bot, method, params, files), connection).await,
        Err(refusal) => {
            note_refusal(&world, bot.user.id, method, &refusal);
            refusal.response()
        }
    }
}

/// Serves one call, or lets the fault aimed at it strike.
async fn exchange(mut call: Call, connection: Option<Connection>) -> Response {
    let struck = call.world.faults.strike(Provider::Telegram, call.method, |target| call.aims_at(target));
    let Some(injection) = struck else {
        return serve(call).await.response;
    };
    if injection.strikes_before_service() {
        call.note(injection.drop.map_or(injection.status.unwrap_or(0), |_| 0), None, injection.drop.is_some());
        let kind = lock(&call.world.telegram.state).chats.kind_of(call.target.as_deref().unwrap_or_default());
        let own_error = |status, seconds| Refusal::of_status(status, seconds, &chats::kicked(kind)).response();
        return injection.refuse(connection, own_error).await;
    }
    call.late = true;
    call.dropped = injection.drop.is_some();
    injection.serve(connection, serve(call)).await
}

async fn serve(mut call: Call) -> Served {
    let outcome = match call.admit() {
        Ok(()) => methods::run(&mut call).await,
        Err(refusal) => Err(refusal),
    };
    let (response, status, error) = match outcome {
        Ok(body) => (http::bytes(200, "application/json", body), 200, None),
        Err(refusal) => (refusal.response(), refusal.status, Some(refusal.description)),
    };
    call.note_served(status, error.as_deref());
    Served { response, sent: call.sent }
}

fn note_refusal(world: &World, bot_id: i64, method: &'static str, refusal: &Refusal) {
    world.ledger.call(CallNote {
        provider: Provider::Telegram,
        bot_id,
        method,
        target: None,
        status: refusal.status,
        error: Some(refusal.description.as_ref().into()),
        started_at: unix_ms(),
        fault: false,
        dropped: false,
    });
}

/// A client may percent-encode the colon of the token, so the path is decoded first.
fn route(path: &str) -> Option<Route> {
    let path = http::percent_decode(path.strip_prefix("/telegram/")?);
    if let Some(rest) = path.strip_prefix("file/bot") {
        let (token, path) = rest.split_once('/')?;
        return Some(Route::File { token: token.to_owned(), path: path.to_owned() });
    }
    let (token, method) = path.strip_prefix("bot")?.split_once('/')?;
    let method = method.strip_prefix("test/").unwrap_or(method);
    Some(Route::Method { token: token.to_owned(), method: method.trim_end_matches('/').to_owned() })
}
