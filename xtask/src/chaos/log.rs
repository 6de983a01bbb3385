//! The log of PostgreSQL: deadlocks, and errors that nothing in a run explains.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// Errors that the harness itself brings about: it kills servers and cuts connections.
const EXPECTED: [&str; 4] = [
    "canceling statement due to user request",
    "relation \"platform.functions\" does not exist",
    "relation \"platform.migrations\" does not exist",
    "terminating connection",
];

#[derive(Debug)]
pub(super) struct ServerLog {
    path: PathBuf,
    /// What the subject refuses in its own words when things go as they may.
    refusals: &'static [&'static str],
    read_to: u64,
    pub(super) deadlocks: u32,
    pub(super) errors: BTreeMap<String, u32>,
}

impl ServerLog {
    pub(super) fn new(path: &Path, refusals: &'static [&'static str]) -> Self {
        Self { path: path.to_owned(), refusals, read_to: 0, deadlocks: 0, errors: BTreeMap::new() }
    }

    pub(super) fn read_on(&mut self) {
        let mut text = Vec::new();
        let Ok(mut file) = File::open(&self.path) else { return };
        let length = file.metadata().map_or(0, |meta| meta.len());
        if length < self.read_to {
            self.read_to = 0;
        }
        if file.seek(SeekFrom::Start(self.read_to)).is_err() || file.read_to_end(&mut text).is_err() {
            return;
        }
        // A line that is still being written is read next time.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.read_to += u64::try_from(whole).unwrap_or(0);
        self.take(&String::from_utf8_lossy(text.get(..whole).unwrap_or_default()));
    }

    fn take(&mut self, text: &str) {
        for line in text.lines() {
            let Some((_, message)) = line.split_once("ERROR:  ").or_else(|| line.split_once("PANIC:  ")) else { continue };
            if message.contains("deadlock detected") {
                self.deadlocks += 1;
            } else if !EXPECTED.iter().chain(self.refusals).any(|expected| message.starts_with(expected)) {
                *self.errors.entry(message.to_owned()).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlocks_and_unexplained_errors_are_counted() {
        let mut log = ServerLog::new(Path::new("/nowhere"), &["there is no page"]);
        log.take(
            "2026-01-01 UTC [1] ERROR:  deadlock detected\n2026-01-01 UTC [1] DETAIL:  Process 1 waits\n\
             2026-01-01 UTC [2] ERROR:  canceling statement due to user request\n2026-01-01 UTC [2] FATAL:  terminating connection\n\
             2026-01-01 UTC [3] ERROR:  null value\n2026-01-01 UTC [3] ERROR:  null value\n\
             2026-01-01 UTC [4] ERROR:  there is no page 7\n",
        );
        assert_eq!(log.deadlocks, 1);
        assert_eq!(log.errors, BTreeMap::from([("null value".to_owned(), 2)]));
    }
}
