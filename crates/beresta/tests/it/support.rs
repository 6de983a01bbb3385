//! A running `beresta`, and what tests do with it.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::TempDir;
use testkit::TestDb;

pub(crate) use testkit::{PATIENCE, http::client, until};

/// A database with all that the program installs, so that its start finds nothing to do.
pub(crate) async fn database() -> TestDb {
    let modules = [platform::SQL, posting::SQL, shopbot::SQL, actions::SQL, planner::SQL, webhooks::SQL];
    TestDb::with(&modules, kernel::Clock::system()).await
}

/// The program with a clean environment: nothing of the machine's configuration leaks in.
pub(crate) fn beresta(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_beresta"));
    command.args(args);
    for (name, _) in std::env::vars() {
        if (name.starts_with("BERESTA_") && name != "BERESTA_CACHE_DIR")
            || name == "DATABASE_URL"
            || name.starts_with("OTEL_")
            || name.starts_with("BOT_ACTION_")
        {
            command.env_remove(name);
        }
    }
    command.current_dir(std::env::temp_dir());
    command
}

pub(crate) fn run(args: &[&str]) -> Output {
    beresta(args).output().expect("beresta runs")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A data directory of its own, reachable by the user that runs PostgreSQL.
pub(crate) fn data_dir() -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::Builder::new().prefix("beresta-test-").tempdir().expect("a directory");
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).expect("its mode");
    dir
}

/// A `beresta serve` that is killed with this value.
pub(crate) struct Serving {
    child: Child,
    pub(crate) base: String,
}

impl Serving {
    /// Serves on an existing database.
    pub(crate) fn on_database(url: &str, args: &[&str]) -> Self {
        let data_dir = std::env::temp_dir().join("beresta-test-objects");
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database-url", url, "--data-dir"];
        let data_dir = data_dir.to_string_lossy().into_owned();
        all.push(&data_dir);
        all.extend(args);
        Self::start(beresta(&all))
    }

    /// Serves on the embedded PostgreSQL of a data directory.
    pub(crate) fn embedded(data_dir: &Path, args: &[&str]) -> Self {
        let data_dir = data_dir.to_string_lossy();
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--data-dir", &data_dir];
        all.extend(args);
        Self::start(beresta(&all))
    }

    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("beresta starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("its first line");
        let mut errors = child.stderr.take().expect("its errors");
        let Some(base) = line.trim().strip_prefix("beresta serves on ").map(ToOwned::to_owned) else {
            let mut text = String::new();
            let _ = child.kill();
            let _ = errors.read_to_string(&mut text);
            panic!("beresta did not serve: {line}{text}");
        };
        // Read on, so that it never waits for somebody to read its log.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self { child, base }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("the process takes the signal");
    }

    /// Asks it to stop and waits; returns whether it ended well.
    pub(crate) fn stop(mut self) -> bool {
        self.signal(Signal::SIGTERM);
        self.child.wait().expect("it ends").success()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ends");
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let response = client().get(format!("{}{path}", self.base)).send().await.expect("it answers");
        let status = response.status().as_u16();
        (status, response.json().await.unwrap_or_default())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// The pid of the embedded server of a data directory.
pub(crate) fn postgres_pid(data_dir: &Path) -> i32 {
    let text = std::fs::read_to_string(data_dir.join("postgres/data/postmaster.pid")).expect("a running server");
    text.lines().next().expect("a pid").trim().parse().expect("a pid")
}

pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
