//! The pages of posting.

use axum::{Router, extract::Path, routing::get};
use kernel::Problem;
use platform::http::App;
use posting::reads::{self, ACTIONS, CHANNEL_STATES, ChannelFilter, EventFilter, EventRead, MessageFilter, RunFilter};
use uuid::Uuid;

use super::{data, words};
use crate::{
    page::{ROWS, Shown},
    session::Visitor,
    views::{ChannelsRegion, EventsRegion, IngestRegion, PageHead, PostsRegion},
};

/// How many sources the page of ingest shows.
const SOURCES_MAX: i64 = 200;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/posts", get(posts))
        .route("/posts/{id}", get(post))
        .route("/channels", get(channels))
        .route("/channels/{id}", get(channel))
        .route("/events", get(events))
        .route("/ingest", get(ingest))
}

async fn posts(visitor: Visitor) -> Shown {
    let filters = visitor.filters().text("tag", "Tag").wide("source_ref", "Reference");
    let (tag, source_ref) = (visitor.text("tag"), visitor.text("source_ref"));
    let filter = MessageFilter { tag, source_ref, before: visitor.id("before")?, limit: ROWS };
    let mut tx = visitor.ctx.begin().await?;
    let found = reads::messages(&mut tx, &filter).await?;
    let counters = data::counters(&mut tx).await?;
    // Only bad news is read out; the rest changes too often.
    let bad = counters.iter().filter(|counter| counter.is_bad && !counter.count.is_zero());
    let posts = PostsRegion {
        announce: bad.map(|counter| format!("{} {}", counter.count.text, counter.label)).collect::<Vec<_>>().join(", "),
        counters,
        pager: filters.pager_to(found.next, format!("{} posts", found.rows.len())),
        rows: found.rows.into_iter().map(|row| data::post_row(row, visitor.now())).collect(),
    };
    visitor.show(PageHead::new("Posts", "Every post, and where each of its copies stands.").with(filters), &posts)
}

async fn post(visitor: Visitor, Path(id): Path<String>) -> Shown {
    let missing = || Problem::not_found("post");
    let id = Uuid::try_parse(&id).map_err(|_| missing())?;
    let mut tx = visitor.ctx.begin().await?;
    let post = data::post(&mut tx, id, visitor.now()).await?.ok_or_else(missing)?;
    visitor.show(PageHead::only_title(&post.title), &post)
}

async fn channels(visitor: Visitor) -> Shown {
    let states = CHANNEL_STATES.map(|state| (state, words::state(state).0.label));
    let platforms = ["telegram", "max"].map(|name| (name, words::platform(name)));
    let filters = visitor.filters().choice("state", "State", states).choice("platform", "Messenger", platforms);
    let (state, platform) = (visitor.text("state"), visitor.text("platform"));
    let filter = ChannelFilter { state, platform, after: visitor.text("before"), channel_id: None, limit: ROWS + 1 };
    let mut tx = visitor.ctx.begin().await?;
    let mut rows = reads::channels(&mut tx, &filter).await?;
    let mut pager = filters.pager(&mut rows, "channels", |row| row.channel_id.clone());
    pager.labels = ("First", "More");
    let channels = ChannelsRegion { rows: rows.iter().map(|row| data::channel_row(row, visitor.now())).collect(), pager };
    visitor.show(PageHead::new("Channels", "Where posts go, and how each place is doing.").with(filters), &channels)
}

async fn channel(visitor: Visitor, Path(id): Path<String>) -> Shown {
    let mut tx = visitor.ctx.begin().await?;
    let channel = data::channel(&mut tx, &id, visitor.now()).await?.ok_or_else(|| Problem::not_found("channel"))?;
    visitor.show(PageHead::only_title(&channel.row.title), &channel)
}

async fn events(visitor: Visitor) -> Shown {
    let actions = ACTIONS.map(|action| (action, words::action(action, false).label));
    let filters = visitor
        .filters()
        .choice("action", "What", actions)
        .choice("result", "Result", [("ok", "well"), ("error", "error")])
        .text("channel_id", "Channel id")
        .wide("message_id", "Post id")
        .wide("delivery_id", "Delivery id");
    let filter = EventFilter {
        action: visitor.text("action"),
        result: visitor.text("result"),
        channel_id: visitor.text("channel_id"),
        message_id: visitor.id("message_id")?,
        delivery_id: visitor.id("delivery_id")?,
        before: visitor.place()?,
        limit: ROWS + 1,
    };
    let mut tx = visitor.ctx.begin().await?;
    let mut rows = reads::events(&mut tx, &filter).await?;
    let pager = filters.pager(&mut rows, "events", EventRead::cursor);
    let page = EventsRegion { events: data::events(rows, visitor.now()), pager };
    let lead = "What happened to every post and channel, and why. It is only ever added to.";
    visitor.show(PageHead::new("Events", lead).with(filters), &page)
}

async fn ingest(visitor: Visitor) -> Shown {
    let kinds = [("push", "pushed to us"), ("pull", "fetched by us")];
    let filters = visitor.filters().choice("kind", "Kind", kinds).text("source_id", "Source");
    let (kind, source_id) = (visitor.text("kind"), visitor.text("source_id"));
    let mut tx = visitor.ctx.begin().await?;
    let found = reads::runs(&mut tx, &RunFilter { kind, source_id, before: visitor.id("before")?, limit: ROWS }).await?;
    let sources = reads::sources(&mut tx, None, SOURCES_MAX).await?;
    let ingest = IngestRegion {
        sources: sources.into_iter().map(|row| data::source_row(row, visitor.now())).collect(),
        pager: filters.pager_to(found.next, format!("{} runs", found.rows.len())),
        runs: found.rows.into_iter().map(|row| data::run_row(row, visitor.now())).collect(),
    };
    let lead = "Where posts come from: what was pushed to us and what we went to fetch.";
    visitor.show(PageHead::new("Ingest", lead).with(filters), &ingest)
}
