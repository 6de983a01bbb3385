//! From rows to words: what the pages of conversations and bots show.

use jiff::Timestamp;
use platform::{http::Ctx, reads::Time};
use serde_json::Value;
use shopbot::reads::{ANSWERS_MAX, BotAlertRead, BotRead, ConversationRead, PoisonRead, TurnRead, WayOut};

use super::{rules::rule_href, words};
use crate::{
    posting::{beginning, error, platform as messenger},
    views::{
        AlertRow, AnswerRow, Badge, BotRow, ConversationDetails, ConversationRow, Count, Counter, EmptyNote, Fact, Moment,
        PageLink, Pager, PoisonRow, Tone, Trace, TurnRow, Waits, query_value,
    },
};

const SAID_CHARS: usize = 120;
/// Where the database stops counting: see `shopbot.error_rate` and `reads::bots`.
const MESSAGES_MAX: i64 = 10_000;
const ERRORS_MAX: i64 = 1000;

fn conversation_href(row: &ConversationRead) -> String {
    let bot = row.bot_id.filter(|_| row.is_one_of_several).map(|id| format!("?bot={id}"));
    format!("/console/conversations/{}/{}{}", query_value(&row.provider), query_value(&row.chat_id), bot.unwrap_or_default())
}

fn moment(at: Time, now: Timestamp) -> Moment {
    Moment::new(at.to_jiff(), now)
}

fn rule_link(id: &str, version: &str) -> PageLink {
    PageLink::new(rule_href(id), format!("{id}\u{a0}v{version}"))
}

/// What to do before the first customer writes, or the first bot is set up.
pub(super) fn empty(ctx: &Ctx, ways: &[WayOut], nothing: &str) -> EmptyNote {
    let provider = ways.iter().map(|way| way.provider.as_str()).find(|name| *name == "max");
    match provider.or_else(|| ways.first().map(|way| way.provider.as_str())) {
        Some(provider) => EmptyNote {
            words: format!("{nothing} To talk to the bot yourself, without writing or sending anything:"),
            command: words::try_command(&ctx.principal.workspace_name, provider),
        },
        None => EmptyNote::new("No bot is connected. docs/shopbot.md shows the two statements that connect one."),
    }
}

pub(super) fn conversation_row(row: &ConversationRead, now: Timestamp) -> ConversationRow {
    let rule = row.last_rule_id.as_deref().zip(row.last_rule_version);
    ConversationRow {
        key: row.log_id.to_string(),
        href: conversation_href(row),
        chat: row.chat_id.clone(),
        provider: messenger(&row.provider),
        standing: words::standing(&row.state, row.muted_until.is_some()).0,
        state: if row.state == "default" { String::new() } else { row.state.clone() },
        until: row.muted_until.map(|at| moment(at, now)),
        said: beginning(&row.last_message, false, SAID_CHARS),
        outcome: words::outcome(&row.last_outcome),
        rule: rule.map(|(id, version)| rule_link(id, &version.to_string())),
        at: moment(row.last_at, now),
        waiting: Count::capped(row.waiting, ANSWERS_MAX),
        failed: Count::capped(row.failed, ANSWERS_MAX),
    }
}

/// The names and values of an object, as text.
fn texts(object: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    object.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), text(value))).collect()
}

pub(super) fn conversation(
    row: &ConversationRead,
    messages: Vec<TurnRead>,
    way: Option<&WayOut>,
    pager: Pager,
    now: Timestamp,
) -> ConversationDetails {
    let (_, summary) = words::standing(&row.state, row.muted_until.is_some());
    let mut facts = vec![
        Fact::new("Messenger", messenger(&row.provider)),
        Fact::new("State", row.state.clone()),
        Fact::new("Scenario", row.intent.clone().unwrap_or_default()),
        Fact::new("Messages without a pause", if row.turns > 0 { row.turns.to_string() } else { String::new() }),
    ];
    facts.extend(way.filter(|way| !way.enabled).map(|_| Fact::new("The bot", "is switched off: nothing is answered or sent")));
    facts.extend(way.is_none().then(|| Fact::new("The bot", "is no longer there")));
    facts.retain(|fact| !fact.value.is_empty());
    let turns: Vec<TurnRow> = messages.into_iter().map(|message| turn(message, way, now)).collect();
    ConversationDetails {
        id: format!("{}-{}", row.provider, row.chat_id),
        row: conversation_row(row, now),
        summary: summary.to_owned(),
        expires: row.expires_at.filter(|at| at.to_jiff() > now && row.muted_until.is_none()).map(|at| moment(at, now)),
        facts,
        rules: texts(&row.versions).iter().map(|(id, version)| rule_link(id, version)).collect(),
        captured: texts(&row.captured).into_iter().map(|(label, value)| Fact { label, value }).collect(),
        announce: turns.first().map(|turn| turn.outcome.label.clone()).unwrap_or_default(),
        turns,
        pager,
    }
}

fn turn(row: TurnRead, way: Option<&WayOut>, now: Timestamp) -> TurnRow {
    let standing = answer(&row, way, now);
    let rule = row.matched_rule_id.as_deref().zip(row.rule_version);
    TurnRow {
        key: row.log_id.to_string(),
        at: moment(row.ts, now),
        how: words::how(&row.meta),
        outcome: words::outcome(&row.outcome),
        rule: rule.map(|(id, version)| rule_link(id, &version.to_string())),
        why: words::why(&row.meta["why"]),
        trace: row.meta["trace_id"].as_str().map(Trace::new),
        said: row.message_text,
        before: row.state_before,
        after: row.state_after,
        answer: row.response_preview.unwrap_or_default(),
        standing,
    }
}

/// Where the answer to a message stands; none for a message that has none.
pub(super) fn answer(row: &TurnRead, way: Option<&WayOut>, now: Timestamp) -> Option<AnswerRow> {
    let Some(status) = row.answer_status.as_deref() else {
        // Logs are kept for longer than answers.
        row.response_preview.as_ref()?;
        let status = Badge::new("no longer kept", Tone::Quiet);
        return Some(AnswerRow { status, at: None, waits: None, error: String::new(), notes: String::new(), provider_id: None });
    };
    let closed = way.and_then(|way| way.closed_until).map(Time::to_jiff).filter(|until| *until > now);
    let due = row.next_retry_at.map(Time::to_jiff).filter(|due| *due > now);
    let is_off = way.is_some_and(|way| !way.enabled);
    let wait =
        |why: &str, until: Option<Timestamp>| Some(Waits { why: why.to_owned(), until: until.map(|at| Moment::new(at, now)) });
    let waits = match status {
        "queued" | "retry" if is_off => wait("the bot is switched off", None),
        "queued" | "retry" if closed.is_some() && closed >= due => wait("nothing is sent by this bot; it goes on", closed),
        "retry" => wait("it is tried again", due),
        "queued" if due.is_some() => wait("one chat gets so many answers a second; its turn comes", due),
        "queued" => wait("it is due, after those that were there before", None),
        _ => None,
    };
    let unknown = row.unknown_outcomes.unwrap_or(0);
    let notes = [
        row.attempt.filter(|attempt| *attempt > 1).map(|attempt| format!("attempt\u{a0}{attempt}")),
        (unknown > 0).then(|| format!("nobody knows whether it arrived in {unknown} of them")),
    ];
    let error = row.last_error.as_ref().filter(|_| status != "sent").map(error).unwrap_or_default();
    Some(AnswerRow {
        status: words::status(status),
        at: row.sent_at.or(row.failed_at).map(|at| moment(at, now)),
        waits,
        error,
        notes: notes.into_iter().flatten().collect::<Vec<_>>().join(", "),
        provider_id: row.provider_message_id.clone(),
    })
}

pub(super) fn bot_row(row: &BotRead, alerts: &[BotAlertRead], now: Timestamp) -> BotRow {
    let alerts: Vec<&BotAlertRead> = alerts.iter().filter(|alert| alert.subject == row.subject).collect();
    let is_in_trouble = alerts.iter().any(|alert| alert.cleared_at.is_none());
    let (state, summary, until) = if !row.enabled {
        (Badge::new("switched off", Tone::Quiet), "Messages are acknowledged and not answered.", None)
    } else if let Some(until) = row.closed_until {
        let summary = "The messenger asked to wait, or refuses the token. Answers are kept, and it goes on";
        (Badge::new("closed", Tone::Warn), summary, Some(moment(until, now)))
    } else if is_in_trouble {
        (Badge::new("in trouble", Tone::Bad), "It answers, but not as it should: see its alerts.", None)
    } else {
        (Badge::new("answering", Tone::Good), "Messages are answered.", None)
    };
    let href = format!("/console/conversations?provider={}&state=", query_value(&row.provider));
    let counter =
        |label: &str, count: Count, is_bad: bool| Counter { label: label.to_owned(), count, href: href.clone(), is_bad };
    let rate = Count { value: row.errors, text: words::percent(row.error_rate) };
    BotRow {
        key: row.subject.clone(),
        name: if row.subject == row.provider {
            messenger(&row.provider)
        } else {
            format!("{}: {}", messenger(&row.provider), row.name)
        },
        state,
        summary: summary.to_owned(),
        until,
        counters: vec![
            counter("messages, 15\u{a0}min", words::up_to(row.messages, MESSAGES_MAX), false),
            counter("went wrong", words::up_to(row.errors, ERRORS_MAX), true),
            counter("error rate", rate, row.error_rate > row.alert_error_rate),
            counter("answers waiting", Count::capped(row.waiting, ERRORS_MAX), false),
        ],
        facts: bot_facts(row),
        paced: row.next_allowed_at.map(|at| moment(at, now)),
        alerts: alerts.into_iter().map(|alert| alert_row(alert, now)).collect(),
    }
}

fn bot_facts(row: &BotRead) -> Vec<Fact> {
    let pace = match (row.rate_rps, row.chat_rps) {
        (None, None) => "no limit of ours".to_owned(),
        (Some(all), None) => format!("{all} answers a second over all chats"),
        (None, Some(chat)) => format!("{chat} answers a second in one chat"),
        (Some(all), Some(chat)) => format!("{all} answers a second over all chats, {chat} in one chat"),
    };
    let told = row.alert_chat_id.as_ref().map_or_else(
        || "the other targets of the workspace, if it has any: alert_chat_id is not set".to_owned(),
        |chat| format!("chat {chat}"),
    );
    let raised = format!("above {} of at least {} messages", words::percent(row.alert_error_rate), row.alert_min_messages);
    vec![Fact::new("Pace", pace), Fact::new("Alert", raised), Fact::new("Told to", told)]
}

fn alert_row(row: &BotAlertRead, now: Timestamp) -> AlertRow {
    AlertRow {
        what: words::alert(&row.alert),
        state: if row.cleared_at.is_none() { Badge::new("raised", Tone::Bad) } else { Badge::new("over", Tone::Quiet) },
        raised: moment(row.raised_at, now),
        told: row.told_at.map(|at| moment(at, now)),
        cleared: row.cleared_at.map(|at| moment(at, now)),
        details: row.why.clone().unwrap_or_default(),
    }
}

pub(super) fn poison_row(row: PoisonRead, now: Timestamp) -> PoisonRow {
    // What was JSON is easier to read on several lines; what was cut is no JSON any more.
    let json = serde_json::from_str::<Value>(&row.body).ok();
    let pretty = json.and_then(|json| serde_json::to_string_pretty(&json).ok());
    PoisonRow {
        key: row.id.to_string(),
        provider: messenger(&row.provider),
        problem: row.problem,
        seen: words::times(row.seen_count),
        first: moment(row.received_at, now),
        last: moment(row.last_seen_at, now),
        body: pretty.unwrap_or(row.body),
    }
}
