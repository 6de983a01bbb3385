//! The pages of the shop bot and their live regions.

use axum::{
    Router,
    extract::{Path, Query},
    http::{StatusCode, Uri},
    response::Response,
    routing::get,
};
use kernel::Problem;
use platform::{http::App, reads::Cursor};
use serde::Deserialize;
use shopbot::reads::{self, ConversationFilter, MUTED};

use super::{data, rules, words};
use crate::{
    pages::{IN_TIME, PAGE, address, asked, given, id, options, pager, shell},
    posting::platform as messenger,
    session::{PageError, Visitor, page},
    views::{
        Bots, BotsFragment, BotsPage, ConversationDetails, ConversationFragment, ConversationPage, Conversations,
        ConversationsFragment, ConversationsPage, Empty, Pager, RuleDetails, RuleFragment, RulePage, Rules, RulesFragment,
        RulesPage, query_value,
    },
};

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/console/conversations", get(conversations))
        .route("/console/conversations/{provider}/{chat_id}", get(conversation))
        .route("/console/rules", get(rules))
        .route("/console/rules/{rule_id}", get(rule))
        .route("/console/bots", get(bots))
}

/// A region by its name, with the query of the page that it stands on; none for a name that is not of the shop bot.
pub(crate) async fn fragment(visitor: &Visitor, name: &str, uri: &Uri) -> Result<Option<Response>, PageError> {
    if let Some((provider, chat_id)) = name.strip_prefix("conversation-").and_then(|id| id.split_once('-')) {
        let (conversation, pager) = find_conversation(visitor, provider, chat_id, asked(uri)?).await?;
        return Ok(Some(page(StatusCode::OK, &ConversationFragment { conversation, pager })));
    }
    if let Some(id) = name.strip_prefix("rule-") {
        let rule = find_rule(visitor, id).await?;
        return Ok(Some(page(StatusCode::OK, &RuleFragment { rule })));
    }
    Ok(match name {
        "conversations" => {
            let (conversations, pager) = list_conversations(visitor, &asked(uri)?).await?;
            Some(page(StatusCode::OK, &ConversationsFragment { conversations, pager }))
        }
        "rules" => {
            let (rules, pager) = list_rules(visitor, asked(uri)?).await?;
            Some(page(StatusCode::OK, &RulesFragment { rules, pager }))
        }
        "bots" => {
            let (bots, pager) = list_bots(visitor, asked(uri)?).await?;
            Some(page(StatusCode::OK, &BotsFragment { bots, pager }))
        }
        _ => None,
    })
}

/// The place in a list.
#[derive(Deserialize)]
struct PlaceQuery {
    before: Option<String>,
}

fn cursor(before: Option<String>) -> Result<Option<Cursor>, PageError> {
    Ok(given(before).as_deref().map(str::parse).transpose()?)
}

#[derive(Deserialize)]
struct ConversationsQuery {
    provider: Option<String>,
    state: Option<String>,
    before: Option<String>,
}

async fn list_conversations(visitor: &Visitor, query: &ConversationsQuery) -> Result<(Conversations, Pager), PageError> {
    let (provider, state) = (given(query.provider.clone()), given(query.state.clone()));
    let before = cursor(query.before.clone())?;
    let is_filtered = provider.is_some() || state.is_some() || before.is_some();
    let now = visitor.ctx.app.clock().now();
    let base = address("conversations", &[("provider", provider.as_ref()), ("state", state.as_ref())]);
    let mut tx = visitor.ctx.begin().await?;
    let filter = ConversationFilter { provider, state, before, limit: PAGE, ..ConversationFilter::default() };
    let found = reads::conversations(&mut tx, &filter).await?;
    let empty = if is_filtered {
        Empty { words: "No conversation matches.".to_owned(), command: String::new() }
    } else {
        data::empty(&visitor.ctx, &reads::ways_out(&mut tx).await?, "Nobody has written yet.")
    };
    let pager = Pager {
        first_href: before.is_some().then(|| base.clone()),
        next_href: found.next.map(|next| format!("{base}&before={next}")),
        shown: format!("{} conversations", found.rows.len()),
        labels: IN_TIME,
    };
    // Only what calls for a person is read out; the rest changes too often.
    let called = found.rows.iter().find(|row| row.last_outcome == "escalated");
    let announce = called.map(|row| format!("Operator called in {} chat {}", messenger(&row.provider), row.chat_id));
    let rows = found.rows.iter().map(|row| data::conversation_row(row, now)).collect();
    Ok((Conversations { rows, empty, announce: announce.unwrap_or_default() }, pager))
}

async fn conversations(visitor: Visitor, Query(query): Query<ConversationsQuery>) -> Result<Response, PageError> {
    let (conversations, pager) = list_conversations(&visitor, &query).await?;
    let states = reads::states(&mut *visitor.ctx.begin().await?).await?;
    let fixed = [("default", words::standing("default", false).0), (MUTED, words::standing("default", true).0)];
    let fixed = fixed.map(|(value, badge)| (value.to_owned(), badge.label));
    let states = fixed.into_iter().chain(states.into_iter().map(|state| (state.clone(), state)));
    let view = ConversationsPage {
        shell: shell(&visitor, "/console/conversations"),
        providers: options(["telegram", "max"].map(|name| (name.to_owned(), messenger(name))), given(query.provider).as_deref()),
        states: options(states, given(query.state).as_deref()),
        conversations,
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}

async fn find_conversation(
    visitor: &Visitor,
    provider: &str,
    chat_id: &str,
    query: PlaceQuery,
) -> Result<(ConversationDetails, Pager), PageError> {
    let before = cursor(query.before)?;
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let row = reads::conversation(&mut tx, provider, chat_id).await?;
    let row = row.ok_or_else(|| PageError(Problem::not_found("conversation")))?;
    let mut messages = reads::messages(&mut tx, provider, chat_id, before, PAGE + 1).await?;
    let ways = reads::ways_out(&mut tx).await?;
    let way = ways.iter().find(|way| way.provider == provider);
    let base = data::conversation_href(provider, chat_id);
    let pager = pager(&mut messages, &base, before.is_some(), "messages", |row| row.cursor().to_string());
    Ok((data::conversation(&row, messages, way, now), pager))
}

async fn conversation(
    visitor: Visitor,
    Path((provider, chat_id)): Path<(String, String)>,
    Query(query): Query<PlaceQuery>,
) -> Result<Response, PageError> {
    let (conversation, pager) = find_conversation(&visitor, &provider, &chat_id, query).await?;
    let view = ConversationPage { shell: shell(&visitor, "/console/conversations"), conversation, pager };
    Ok(page(StatusCode::OK, &view))
}

async fn list_rules(visitor: &Visitor, query: PlaceQuery) -> Result<(Rules, Pager), PageError> {
    let after = given(query.before);
    let place = after.as_deref().map(|after| after.split_once(':').unwrap_or((after, "")));
    let mut tx = visitor.ctx.begin().await?;
    let mut rows = reads::rules_by_intent(&mut tx, place, PAGE + 1).await?;
    let mut pager = pager(&mut rows, "/console/rules", place.is_some(), "rules", |row| {
        query_value(&format!("{}:{}", row.rule.intent, row.rule.rule_id))
    });
    pager.labels = ("First", "More");
    let nothing = "There is no rule yet, so the bot understands nothing: docs/shopbot.md shows how to save some.";
    let empty = data::empty(&visitor.ctx, &reads::ways_out(&mut tx).await?, nothing);
    Ok((Rules { intents: rules::by_intent(rows), empty }, pager))
}

async fn rules(visitor: Visitor, Query(query): Query<PlaceQuery>) -> Result<Response, PageError> {
    let (rules, pager) = list_rules(&visitor, query).await?;
    Ok(page(StatusCode::OK, &RulesPage { shell: shell(&visitor, "/console/rules"), rules, pager }))
}

async fn find_rule(visitor: &Visitor, id: &str) -> Result<RuleDetails, PageError> {
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    rules::rule(&mut tx, now, id).await?.ok_or_else(|| PageError(Problem::not_found("rule")))
}

async fn rule(visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageError> {
    let rule = find_rule(&visitor, &id).await?;
    Ok(page(StatusCode::OK, &RulePage { shell: shell(&visitor, "/console/rules"), rule }))
}

async fn list_bots(visitor: &Visitor, query: PlaceQuery) -> Result<(Bots, Pager), PageError> {
    let before = id("before", query.before.as_ref())?;
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let bots = reads::bots(&mut tx).await?;
    let alerts = reads::alerts(&mut tx).await?;
    let mut poison = reads::poison(&mut tx, before, PAGE + 1).await?;
    let pager = pager(&mut poison, "/console/bots", before.is_some(), "updates", |row| row.id.to_string());
    let raised = alerts.iter().filter(|alert| alert.cleared_at.is_none());
    let announce = raised.map(|alert| format!("{}: {}", messenger(&alert.provider), words::alert(&alert.alert)));
    let bots = Bots {
        announce: announce.collect::<Vec<_>>().join(", "),
        rows: bots.iter().map(|row| data::bot_row(row, &alerts, now)).collect(),
        poison: poison.into_iter().map(|row| data::poison_row(row, now)).collect(),
        empty: data::empty(&visitor.ctx, &[], ""),
    };
    Ok((bots, pager))
}

async fn bots(visitor: Visitor, Query(query): Query<PlaceQuery>) -> Result<Response, PageError> {
    let (bots, pager) = list_bots(&visitor, query).await?;
    Ok(page(StatusCode::OK, &BotsPage { shell: shell(&visitor, "/console/bots"), bots, pager }))
}
