//! `GET /api/chats/{chatId}/events`: what happens in a chat, live, as server-sent events.
//!
//! A watcher that names its cursor gets everything after it, in order, and then what happens now, whichever process serves it. When that
//! cannot be, it is told so by exactly one `resync`. A watcher that reads too slowly is dropped by the bus and comes back with its cursor.
//! Rights are checked again before anything is told, live or replayed, when the last answer is older than the limits say.

use std::{collections::VecDeque, convert::Infallible, pin::pin, sync::Arc, time::Duration};

use axum::{
    Extension,
    http::{HeaderMap, HeaderName, HeaderValue},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use kernel::{Secret, WorkspaceId};
use platform::{
    bus::{Message, Position, SubscribeError, Subscription},
    http::{App, Failure, Path, Query},
};
use serde::Deserialize;

use super::{Surface, caller::ChatCaller, check_chat_id};
use crate::{
    contract::{ChatEvent, Lang, Refusal},
    streams::Seat,
};

/// When somebody who found no place may try again.
const COME_BACK_AFTER: Duration = Duration::from_secs(10);
/// Idle streams look after their rights this often at most, whatever the limits say.
const LOOK_EVERY_MIN: Duration = Duration::from_secs(1);
/// What came is held back while nobody can say whether it may be told; this is how often somebody is asked.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// Clients that lost the server all come back at once, unless they are told different times.
const RETRY_MS: std::ops::RangeInclusive<u64> = 2000..=5000;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WatchEvents {
    /// The workspace of the token, if it is given at all.
    workspace_id: Option<String>,
    /// Everything after this cursor comes first; the header `Last-Event-ID` goes before it. Without either, the stream begins now.
    since: Option<String>,
}

/// What happens in a chat, live: each event is one `ChatEvent`, its id the cursor to come back with.
#[utoipa::path(get, path = "/api/chats/{chatId}/events", params(("chatId" = String, Path), WatchEvents,
    ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was heard.")),
    responses((status = 200, body = ChatEvent, content_type = "text/event-stream"), (status = 401), (status = 403), (status = 422),
        (status = 429, description = "too many streams of this token or address"), (status = 503)), security(("token" = [])))]
pub(super) async fn watch_chat(
    caller: ChatCaller,
    Extension(surface): Extension<Arc<Surface>>,
    headers: HeaderMap,
    Path(chat_id): Path<String>,
    Query(query): Query<WatchEvents>,
) -> Result<Response, Failure> {
    caller.may_read()?;
    caller.check_workspace(query.workspace_id.as_deref())?;
    check_chat_id(&chat_id).map_err(|refusal| caller.refuse(&refusal))?;
    let seat = surface.streams.enter(caller.ctx.principal.token_id, caller.address);
    let seat = seat.ok_or_else(|| caller.refuse(&Refusal::TooManyStreams(COME_BACK_AFTER)))?;
    // A browser that comes back asks for the same address as at first, and says in the header what it has heard since.
    let heard = headers.get("last-event-id").and_then(|value| value.to_str().ok()).filter(|heard| !heard.is_empty());
    let since = heard.map(ToOwned::to_owned).or(query.since);
    let limits = surface.streams.limits;
    let watcher = Watcher {
        workspace: caller.workspace(),
        // As `actions.topic` names it.
        topic: format!("chat:{chat_id}"),
        app: caller.ctx.app,
        token: caller.token,
        seat,
        waiting: VecDeque::new(),
        look_every: (limits.rights_for / 2).max(LOOK_EVERY_MIN),
    };
    let stream = futures::stream::unfold(watcher.open(since.as_deref(), caller.lang).await?, Live::next);
    let mut response = Sse::new(stream).keep_alive(KeepAlive::new().interval(limits.heartbeat)).into_response();
    // nginx would otherwise keep events back until it has a page of them.
    response.headers_mut().insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

struct Watcher {
    workspace: WorkspaceId,
    topic: String,
    app: App,
    token: Secret,
    seat: Seat,
    /// What is said before anything that happens.
    waiting: VecDeque<Event>,
    look_every: Duration,
}

impl Watcher {
    async fn subscribe(&self, after: Option<Position>) -> Result<Subscription, SubscribeError> {
        self.app.bus.subscribe(self.workspace, &self.topic, after).await
    }

    /// Joins the stream after the cursor. One that nobody can read is as good as one that is too old.
    async fn open(mut self, since: Option<&str>, lang: Lang) -> Result<Live, Failure> {
        let failed = |error| failure(error, lang);
        let after = match since.map(str::parse::<Position>) {
            None => Ok(None),
            Some(Ok(cursor)) => Ok(Some(cursor)),
            Some(Err(_)) => Err(SubscribeError::Gap),
        };
        let joined = match after {
            Ok(after) => self.subscribe(after).await,
            Err(gap) => Err(gap),
        };
        let (subscription, is_gap) = match joined {
            Err(SubscribeError::Gap) => (self.subscribe(None).await.map_err(failed)?, true),
            joined => (joined.map_err(failed)?, false),
        };
        let cursor = subscription.position().to_string();
        let retry = Duration::from_millis(rand::random_range(RETRY_MS));
        let hello = Event::default().comment("hello").retry(retry);
        if is_gap {
            // The cursor moves with the word of the gap and not before: who is cut off in between is told again.
            self.waiting.extend([hello, resync(cursor)]);
        } else {
            // Without data it is dispatched to nobody, but moves the cursor: who is cut off before the first event comes back from here.
            self.waiting.push_back(hello.id(cursor));
        }
        Ok(Live { watcher: self, subscription })
    }

    /// Waits for what comes next, and for the right to tell it; nothing when the stream is over. Looks after its rights meanwhile, without letting go of the
    /// wait: what is being read would otherwise be read from the beginning each time.
    async fn until_it_may_hear(&self, next: impl Future<Output = Heard>) -> Option<Heard> {
        let mut next = pin!(next);
        let mut heard = None;
        loop {
            if heard.is_none() {
                tokio::select! {
                    () = self.app.stop.cancelled() => return None,
                    came = &mut next => heard = Some(came),
                    () = tokio::time::sleep(self.look_every) => {}
                }
            }
            // That it is over may be said to anybody.
            if heard.as_ref().is_some_and(|heard| !matches!(heard, Ok(Some(_)))) {
                return heard;
            }
            let may_go_on = {
                let mut asking = pin!(self.seat.may_go_on(&self.app, &self.token));
                loop {
                    tokio::select! {
                        () = self.app.stop.cancelled() => return None,
                        // Whoever reads has a connection, and must not wait for our answer to give it back.
                        came = &mut next, if heard.is_none() => heard = Some(came),
                        answer = &mut asking => break answer,
                    }
                }
            };
            match may_go_on {
                Some(true) if heard.is_some() => return heard,
                Some(false) => return None,
                // Nobody can say: what came waits, and so does whoever watches.
                None if heard.is_some() => tokio::select! {
                    () = self.app.stop.cancelled() => return None,
                    () = tokio::time::sleep(ASK_AGAIN_AFTER) => {}
                },
                Some(true) | None => {}
            }
        }
    }
}

type Heard = Result<Option<Message>, SubscribeError>;

/// A watcher that is in the stream.
struct Live {
    watcher: Watcher,
    subscription: Subscription,
}

impl Live {
    /// The next event and the rest of the stream; nothing at its end, after which the client comes back with its cursor.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            if let Some(event) = self.watcher.waiting.pop_front() {
                return Some((Ok(event), self));
            }
            let heard = self.watcher.until_it_may_hear(self.subscription.next()).await?;
            match heard {
                Ok(Some(message)) => return Some((Ok(event(&message)), self)),
                // Too slow: the bus has let go of it.
                Ok(None) => return None,
                Err(SubscribeError::Gap) => {
                    self.subscription = self.watcher.subscribe(None).await.ok()?;
                    self.watcher.waiting.push_back(resync(self.subscription.position().to_string()));
                }
                Err(SubscribeError::Db(error)) => {
                    tracing::debug!(%error, "actions.stream");
                    return None;
                }
            }
        }
    }
}

fn event(message: &Message) -> Event {
    Event::default().id(message.position.to_string()).data(&*message.payload)
}

fn resync(cursor: String) -> Event {
    let event = Event::default().id(&cursor);
    let told = serde_json::to_string(&ChatEvent::Resync { cursor }).unwrap_or_default();
    event.data(told)
}

fn failure(error: SubscribeError, lang: Lang) -> Failure {
    match error {
        SubscribeError::Db(error) => error.into(),
        SubscribeError::Gap => Refusal::NoStream(COME_BACK_AFTER).problem(lang).into(),
    }
}
