//! The pages of posting and their live regions.

use axum::{
    Router,
    extract::{Path, Query},
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::get,
};
use kernel::Problem;
use platform::http::App;
use posting::reads::{self, ACTIONS, CHANNEL_STATES, ChannelFilter, EventFilter, MessageFilter, RunFilter};
use serde::Deserialize;
use uuid::Uuid;

use super::{data, words};
use crate::{
    pages::{IN_TIME, PAGE, address, asked, given, id, options, pager, shell},
    session::{PageError, Visitor, page},
    views::{
        ChannelFragment, ChannelPage, ChannelRow, ChannelsFragment, ChannelsPage, Events, EventsFragment, EventsPage, Ingest,
        IngestFragment, IngestPage, Pager, PostFragment, PostPage, Posts, PostsFragment, PostsPage, query_value,
    },
};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/console/posts", get(posts))
        .route("/console/posts/{id}", get(post))
        .route("/console/channels", get(channels))
        .route("/console/channels/{id}", get(channel))
        .route("/console/events", get(events))
        .route("/console/ingest", get(ingest))
}

/// A region by its name, with the query of the page that it stands on.
pub(crate) async fn fragment(visitor: &Visitor, name: &str, uri: &Uri) -> Result<Response, PageError> {
    if let Some(id) = name.strip_prefix("post-") {
        let post = find_post(visitor, id).await?;
        return Ok(page(StatusCode::OK, &PostFragment { post }));
    }
    if let Some(id) = name.strip_prefix("channel-") {
        let channel = find_channel(visitor, id).await?;
        return Ok(page(StatusCode::OK, &ChannelFragment { channel }));
    }
    Ok(match name {
        "posts" => {
            let (posts, pager) = list_posts(visitor, &asked(uri)?).await?;
            page(StatusCode::OK, &PostsFragment { posts, pager })
        }
        "channels" => {
            let (channels, pager) = list_channels(visitor, &asked(uri)?).await?;
            page(StatusCode::OK, &ChannelsFragment { channels, pager })
        }
        "events" => {
            let (events, pager) = list_events(visitor, &asked(uri)?).await?;
            page(StatusCode::OK, &EventsFragment { events, pager })
        }
        "ingest" => {
            let (ingest, pager) = list_ingest(visitor, &asked(uri)?).await?;
            page(StatusCode::OK, &IngestFragment { ingest, pager })
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    })
}

/// The links of a list that is read by pages of its own.
fn pages(base: &str, is_later: bool, next: Option<Uuid>, shown: String) -> Pager {
    Pager {
        first_href: is_later.then(|| base.to_owned()),
        next_href: next.map(|next| format!("{base}&before={next}")),
        shown,
        labels: IN_TIME,
    }
}

#[derive(Deserialize)]
struct PostsQuery {
    tag: Option<String>,
    source_ref: Option<String>,
    before: Option<String>,
}

async fn list_posts(visitor: &Visitor, query: &PostsQuery) -> Result<(Posts, Pager), PageError> {
    let (tag, source_ref) = (given(query.tag.clone()), given(query.source_ref.clone()));
    let before = id("before", query.before.as_ref())?;
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let base = address("posts", &[("tag", tag.as_ref()), ("source_ref", source_ref.as_ref())]);
    let found = reads::messages(&mut tx, &MessageFilter { tag, source_ref, before, limit: PAGE }).await?;
    let pager = pages(&base, before.is_some(), found.next, format!("{} posts", found.rows.len()));
    let counters = data::counters(&mut tx).await?;
    // Only bad news is read out; the rest changes too often.
    let bad = counters.iter().filter(|counter| counter.is_bad && !counter.count.is_zero());
    let announce = bad.map(|counter| format!("{} {}", counter.count.text, counter.label)).collect::<Vec<_>>().join(", ");
    let rows = found.rows.into_iter().map(|row| data::post_row(row, now)).collect();
    Ok((Posts { counters, rows, announce }, pager))
}

async fn posts(visitor: Visitor, Query(query): Query<PostsQuery>) -> Result<Response, PageError> {
    let (posts, pager) = list_posts(&visitor, &query).await?;
    let view = PostsPage {
        shell: shell(&visitor, "/console/posts"),
        tag: given(query.tag).unwrap_or_default(),
        source_ref: given(query.source_ref).unwrap_or_default(),
        posts,
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}

async fn find_post(visitor: &Visitor, id: &str) -> Result<crate::views::PostDetails, PageError> {
    let missing = || PageError(Problem::not_found("post"));
    let id = Uuid::try_parse(id).map_err(|_| missing())?;
    let mut tx = visitor.ctx.begin().await?;
    data::post(&mut tx, &visitor.ctx, id).await?.ok_or_else(missing)
}

async fn post(visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageError> {
    let post = find_post(&visitor, &id).await?;
    Ok(page(StatusCode::OK, &PostPage { shell: shell(&visitor, "/console/posts"), post }))
}

#[derive(Deserialize)]
struct ChannelsQuery {
    state: Option<String>,
    platform: Option<String>,
    before: Option<String>,
}

async fn list_channels(visitor: &Visitor, query: &ChannelsQuery) -> Result<(Vec<ChannelRow>, Pager), PageError> {
    let (state, platform, after) = (given(query.state.clone()), given(query.platform.clone()), given(query.before.clone()));
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let base = address("channels", &[("state", state.as_ref()), ("platform", platform.as_ref())]);
    let filter = ChannelFilter { state, platform, after: after.clone(), channel_id: None, limit: PAGE + 1 };
    let mut rows = reads::channels(&mut tx, &filter).await?;
    let mut pager = pager(&mut rows, &base, after.is_some(), "channels", |row| query_value(&row.channel_id));
    pager.labels = ("First", "More");
    Ok((rows.iter().map(|row| data::channel_row(row, now)).collect(), pager))
}

async fn channels(visitor: Visitor, Query(query): Query<ChannelsQuery>) -> Result<Response, PageError> {
    let (channels, pager) = list_channels(&visitor, &query).await?;
    let states = CHANNEL_STATES.map(|state| (state.to_owned(), words::state(state).0.label));
    let platforms = ["telegram", "max"].map(|name| (name.to_owned(), words::platform(name)));
    let view = ChannelsPage {
        shell: shell(&visitor, "/console/channels"),
        states: options(states, given(query.state).as_deref()),
        platforms: options(platforms, given(query.platform).as_deref()),
        channels,
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}

async fn find_channel(visitor: &Visitor, id: &str) -> Result<crate::views::ChannelDetails, PageError> {
    let mut tx = visitor.ctx.begin().await?;
    data::channel(&mut tx, &visitor.ctx, id).await?.ok_or_else(|| PageError(Problem::not_found("channel")))
}

async fn channel(visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageError> {
    let channel = find_channel(&visitor, &id).await?;
    Ok(page(StatusCode::OK, &ChannelPage { shell: shell(&visitor, "/console/channels"), channel }))
}

#[derive(Deserialize)]
struct EventsQuery {
    action: Option<String>,
    result: Option<String>,
    channel_id: Option<String>,
    message_id: Option<String>,
    delivery_id: Option<String>,
    before: Option<String>,
}

async fn list_events(visitor: &Visitor, query: &EventsQuery) -> Result<(Events, Pager), PageError> {
    let (action, result, channel_id) =
        (given(query.action.clone()), given(query.result.clone()), given(query.channel_id.clone()));
    let base = address(
        "events",
        &[
            ("action", action.as_ref()),
            ("result", result.as_ref()),
            ("channel_id", channel_id.as_ref()),
            ("message_id", query.message_id.as_ref()),
            ("delivery_id", query.delivery_id.as_ref()),
        ],
    );
    let filter = EventFilter {
        action,
        result,
        channel_id,
        message_id: id("message_id", query.message_id.as_ref())?,
        delivery_id: id("delivery_id", query.delivery_id.as_ref())?,
        before: query.before.as_deref().map(str::parse).transpose()?,
        limit: PAGE + 1,
    };
    let mut tx = visitor.ctx.begin().await?;
    let mut rows = reads::events(&mut tx, &filter).await?;
    let pager = pager(&mut rows, &base, filter.before.is_some(), "events", |row| row.cursor().to_string());
    Ok((data::events(rows, visitor.ctx.app.clock().now()), pager))
}

async fn events(visitor: Visitor, Query(query): Query<EventsQuery>) -> Result<Response, PageError> {
    let (events, pager) = list_events(&visitor, &query).await?;
    let actions = ACTIONS.map(|action| (action.to_owned(), words::action(action, false).label));
    let results = [("ok", "well"), ("error", "error")].map(|(value, label)| (value.to_owned(), label.to_owned()));
    let view = EventsPage {
        shell: shell(&visitor, "/console/events"),
        actions: options(actions, given(query.action).as_deref()),
        results: options(results, given(query.result).as_deref()),
        channel_id: given(query.channel_id).unwrap_or_default(),
        message_id: given(query.message_id).unwrap_or_default(),
        delivery_id: given(query.delivery_id).unwrap_or_default(),
        events,
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}

#[derive(Deserialize)]
struct IngestQuery {
    kind: Option<String>,
    source_id: Option<String>,
    before: Option<String>,
}

async fn list_ingest(visitor: &Visitor, query: &IngestQuery) -> Result<(Ingest, Pager), PageError> {
    let (kind, source_id) = (given(query.kind.clone()), given(query.source_id.clone()));
    let before = id("before", query.before.as_ref())?;
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let base = address("ingest", &[("kind", kind.as_ref()), ("source_id", source_id.as_ref())]);
    let found = reads::runs(&mut tx, &RunFilter { kind, source_id, before, limit: PAGE }).await?;
    let sources = reads::sources(&mut tx, None, 200).await?;
    let pager = pages(&base, before.is_some(), found.next, format!("{} runs", found.rows.len()));
    let ingest = Ingest {
        sources: sources.into_iter().map(|row| data::source_row(row, now)).collect(),
        runs: found.rows.into_iter().map(|row| data::run_row(row, now)).collect(),
    };
    Ok((ingest, pager))
}

async fn ingest(visitor: Visitor, Query(query): Query<IngestQuery>) -> Result<Response, PageError> {
    let (ingest, pager) = list_ingest(&visitor, &query).await?;
    let kinds = [("push", "pushed to us"), ("pull", "fetched by us")].map(|(value, label)| (value.to_owned(), label.to_owned()));
    let view = IngestPage {
        shell: shell(&visitor, "/console/ingest"),
        kinds: options(kinds, given(query.kind).as_deref()),
        source_id: given(query.source_id).unwrap_or_default(),
        ingest,
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}
