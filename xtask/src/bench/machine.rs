//! What every benchmark needs: the bench folder, helper processes that answer lines with lines, and CPU times.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

use crate::run::{cargo, command, root, step};

pub(super) fn bench_dir() -> PathBuf {
    root().join("bench")
}

pub(super) fn data_dir() -> String {
    bench_dir().join("target/postgres").to_string_lossy().into_owned()
}

/// Our own helpers and the peers.
pub(super) fn build() -> Result<()> {
    build_helpers(&[])?;
    build_at("bench/peers/graphile_worker_rs/Cargo.toml", &[])?;
    let written_at = |name: &str| fs::metadata(bench_dir().join("peers").join(name)).and_then(|file| file.modified()).ok();
    // npm writes the first when it has installed what the second says.
    if written_at("node_modules/.package-lock.json") >= written_at("package-lock.json") {
        return Ok(());
    }
    step("npm peers", command("npm", &["ci", "--prefix", "bench/peers", "--no-audit", "--no-fund", "--loglevel=error"]))
}

/// Only our own, for what is compared with nobody: these programs, or all of them.
pub(super) fn build_helpers(programs: &[&str]) -> Result<()> {
    build_at("bench/beresta/Cargo.toml", programs)
}

fn build_at(manifest: &str, programs: &[&str]) -> Result<()> {
    let mut args = vec!["build", "--release", "--locked", "--quiet", "--manifest-path", manifest, "--target-dir", "bench/target"];
    args.extend(programs.iter().flat_map(|program| ["--bin", *program]));
    step(manifest, cargo(&args))
}

/// The server to measure: the one that is given, or else this one, built as it is shipped.
pub(super) fn server(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = given {
        return fs::canonicalize(path).with_context(|| path.display().to_string());
    }
    step("beresta", cargo(&["build", "--release", "--locked", "--quiet", "-p", "beresta"]))?;
    Ok(root().join("target/release/beresta"))
}

/// The parts of a benchmark that are to run: all of them, unless some are named.
pub(super) fn wanted<'a>(parts: &[&'a str], only: &[String]) -> Result<Vec<&'a str>> {
    let unknown = only.iter().find(|part| !parts.contains(&part.as_str()));
    ensure!(unknown.is_none(), "there is no part `{}`; the parts are {}", unknown.map_or("", String::as_str), parts.join(", "));
    Ok(parts.iter().copied().filter(|part| only.is_empty() || only.iter().any(|wanted| wanted == part)).collect())
}

/// A process that answers lines with lines and ends with its input.
pub(super) struct Helper {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub(super) first_line: String,
}

impl Helper {
    pub(super) fn start(program: &Path, args: &[&str]) -> Result<Self> {
        let is_silent = !args.is_empty();
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| program.display().to_string())?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("its output")?);
        let mut helper = Self { child, input, output, first_line: String::new() };
        if !is_silent {
            helper.first_line = helper.line()?;
        }
        Ok(helper)
    }

    pub(super) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        ensure!(!line.is_empty(), "a helper of the benchmark ended");
        Ok(line.trim().to_owned())
    }

    pub(super) fn ask(&mut self, question: &str) -> Result<Value> {
        let input = self.input.as_mut().context("its input")?;
        writeln!(input, "{question}")?;
        input.flush()?;
        Ok(serde_json::from_str(&self.line()?)?)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The CPU time of every child that has ended, with the children it had waited for.
pub(super) fn children_cpu_seconds() -> f64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return 0.0 };
    #[expect(clippy::cast_precision_loss, reason = "seconds of CPU time are far below the limit")]
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// The CPU time of a living process and of its living children.
pub(super) fn tree_cpu_seconds(pid: u32) -> f64 {
    let mut ticks = 0_u32;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((head, rest)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<u64> = rest.split(' ').map(|text| text.parse().unwrap_or(0)).collect();
        let own: u32 = head.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0);
        if own == pid || fields.get(1) == Some(&u64::from(pid)) {
            let both = fields.get(11).unwrap_or(&0) + fields.get(12).unwrap_or(&0);
            ticks += u32::try_from(both).unwrap_or(0);
        }
    }
    f64::from(ticks) / 100.0
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// How busy the machine is with everything that runs on it: the first number of the load average.
pub(super) fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
