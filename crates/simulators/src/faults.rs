//! The queue of faults: which requests go wrong, and how. The first matching fault with times left is used up.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::injection::Injection;
use crate::random::Random;
use crate::sync::lock;

/// Faults waiting at one time.
pub(crate) const FAULTS_MAX: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Provider {
    Telegram,
    Max,
    Gemini,
    Openai,
    Web,
}

/// When the connection is dropped: before the provider took the request, or after it did and only the answer is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Drop {
    Before,
    After,
}

#[derive(Serialize)]
pub(crate) struct Fault {
    pub(crate) id: u64,
    pub(crate) provider: Provider,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drop: Option<Drop>,
    /// Left to use up; `None` until reset.
    pub(crate) times: Option<u64>,
    /// The share of matching requests it strikes; `None` is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<f64>,
    #[serde(skip)]
    pub(crate) random: Random,
}

#[derive(Default)]
pub(crate) struct Faults {
    queue: Mutex<Queue>,
    /// Read on every request: without faults the hot path takes no lock here.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    faults: Vec<Fault>,
    last_id: u64,
}

impl Faults {
    /// Queues a fault and gives its id; `None` when the queue is full.
    pub(crate) fn add(&self, mut fault: Fault) -> Option<u64> {
        let mut queue = lock(&self.queue);
        if queue.faults.len() >= FAULTS_MAX {
            return None;
        }
        queue.last_id += 1;
        fault.id = queue.last_id;
        queue.faults.push(fault);
        self.waiting.store(queue.faults.len(), Ordering::Release);
        Some(queue.last_id)
    }

    /// The fault that strikes this request, if one does. `aims_at` compares a fault's target with the request's.
    pub(crate) fn strike(&self, provider: Provider, method: &str, aims_at: impl Fn(&str) -> bool) -> Option<Injection> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut queue = lock(&self.queue);
        let position = queue.faults.iter_mut().position(|fault| {
            fault.provider == provider
                && fault.method.as_deref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(method))
                && fault.target.as_deref().is_none_or(&aims_at)
                && fault.rate.is_none_or(|rate| fault.random.chance(rate))
        })?;
        let fault = &mut queue.faults[position];
        let injection = Injection {
            status: fault.status,
            body: fault.body.clone(),
            retry_after: fault.retry_after,
            delay: fault.delay_ms.map(Duration::from_millis),
            drop: fault.drop,
        };
        if let Some(times) = &mut fault.times {
            *times -= 1;
            if *times == 0 {
                queue.faults.remove(position);
                self.waiting.store(queue.faults.len(), Ordering::Release);
            }
        }
        Some(injection)
    }

    pub(crate) fn list(&self) -> Value {
        serde_json::to_value(&lock(&self.queue).faults).unwrap_or_default()
    }

    pub(crate) fn reset(&self) {
        lock(&self.queue).faults.clear();
        self.waiting.store(0, Ordering::Release);
    }
}
