//! Real third-party clients talk to the simulator and decode its answers: proof that it has not drifted.
//!
//! The clients are installed once, under the workspace's `target/clients/python`, from the pinned
//! `tests/clients/requirements.txt`; a change of that file installs them anew.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::Sim;

#[tokio::test]
async fn python_telegram_bot_understands_the_simulator() {
    run("telegram_ptb.py", 25).await;
}

#[tokio::test]
async fn aiogram_understands_the_simulator() {
    run("telegram_aiogram.py", 24).await;
}

#[tokio::test]
async fn maxapi_understands_the_simulator() {
    run("max_maxapi.py", 23).await;
}

/// Runs a client script; every check it prints must be ok, and there must be that many of them.
async fn run(script: &'static str, checks_min: usize) {
    let sim = Sim::start().await;
    let base = sim.base.clone();
    // A blocking thread: the simulator goes on serving on this one.
    let output = tokio::task::spawn_blocking(move || {
        let python = Python::prepare();
        let mut command = python.command();
        command.arg(clients().join(script)).env("SIMULATORS_URL", base).env("NO_PROXY", "*").env("PYTHONDONTWRITEBYTECODE", "1");
        command.output().expect("python runs")
    });
    let output = output.await.expect("the script ends");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let checks: Vec<Value> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let failed: Vec<&Value> = checks.iter().filter(|check| check["ok"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}\n{errors}");
    assert!(output.status.success(), "{printed}\n{errors}");
    assert!(checks.len() >= checks_min, "only {} checks\n{printed}\n{errors}", checks.len());
}

/// A Python with the clients installed.
struct Python {
    executable: PathBuf,
    /// Set when virtual environments are not available and packages lie in a folder of their own.
    packages: Option<PathBuf>,
}

impl Python {
    fn prepare() -> Self {
        let requirements = clients().join("requirements.txt");
        let wanted = std::fs::read_to_string(&requirements).expect("requirements.txt");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target folder");
        let home = target.join("clients").join("python");
        std::fs::create_dir_all(&home).expect("a folder for the clients");
        // Tests run in parallel processes too: the first installs, the others wait for it.
        let lock = File::create(target.join("clients").join("python.lock")).expect("a lock file");
        lock.lock().expect("the lock");
        let installed = home.join("installed.txt");
        let python = Self::at(&home);
        if python.as_ref().is_none_or(|_| std::fs::read_to_string(&installed).ok().as_ref() != Some(&wanted)) {
            eprintln!("installing into {}:\n{wanted}", home.display());
            std::fs::remove_dir_all(&home).expect("the old clients go");
            install(&home, &requirements);
            std::fs::write(&installed, wanted).expect("the mark of a finished installation");
        }
        python.or_else(|| Self::at(&home)).expect("an installed python")
    }

    fn at(home: &Path) -> Option<Self> {
        let executable = home.join("bin").join("python");
        let packages = home.join("packages");
        if executable.exists() {
            return Some(Self { executable, packages: None });
        }
        packages.exists().then(|| Self { executable: "python3".into(), packages: Some(packages) })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        if let Some(packages) = &self.packages {
            command.env("PYTHONPATH", packages);
        }
        command
    }
}

fn install(home: &Path, requirements: &Path) {
    std::fs::create_dir_all(home).expect("a folder for the clients");
    let made = Command::new("python3").args(["-m", "venv"]).arg(home).output().expect("python3 runs");
    let mut pip = if made.status.success() { Command::new(home.join("bin").join("python")) } else { Command::new("python3") };
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    if !made.status.success() {
        pip.arg("--target").arg(home.join("packages"));
    }
    let output = pip.output().expect("pip runs");
    assert!(output.status.success(), "pip: {}", String::from_utf8_lossy(&output.stderr));
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("clients")
}
