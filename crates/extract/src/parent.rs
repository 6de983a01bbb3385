//! The side that stays alive: starts a child for a document, gives it the document, waits as long as it may take, and ends whatever is left of it.

use std::{path::PathBuf, process::Stdio, time::Duration};

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, killpg},
        wait::{Id, WaitPidFlag, WaitStatus, waitid},
    },
    unistd::Pid,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    time::timeout,
};

use crate::{
    model::{ExtractLimits, ExtractedText, Refusal, Source},
    wire::{self, ChildAnswer, LENGTH_BYTES, RequestHead},
};

/// What a child keeps of the environment. Settings and secrets of the server are not among it.
const KEPT_VARIABLES: [&str; 3] = ["PATH", "TESSDATA_PREFIX", "LANG"];

/// Reads documents in child processes, one for each.
#[derive(Clone, Debug)]
pub struct Extractor {
    program: PathBuf,
    args: Vec<String>,
    limits: ExtractLimits,
}

impl Extractor {
    /// A program that with these arguments does nothing but [`crate::run_child`].
    pub fn new(program: PathBuf, args: Vec<String>, limits: ExtractLimits) -> Self {
        Self { program, args, limits }
    }

    /// How long reading one document may take.
    pub fn wall(&self) -> Duration {
        self.limits.wall
    }

    /// Reads a document. Whatever it does to the child becomes a refusal; the child and everything that it started are gone when this returns
    /// or is dropped.
    pub async fn extract(&self, source: Source<'_>) -> Result<ExtractedText, Refusal> {
        if source.bytes.len() > self.limits.input_bytes_max {
            return Err(Refusal::too_large(format!(
                "The file has {} MB; at most {} MB are read.",
                source.bytes.len() >> 20,
                self.limits.input_bytes_max >> 20
            )));
        }
        let dir = tempfile::Builder::new().prefix("beresta-extract-").tempdir().map_err(|err| unavailable(&err))?;
        let mut child = self.start(&dir).map_err(|err| unavailable(&err))?;
        // Dropped before the child is, while its process id is still its own.
        let group = ChildGroup(Pid::from_raw(
            child.id().and_then(|id| i32::try_from(id).ok()).ok_or_else(|| unavailable(&"it is gone"))?,
        ));
        let answered = timeout(self.limits.wall, self.converse(&mut child, &source)).await;
        let answer = match answered {
            Ok(Ok(Some(answer))) => Ok(answer),
            Ok(Ok(None)) => Err(ended(group.0).await),
            Ok(Err(refusal)) => Err(refusal),
            Err(_) => {
                let seconds = self.limits.wall.as_secs();
                Err(Refusal::too_much_work(format!(
                    "Reading the document took more than the {seconds} seconds that one may take."
                )))
            }
        };
        drop(group);
        let _ = child.wait().await;
        match answer? {
            ChildAnswer::Text(text) => Ok(text),
            ChildAnswer::Refused(refusal) => Err(refusal),
        }
    }

    fn start(&self, dir: &tempfile::TempDir) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(dir.path()).env_clear().env("TMPDIR", dir.path());
        command.envs(KEPT_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        // mimalloc keeps a gigabyte of addresses in reserve, beyond which the limit on memory would begin; in KiB.
        command.env("MIMALLOC_ARENA_RESERVE", "65536");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.process_group(0).kill_on_drop(true).spawn()
    }

    /// Sends the request while the answer is read: either side may stop before the other. Nothing is returned if the answer is not whole.
    async fn converse(&self, child: &mut Child, source: &Source<'_>) -> Result<Option<ChildAnswer>, Refusal> {
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Ok(None) };
        let head = RequestHead::of(source, &self.limits).encode().map_err(|err| unavailable(&err))?;
        let send = async move {
            // A child that ended does not read on; its end says why.
            if input.write_all(&head).await.is_ok() {
                let _ = input.write_all(source.bytes).await;
            }
            drop(input);
        };
        let most = self.limits.output_bytes_max + LENGTH_BYTES;
        let mut bytes = Vec::new();
        let receive = async {
            let read = output.take(most as u64 + 1).read_to_end(&mut bytes).await;
            read.map_err(|err| unavailable(&err))
        };
        let ((), read) = tokio::join!(send, receive);
        if read? > most {
            return Err(Refusal::too_large(format!(
                "The document holds more than {} MB of text.",
                self.limits.output_bytes_max >> 20
            )));
        }
        Ok(wire::read_answer(&bytes))
    }
}

fn unavailable(err: &dyn std::fmt::Display) -> Refusal {
    Refusal::unavailable(format!("The process that reads documents cannot be started: {err}."))
}

/// Why a child ended without an answer. It is looked at and left as it is, so that its id still names its group.
async fn ended(pid: Pid) -> Refusal {
    let look = move || waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
    let status = tokio::task::spawn_blocking(look).await.unwrap_or(Err(Errno::ECHILD));
    match status {
        Ok(WaitStatus::Signaled(_, Signal::SIGXCPU, _)) => {
            Refusal::too_much_work("Reading the document took more processor time than one may take.")
        }
        Ok(WaitStatus::Signaled(_, Signal::SIGXFSZ, _)) => {
            Refusal::too_much_work("Reading the document needed larger files than one may write.")
        }
        Ok(WaitStatus::Signaled(..)) => Refusal::too_much_work("Reading the document took more memory than one may take."),
        Ok(status) => unavailable(&format!("it ended with {status:?}")),
        Err(err) => unavailable(&err),
    }
}

/// The child and everything that it started, ended when this is dropped.
struct ChildGroup(Pid);

impl Drop for ChildGroup {
    fn drop(&mut self) {
        let _ = killpg(self.0, Signal::SIGKILL);
    }
}
