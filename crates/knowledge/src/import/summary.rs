//! What an import did, in numbers.

use std::collections::BTreeMap;

use serde::Serialize;

/// Positions that are kept of broken elements; all are counted.
const BROKEN_SHOWN_MAX: usize = 20;

/// What became of the messages and files of an export.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportSummary {
    pub chats: Vec<ImportedChat>,
    /// Chats of the account that were not taken.
    pub chats_left: Vec<LeftChat>,
    /// Messages that were not here.
    pub messages_new: u64,
    /// Messages that were here in an older version.
    pub messages_newer: u64,
    pub messages_known: u64,
    /// Messages that were not taken, by the reason.
    pub messages_skipped: BTreeMap<String, u64>,
    /// Elements that cannot be read, and where the first of them are.
    pub broken: u64,
    pub broken_at: Vec<BrokenElement>,
    pub files_taken: u64,
    /// Left out of the export, or not beside it.
    pub files_missing: u64,
    /// Files of new messages that were not taken for another reason.
    pub files_skipped: BTreeMap<String, u64>,
    /// Why the file could not be read to its end; what stands before that place was taken.
    pub ended_early: Option<String>,
    pub seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedChat {
    pub chat_id: i64,
    pub title: Option<String>,
    /// Messages of it in the export.
    pub messages: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftChat {
    pub chat_id: Option<i64>,
    pub title: Option<String>,
    pub why: &'static str,
    pub messages: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenElement {
    pub chat_id: i64,
    /// From one, in the messages of its chat.
    pub position: u64,
    pub why: String,
}

/// How far an import is.
#[derive(Clone, Copy, Debug)]
pub struct ImportProgress<'a> {
    pub bytes_read: u64,
    pub bytes: u64,
    pub summary: &'a ImportSummary,
}

impl ImportSummary {
    /// Every message that was looked at.
    pub fn messages(&self) -> u64 {
        let skipped: u64 = self.messages_skipped.values().sum();
        self.messages_new + self.messages_newer + self.messages_known + skipped + self.broken
    }

    pub(super) fn note_broken(&mut self, chat_id: i64, position: u64, why: String) {
        self.broken += 1;
        if self.broken_at.len() < BROKEN_SHOWN_MAX {
            self.broken_at.push(BrokenElement { chat_id, position, why });
        }
    }

    pub(super) fn note_skipped(&mut self, why: &str) {
        *self.messages_skipped.entry(why.to_owned()).or_default() += 1;
    }

    /// The word of `knowledge.judge_import`.
    pub(super) fn note_verdict(&mut self, verdict: &str) {
        match verdict {
            "new" => self.messages_new += 1,
            "newer" => self.messages_newer += 1,
            "known" => self.messages_known += 1,
            "forgotten" => self.note_skipped("forgotten"),
            "expired" => self.note_skipped("older than the policy of the chat keeps"),
            "taken" => self.note_skipped("another message of the private chat has its number"),
            _ => self.note_skipped("not registered, or not on the allowlist"),
        }
    }
}
