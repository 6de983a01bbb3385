//! What makes a page live: a stream that says which region is new, and the regions by themselves.
//!
//! Nobody watching means that nobody asks the database. While somebody watches, the stream looks when it is woken
//! and every other second, and names only what has changed.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::Path,
    http::{StatusCode, Uri},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use platform::{
    http::{App, Ctx},
    wake::Topic,
};
use tokio::sync::Semaphore;

use crate::{
    Info, data,
    session::{PageError, Visitor, page},
    views::{ErrorsFragment, HealthFragment, JobsFragment, JournalFragment},
};

/// The regions of the overview, and the topics that the pages of the modules watch.
const NAMES: [&str; 8] = ["health", "jobs", "errors", "journal", "posting", "shopbot", "actions", "planner"];
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// However much happens, no stream looks more often than this.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How many streams one process serves; beyond that, pages are simply not live.
const STREAMS_MAX: usize = 200;
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A browser comes back by itself; by then its token is checked anew.
const STREAM_MAX: Duration = Duration::from_mins(10);

pub(crate) fn router() -> Router<App> {
    Router::new().route("/console/live", get(live)).route("/console/fragments/{name}", get(fragment))
}

async fn fragment(
    visitor: Visitor,
    Extension(info): Extension<Arc<Info>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Response, PageError> {
    let ctx = &visitor.ctx;
    if name == "health" {
        return Ok(page(StatusCode::OK, &HealthFragment { health: data::health(ctx, &info).await }));
    }
    if !["jobs", "errors", "journal"].contains(&name.as_str()) {
        if let Some(answer) = crate::shopbot::fragment(&visitor, &name, &uri).await? {
            return Ok(answer);
        }
        if let Some(answer) = crate::actions::fragment(&visitor, &name, &uri).await? {
            return Ok(answer);
        }
        if let Some(answer) = crate::planner::fragment(&visitor, &name, &uri).await? {
            return Ok(answer);
        }
        return crate::posting::fragment(&visitor, &name, &uri).await;
    }
    let mut tx = ctx.begin().await?;
    Ok(match name.as_str() {
        "jobs" => page(StatusCode::OK, &JobsFragment { jobs: data::jobs_summary(&mut tx, ctx).await? }),
        "errors" => page(StatusCode::OK, &ErrorsFragment { errors: data::errors(&mut tx, ctx).await? }),
        _ => page(StatusCode::OK, &JournalFragment { journal: data::recent_journal(&mut tx, ctx).await? }),
    })
}

static STREAMS: Semaphore = Semaphore::const_new(STREAMS_MAX);

async fn live(visitor: Visitor, Extension(info): Extension<Arc<Info>>) -> Response {
    let Ok(slot) = STREAMS.try_acquire() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    // Before the answer, which makes the page fetch everything: a change after that is then a change after this.
    let seen = data::fingerprints(&visitor.ctx, &info).await;
    let (sender, receiver) = tokio::sync::mpsc::channel(16);
    tokio::spawn(async move {
        watch(visitor.ctx, info, seen, sender).await;
        drop(slot);
    });
    let stream = futures::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|event| (Ok::<_, Infallible>(event), receiver))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response()
}

async fn watch(ctx: Ctx, info: Arc<Info>, mut seen: [u64; NAMES.len()], sender: tokio::sync::mpsc::Sender<Event>) {
    let mut news = ctx.app.db.wake().subscribe(Topic::Jobs);
    let mut published = ctx.app.db.wake().subscribe(Topic::Bus);
    let deadline = tokio::time::Instant::now() + STREAM_MAX;
    // Browsers that lost the server all come back at once, unless they are told different times.
    let retry = Duration::from_millis(2000 + rand_ms(3000));
    let _ = sender.send(Event::default().retry(retry).comment("hello")).await;
    while tokio::time::Instant::now() < deadline && !sender.is_closed() {
        let now = data::fingerprints(&ctx, &info).await;
        for ((name, before), after) in NAMES.into_iter().zip(&mut seen).zip(now) {
            if *before != after {
                let event = Event::default().event("fragment").data(format!("{{\"name\":\"{name}\"}}"));
                if sender.send(event).await.is_err() {
                    return;
                }
            }
            *before = after;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = news.changed() => tokio::time::sleep(LOOK_AGAIN).await,
            _ = published.changed() => tokio::time::sleep(LOOK_AGAIN).await,
            () = ctx.app.stop.cancelled() => return,
            () = sender.closed() => return,
        }
    }
}

/// Spread without a generator of random numbers: the low digits of the clock are random enough for this.
fn rand_ms(max: u64) -> u64 {
    let nanos =
        u64::from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos()));
    nanos % max
}
