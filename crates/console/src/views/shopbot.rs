//! Conversations of the shop bot, and how the bots are.

use askama::Template;

use super::{
    lists::Fact,
    posting::{Counter, Link, Waits},
    words::{Badge, Count, FilterOption, Moment, Pager, Shell, Trace},
};

/// What to say where there is nothing to show.
#[derive(Debug, Clone)]
pub struct Empty {
    /// Why, and what to do.
    pub words: String,
    /// The command that does it; empty for none.
    pub command: String,
}

/// The list of conversations.
#[derive(Debug, Template)]
#[template(path = "conversations.html")]
pub struct ConversationsPage {
    /// The frame.
    pub shell: Shell,
    /// The filter by messenger.
    pub providers: Vec<FilterOption>,
    /// The filter by state.
    pub states: Vec<FilterOption>,
    /// The conversations of this page.
    pub conversations: Conversations,
    /// The way on.
    pub pager: Pager,
}

/// The region `conversations` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/conversations.html")]
pub struct ConversationsFragment {
    /// The conversations of this page.
    pub conversations: Conversations,
    /// The way on.
    pub pager: Pager,
}

/// Conversations, the last one that was spoken in first.
#[derive(Debug, Clone)]
pub struct Conversations {
    /// The conversations.
    pub rows: Vec<ConversationRow>,
    /// What to say when there are none.
    pub empty: Empty,
    /// What to read out when it changes; empty for nothing.
    pub announce: String,
}

/// One conversation in the list.
#[derive(Debug, Clone)]
pub struct ConversationRow {
    /// Names the row; another one after each message.
    pub key: String,
    /// Its page.
    pub href: String,
    /// The messenger's id of the chat.
    pub chat: String,
    /// `Telegram` or `MAX`.
    pub provider: String,
    /// Whether a scenario is under way.
    pub standing: Badge,
    /// The state of that scenario; empty for none.
    pub state: String,
    /// Until when the bot is silent there.
    pub until: Option<Moment>,
    /// How the last message begins, redacted.
    pub said: String,
    /// What became of it.
    pub outcome: Badge,
    /// The rule that spoke.
    pub rule: Option<Link>,
    /// When that was.
    pub at: Moment,
    /// Answers that are not sent yet.
    pub waiting: Count,
    /// Answers that will not be sent.
    pub failed: Count,
}

/// One conversation.
#[derive(Debug, Template)]
#[template(path = "conversation.html")]
pub struct ConversationPage {
    /// The frame.
    pub shell: Shell,
    /// The conversation.
    pub conversation: ConversationDetails,
    /// The way on.
    pub pager: Pager,
}

/// The region of one conversation alone.
#[derive(Debug, Template)]
#[template(path = "fragments/conversation.html")]
pub struct ConversationFragment {
    /// The conversation.
    pub conversation: ConversationDetails,
    /// The way on.
    pub pager: Pager,
}

/// Everything about a conversation.
#[derive(Debug, Clone)]
pub struct ConversationDetails {
    /// Messenger and chat: names the region.
    pub id: String,
    /// What the list says of it.
    pub row: ConversationRow,
    /// Where it stands, in a sentence.
    pub summary: String,
    /// When it begins anew unless somebody writes.
    pub expires: Option<Moment>,
    /// Whatever else is known.
    pub facts: Vec<Fact>,
    /// The rules of the scenario, in the versions that it finishes on.
    pub rules: Vec<Link>,
    /// What the customer has told, redacted.
    pub captured: Vec<Fact>,
    /// The messages of this page, newest first.
    pub turns: Vec<TurnRow>,
    /// What to read out when it changes; empty for nothing.
    pub announce: String,
}

/// A message of the customer and what the bot made of it.
#[derive(Debug, Clone)]
pub struct TurnRow {
    /// Names the row.
    pub key: String,
    /// When.
    pub at: Moment,
    /// What was written, redacted; empty when it had no words.
    pub said: String,
    /// How it came, if not in writing: `pressed a button`.
    pub how: String,
    /// What became of it.
    pub outcome: Badge,
    /// The rule that spoke, with its version.
    pub rule: Option<Link>,
    /// The state before it.
    pub before: String,
    /// The state after it.
    pub after: String,
    /// Why this rule, or why none.
    pub why: String,
    /// How the answer begins, redacted; empty for none.
    pub answer: String,
    /// Where the answer stands.
    pub standing: Option<AnswerRow>,
    /// The input that led to it.
    pub trace: Option<Trace>,
}

/// Where an answer stands.
#[derive(Debug, Clone)]
pub struct AnswerRow {
    /// In a word.
    pub status: Badge,
    /// When it was sent or given up.
    pub at: Option<Moment>,
    /// Why it waits.
    pub waits: Option<Waits>,
    /// What went wrong last; empty for nothing.
    pub error: String,
    /// `attempt 2`, `may have arrived twice`; empty for nothing worth saying.
    pub notes: String,
    /// The messenger's id of it.
    pub provider_id: Option<String>,
}

/// The bots and how they are.
#[derive(Debug, Template)]
#[template(path = "bots.html")]
pub struct BotsPage {
    /// The frame.
    pub shell: Shell,
    /// The bots.
    pub bots: Bots,
    /// The way on through what could not be read.
    pub pager: Pager,
}

/// The region `bots` alone.
#[derive(Debug, Template)]
#[template(path = "fragments/bots.html")]
pub struct BotsFragment {
    /// The bots.
    pub bots: Bots,
    /// The way on through what could not be read.
    pub pager: Pager,
}

/// The bots, and what they could not read.
#[derive(Debug, Clone)]
pub struct Bots {
    /// The bots, by messenger.
    pub rows: Vec<BotRow>,
    /// Updates that could not be read, newest first.
    pub poison: Vec<PoisonRow>,
    /// What to say when there is no bot.
    pub empty: Empty,
    /// What to read out when it changes; empty for nothing.
    pub announce: String,
}

/// One bot.
#[derive(Debug, Clone)]
pub struct BotRow {
    /// `max` or `telegram`.
    pub key: String,
    /// `Telegram` or `MAX`.
    pub name: String,
    /// How it is.
    pub state: Badge,
    /// That in a sentence.
    pub summary: String,
    /// Until when that holds.
    pub until: Option<Moment>,
    /// The last fifteen minutes.
    pub counters: Vec<Counter>,
    /// Whatever else is known.
    pub facts: Vec<Fact>,
    /// When the next answer may go, while it sends as fast as it may.
    pub paced: Option<Moment>,
    /// What is or was wrong.
    pub alerts: Vec<AlertRow>,
}

/// Trouble with a bot.
#[derive(Debug, Clone)]
pub struct AlertRow {
    /// What is wrong.
    pub what: String,
    /// Whether it lasts.
    pub state: Badge,
    /// Since when.
    pub raised: Moment,
    /// When somebody was last told.
    pub told: Option<Moment>,
    /// When it was over.
    pub cleared: Option<Moment>,
    /// Whatever else is known, in a line.
    pub details: String,
}

/// An update that could not be read.
#[derive(Debug, Clone)]
pub struct PoisonRow {
    /// Names the row.
    pub key: String,
    /// `Telegram` or `MAX`.
    pub provider: String,
    /// What is wrong with it.
    pub problem: String,
    /// How often it came: `once`, `3 times`.
    pub seen: String,
    /// When it first came.
    pub first: Moment,
    /// When it last came.
    pub last: Moment,
    /// As it came, redacted.
    pub body: String,
}
