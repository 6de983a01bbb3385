//! The processes of a run: started, killed, stopped, found dead and started again. Each is ended by its own pid, and none
//! outlives the crew.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    random::Random,
    subject::{Failpoint, Subject},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The outside world: never killed, because its ledger is what was received.
    Simulator,
    /// An API that also keeps PostgreSQL: when it is killed, the watchdog stops the database.
    Owner,
    Api,
    Dispatcher,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Simulator => "simulator",
            Self::Owner => "owner",
            Self::Api => "api",
            Self::Dispatcher => "dispatcher",
        }
    }
}

struct Slot {
    part: Part,
    name: String,
    args: Vec<String>,
    child: Option<Child>,
    starts: u32,
    is_stopped: bool,
}

/// What happened to processes, by kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) kills: BTreeMap<String, u32>,
    /// Ended without being killed although they had begun to serve: a fault of the program.
    pub(super) own_ends: Vec<String>,
    /// Could not start because the database was killed under them; a supervisor starts them again, as we do.
    pub(super) failed_starts: u32,
}

impl Tally {
    pub(super) fn total(&self) -> u32 {
        self.kills.values().sum()
    }
}

pub(super) struct Crew {
    program: PathBuf,
    dir: PathBuf,
    env: Mutex<Vec<(String, String)>>,
    slots: Mutex<Vec<Slot>>,
    tally: Mutex<Tally>,
    random: Mutex<Random>,
    subject: &'static Subject,
    /// Whether processes are started with failpoints.
    is_chaotic: Mutex<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew {
    pub(super) fn new(subject: &'static Subject, program: &Path, dir: &Path, seed: u64) -> Result<Self> {
        fs::create_dir_all(dir.join("logs"))?;
        // The processes run in a directory of their own, where a relative path would lead elsewhere.
        let program = fs::canonicalize(program).with_context(|| format!("cannot run {}", program.display()))?;
        Ok(Self {
            program,
            dir: dir.to_owned(),
            env: Mutex::default(),
            slots: Mutex::default(),
            tally: Mutex::default(),
            random: Mutex::new(Random::seeded(seed ^ 0xC4A0)),
            subject,
            is_chaotic: Mutex::new(true),
        })
    }

    /// A variable that every process started from now on gets.
    pub(super) fn set_env(&self, name: &str, value: &str) {
        lock(&self.env).push((name.to_owned(), value.to_owned()));
    }

    /// Processes started from now on are left in peace.
    pub(super) fn calm_down(&self) {
        *lock(&self.is_chaotic) = false;
    }

    pub(super) fn add(&self, part: Part, name: &str, args: &[&str]) -> Result<()> {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut slot = Slot { part, name: name.to_owned(), args, child: None, starts: 0, is_stopped: false };
        self.start(&mut slot)?;
        lock(&self.slots).push(slot);
        Ok(())
    }

    fn start(&self, slot: &mut Slot) -> Result<()> {
        slot.starts += 1;
        slot.is_stopped = false;
        let mut command = self.command();
        command.args(&slot.args);
        let places = (self.subject.failpoints)(slot.part);
        if !places.is_empty() && *lock(&self.is_chaotic) {
            command.env("BERESTA_FAILPOINTS", failpoints(places, &mut lock(&self.random)));
        }
        let out = File::create(self.out(slot))?;
        let err = File::options().create(true).append(true).open(self.err(slot))?;
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn();
        slot.child = Some(child.with_context(|| format!("cannot run {}", self.program.display()))?);
        Ok(())
    }

    /// The program with nothing of this machine's configuration in its environment.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars() {
            if (name.starts_with("BERESTA_") && name != "BERESTA_CACHE_DIR")
                || name == "DATABASE_URL"
                || name.starts_with("OTEL_")
            {
                command.env_remove(name);
            }
        }
        command.envs(lock(&self.env).iter().cloned()).current_dir(&self.dir);
        command
    }

    fn out(&self, slot: &Slot) -> PathBuf {
        self.dir.join(format!("logs/{}.{}.out", slot.name, slot.starts))
    }

    fn err(&self, slot: &Slot) -> PathBuf {
        self.dir.join(format!("logs/{}.err", slot.name))
    }

    /// Where a process serves; nothing before it does.
    fn base(&self, slot: &Slot) -> Option<String> {
        let text = fs::read_to_string(self.out(slot)).ok()?;
        let line =
            text.lines().find(|line| line.starts_with("beresta serves on ") || line.starts_with("beresta simulates on "))?;
        line.rsplit(' ').next().map(ToOwned::to_owned)
    }

    /// The addresses of the processes that take requests.
    pub(super) fn api_bases(&self) -> Vec<String> {
        let slots = lock(&self.slots);
        slots.iter().filter(|slot| matches!(slot.part, Part::Owner | Part::Api)).filter_map(|slot| self.base(slot)).collect()
    }

    /// Waits until a part serves.
    pub(super) async fn serving(&self, name: &str) -> Result<String> {
        let deadline = Instant::now() + Duration::from_mins(2);
        loop {
            let base = lock(&self.slots).iter().find(|slot| slot.name == name).and_then(|slot| self.base(slot));
            if let Some(base) = base {
                return Ok(base);
            }
            ensure!(Instant::now() < deadline, "{name} does not serve; see {}", self.dir.join("logs").display());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The living, running processes of a part.
    pub(super) fn running(&self, part: Part) -> Vec<i32> {
        lock(&self.slots).iter().filter(|slot| slot.part == part && !slot.is_stopped).filter_map(pid).collect()
    }

    /// Stops a process as a machine that has no time for it would; `resume` lets it go on.
    pub(super) fn stop(&self, target: i32) -> bool {
        let mut slots = lock(&self.slots);
        let Some(slot) = slots.iter_mut().find(|slot| pid(slot) == Some(target)) else { return false };
        slot.is_stopped = kill(Pid::from_raw(target), Signal::SIGSTOP).is_ok();
        slot.is_stopped
    }

    pub(super) fn resume(&self, target: i32) {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.iter_mut().find(|slot| pid(slot) == Some(target)) {
            slot.is_stopped = false;
            let _ = kill(Pid::from_raw(target), Signal::SIGCONT);
        }
    }

    pub(super) fn count(&self, kind: &str) {
        *lock(&self.tally).kills.entry(kind.to_owned()).or_default() += 1;
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        lock(&self.tally)
    }

    /// Finds the dead, writes down how they died and starts them again.
    pub(super) fn tend(&self) -> Result<()> {
        let mut slots = lock(&self.slots);
        for slot in slots.iter_mut() {
            let ended = slot.child.as_mut().map(Child::try_wait).transpose()?.flatten();
            if let Some(status) = ended {
                self.note_end(slot, status);
                self.start(slot)?;
            }
        }
        Ok(())
    }

    fn note_end(&self, slot: &Slot, status: ExitStatus) {
        match status.signal() {
            Some(9) => self.count(slot.part.name()),
            Some(6) => {
                let text = fs::read_to_string(self.err(slot)).unwrap_or_default();
                let name = text.lines().rev().find_map(|line| line.strip_prefix("failpoint ")).unwrap_or("unnamed");
                self.count(&format!("failpoint {name}"));
            }
            _ if self.base(slot).is_none() => lock(&self.tally).failed_starts += 1,
            _ => {
                let text = fs::read_to_string(self.err(slot)).unwrap_or_default();
                let last = text.lines().last().unwrap_or_default();
                lock(&self.tally).own_ends.push(format!("{} ended with {status}: {last}", slot.name));
            }
        }
    }

    /// Asks the processes of a part to stop and waits; those that do not end well are named.
    pub(super) fn finish(&self, part: Part) -> Vec<String> {
        let mut bad = Vec::new();
        let mut slots = lock(&self.slots);
        for slot in slots.iter_mut().filter(|slot| slot.part == part) {
            let Some(mut child) = slot.child.take() else { continue };
            let own = i32::try_from(child.id()).unwrap_or(i32::MAX);
            let deadline = Instant::now() + Duration::from_mins(1);
            // One that only starts does not listen yet, and would die of being asked.
            while self.base(slot).is_none() && matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
            if matches!(child.try_wait(), Ok(None)) {
                let _ = kill(Pid::from_raw(own), Signal::SIGTERM);
            }
            let status = loop {
                match child.try_wait() {
                    Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
                    Ok(status) => break status,
                    Err(_) => break None,
                }
            };
            if !status.is_some_and(|status| status.success()) {
                bad.push(format!("{} did not stop well when asked to: {status:?}", slot.name));
                let _ = child.kill();
                let _ = child.wait();
            }
        }
        bad
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for slot in lock(&self.slots).iter_mut() {
            if let Some(child) = &mut slot.child {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// `kill -9`. The process may have died by a failpoint a moment ago; then it is found so.
pub(super) fn kill_9(pid: i32) {
    let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
}

fn pid(slot: &Slot) -> Option<i32> {
    slot.child.as_ref().and_then(|child| i32::try_from(child.id()).ok())
}

/// One place that is likely, the others now and then.
fn failpoints(places: &[Failpoint], random: &mut Random) -> String {
    let likely = random.pick(places).map_or("", |(name, _)| name);
    let odds = |(name, odds): &Failpoint| format!("{name}={}", if *name == likely { *odds } else { odds / 20.0 });
    places.iter().map(odds).collect::<Vec<_>>().join(",")
}
