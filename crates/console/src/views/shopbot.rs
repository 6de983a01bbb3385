//! Conversations of the shop bot, and how the bots are.

use askama::Template;

use super::parts::{Badge, Count, Counter, EmptyNote, Fact, Moment, PageLink, Pager, Trace, Waits};

/// The conversation with the newest message comes first.
#[derive(Debug, Template)]
#[template(path = "conversations.html")]
pub struct ConversationsRegion {
    pub rows: Vec<ConversationRow>,
    pub empty: EmptyNote,
    pub pager: Pager,
    pub announce: String,
}

#[derive(Debug, Clone)]
pub struct ConversationRow {
    /// Names the row; another one after each message.
    pub key: String,
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
    pub rule: Option<PageLink>,
    pub at: Moment,
    /// Answers that are not sent yet.
    pub waiting: Count,
    /// Answers that will not be sent.
    pub failed: Count,
}

#[derive(Debug, Template)]
#[template(path = "conversation.html")]
pub struct ConversationDetails {
    /// Messenger and chat: names the region.
    pub id: String,
    pub row: ConversationRow,
    /// Its state in a sentence.
    pub summary: String,
    /// When it begins anew unless the customer writes.
    pub expires: Option<Moment>,
    pub facts: Vec<Fact>,
    /// The rules of the scenario, in the versions that it finishes on.
    pub rules: Vec<PageLink>,
    /// What the customer has told, redacted.
    pub captured: Vec<Fact>,
    /// Newest first.
    pub turns: Vec<TurnRow>,
    pub pager: Pager,
    pub announce: String,
}

/// A message of the customer and what the bot made of it.
#[derive(Debug, Clone)]
pub struct TurnRow {
    pub key: String,
    pub at: Moment,
    /// What was written, redacted; empty when it had no words.
    pub said: String,
    /// How it came, if not in writing: `pressed a button`.
    pub how: String,
    pub outcome: Badge,
    /// The rule that spoke, with its version.
    pub rule: Option<PageLink>,
    /// The state before it and after it.
    pub before: String,
    pub after: String,
    /// Why this rule, or why none.
    pub why: String,
    /// How the answer begins, redacted; empty for none.
    pub answer: String,
    /// Where the answer stands.
    pub standing: Option<AnswerRow>,
    pub trace: Option<Trace>,
}

/// Where an answer stands.
#[derive(Debug, Clone)]
pub struct AnswerRow {
    pub status: Badge,
    /// When it was sent or given up.
    pub at: Option<Moment>,
    pub waits: Option<Waits>,
    /// What went wrong last; empty for nothing.
    pub error: String,
    /// `attempt 2`; empty for nothing worth saying.
    pub notes: String,
    pub provider_id: Option<String>,
}

/// The bots, and what they could not read.
#[derive(Debug, Template)]
#[template(path = "bots.html")]
pub struct BotsRegion {
    /// By messenger.
    pub rows: Vec<BotRow>,
    /// Updates that could not be read, newest first.
    pub poison: Vec<PoisonRow>,
    pub empty: EmptyNote,
    pub pager: Pager,
    /// When the counters of the last fifteen minutes have to be counted again; none while they are zero.
    pub recount: Option<Moment>,
    pub announce: String,
}

#[derive(Debug, Clone)]
pub struct BotRow {
    /// `max` or `telegram`.
    pub key: String,
    /// `Telegram` or `MAX`.
    pub name: String,
    pub state: Badge,
    /// That in a sentence.
    pub summary: String,
    /// Until when that holds.
    pub until: Option<Moment>,
    /// The last fifteen minutes.
    pub counters: Vec<Counter>,
    pub facts: Vec<Fact>,
    /// When the next answer may go, while it sends as fast as it may.
    pub paced: Option<Moment>,
    /// What is or was wrong.
    pub alerts: Vec<AlertRow>,
}

#[derive(Debug, Clone)]
pub struct AlertRow {
    pub what: String,
    /// Whether it lasts.
    pub state: Badge,
    pub raised: Moment,
    pub told: Option<Moment>,
    pub cleared: Option<Moment>,
    /// Everything else that is known, in a line.
    pub details: String,
}

/// An update that could not be read.
#[derive(Debug, Clone)]
pub struct PoisonRow {
    pub key: String,
    /// `Telegram` or `MAX`.
    pub provider: String,
    pub problem: String,
    /// `once`, `3 times`.
    pub seen: String,
    pub first: Moment,
    pub last: Moment,
    /// As it came, redacted.
    pub body: String,
}
