//! WF60: forgets what the policy of a chat does not allow to be kept any longer.

use kernel::Problem;
use serde_json::Value;

use super::Request;
use crate::{Knowledge, store};

/// Rows of one transaction, so that none holds its locks for long.
const BATCH: i32 = 500;

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let chat = request.number("chat_id")?;
    let mut total: Option<Value> = None;
    loop {
        let counts = store::prune(&knowledge.db, request.workspace, chat, BATCH).await?;
        let is_last =
            ["raw_updates", "messages", "lone_documents"].iter().all(|kind| counts[*kind].as_i64() < Some(i64::from(BATCH)));
        total = Some(match total {
            None => counts,
            Some(before) => add(before, &counts),
        });
        if is_last {
            return Ok(total.unwrap_or(Value::Null));
        }
    }
}

fn add(mut total: Value, counts: &Value) -> Value {
    if let Some(total) = total.as_object_mut() {
        for (kind, count) in total.iter_mut() {
            *count = (count.as_i64().unwrap_or(0) + counts[kind.as_str()].as_i64().unwrap_or(0)).into();
        }
    }
    total
}
