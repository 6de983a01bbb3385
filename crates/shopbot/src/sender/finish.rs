//! Recording what came of each send. One task gathers results while the last batch is being written, so the busier it
//! is, the more results share a commit. A result is kept until the database has it: losing one would mean sending again.

use kernel::{AdapterError, Category};
use platform::{Db, db::insist, failpoint, wake::Topic};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{Sender, Tools, send::Outcome};
use crate::store::{self, Sending, Success};

const BATCH_MAX: usize = 500;
/// Failures are recorded one by one, each in its own transaction, this many at once.
const FAILURES_AT_ONCE: usize = 4;

pub(super) struct Finish {
    pub(super) sending: Sending,
    pub(super) outcome: Outcome,
}

pub(super) struct Finisher {
    db: Db,
}

impl Finisher {
    pub(super) fn new(tools: &Tools) -> Self {
        Self { db: tools.db.clone() }
    }

    pub(super) async fn run(self, sender: Sender, mut results: mpsc::UnboundedReceiver<Finish>) {
        let mut batch = Vec::new();
        while results.recv_many(&mut batch, BATCH_MAX).await > 0 {
            failpoint::hit("shopbot.sent_not_recorded");
            self.record(&batch).await;
            failpoint::hit("shopbot.recorded");
            sender.done(batch.len());
            batch.clear();
            self.db.wake().tell(Topic::Bus);
        }
    }

    /// Records results, again and again while the database is away.
    async fn record(&self, finishes: &[Finish]) {
        let successes: Vec<Success> = finishes.iter().filter_map(success).collect();
        if !successes.is_empty() {
            let outcomes = insist("mark_answers_sent", || store::mark_answers_sent(self.db.pool(), &successes)).await;
            for (answer_id, outcome) in outcomes.unwrap_or_default() {
                metrics::counter!("shopbot_answers_total", "outcome" => outcome.clone()).increment(1);
                if outcome != "sent" {
                    tracing::warn!(answer.id = %answer_id, outcome, "shopbot.late_success");
                }
            }
        }
        let failures: Vec<(&Sending, &AdapterError)> = finishes.iter().filter_map(failure).collect();
        for some in failures.chunks(FAILURES_AT_ONCE) {
            futures::future::join_all(some.iter().map(|(sending, error)| self.record_failure(sending, error))).await;
        }
    }

    async fn record_failure(&self, sending: &Sending, error: &AdapterError) {
        let json = serde_json::to_value(error).unwrap_or(Value::Null);
        let status = match error.category {
            Category::Transient => insist("retry_answer", || store::retry_answer(self.db.pool(), sending, &json)).await,
            Category::Permanent => insist("fail_answer", || store::fail_answer(self.db.pool(), sending, &json)).await,
        };
        let status = status.unwrap_or_else(|| "unrecorded".to_owned());
        metrics::counter!("shopbot_answers_total", "outcome" => status.clone()).increment(1);
        tracing::info!(
            answer.id = %sending.answer_id, provider = sending.provider, attempt = sending.attempt, error.code = error.code, status,
            "shopbot.not_sent"
        );
    }
}

fn success(finish: &Finish) -> Option<Success> {
    let Outcome::Sent { provider_message_id, sent_at } = &finish.outcome else { return None };
    Some(Success {
        workspace_id: finish.sending.workspace_id,
        answer_id: finish.sending.answer_id,
        claim_token: finish.sending.claim_token.clone(),
        provider_message_id: provider_message_id.clone(),
        sent_at: *sent_at,
    })
}

fn failure(finish: &Finish) -> Option<(&Sending, &AdapterError)> {
    match &finish.outcome {
        Outcome::Failed(error) => Some((&finish.sending, error)),
        _ => None,
    }
}
