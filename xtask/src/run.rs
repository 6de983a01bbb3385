//! Running other programs.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, ensure};

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

pub(crate) fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Runs a program as a named step: says what it does, how long it took, and stops everything if it fails.
pub(crate) fn step(name: &str, mut command: Command) -> Result<()> {
    println!("── {name}");
    let started = Instant::now();
    let status = command.status().with_context(|| format!("{name}: cannot run {}", command.get_program().display()))?;
    ensure!(status.success(), "{name} failed ({status})");
    println!("── {name}: ok, {:.0} s\n", started.elapsed().as_secs_f64());
    Ok(())
}

/// The cargo that runs us.
pub(crate) fn cargo(args: &[&str]) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), args)
}

pub(crate) fn output(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    ensure!(output.status.success(), "{} failed: {}", command.get_program().display(), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
