//! Runs the test programs of the workspace side by side, because most of their time they wait, and says what became of every test.
//!
//! The tests of one program share a process as they do under `cargo test`; a program that crashes or hangs is a failure, never a pause.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{Read, Seek},
    path::{Path, PathBuf},
    pin::pin,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures::{FutureExt, StreamExt, stream};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde_json::Value;

use crate::{
    run::{cargo, root},
    scratch::Scratch,
};

/// A program that runs longer than this hangs, and is killed.
const LIMIT: Duration = Duration::from_mins(15);
/// How many programs run at once.
const PROGRAMS_MAX: usize = 6;
/// A third-party suite that waits half a second for an answer: it runs when nothing else does.
const QUIET: (&str, &str) = ("planner it", "conformance::");
/// These take longest, so they begin first.
const LONG: [&str; 4] = ["beresta it", "xtask bin", "posting it", "planner it"];
/// How many tests the list of the slowest has.
const SLOWEST: usize = 10;

/// A test program and which of its tests it is to run.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    name: String,
    executable: PathBuf,
    /// The folder of its package, where `cargo test` would start it.
    dir: PathBuf,
    args: Vec<String>,
}

/// What a program did.
#[derive(Debug, Default)]
struct Report {
    name: String,
    seconds: f64,
    passed: u64,
    ignored: u64,
    /// The tests that failed, each with everything it said.
    failed: Vec<(String, String)>,
    times: Vec<(String, f64)>,
}

impl Program {
    fn with(&self, args: &str) -> Self {
        Self { args: args.split(' ').map(ToOwned::to_owned).collect(), ..self.clone() }
    }
}

/// Builds every test program, and lists them.
pub(crate) fn build() -> Result<Vec<Program>> {
    let mut build = cargo(&["test", "--workspace", "--no-run", "--quiet", "--message-format=json-render-diagnostics"]);
    let output = build.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
    ensure!(output.status.success(), "the tests do not build ({})", output.status);
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages.lines().filter_map(|line| program(&serde_json::from_str(line).ok()?)).collect())
}

/// The program that a message of cargo is about, if it is about one.
fn program(message: &Value) -> Option<Program> {
    if message["profile"]["test"] != true {
        return None;
    }
    let dir = Path::new(message["manifest_path"].as_str()?).parent()?;
    let target = message["target"]["name"].as_str()?;
    // A file of tests has a name of its own; unit tests are named after their kind, `lib` or `bin`.
    let kind = if message["target"]["kind"][0] == "test" { target } else { message["target"]["kind"][0].as_str()? };
    Some(Program {
        name: format!("{} {kind}", dir.file_name()?.to_string_lossy()),
        executable: message["executable"].as_str()?.into(),
        dir: dir.to_owned(),
        args: Vec::new(),
    })
}

/// Runs them all, tells what failed and what was slow; fails if anything did.
pub(crate) fn run(mut programs: Vec<Program>) -> Result<()> {
    let started = Instant::now();
    programs.sort_by_key(|program| !LONG.contains(&program.name.as_str()));
    let scratch = Scratch::new()?;
    let quiet = programs.iter().find(|program| program.name == QUIET.0).map(|program| program.with(QUIET.1));
    let loud = programs
        .into_iter()
        .map(|program| if program.name == QUIET.0 { program.with(&format!("--skip {}", QUIET.1)) } else { program });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let reports = runtime.block_on(async {
        let stop = tokio::signal::ctrl_c().map(drop).shared();
        let run = |program| run_one(program, scratch.as_ref(), stop.clone());
        let running = stream::iter(loud).map(run).buffer_unordered(PROGRAMS_MAX).chain(stream::iter(quiet).then(run));
        let mut running = pin!(running);
        let mut reports = Vec::new();
        while let Some(report) = running.next().await {
            let report = report?;
            println!("{}", report.line());
            reports.push(report);
        }
        anyhow::Ok(reports)
    })?;
    tell(&reports, started.elapsed())?;
    ensure!(reports.iter().all(|report| report.failed.is_empty()), "tests failed");
    Ok(())
}

async fn run_one(program: Program, scratch: Option<&Scratch>, stop: impl Future<Output = ()>) -> Result<Report> {
    let started = Instant::now();
    // Files, not pipes: a server that a test left behind would keep a pipe open.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut command = Command::new(&program.executable);
    // libtest tells times only to those who ask for what is unstable.
    command.args(["-Z", "unstable-options", "--format=json", "--report-time"]).args(&program.args).env("RUSTC_BOOTSTRAP", "1");
    command.current_dir(&program.dir).env("CARGO_MANIFEST_DIR", &program.dir);
    if let Some(scratch) = scratch {
        command.env("TMPDIR", scratch.temporary()).env("TEST_POSTGRES_DIR", scratch.postgres());
    }
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    // A group of its own, so that what a test started ends with it.
    let mut child = tokio::process::Command::from(command).process_group(0).spawn().with_context(|| program.name.clone())?;
    let group = Pid::from_raw(i32::try_from(child.id().context("a pid")?)?);
    let ended = tokio::select! {
        status = child.wait() => Ok(status?),
        () = tokio::time::sleep(LIMIT) => Err("hung and was killed"),
        () = stop => Err("was interrupted"),
    };
    if ended.is_err() {
        killpg(group, Signal::SIGKILL)?;
        child.wait().await?;
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(Report { name: program.name, seconds, ..Report::read(ended, &text(&mut stdout)?, &text(&mut stderr)?) })
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Report {
    /// Of what libtest wrote, an object on each line; among them may be lines of programs that a test started.
    fn read(ended: Result<ExitStatus, &str>, stdout: &str, stderr: &str) -> Self {
        let mut report = Self::default();
        let (mut running, mut is_over, mut rest) = (BTreeSet::new(), false, String::new());
        for line in stdout.lines() {
            let Some(event) = serde_json::from_str::<Value>(line).ok().filter(|event| event["event"].is_string()) else {
                rest = rest + line + "\n";
                continue;
            };
            let name = event["name"].as_str().unwrap_or_default().to_owned();
            match (event["type"].as_str(), event["event"].as_str()) {
                (Some("suite"), Some("ok" | "failed")) => {
                    is_over = true;
                    report.passed = event["passed"].as_u64().unwrap_or_default();
                    report.ignored = event["ignored"].as_u64().unwrap_or_default();
                }
                (Some("test"), Some("started")) => drop(running.insert(name)),
                (Some("test"), Some(outcome @ ("ok" | "failed" | "ignored"))) => {
                    running.remove(&name);
                    report.times.push((name.clone(), event["exec_time"].as_f64().unwrap_or_default()));
                    if outcome == "failed" {
                        let said = event["stdout"].as_str().or(event["message"].as_str()).unwrap_or_default();
                        report.failed.push((name, said.to_owned()));
                    }
                }
                _ => {}
            }
        }
        let trouble = match ended {
            Err(words) => Some(words.to_owned()),
            Ok(status) if !is_over || !status.success() && report.failed.is_empty() => Some(format!("ended with {status}")),
            Ok(_) => None,
        };
        if let Some(words) = trouble {
            let running: Vec<_> = running.into_iter().collect();
            report.failed.push(("the program".to_owned(), format!("{words}, running {}\n{rest}{stderr}", running.join(", "))));
        }
        report
    }

    fn line(&self) -> String {
        let failed = if self.failed.is_empty() { String::new() } else { format!(", {} FAILED", self.failed.len()) };
        format!("{:<20} {:>4} passed{failed}, {:.1} s", self.name, self.passed, self.seconds)
    }
}

/// The failures in full, the slowest tests, and a last line as libtest writes it. The times of all tests go to `target/test-times.txt`.
fn tell(reports: &[Report], took: Duration) -> Result<()> {
    for report in reports {
        for (test, said) in &report.failed {
            println!("\n---- {} {test} ----\n{said}", report.name);
        }
    }
    let mut times: Vec<_> = reports
        .iter()
        .flat_map(|report| report.times.iter().map(|(test, seconds)| (*seconds, format!("{} {test}", report.name))))
        .collect();
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    let lines: Vec<String> = times.iter().map(|(seconds, test)| format!("{seconds:>7.1} s  {test}\n")).collect();
    println!("\nslowest:\n{}", lines[..lines.len().min(SLOWEST)].concat());
    fs::write(root().join("target/test-times.txt"), lines.concat())?;
    let sum = |count: fn(&Report) -> u64| reports.iter().map(count).sum::<u64>();
    let failed = sum(|report| report.failed.len() as u64);
    println!(
        "test result: {}. {} passed; {failed} failed; {} ignored; 0 measured; 0 filtered out; finished in {:.2}s\n",
        if failed == 0 { "ok" } else { "FAILED" },
        sum(|report| report.passed),
        sum(|report| report.ignored),
        took.as_secs_f64(),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const STARTED: &str = r#"{ "type": "suite", "event": "started", "test_count": 2 }
{ "type": "test", "event": "started", "name": "a" }
{ "type": "test", "event": "started", "name": "b" }
{ "type": "test", "name": "a", "event": "ok", "exec_time": 1.5 }
"#;

    fn read(code: i32, rest: &str) -> Report {
        Report::read(Ok(ExitStatus::from_raw(code << 8)), &format!("{STARTED}{rest}"), "the end of its log")
    }

    #[test]
    fn a_test_that_fails_is_named_with_all_it_said() {
        let report = read(
            101,
            r#"{ "type": "test", "name": "b", "event": "failed", "exec_time": 0.5, "stdout": "left: 1" }
               { "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 0 }"#,
        );
        assert_eq!((report.passed, report.failed), (1, vec![("b".to_owned(), "left: 1".to_owned())]));
        assert_eq!(report.times, [("a".to_owned(), 1.5), ("b".to_owned(), 0.5)]);
    }

    #[test]
    fn a_program_that_ends_before_its_tests_failed() {
        for code in [0, 134] {
            let report = read(code, "a line of another program\n");
            let (test, said) = &report.failed[0];
            assert_eq!(test, "the program");
            assert!(said.contains("running b") && said.contains("a line of another program\nthe end of its log"), "{said}");
        }
    }

    #[test]
    fn a_program_that_hangs_failed() {
        assert_eq!(Report::read(Err("hung and was killed"), STARTED, "").failed.len(), 1);
    }
}
