//! What a test told a model to say: a queue, each entry for a number of calls. Without one the model answers by rule.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::sync::lock;

/// Entries waiting at one time.
const SCRIPTS_MAX: usize = 10_000;

#[derive(Clone)]
pub(crate) struct AnswerScript {
    pub(crate) text: String,
    /// Why the model stopped, in the provider's own word; `None` is a clean stop.
    pub(crate) finish: Option<String>,
    /// The prompt is blocked for this reason: there is no answer at all.
    pub(crate) blocked: Option<String>,
    /// A stream breaks off in the middle.
    pub(crate) is_cut: bool,
}

#[derive(Clone)]
pub(crate) struct TranscriptScript {
    pub(crate) segments: Vec<Segment>,
    /// Seconds; by default the end of the last segment.
    pub(crate) duration: Option<f64>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Segment {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) text: String,
    #[serde(default = "first_speaker")]
    pub(crate) speaker: String,
}

fn first_speaker() -> String {
    "A".to_owned()
}

pub(crate) struct Scripts<T>(Mutex<VecDeque<(T, u64)>>);

impl<T> Default for Scripts<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Scripts<T> {
    /// Queues a script for so many calls and gives how many wait; `None` when the queue is full.
    pub(crate) fn add(&self, script: T, times: u64) -> Option<usize> {
        let mut queue = lock(&self.0);
        (queue.len() < SCRIPTS_MAX).then(|| {
            queue.push_back((script, times));
            queue.len()
        })
    }

    pub(crate) fn next(&self) -> Option<T> {
        let mut queue = lock(&self.0);
        let (script, times) = queue.front_mut()?;
        let script = script.clone();
        *times -= 1;
        if *times == 0 {
            queue.pop_front();
        }
        Some(script)
    }

    pub(crate) fn reset(&self) {
        lock(&self.0).clear();
    }
}
