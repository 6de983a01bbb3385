//! The senders of posts, and their ledger: what was answered with 2xx, and nothing else, counts as accepted.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::json;

use super::{channels::TAG, stage::Stage};

pub(super) const PUSH_SECRET: &str = "chaos-push-secret";

/// Further ahead of the dispatchers the pushers do not go, so that a run can end.
const INFLIGHT_MAX: i64 = 300;

#[derive(Debug, Default)]
pub(super) struct Pushed {
    next: AtomicU64,
    accepted: Mutex<Vec<u64>>,
    /// Requests that got no answer, or 5xx, and were sent again with the same reference.
    pub(super) repeated: AtomicU64,
    /// Answers that no correct server gives to these posts.
    refused: Mutex<Vec<String>>,
}

impl Pushed {
    pub(super) fn accepted(&self) -> Vec<u64> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn refused(&self) -> Vec<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends one post after the other until told to stop; a post that was begun is brought to its end.
    pub(super) async fn push_on(&self, stage: &Stage) {
        while stage.is_pushing.load(Ordering::Acquire) {
            if stage.inflight.load(Ordering::Acquire) > INFLIGHT_MAX {
                let wait = tokio::time::timeout(Duration::from_millis(20), stage.urgent.acquire()).await;
                let Ok(Ok(permit)) = wait else { continue };
                permit.forget();
            }
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            self.push(stage, n).await;
        }
    }

    async fn push(&self, stage: &Stage, n: u64) {
        let tags = if is_special(n) { vec![TAG] } else { vec![] };
        let body = json!({"source_ref": format!("chaos-{n}"), "text": marker(stage.seed, n), "tags": tags});
        loop {
            let bases = stage.crew.api_bases();
            let base = stage.draw(|random| random.pick(&bases.iter().collect::<Vec<_>>()).cloned());
            if let Some(base) = base {
                let request = stage.http.post(format!("{base}/hooks/push")).header("x-beresta-secret", PUSH_SECRET).json(&body);
                if let Ok(answer) = request.send().await {
                    let status = answer.status();
                    // With its body: an answer that broke off is no answer.
                    if let Ok(words) = answer.text().await
                        && (status.is_success() || status.is_client_error())
                    {
                        return self.note(n, status.is_success(), &words);
                    }
                }
            }
            self.repeated.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn note(&self, n: u64, is_accepted: bool, words: &str) {
        if is_accepted {
            self.accepted.lock().unwrap_or_else(PoisonError::into_inner).push(n);
        } else {
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).push(format!("post {n}: {words}"));
        }
    }
}

/// The text of a post, by which its copies are told apart.
pub(super) fn marker(seed: u64, n: u64) -> String {
    format!("chaos-{seed}-{n}")
}

pub(super) const fn is_special(n: u64) -> bool {
    n.is_multiple_of(3)
}
