//! What the checker judges by: the pushers' ledger, the simulator's two ledgers, and what the database says about the same.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{pusher::Pushed, stage::Stage};

/// A message that the simulator accepted.
#[derive(Clone, Debug)]
pub(super) struct Copy {
    pub(super) target: String,
    pub(super) text: String,
    pub(super) message_id: String,
    pub(super) at: i64,
    pub(super) is_answered: bool,
}

/// A request that the simulator saw, whatever came of it.
#[derive(Clone, Debug)]
pub(super) struct ProviderCall {
    pub(super) provider: String,
    pub(super) target: String,
    pub(super) started_at: i64,
    pub(super) at: i64,
    /// Refused, or left without an answer.
    pub(super) is_failed: bool,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Delivery {
    pub(super) id: String,
    pub(super) channel_id: String,
    pub(super) text: String,
    pub(super) status: String,
    pub(super) attempt: i32,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Event {
    pub(super) delivery_id: String,
    pub(super) action: String,
    pub(super) attempt: i32,
    pub(super) is_error: bool,
    pub(super) is_unknown: bool,
    pub(super) is_late: bool,
    pub(super) code: Option<String>,
    pub(super) provider_message_id: Option<String>,
    pub(super) ms: i64,
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Transition {
    pub(super) delivery_id: String,
    pub(super) from_status: Option<String>,
    pub(super) to_status: String,
    pub(super) attempt: i32,
    pub(super) ms: i64,
}

#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) seed: u64,
    /// The numbers of the posts that were answered with 2xx.
    pub(super) accepted: Vec<u64>,
    pub(super) copies: Vec<Copy>,
    pub(super) calls: Vec<ProviderCall>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) events: BTreeMap<String, Vec<Event>>,
    pub(super) transitions: BTreeMap<String, Vec<Transition>>,
    /// Channels whose counters are not what is counted.
    pub(super) wrong_counters: Vec<String>,
    pub(super) stops: Vec<(i64, i64)>,
    /// From then on the simulator failed nothing any more.
    pub(super) peace_at: i64,
}

const DELIVERIES: &str = "
    select d.delivery_id::text as id, d.channel_id, coalesce(m.payload->>'text', '') as text, d.status, d.attempt
      from posting.deliveries d join posting.messages m using (workspace_id, message_id) order by d.created_at, d.delivery_id";
const EVENTS: &str = "
    select e.delivery_id::text as delivery_id, e.action, e.attempt, e.result = 'error' as is_error,
           coalesce(e.error->>'kind' = 'unknown_outcome', false) as is_unknown, coalesce(e.meta->'late' = 'true', false) as is_late,
           e.error->>'code' as code, e.meta->>'provider_message_id' as provider_message_id, (extract(epoch from e.ts) * 1000)::bigint as ms
      from posting.events e where e.delivery_id is not null order by e.ts, e.attempt";
const TRANSITIONS: &str = "
    select t.delivery_id::text as delivery_id, t.from_status, t.to_status, t.attempt, floor(extract(epoch from t.at) * 1000)::bigint as ms
      from chaos.transitions t order by t.n";
const WRONG_COUNTERS: &str = "
    select n.channel_id || ': claimed ' || n.claimed || ' and sending ' || n.sending || ', in truth ' || t.claimed || ' and ' || t.sending
      from posting.channel_counters n
     cross join lateral (select count(*) filter (where d.status = 'claimed') as claimed, count(*) filter (where d.status = 'sending') as sending
                           from posting.deliveries d where d.workspace_id = n.workspace_id and d.channel_id = n.channel_id) t
     where (n.claimed, n.sending) is distinct from (t.claimed::int, t.sending::int)";

impl Evidence {
    pub(super) async fn gather(stage: &Stage, pushed: &Pushed, peace_at: i64) -> Result<Self> {
        let copies = stage.simulator_ledger("sent").await?.iter().map(copy).collect::<Option<_>>().context("a copy")?;
        let calls = stage.simulator_ledger("calls").await?.iter().filter_map(call).collect();
        let events: Vec<Event> = sqlx::query_as(EVENTS).fetch_all(&stage.db).await?;
        let transitions: Vec<Transition> = sqlx::query_as(TRANSITIONS).fetch_all(&stage.db).await?;
        Ok(Self {
            seed: stage.seed,
            accepted: pushed.accepted(),
            copies,
            calls,
            deliveries: sqlx::query_as(DELIVERIES).fetch_all(&stage.db).await?,
            events: by_delivery(events, |event| &event.delivery_id),
            transitions: by_delivery(transitions, |transition| &transition.delivery_id),
            wrong_counters: sqlx::query_scalar(WRONG_COUNTERS).fetch_all(&stage.db).await?,
            stops: stage.stops(),
            peace_at,
        })
    }

    /// Everything known about a delivery, for whoever has to find out what happened to it.
    pub(super) fn story(&self, id: &str) -> String {
        let mut lines: Vec<(i64, String)> = Vec::new();
        for event in self.events.get(id).into_iter().flatten() {
            let error = event.code.as_deref().map(|code| format!(" {code}")).unwrap_or_default();
            let flags =
                format!("{}{}", if event.is_unknown { " outcome unknown" } else { "" }, if event.is_late { " late" } else { "" });
            let message = event.provider_message_id.as_deref().map(|id| format!(" message {id}")).unwrap_or_default();
            let result = if event.is_error { "error" } else { "ok" };
            lines.push((event.ms, format!("event {} attempt {} {result}{error}{flags}{message}", event.action, event.attempt)));
        }
        for moved in self.transitions.get(id).into_iter().flatten() {
            let from = moved.from_status.as_deref().unwrap_or("-");
            lines.push((moved.ms, format!("status {from} -> {} attempt {}", moved.to_status, moved.attempt)));
        }
        let delivery = self.deliveries.iter().find(|delivery| delivery.id == id);
        for copy in delivery.into_iter().flat_map(|delivery| self.copies_of(delivery)) {
            let answer = if copy.is_answered { "answered" } else { "not answered" };
            lines.push((copy.at, format!("the simulator accepted message {}, {answer}", copy.message_id)));
        }
        lines.sort_by_key(|(at, _)| *at);
        let first = lines.first().map_or(0, |(at, _)| *at);
        let lines: Vec<String> = lines.iter().map(|(at, words)| format!("    {:>7} ms  {words}", at - first)).collect();
        lines.join("\n")
    }

    pub(super) fn copies_of<'a>(&'a self, delivery: &'a Delivery) -> impl Iterator<Item = &'a Copy> {
        let target =
            super::channels::CHANNELS.iter().find(|channel| channel.id == delivery.channel_id).map(|channel| channel.target);
        self.copies.iter().filter(move |copy| Some(copy.target.as_str()) == target && copy.text == delivery.text)
    }
}

fn by_delivery<T>(items: Vec<T>, id: impl Fn(&T) -> &String) -> BTreeMap<String, Vec<T>> {
    let mut map: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for item in items {
        map.entry(id(&item).clone()).or_default().push(item);
    }
    map
}

pub(super) fn copy(entry: &Value) -> Option<Copy> {
    let message_id = &entry["message_ids"][0];
    Some(Copy {
        target: entry["target"].as_str()?.to_owned(),
        text: entry["text"].as_str()?.to_owned(),
        message_id: message_id.as_str().map_or_else(|| message_id.to_string(), ToOwned::to_owned),
        at: entry["at"].as_i64()?,
        is_answered: entry["answered"] == true,
    })
}

pub(super) fn call(entry: &Value) -> Option<ProviderCall> {
    Some(ProviderCall {
        provider: entry["provider"].as_str()?.to_owned(),
        target: entry["target"].as_str()?.to_owned(),
        started_at: entry["started_at"].as_i64()?,
        at: entry["at"].as_i64()?,
        is_failed: entry["status"] != 200 || entry["dropped"] == true,
    })
}
