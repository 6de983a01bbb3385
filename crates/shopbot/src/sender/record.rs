//! Recording what came of each send: successes in batches, failures each in a transaction of its own.

use std::ops::Range;

use kernel::{AdapterError, Category};
use platform::{
    Db,
    outbox::{Finished, record_apart, record_together, retry_until_recorded},
};
use serde_json::Value;

use super::send::AnswerOutcome;
use crate::store::{self, SendingAnswer, SentAnswer};

pub(super) async fn record(db: &Db, finished: &[Finished<SendingAnswer, AnswerOutcome>]) {
    record_apart(
        finished,
        |Finished { effect, outcome }| match outcome {
            AnswerOutcome::Sent { provider_message_id, sent_at } => Ok(SentAnswer {
                workspace_id: effect.workspace_id,
                answer_id: effect.answer_id,
                claim_token: effect.claim_token.clone(),
                provider_message_id: provider_message_id.clone(),
                sent_at: *sent_at,
            }),
            AnswerOutcome::Failed(error) => Err((effect, error)),
        },
        |successes| record_successes(db, successes),
        |(sending, error)| record_failure(db, sending, error),
    )
    .await;
}

async fn record_successes(db: &Db, successes: Vec<SentAnswer>) {
    let mark = |some: Range<usize>| store::mark_answers_sent(db.pool(), &successes[some]);
    for (answer_id, outcome) in record_together("mark_answers_sent", successes.len(), mark).await {
        metrics::counter!("shopbot_answers_total", "outcome" => outcome.clone()).increment(1);
        if outcome != "sent" {
            tracing::warn!(answer.id = %answer_id, outcome, "shopbot.late_success");
        }
    }
}

async fn record_failure(db: &Db, sending: &SendingAnswer, error: &AdapterError) {
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
