//! Posts, channels, events and ingest.

use askama::Template;

use super::{
    lists::Fact,
    words::{Badge, Count, FilterOption, Moment, Pager, Shell},
};

/// The list of posts.
#[derive(Debug, Template)]
#[template(path = "posts.html")]
pub struct PostsPage {
    /// The frame.
    pub shell: Shell,
    /// The tag to filter by; empty for any.
    pub tag: String,
    /// The reference to filter by; empty for any.
    pub source_ref: String,
    /// The posts of this page.
    pub posts: Posts,
    /// The way on.
    pub pager: Pager,
}

/// The region `posts` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/posts.html")]
pub struct PostsFragment {
    /// The posts of this page.
    pub posts: Posts,
    /// The way on.
    pub pager: Pager,
}

/// Posts, newest first, under the numbers that matter.
#[derive(Debug, Clone)]
pub struct Posts {
    /// What is under way, and what went wrong.
    pub counters: Vec<Counter>,
    /// The posts.
    pub rows: Vec<PostRow>,
    /// What to read out when it changes; empty for nothing.
    pub announce: String,
}

/// A number that leads somewhere.
#[derive(Debug, Clone)]
pub struct Counter {
    /// What is counted.
    pub label: String,
    /// How many.
    pub count: Count,
    /// The list behind it.
    pub href: String,
    /// Whether any at all is bad news.
    pub is_bad: bool,
}

/// One post in a list.
#[derive(Debug, Clone)]
pub struct PostRow {
    /// Names the row.
    pub key: String,
    /// Its page.
    pub href: String,
    /// How it begins.
    pub title: String,
    /// `2 attachments`; empty for none.
    pub media: String,
    /// When it came in.
    pub created: Moment,
    /// Its tags.
    pub tags: Vec<String>,
    /// Where it came from.
    pub from: String,
    /// Where its copies stand: `38 sent`, `2 failed`.
    pub copies: Vec<Badge>,
}

/// One post.
#[derive(Debug, Template)]
#[template(path = "post.html")]
pub struct PostPage {
    /// The frame.
    pub shell: Shell,
    /// The post.
    pub post: PostDetails,
}

/// The region of one post alone.
#[derive(Debug, Template)]
#[template(path = "fragments/post.html")]
pub struct PostFragment {
    /// The post.
    pub post: PostDetails,
}

/// Everything about a post.
#[derive(Debug, Clone)]
pub struct PostDetails {
    /// Its id.
    pub id: String,
    /// How it begins.
    pub title: String,
    /// What its page belongs to: the posts, or the post that it changes.
    pub crumb: Link,
    /// Where its copies stand.
    pub badges: Vec<Badge>,
    /// When it came in.
    pub created: Moment,
    /// Its text, as it was sent in; empty for none.
    pub text: String,
    /// Pictures, videos and files.
    pub media: Vec<Fact>,
    /// Links and buttons.
    pub links: Vec<Fact>,
    /// Whatever else is known.
    pub facts: Vec<Fact>,
    /// Its copies, by channel.
    pub copies: Vec<CopyRow>,
    /// Whether there are more copies than are shown.
    pub has_more: bool,
    /// The edits and deletions that follow it.
    pub following: Vec<PostRow>,
    /// All that happened to it.
    pub events_href: String,
    /// What to read out when it changes; empty for nothing.
    pub announce: String,
}

/// A word that leads somewhere.
#[derive(Debug, Clone)]
pub struct Link {
    /// Where.
    pub href: String,
    /// The word.
    pub label: String,
}

/// One post in one channel.
#[derive(Debug, Clone)]
pub struct CopyRow {
    /// Names the row.
    pub key: String,
    /// The channel, or the post where the channel is known.
    pub subject: Link,
    /// `Telegram` or `MAX`.
    pub platform: String,
    /// `edit` or `delete`; empty for a first sending.
    pub operation: String,
    /// Where it stands.
    pub status: Badge,
    /// How often it was tried.
    pub attempts: i64,
    /// Why it waits.
    pub waits: Option<Waits>,
    /// What went wrong last; empty for nothing.
    pub error: String,
    /// When it arrived, or was last touched.
    pub at: Moment,
    /// The provider's id of it.
    pub provider_id: Option<String>,
    /// What happened to it.
    pub events_href: String,
}

/// Why something waits, and until when.
#[derive(Debug, Clone)]
pub struct Waits {
    /// The reason.
    pub why: String,
    /// Until when, if that is known.
    pub until: Option<Moment>,
}

/// The list of channels.
#[derive(Debug, Template)]
#[template(path = "channels.html")]
pub struct ChannelsPage {
    /// The frame.
    pub shell: Shell,
    /// The filter by state.
    pub states: Vec<FilterOption>,
    /// The filter by provider.
    pub platforms: Vec<FilterOption>,
    /// The channels of this page.
    pub channels: Vec<ChannelRow>,
    /// The way on.
    pub pager: Pager,
}

/// The region `channels` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/channels.html")]
pub struct ChannelsFragment {
    /// The channels of this page.
    pub channels: Vec<ChannelRow>,
    /// The way on.
    pub pager: Pager,
}

/// One channel in the list.
#[derive(Debug, Clone)]
pub struct ChannelRow {
    /// Its id.
    pub id: String,
    /// Its title, or its id.
    pub title: String,
    /// Its page.
    pub href: String,
    /// `Telegram` or `MAX`.
    pub platform: String,
    /// How it is.
    pub state: Badge,
    /// Until when it is paused.
    pub until: Option<Moment>,
    /// What is under way to it.
    pub backlog: Count,
    /// Of those, being sent or about to be.
    pub in_hand: Count,
    /// When something last arrived.
    pub sent: Option<Moment>,
    /// What went wrong last; empty for nothing.
    pub error: String,
    /// When that was.
    pub error_at: Option<Moment>,
}

/// One channel.
#[derive(Debug, Template)]
#[template(path = "channel.html")]
pub struct ChannelPage {
    /// The frame.
    pub shell: Shell,
    /// The channel.
    pub channel: ChannelDetails,
}

/// The region of one channel alone.
#[derive(Debug, Template)]
#[template(path = "fragments/channel.html")]
pub struct ChannelFragment {
    /// The channel.
    pub channel: ChannelDetails,
}

/// Everything about a channel.
#[derive(Debug, Clone)]
pub struct ChannelDetails {
    /// What the list says of it.
    pub row: ChannelRow,
    /// How it is, in a sentence.
    pub summary: String,
    /// Whatever else is known.
    pub facts: Vec<Fact>,
    /// What it was given lately.
    pub copies: Vec<CopyRow>,
    /// What happened lately.
    pub events: Events,
    /// All that happened.
    pub events_href: String,
}

/// The list of events.
#[derive(Debug, Template)]
#[template(path = "events.html")]
pub struct EventsPage {
    /// The frame.
    pub shell: Shell,
    /// The filter by what happened.
    pub actions: Vec<FilterOption>,
    /// The filter by how it ended.
    pub results: Vec<FilterOption>,
    /// The channel to filter by; empty for any.
    pub channel_id: String,
    /// The post to filter by; empty for any.
    pub message_id: String,
    /// The delivery to filter by; empty for any.
    pub delivery_id: String,
    /// The events of this page.
    pub events: Events,
    /// The way on.
    pub pager: Pager,
}

/// The region `events` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/events.html")]
pub struct EventsFragment {
    /// The events of this page.
    pub events: Events,
    /// The way on.
    pub pager: Pager,
}

/// Events, newest first.
#[derive(Debug, Clone)]
pub struct Events {
    /// The events.
    pub rows: Vec<EventRow>,
}

/// One event.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// Names the row.
    pub key: String,
    /// When.
    pub at: Moment,
    /// What happened.
    pub what: Badge,
    /// Its channel.
    pub channel: Option<Link>,
    /// Its post.
    pub post: Option<Link>,
    /// Whatever else is known, in a line.
    pub details: String,
}

/// Where posts come from.
#[derive(Debug, Template)]
#[template(path = "ingest.html")]
pub struct IngestPage {
    /// The frame.
    pub shell: Shell,
    /// The filter by kind.
    pub kinds: Vec<FilterOption>,
    /// The source to filter by; empty for any.
    pub source_id: String,
    /// Sources and runs.
    pub ingest: Ingest,
    /// The way on.
    pub pager: Pager,
}

/// The region `ingest` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/ingest.html")]
pub struct IngestFragment {
    /// Sources and runs.
    pub ingest: Ingest,
    /// The way on.
    pub pager: Pager,
}

/// Sources and runs.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// The sources, by name.
    pub sources: Vec<SourceRow>,
    /// The runs of this page, newest first.
    pub runs: Vec<IngestRow>,
}

/// One source.
#[derive(Debug, Clone)]
pub struct SourceRow {
    /// Its name.
    pub id: String,
    /// Its runs.
    pub href: String,
    /// What kind of source, and where.
    pub place: String,
    /// How it is.
    pub state: Badge,
    /// When it was last read.
    pub read: Option<Moment>,
    /// When it will be read again.
    pub next: Option<Moment>,
    /// What that brought.
    pub found: String,
}

/// One run.
#[derive(Debug, Clone)]
pub struct IngestRow {
    /// Names the row.
    pub key: String,
    /// When it began.
    pub at: Moment,
    /// How it ended, or that it has not.
    pub outcome: Badge,
    /// Who brought it.
    pub from: String,
    /// What it brought.
    pub found: String,
}
