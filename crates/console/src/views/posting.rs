//! Posts, channels, events and ingest.

use askama::Template;

use super::parts::{Badge, Count, Counter, Fact, Moment, PageLink, Pager, Waits, html_safe};

html_safe!(CopiesTable, EventsTable);

/// Newest first, under the counters of what is under way and what failed.
#[derive(Debug, Template)]
#[template(path = "posts.html")]
pub struct PostsRegion {
    pub counters: Vec<Counter>,
    pub rows: Vec<PostRow>,
    pub pager: Pager,
    pub announce: String,
}

#[derive(Debug, Clone)]
pub struct PostRow {
    pub key: String,
    pub href: String,
    /// How it begins.
    pub title: String,
    /// `2 attachments`; empty for none.
    pub media: String,
    pub created: Moment,
    pub tags: Vec<String>,
    /// Where it came from.
    pub from: String,
    /// Where its copies stand: `38 sent`, `2 failed`.
    pub copies: Vec<Badge>,
}

#[derive(Debug, Template)]
#[template(path = "post.html")]
pub struct PostDetails {
    pub id: String,
    /// How it begins.
    pub title: String,
    /// What its page belongs to: the posts, or the post that it changes.
    pub crumb: PageLink,
    /// Where its copies stand.
    pub badges: Vec<Badge>,
    pub created: Moment,
    /// As it was sent in; empty for none.
    pub text: String,
    /// Pictures, videos, files, links and buttons.
    pub attached: Vec<Fact>,
    pub facts: Vec<Fact>,
    /// By channel.
    pub copies: CopiesTable,
    /// Whether there are more copies than are shown.
    pub has_more: bool,
    /// The edits and deletions that follow it.
    pub following: Vec<PostRow>,
    pub events_href: String,
    pub announce: String,
}

/// Deliveries of one post, or to one channel.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/copies_table.html")]
pub struct CopiesTable {
    /// What a row is named by: `Channel` or `Post`.
    pub subject: &'static str,
    pub rows: Vec<CopyRow>,
}

#[derive(Debug, Clone)]
pub struct CopyRow {
    pub key: String,
    /// The channel, or the post where the channel is known.
    pub subject: PageLink,
    /// `Telegram` or `MAX`.
    pub platform: String,
    /// `edit` or `delete`; empty for a first sending.
    pub operation: String,
    pub status: Badge,
    pub attempts: i64,
    pub waits: Option<Waits>,
    /// What went wrong last; empty for nothing.
    pub error: String,
    /// When it arrived, or was last touched.
    pub at: Moment,
    pub provider_id: Option<String>,
    pub events_href: String,
}

#[derive(Debug, Template)]
#[template(path = "channels.html")]
pub struct ChannelsRegion {
    pub rows: Vec<ChannelRow>,
    pub pager: Pager,
}

#[derive(Debug, Clone)]
pub struct ChannelRow {
    pub id: String,
    /// Its title, or its id.
    pub title: String,
    pub href: String,
    /// `Telegram` or `MAX`.
    pub platform: String,
    pub state: Badge,
    /// Until when it is paused.
    pub until: Option<Moment>,
    pub backlog: Count,
    /// Of those, being sent or about to be.
    pub in_hand: Count,
    pub sent: Option<Moment>,
    /// What went wrong last; empty for nothing.
    pub error: String,
    pub error_at: Option<Moment>,
}

#[derive(Debug, Template)]
#[template(path = "channel.html")]
pub struct ChannelDetails {
    pub row: ChannelRow,
    /// Its state in a sentence.
    pub summary: String,
    pub facts: Vec<Fact>,
    pub copies: CopiesTable,
    pub events: EventsTable,
    pub events_href: String,
}

#[derive(Debug, Template)]
#[template(path = "events.html")]
pub struct EventsRegion {
    pub events: EventsTable,
    pub pager: Pager,
}

/// Newest first.
#[derive(Debug, Clone, Template)]
#[template(path = "parts/events_table.html")]
pub struct EventsTable {
    pub rows: Vec<EventRow>,
}

#[derive(Debug, Clone)]
pub struct EventRow {
    pub key: String,
    pub at: Moment,
    pub what: Badge,
    pub channel: Option<PageLink>,
    pub post: Option<PageLink>,
    /// Everything else that is known, in a line.
    pub details: String,
}

#[derive(Debug, Template)]
#[template(path = "ingest.html")]
pub struct IngestRegion {
    /// By name.
    pub sources: Vec<SourceRow>,
    /// Newest first.
    pub runs: Vec<IngestRow>,
    pub pager: Pager,
}

#[derive(Debug, Clone)]
pub struct SourceRow {
    pub id: String,
    /// Its runs.
    pub href: String,
    /// What kind of source, and where.
    pub place: String,
    pub state: Badge,
    pub read: Option<Moment>,
    pub next: Option<Moment>,
    /// What the last run brought.
    pub found: String,
}

#[derive(Debug, Clone)]
pub struct IngestRow {
    pub key: String,
    pub at: Moment,
    pub outcome: Badge,
    pub from: String,
    pub found: String,
}
