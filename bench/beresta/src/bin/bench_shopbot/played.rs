//! What was said and heard in a run: whether every message got its one answer, and how long that took.

use std::collections::HashMap;

use anyhow::{Result, ensure};
use beresta_bench::times::spread;
use serde_json::{Value, json};

use crate::script::{self, Chats, LINES};

/// When it came (in microseconds since 1970), to which chat, and what it says.
pub(crate) type Answer = (u64, i64, String);

/// One webhook.
pub(crate) struct Post {
    pub(crate) index: u64,
    pub(crate) line: u64,
    pub(crate) posted_at: u64,
    /// When its 200 came.
    pub(crate) taken_at: u64,
    pub(crate) reply: Option<Answer>,
}

pub(crate) struct Played {
    pub(crate) chats: Chats,
    pub(crate) posts: Vec<Post>,
    pub(crate) answers: Vec<Answer>,
}

impl Played {
    /// Each message of each chat has one answer, in order, with the words that it should have; nobody else was told anything.
    /// Returns how long it took, and what the first two customers were told.
    pub(crate) fn judge(self) -> Result<Value> {
        let mut heard: HashMap<i64, Vec<(u64, String)>> = HashMap::new();
        for (at, chat_id, text) in self.answers {
            heard.entry(chat_id).or_default().push((at, text));
        }
        let mut conversations = Vec::new();
        for index in 0..self.chats.count {
            let answers = heard.remove(&self.chats.id(index)).unwrap_or_default();
            ensure!(
                answers.len() as u64 == LINES,
                "customer {index} got {} answers to {LINES} messages: {answers:?}",
                answers.len()
            );
            for (number, (_, text)) in (0..).zip(&answers) {
                let words = script::hears(index, number);
                ensure!(text.contains(&words), "customer {index} should hear `{words}` after line {number}, and heard `{text}`");
            }
            conversations.push(answers);
        }
        ensure!(heard.is_empty(), "answers went to chats where nobody spoke: {:?}", heard.keys());

        let answered_at = |post: &Post| conversations[post.index as usize][post.line as usize].0;
        let answered = self.posts.iter().map(|post| answered_at(post).saturating_sub(post.posted_at)).collect();
        let taken = self.posts.iter().map(|post| post.taken_at.saturating_sub(post.posted_at)).collect();
        let first = self.posts.iter().map(|post| post.posted_at).min().unwrap_or(0);
        let last = self.posts.iter().map(answered_at).max().unwrap_or(0);
        let texts: Vec<Vec<&str>> =
            conversations.iter().take(2).map(|answers| answers.iter().map(|(_, text)| text.as_str()).collect()).collect();
        Ok(json!({
            "messages": self.posts.len(), "seconds": last.saturating_sub(first) as f64 / 1e6,
            "answered": spread(answered), "taken": spread(taken), "texts": texts,
        }))
    }
}
