//! Recording what came of each send: successes in batches, failures each in a transaction of its own.

use kernel::{AdapterError, Category};
use platform::{
    Db,
    outbox::{Finished, retry_until_recorded},
};
use serde_json::Value;

use super::send::Outcome;
use crate::store::{self, Sending, Success};

const FAILURES_AT_ONCE: usize = 4;

pub(super) async fn record(db: &Db, finished: &[Finished<Sending, Outcome>]) {
    let (mut successes, mut failures) = (Vec::new(), Vec::new());
    for Finished { effect, outcome } in finished {
        match outcome {
            Outcome::Sent { provider_message_id, sent_at } => successes.push(Success {
                workspace_id: effect.workspace_id,
                answer_id: effect.answer_id,
                claim_token: effect.claim_token.clone(),
                provider_message_id: provider_message_id.clone(),
                sent_at: *sent_at,
            }),
            Outcome::Failed(error) => failures.push((effect, error)),
        }
    }
    if !successes.is_empty() {
        record_successes(db, &successes).await;
    }
    for some in failures.chunks(FAILURES_AT_ONCE) {
        futures::future::join_all(some.iter().map(|(sending, error)| record_failure(db, sending, error))).await;
    }
}

async fn record_successes(db: &Db, successes: &[Success]) {
    let recorded = retry_until_recorded("mark_answers_sent", || store::mark_answers_sent(db.pool(), successes)).await;
    let mut outcomes = recorded.unwrap_or_default();
    if outcomes.is_empty() {
        // A batch that is refused as a whole must not make the others be sent again: then one by one.
        for one in successes.chunks(1) {
            let recorded = retry_until_recorded("mark_answers_sent", || store::mark_answers_sent(db.pool(), one)).await;
            outcomes.extend(recorded.unwrap_or_default());
        }
    }
    for (answer_id, outcome) in outcomes {
        metrics::counter!("shopbot_answers_total", "outcome" => outcome.clone()).increment(1);
        if outcome != "sent" {
            tracing::warn!(answer.id = %answer_id, outcome, "shopbot.late_success");
        }
    }
}

async fn record_failure(db: &Db, sending: &Sending, error: &AdapterError) {
    let json = serde_json::to_value(error).unwrap_or(Value::Null);
    let status = match error.category {
        Category::Transient => retry_until_recorded("retry_answer", || store::retry_answer(db.pool(), sending, &json)).await,
        Category::Permanent => retry_until_recorded("fail_answer", || store::fail_answer(db.pool(), sending, &json)).await,
    };
    let status = status.unwrap_or_else(|| "unrecorded".to_owned());
    metrics::counter!("shopbot_answers_total", "outcome" => status.clone()).increment(1);
    tracing::info!(
        answer.id = %sending.answer_id, provider = sending.provider, attempt = sending.attempt, error.code = error.code, status,
        "shopbot.not_sent"
    );
}
