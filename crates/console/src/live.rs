//! The event stream of an open page: it says that something was published on the topics of the page, and the page then fetches its
//! regions anew.
//!
//! A stream asks the database when it begins: for its token, and twice for the present position of the bus. It asks for the position again when it was
//! too slow, and is otherwise told by the bus, however many pages are open.

use std::{convert::Infallible, time::Duration};

use axum::{
    Router,
    http::StatusCode,
    response::{
        IntoResponse,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use kernel::WorkspaceId;
use platform::{
    DbError,
    bus::{SubscribeError, Subscription},
    http::{App, Ctx},
};
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, sleep_until},
};

use crate::{page::Shown, sections::ANY_TOPIC, session::Visitor};

/// A page is told at most this often, however much is published.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// How many streams one process serves; beyond that, pages are simply not live.
const STREAMS_MAX: usize = 200;
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A browser comes back by itself; by then its token is checked anew.
const STREAM_MAX: Duration = Duration::from_mins(10);

static STREAMS: Semaphore = Semaphore::const_new(STREAMS_MAX);

pub(crate) fn router() -> Router<App> {
    Router::new().route("/live", get(live))
}

async fn live(visitor: Visitor) -> Shown {
    let Ok(slot) = STREAMS.try_acquire() else { return Ok(StatusCode::SERVICE_UNAVAILABLE.into_response()) };
    let topics = visitor.text("topics").unwrap_or_default();
    // Before the response, upon which the page fetches its regions: a change after that fetch is then heard here.
    let heard = LiveTopics::subscribe(&visitor.ctx, topics).await?;
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        watch(visitor.ctx, heard, sender).await;
        drop(slot);
    });
    let stream = futures::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|event| (Ok::<_, Infallible>(event), receiver))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response())
}

/// What a page listens to.
struct LiveTopics {
    topics: String,
    workspace: Subscription,
    system: Subscription,
}

impl LiveTopics {
    async fn subscribe(ctx: &Ctx, topics: String) -> Result<Self, DbError> {
        let bus = &ctx.app.bus;
        let workspace = bus.watch(ctx.principal.workspace_id).await?;
        Ok(Self { topics, workspace, system: bus.watch(WorkspaceId::SYSTEM).await? })
    }

    /// Waits for the next message, and says whether the page listens to its topic. None means that messages were missed.
    async fn next(&mut self) -> Result<Option<bool>, SubscribeError> {
        let (message, is_own) = tokio::select! {
            message = self.workspace.next() => (message?, true),
            message = self.system.next() => (message?, false),
        };
        Ok(message.map(|message| concerns(&self.topics, &message.topic, is_own)))
    }
}

/// A topic of a page stands for itself and everything under it; of the system workspace only what it names is heard.
fn concerns(topics: &str, published: &str, is_own: bool) -> bool {
    let topic = published.split(':').next().unwrap_or_default();
    topics.split(' ').any(|wanted| wanted == topic || (is_own && wanted == ANY_TOPIC))
}

async fn watch(ctx: Ctx, mut heard: LiveTopics, sender: mpsc::Sender<Event>) {
    // With one retry time for all, browsers that lost the server would come back at the same moment.
    let retry = Duration::from_millis(2000 + rand_ms(3000));
    let _ = sender.send(Event::default().retry(retry).comment("hello")).await;
    let (mut is_changed, mut tell_at, end) = (false, Instant::now(), Instant::now() + STREAM_MAX);
    loop {
        tokio::select! {
            message = heard.next() => match message {
                Ok(Some(concerns_page)) => is_changed |= concerns_page,
                // This stream was too slow: what it missed is on the page once the page is fetched anew.
                Ok(None) | Err(_) => match LiveTopics::subscribe(&ctx, heard.topics.clone()).await {
                    Ok(again) => (heard, is_changed) = (again, true),
                    Err(_) => return,
                },
            },
            () = sleep_until(tell_at), if is_changed => {
                // A browser drops an event without data.
                if sender.send(Event::default().event("changed").data("{}")).await.is_err() {
                    return;
                }
                (is_changed, tell_at) = (false, Instant::now() + TELL_EVERY);
            }
            () = sleep_until(end) => return,
            () = ctx.app.stop.cancelled() => return,
            () = sender.closed() => return,
        }
    }
}

/// Without a random number generator: the low digits of the clock are random enough for this.
fn rand_ms(max: u64) -> u64 {
    let nanos =
        u64::from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos()));
    nanos % max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_hears_its_topics_with_everything_under_them_and_of_the_system_only_what_it_names() {
        assert!(concerns("chat", "chat:1", true) && concerns("posting chat", "chat", true));
        assert!(!concerns("chat", "chatter", true) && !concerns("chat", "posting", true) && !concerns("", "chat", true));
        assert!(concerns("* processes", "posting", true) && concerns("* processes", "processes", false));
        assert!(!concerns("* processes", "jobs", false));
    }
}
