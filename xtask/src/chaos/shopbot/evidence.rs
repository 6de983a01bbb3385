//! What the checker judges by: the customers' ledger, the simulator's two ledgers, and what the database says about the same.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use anyhow::{Context, Result};

use super::{chats::read_answer, customers::Ledger};
use crate::chaos::{
    evidence::{Copy, ProviderCall, call, copy},
    stage::Stage,
};

/// A message that a customer wrote, and how often it was brought and taken.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) chat_id: String,
    /// No two messages have the same, in whichever chat.
    pub(super) message_id: String,
    pub(super) said: String,
    pub(super) round: u32,
    pub(super) brought: u32,
    pub(super) taken: u32,
}

#[derive(Clone, Debug)]
pub(super) struct SavedPoison {
    pub(super) marker: String,
    pub(super) brought: u32,
    pub(super) taken: u32,
}

/// What is in the inbox.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Receipt {
    pub(super) message_id: String,
    pub(super) arrival: i64,
}

/// What is in the outbox.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct SavedAnswer {
    pub(super) id: String,
    pub(super) chat_id: String,
    pub(super) message_id: String,
    pub(super) status: String,
    pub(super) attempt: i32,
    /// Attempts whose end nobody could read.
    pub(super) unknown: i32,
}

/// A change of an answer's status.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Move {
    pub(super) answer_id: String,
    pub(super) from_status: Option<String>,
    pub(super) to_status: String,
    pub(super) attempt: i32,
    pub(super) unknown: i32,
    pub(super) provider_message_id: Option<String>,
    pub(super) ms: i64,
}

/// An update that could not be handled, as it was kept.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Kept {
    pub(super) body: String,
    pub(super) problem: String,
    pub(super) seen_count: i64,
}

#[derive(Debug, Default)]
pub(super) struct AnswerEvidence {
    pub(super) written: Vec<Written>,
    pub(super) poison: Vec<SavedPoison>,
    /// In the order in which the simulator accepted them.
    pub(super) copies: Vec<Copy>,
    pub(super) calls: Vec<ProviderCall>,
    pub(super) receipts: Vec<Receipt>,
    pub(super) answers: Vec<SavedAnswer>,
    pub(super) moves: BTreeMap<String, Vec<Move>>,
    /// How many messages each chat's state says it had.
    pub(super) turns: BTreeMap<String, i64>,
    pub(super) kept: Vec<Kept>,
    /// Successes that came when somebody else had the answer, as the journal has them.
    pub(super) possible_duplicates: i64,
}

const RECEIPTS: &str = "select provider_message_id as message_id, arrival from shopbot.bot_inbox order by arrival";
const ANSWERS: &str = "
    select answer_id::text as id, chat_id, inbound_provider_message_id as message_id, status, attempt, unknown_outcomes as unknown
      from shopbot.bot_outbox order by seq";
const MOVES: &str = "
    select m.answer_id::text as answer_id, m.from_status, m.to_status, m.attempt, m.unknown, m.provider_message_id,
           floor(extract(epoch from m.at) * 1000)::bigint as ms
      from chaos.moves m order by m.n";
const TURNS: &str = "select chat_id, coalesce((context->>'turns')::bigint, 0) from shopbot.bot_state";
const KEPT: &str = "select body, problem, seen_count from shopbot.bot_poison order by received_at";
const POSSIBLE_DUPLICATES: &str = "select count(*) from ops.journal where source = 'shopbot' and action = 'possible_duplicate'";

impl AnswerEvidence {
    pub(super) async fn gather(stage: &Stage, ledger: &Ledger) -> Result<Self> {
        let copies = stage.simulator_ledger("sent").await?.iter().map(copy).collect::<Option<_>>().context("a copy")?;
        let calls = stage.simulator_ledger("calls").await?.iter().filter_map(call).collect();
        let mut moves: BTreeMap<String, Vec<Move>> = BTreeMap::new();
        for moved in sqlx::query_as::<_, Move>(MOVES).fetch_all(&stage.db).await? {
            moves.entry(moved.answer_id.clone()).or_default().push(moved);
        }
        let turns: Vec<(String, i64)> = sqlx::query_as(TURNS).fetch_all(&stage.db).await?;
        Ok(Self {
            written: written(ledger),
            poison: poison(ledger),
            copies,
            calls,
            receipts: sqlx::query_as(RECEIPTS).fetch_all(&stage.db).await?,
            answers: sqlx::query_as(ANSWERS).fetch_all(&stage.db).await?,
            moves,
            turns: turns.into_iter().collect(),
            kept: sqlx::query_as(KEPT).fetch_all(&stage.db).await?,
            possible_duplicates: sqlx::query_scalar(POSSIBLE_DUPLICATES).fetch_one(&stage.db).await?,
        })
    }

    /// Everything known about a message and its answer, for whoever has to find out what happened to it.
    pub(super) fn story(&self, message_id: &str) -> String {
        let mut lines: Vec<(i64, String)> = Vec::new();
        for answer in self.answers.iter().filter(|answer| answer.message_id == message_id) {
            for moved in self.moves.get(&answer.id).into_iter().flatten() {
                let from = moved.from_status.as_deref().unwrap_or("-");
                let unknown = if moved.unknown > 0 { format!(", {} unknown", moved.unknown) } else { String::new() };
                let message = moved.provider_message_id.as_deref().map(|id| format!(", message {id}")).unwrap_or_default();
                lines.push((
                    moved.ms,
                    format!("status {from} -> {} attempt {}{unknown}{message}", moved.to_status, moved.attempt),
                ));
            }
        }
        let written = self.written.iter().find(|written| written.message_id == message_id);
        for copy in written.into_iter().flat_map(|written| self.copies_of(written)) {
            let answer = if copy.is_answered { "answered" } else { "not answered" };
            lines.push((copy.at, format!("the simulator accepted `{}` as message {}, {answer}", copy.text, copy.message_id)));
        }
        lines.sort_by_key(|(at, _)| *at);
        let first = lines.first().map_or(0, |(at, _)| *at);
        let arrivals: Vec<String> = self
            .receipts
            .iter()
            .filter(|receipt| receipt.message_id == message_id)
            .map(|receipt| receipt.arrival.to_string())
            .collect();
        let mut told: Vec<String> = written
            .map(|written| {
                let Written { chat_id, round, brought, taken, .. } = written;
                let arrivals = arrivals.join(", ");
                format!(
                    "        in chat {chat_id}, round {round}; brought {brought} times, taken {taken} times; arrival {arrivals}"
                )
            })
            .into_iter()
            .collect();
        told.extend(lines.iter().map(|(at, words)| format!("    {:>7} ms  {words}", at - first)));
        told.join("\n")
    }

    fn copies_of<'a>(&'a self, written: &'a Written) -> impl Iterator<Item = &'a Copy> {
        self.copies.iter().filter(move |copy| {
            copy.target == written.chat_id && read_answer(&copy.text).is_some_and(|(_, said)| said == written.said)
        })
    }
}

fn written(ledger: &Ledger) -> Vec<Written> {
    let messages = ledger.messages().into_iter();
    messages
        .map(|(message, visits)| Written {
            chat_id: message.chat.id.to_string(),
            message_id: message.chat.message_id(message.n),
            said: message.said,
            round: message.round,
            brought: visits.brought.load(Ordering::Relaxed),
            taken: visits.taken.load(Ordering::Relaxed),
        })
        .collect()
}

fn poison(ledger: &Ledger) -> Vec<SavedPoison> {
    let poison = ledger.poison().into_iter();
    poison
        .map(|(marker, visits)| SavedPoison {
            marker,
            brought: visits.brought.load(Ordering::Relaxed),
            taken: visits.taken.load(Ordering::Relaxed),
        })
        .collect()
}
