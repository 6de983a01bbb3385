//! What every play of the harness can be told, and how one is run: in a directory of its own, with a program that is built first.

use std::{
    fmt::Debug,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};

use super::{ChaosOutcome, stage::now_ms};
use crate::run::{cargo, root, step};

#[derive(Args, Clone, Debug)]
pub(crate) struct ChaosOptions<P: ValueEnum + Debug + Send + Sync + 'static> {
    /// Names the run: its troubles and their order come from this number. Without it, a new one
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// How often trouble is made; a round has three troubles and lasts some two seconds
    #[arg(long, default_value_t = 100)]
    pub(super) rounds: u32,
    /// Break the database first, to see that the checker finds it: the run must then fail
    #[arg(long, value_enum)]
    pub(super) plant: Option<P>,
    /// Run the optimized program
    #[arg(long)]
    pub(super) release: bool,
    /// Run this program instead of building one
    #[arg(long)]
    pub(super) program: Option<PathBuf>,
    /// Keep the directory of the run also when all is well
    #[arg(long)]
    pub(super) keep: bool,
}

impl<P: ValueEnum + Debug + Send + Sync + 'static> ChaosOptions<P> {
    /// Runs a play with the program that it is about. A broken promise is an error.
    pub(super) fn judge(&self, play: impl FnOnce(&Path) -> Result<ChaosOutcome>) -> Result<()> {
        let program = self.program.clone().map_or_else(|| build(self.release), Ok)?;
        let outcome = play(&program)?;
        ensure!(outcome.broken.is_empty(), "broken after {} kills: {}", outcome.kills, outcome.broken.join("; "));
        Ok(())
    }

    /// Runs a play in a directory of its own. `cast` says which processes take part.
    pub(super) fn perform(
        &self,
        name: &str,
        cast: &str,
        play: impl AsyncFnOnce(&Path, u64) -> Result<ChaosOutcome>,
    ) -> Result<ChaosOutcome> {
        let seed = self.seed.unwrap_or_else(new_seed);
        let plant = self.plant.as_ref().map(|plant| format!(", planted: {plant:?}")).unwrap_or_default();
        let dir = tempfile::Builder::new().prefix("beresta-chaos-").tempdir()?;
        println!("chaos {name}: seed {seed}, {} rounds, {cast}{plant}; in {}", self.rounds, dir.path().display());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let result = runtime.block_on(play(dir.path(), seed));
        runtime.shutdown_timeout(Duration::from_secs(1));
        let is_well = result.as_ref().is_ok_and(|outcome| outcome.broken.is_empty());
        // A run that has to fail leaves nothing to look at.
        if self.keep || (self.plant.is_none() && !is_well) {
            println!("kept: {}", dir.keep().display());
        }
        result
    }
}

fn build(is_release: bool) -> Result<PathBuf> {
    let mut args = vec!["build", "--package", "beresta"];
    args.extend(is_release.then_some("--release"));
    step("build", cargo(&args))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join(if is_release { "release" } else { "debug" }).join("beresta"))
}

fn new_seed() -> u64 {
    now_ms().unsigned_abs() % 1_000_000
}
