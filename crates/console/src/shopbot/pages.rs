//! The pages of the shop bot.

use std::time::Duration;

use axum::{Router, extract::Path, routing::get};
use kernel::Problem;
use platform::http::App;
use shopbot::reads::{self, ConversationFilter, MUTED, TurnRead};

use super::{data, rules, words};
use crate::{
    page::{ROWS, Shown},
    posting::platform as messenger,
    session::Visitor,
    views::{BotsRegion, ConversationsRegion, EmptyNote, Moment, PageHead, RulesRegion},
};

/// How soon the counters of the last fifteen minutes are counted again although nothing was published.
const RECOUNT_AFTER: Duration = Duration::from_mins(1);

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/conversations", get(conversations))
        .route("/conversations/{provider}/{chat_id}", get(conversation))
        .route("/rules", get(rules))
        .route("/rules/{rule_id}", get(rule))
        .route("/bots", get(bots))
}

async fn conversations(visitor: Visitor) -> Shown {
    let mut tx = visitor.ctx.begin().await?;
    let fixed = [("default", words::standing("default", false).0), (MUTED, words::standing("default", true).0)];
    let fixed = fixed.map(|(value, badge)| (value.to_owned(), badge.label));
    let states = reads::states(&mut tx).await?.into_iter().map(|state| (state.clone(), state));
    let filters = visitor
        .filters()
        .choice("provider", "Messenger", ["telegram", "max"].map(|name| (name, messenger(name))))
        .choice("state", "State", fixed.into_iter().chain(states));
    let (provider, state, before) = (visitor.text("provider"), visitor.text("state"), visitor.place()?);
    let is_filtered = provider.is_some() || state.is_some() || before.is_some();
    let filter = ConversationFilter { provider, state, before, limit: ROWS, ..ConversationFilter::default() };
    let found = reads::conversations(&mut tx, &filter).await?;
    let empty = if is_filtered {
        EmptyNote::new("No conversation matches.")
    } else {
        data::empty(&visitor.ctx, &reads::ways_out(&mut tx).await?, "Nobody has written yet.")
    };
    // Only what calls for a person is read out; the rest changes too often.
    let called = found.rows.iter().find(|row| row.last_outcome == "escalated");
    let announce = called.map(|row| format!("Operator called in {} chat {}", messenger(&row.provider), row.chat_id));
    let conversations = ConversationsRegion {
        rows: found.rows.iter().map(|row| data::conversation_row(row, visitor.now())).collect(),
        empty,
        pager: filters.pager_to(found.next, format!("{} conversations", found.rows.len())),
        announce: announce.unwrap_or_default(),
    };
    let lead = "Who talks with the bot, where each conversation stands, and whether its answers arrived. Texts are redacted.";
    visitor.show(PageHead::new("Conversations", lead).with(filters), &conversations)
}

async fn conversation(visitor: Visitor, Path((provider, chat_id)): Path<(String, String)>) -> Shown {
    let before = visitor.place()?;
    let mut tx = visitor.ctx.begin().await?;
    let bot = visitor.text("bot").and_then(|id| id.parse().ok());
    let row = reads::conversation(&mut tx, &provider, &chat_id, bot).await?;
    let row = row.ok_or_else(|| Problem::not_found("conversation"))?;
    let mut messages = reads::messages(&mut tx, &row, before, ROWS + 1).await?;
    let ways = reads::ways_out(&mut tx).await?;
    let way = ways.iter().find(|way| Some(way.bot_id) == row.bot_id);
    // In no form here, but in the links to the older pages.
    let pager = visitor.filters().text("bot", "Bot").pager(&mut messages, "messages", TurnRead::cursor);
    let conversation = data::conversation(&row, messages, way, pager, visitor.now());
    let title = format!("{} chat {}", conversation.row.provider, conversation.row.chat);
    visitor.show(PageHead::only_title(title), &conversation)
}

async fn rules(visitor: Visitor) -> Shown {
    let after = visitor.text("before");
    let place = after.as_deref().map(|after| after.split_once(':').unwrap_or((after, "")));
    let mut tx = visitor.ctx.begin().await?;
    let mut rows = reads::rules_by_intent(&mut tx, place, ROWS + 1).await?;
    let mut pager = visitor.filters().pager(&mut rows, "rules", |row| format!("{}:{}", row.rule.intent, row.rule.rule_id));
    pager.labels = ("First", "More");
    let nothing = "There is no rule yet, so the bot understands nothing: docs/shopbot.md shows how to save some.";
    let empty = data::empty(&visitor.ctx, &reads::ways_out(&mut tx).await?, nothing);
    let lead = "What the bot answers to what. A version never changes: what is saved is a new one.";
    visitor.show(PageHead::new("Rules", lead), &RulesRegion { intents: rules::by_intent(rows), empty, pager })
}

async fn rule(visitor: Visitor, Path(id): Path<String>) -> Shown {
    let mut tx = visitor.ctx.begin().await?;
    let versions = reads::rule_versions(&mut tx, &id).await?;
    let rule = rules::details(&versions, visitor.now()).ok_or_else(|| Problem::not_found("rule"))?;
    visitor.show(PageHead::only_title(&rule.id), &rule)
}

async fn bots(visitor: Visitor) -> Shown {
    let (before, now) = (visitor.id("before")?, visitor.now());
    let mut tx = visitor.ctx.begin().await?;
    let bots = reads::bots(&mut tx).await?;
    let alerts = reads::alerts(&mut tx).await?;
    let mut poison = reads::poison(&mut tx, before, ROWS + 1).await?;
    let pager = visitor.filters().pager(&mut poison, "updates", |row| row.id);
    let raised = alerts.iter().filter(|alert| alert.cleared_at.is_none());
    let announce = raised.map(|alert| format!("{}: {}", messenger(&alert.provider), words::alert(&alert.alert)));
    let has_counted = bots.iter().any(|bot| bot.messages > 0 || bot.errors > 0);
    let bots = BotsRegion {
        announce: announce.collect::<Vec<_>>().join(", "),
        rows: bots.iter().map(|row| data::bot_row(row, &alerts, now)).collect(),
        poison: poison.into_iter().map(|row| data::poison_row(row, now)).collect(),
        empty: data::empty(&visitor.ctx, &[], ""),
        recount: has_counted.then(|| Moment::new(now + RECOUNT_AFTER, now)),
        pager,
    };
    let lead = "How the bots are: what went wrong in the last fifteen minutes, who was told, and what they could not read.";
    visitor.show(PageHead::new("Bots", lead), &bots)
}
