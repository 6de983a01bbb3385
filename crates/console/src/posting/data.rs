//! From rows to words: what the pages of posting show.

use jiff::Timestamp;
use platform::{DbError, reads::Time};
use posting::reads::{self, BACKLOG_MAX, COUNT_MAX, ChannelRead, DeliveryRead, EventRead, MessageRead, RunRead, SourceRead};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::words;
use crate::views::{
    Badge, ChannelDetails, ChannelRow, CopiesTable, CopyRow, Count, Counter, EventRow, EventsTable, Fact, IngestRow, Moment,
    PageLink, PostDetails, PostRow, SourceRow, Tone, query_value,
};

const TITLE_CHARS: usize = 120;
const COPY_CHARS: usize = 48;
const RECENT: i64 = 20;

pub(super) fn post_href(id: Uuid) -> String {
    format!("/console/posts/{id}")
}

fn channel_href(id: &str) -> String {
    format!("/console/channels/{}", query_value(id))
}

fn moment(at: Time, now: Timestamp) -> Moment {
    Moment::new(at.to_jiff(), now)
}

/// The numbers above the list of posts.
pub(super) async fn counters(tx: &mut PgConnection) -> Result<Vec<Counter>, DbError> {
    let health = reads::health(tx).await?;
    let inflight = health.inflight.values().sum::<i64>();
    let counter = |label: &str, count: Count, href: &str, is_bad: bool| Counter {
        label: label.to_owned(),
        count,
        href: href.to_owned(),
        is_bad,
    };
    Ok(vec![
        counter("under way", Count::capped(inflight, COUNT_MAX), "/console/posts", false),
        counter("sent, last minute", Count::exact(health.sent_last_minute), "/console/events?action=sent", false),
        counter("failed, last day", Count::exact(health.failed_last_day), "/console/events?action=failed_permanent", true),
        counter("given up, last day", Count::exact(health.dead_last_day), "/console/events?action=dead_letter", true),
        counter(
            "channels paused",
            Count::exact(i64::try_from(health.paused.len()).unwrap_or(0)),
            "/console/channels?state=paused",
            true,
        ),
    ])
}

pub(super) fn post_row(row: MessageRead, now: Timestamp) -> PostRow {
    PostRow {
        key: row.message_id.to_string(),
        href: post_href(row.message_id),
        title: beginning(&row, TITLE_CHARS),
        media: if row.of_message_id.is_none() { attachments(row.media_count) } else { String::new() },
        created: moment(row.created_at, now),
        copies: words::copies(&row.deliveries, row.withdrawn),
        from: from(row.source.as_ref()),
        tags: row.tags,
    }
}

fn attachments(count: i32) -> String {
    match count {
        0 => String::new(),
        1 => "1\u{a0}attachment".to_owned(),
        more => format!("{more}\u{a0}attachments"),
    }
}

/// How a post begins, or what it is when it has no text.
fn beginning(row: &MessageRead, chars_max: usize) -> String {
    let text = words::beginning(row.text.as_deref().unwrap_or_default(), row.parse_mode.as_deref() == Some("HTML"), chars_max);
    match (row.of_message_id, text.as_str()) {
        (Some(_), "") => "Deletion".to_owned(),
        (Some(_), text) => format!("Edit: {text}"),
        (None, "") if row.media_count > 0 => attachments(row.media_count),
        (None, "") => "A post without text".to_owned(),
        (None, _) => text,
    }
}

/// Where a post came from, in a word or two.
fn from(source: Option<&Value>) -> String {
    let Some(source) = source else { return String::new() };
    match (source["source_id"].as_str(), source["kind"].as_str()) {
        (Some(id), _) => id.to_owned(),
        (None, Some("push")) => "push".to_owned(),
        (None, Some(kind)) => source["actor"].as_str().map_or_else(|| kind.to_owned(), |actor| format!("{kind} by {actor}")),
        (None, None) => String::new(),
    }
}

pub(super) async fn post(tx: &mut PgConnection, id: Uuid, now: Timestamp) -> Result<Option<PostDetails>, DbError> {
    let Some(whole) = reads::message(tx, id).await? else { return Ok(None) };
    let deliveries = reads::deliveries_of(tx, id).await?;
    let following = reads::following(tx, id).await?;
    let (row, payload) = (whole.message, whole.payload);
    let badges = words::copies(&row.deliveries, row.withdrawn);
    let announce = badges.iter().map(|badge| badge.label.as_str()).collect::<Vec<_>>().join(", ");
    let crumb = match row.of_message_id {
        Some(of) => PageLink::new(post_href(of), "The post that it changes"),
        None => PageLink::new("/console/posts", "Posts"),
    };
    let mut facts = vec![Fact::new("From", from(row.source.as_ref()))];
    facts.extend(row.source_ref.as_deref().map(|reference| Fact::new("Reference", reference)));
    facts.push(Fact::new("Tags", row.tags.join(", ")));
    if row.seen_count > 1 {
        facts.push(Fact::new("Brought", format!("{} times, the last {}", row.seen_count, moment(row.last_seen_at, now).ago)));
    }
    facts.extend(row.parse_mode.as_deref().map(|mode| Fact::new("Markup", mode)));
    facts.extend(row.trace_id.as_deref().map(|trace| Fact::new("Trace", trace)));
    facts.retain(|fact| !fact.value.is_empty());
    Ok(Some(PostDetails {
        id: id.to_string(),
        title: beginning(&row, TITLE_CHARS),
        crumb,
        badges,
        created: moment(row.created_at, now),
        text: payload["text"].as_str().unwrap_or_default().to_owned(),
        attached: payload["media"].as_array().into_iter().flatten().map(media).chain(links(&payload)).collect(),
        facts,
        has_more: deliveries.len() >= usize::try_from(reads::OF_MESSAGE_MAX).unwrap_or(usize::MAX),
        copies: CopiesTable {
            subject: "Channel",
            rows: deliveries.into_iter().map(|delivery| copy_in_channel(delivery, now)).collect(),
        },
        following: following.into_iter().map(|row| post_row(row, now)).collect(),
        events_href: format!("/console/events?message_id={id}"),
        announce,
    }))
}

fn media(item: &Value) -> Fact {
    let kind = match item["type"].as_str().unwrap_or_default() {
        "image" => "Picture",
        "video" => "Video",
        "audio" => "Audio",
        _ => "File",
    };
    let place = ["name", "url", "blob_ref", "file_id", "attachment_token"].into_iter().find_map(|key| item[key].as_str());
    let words = [place, item["caption"].as_str()];
    Fact::new(kind, words.into_iter().flatten().map(kernel::redact::redact_text).collect::<Vec<_>>().join(" · "))
}

fn links(payload: &Value) -> impl Iterator<Item = Fact> {
    let links = payload["links"].as_array().into_iter().flatten().filter_map(Value::as_str).map(|link| Fact::new("Link", link));
    let buttons = payload["buttons"].as_array().into_iter().flatten().filter_map(Value::as_array).flatten();
    let buttons = buttons.map(|button| {
        let part = |key: &str| button[key].as_str().unwrap_or_default().to_owned();
        Fact::new("Button", format!("{} → {}", part("text"), part("url")))
    });
    links.chain(buttons)
}

fn copy_row(delivery: DeliveryRead, subject: PageLink, platform: String, now: Timestamp) -> CopyRow {
    let is_well = matches!(delivery.status.as_str(), "sent" | "deduped");
    let error = delivery
        .last_error
        .as_ref()
        .filter(|error| !is_well && !words::is_withdrawn(error))
        .map(words::error)
        .unwrap_or_default();
    CopyRow {
        key: delivery.delivery_id.to_string(),
        subject,
        platform,
        operation: if delivery.operation == "send" { String::new() } else { delivery.operation.clone() },
        status: words::status(&delivery.status, &delivery.operation, delivery.last_error.as_ref()),
        attempts: i64::from(delivery.attempt),
        waits: match &delivery.waiting_for {
            Some(reason) => Some(words::waits(reason, now)),
            None => words::unsent(&delivery.status, delivery.last_error.as_ref()),
        },
        error,
        at: moment(delivery.sent_at.unwrap_or(delivery.updated_at), now),
        provider_id: delivery.provider_message_id,
        events_href: format!("/console/events?delivery_id={}", delivery.delivery_id),
    }
}

fn copy_in_channel(delivery: DeliveryRead, now: Timestamp) -> CopyRow {
    let label = delivery.channel_title.clone().unwrap_or_else(|| delivery.channel_id.clone());
    let subject = PageLink::new(channel_href(&delivery.channel_id), label);
    let platform = words::platform(&delivery.platform);
    copy_row(delivery, subject, platform, now)
}

fn copy_of_post(delivery: DeliveryRead, posts: &[MessageRead], now: Timestamp) -> CopyRow {
    let post = posts.iter().find(|post| post.message_id == delivery.message_id);
    let label = post.map_or_else(|| short(delivery.message_id), |post| beginning(post, COPY_CHARS));
    let subject = PageLink::new(post_href(delivery.message_id), label);
    copy_row(delivery, subject, String::new(), now)
}

/// The last eight characters of an id: the first ones are a time and alike.
fn short(id: Uuid) -> String {
    id.simple().to_string()[24..].to_owned()
}

pub(super) fn channel_row(row: &ChannelRead, now: Timestamp) -> ChannelRow {
    ChannelRow {
        id: row.channel_id.clone(),
        title: row.title.clone().unwrap_or_else(|| row.channel_id.clone()),
        href: channel_href(&row.channel_id),
        platform: words::platform(&row.platform),
        state: words::state(&row.state).0,
        until: row.paused_until.filter(|_| row.state == "paused").map(|at| moment(at, now)),
        backlog: Count::capped(row.backlog, BACKLOG_MAX),
        in_hand: Count::exact(i64::from(row.claimed + row.sending)),
        sent: row.last_sent_at.map(|at| moment(at, now)),
        error: row.last_error.as_ref().map(words::error).unwrap_or_default(),
        error_at: row.last_error_at.map(|at| moment(at, now)),
    }
}

pub(super) async fn channel(tx: &mut PgConnection, id: &str, now: Timestamp) -> Result<Option<ChannelDetails>, DbError> {
    let Some(row) = reads::channel(tx, id).await? else { return Ok(None) };
    let copies = reads::recent_deliveries(tx, id, RECENT).await?;
    let ids: Vec<Uuid> = copies.iter().map(|delivery| delivery.message_id).collect();
    let posts = reads::messages_by_ids(tx, &ids).await?;
    let filter = reads::EventFilter { channel_id: Some(id.to_owned()), limit: RECENT, ..reads::EventFilter::default() };
    let happened = reads::events(tx, &filter).await?;
    let rate = row
        .rate_rps
        .map_or_else(|| "no limit of its own".to_owned(), |rate| format!("{rate} a second, {} at once", row.max_parallel));
    let mut facts = vec![
        Fact::new("Messenger", words::platform(&row.platform)),
        Fact::new("Chat", row.target_id.clone()),
        Fact::new("Rate", rate),
        Fact::new(
            "Takes",
            match row.send_mode.as_str() {
                "text" => "text only",
                "media" => "posts with media",
                _ => "text and media",
            },
        ),
        Fact::new("Tags", row.tags.join(", ")),
        Fact::new("Lets in", row.route_filter.as_ref().map(|filter| words::describe(filter, &[])).unwrap_or_default()),
    ];
    if row.window_mode == "windowed" {
        let zone = row.timezone.clone().unwrap_or_else(|| "UTC".to_owned());
        facts.push(Fact::new(
            "Hours",
            format!("{} ({zone})", row.posting_window.as_ref().map(ToString::to_string).unwrap_or_default()),
        ));
    }
    facts.extend(row.dedup_ttl_hours.map(|hours| Fact::new("Repeats", format!("not within {hours}\u{a0}h"))));
    if row.error_streak > 0 {
        facts.push(Fact::new("Errors in a row", row.error_streak.to_string()));
    }
    facts.retain(|fact| !fact.value.is_empty());
    Ok(Some(ChannelDetails {
        summary: words::state(&row.state).1.to_owned(),
        row: channel_row(&row, now),
        facts,
        copies: CopiesTable {
            subject: "Post",
            rows: copies.into_iter().map(|delivery| copy_of_post(delivery, &posts, now)).collect(),
        },
        events: events(happened, now),
        events_href: format!("/console/events?channel_id={}", query_value(id)),
    }))
}

pub(super) fn events(rows: Vec<EventRead>, now: Timestamp) -> EventsTable {
    EventsTable { rows: rows.into_iter().map(|row| event_row(row, now)).collect() }
}

fn event_row(row: EventRead, now: Timestamp) -> EventRow {
    let mut details: Vec<String> = Vec::new();
    if row.attempt > 1 {
        details.push(format!("attempt\u{a0}{}", row.attempt));
    }
    details.extend(row.error.as_ref().map(words::error));
    // Ids that only programs read are left to the API.
    let rest = words::describe(&row.meta, &["trace_id", "run_id", "delivery_id", "endpoint_id", "suppressed_by"]);
    details.extend(Some(rest).filter(|rest| !rest.is_empty()));
    EventRow {
        key: row.id.to_string(),
        at: moment(row.ts, now),
        what: words::action(&row.action, row.result == "error"),
        channel: row.channel_id.map(|id| PageLink::new(channel_href(&id), id)),
        post: row.message_id.map(|id| PageLink::new(post_href(id), short(id))),
        details: details.join(" · "),
    }
}

pub(super) fn source_row(row: SourceRead, now: Timestamp) -> SourceRow {
    let state = match (row.enabled, row.failures) {
        (false, _) => Badge::new("switched off", Tone::Quiet),
        (true, 0) => Badge::new("read regularly", Tone::Good),
        (true, failures) => Badge::new(format!("failed {failures}\u{a0}times"), Tone::Warn),
    };
    let kind = match row.kind.as_str() {
        "rss" => "feed",
        "db" => "database",
        other => other,
    };
    SourceRow {
        href: format!("/console/ingest?source_id={}", query_value(&row.source_id)),
        place: [Some(kind), row.config["url"].as_str()].into_iter().flatten().collect::<Vec<_>>().join(" · "),
        id: row.source_id,
        state,
        read: row.last_run_at.map(|at| moment(at, now)),
        next: row.next_pull_at.filter(|_| row.enabled).map(|at| moment(at, now)),
        found: row.last_stats.as_ref().map(|stats| words::describe(stats, &[])).unwrap_or_default(),
    }
}

pub(super) fn run_row(row: RunRead, now: Timestamp) -> IngestRow {
    let has = |key: &str| row.stats.get(key).is_some_and(|value| !value.is_null() && value != 0);
    let outcome = if row.finished_at.is_none() {
        Badge::new("running", Tone::Busy)
    } else if has("error") {
        Badge::new("failed", Tone::Bad)
    } else if has("rate_limited") || has("payload_rejected") || has("rejected") {
        Badge::new("refused in part", Tone::Warn)
    } else if has("unchanged") || has("dedup_dropped") || has("stale") {
        Badge::new("nothing new", Tone::Quiet)
    } else {
        Badge::new("done", Tone::Good)
    };
    IngestRow {
        key: row.run_id.to_string(),
        at: moment(row.started_at, now),
        outcome,
        from: row.source_id.unwrap_or_else(|| "push".to_owned()),
        found: words::describe(&row.stats, &[]),
    }
}
