//! From rows to words: what the list of chats shows.

use actions::{
    contract::{BotAction, BotActionType, Lang, default_text},
    glance::{ChatAtAGlance, PROCESSING_MAX},
};
use jiff::Timestamp;

use crate::{
    posting::beginning,
    views::{ChatRow, Count, Doing, Moment, query_value},
};

const DOING_CHARS: usize = 120;

pub(super) fn chat_row(row: &ChatAtAGlance, now: Timestamp) -> ChatRow {
    let doings: Vec<Doing> = row.doings.0.iter().map(|action| doing(action, now)).collect();
    let more = row.processing - i64::try_from(doings.len()).unwrap_or(0);
    ChatRow {
        // Another one after each message.
        key: format!("{}-{}", row.number, row.messages),
        href: format!("/console/chats/{}", query_value(&row.chat_id)),
        id: row.chat_id.clone(),
        at: Moment::new(row.active_at.to_jiff(), now),
        messages: Count::exact(row.messages),
        processing: Count::capped(row.processing, PROCESSING_MAX),
        doings,
        has_more: more > 0,
    }
}

fn doing(action: &BotAction, now: Timestamp) -> Doing {
    let known = BotActionType::ALL.into_iter().find(|known| known.as_str() == action.action_type);
    let text = action.display_text.as_deref().unwrap_or_else(|| default_text(known, Lang::En));
    let since = action.created_at.as_deref().and_then(|at| at.parse().ok());
    Doing { text: beginning(text, false, DOING_CHARS), since: since.map(|at| Moment::new(at, now)) }
}
