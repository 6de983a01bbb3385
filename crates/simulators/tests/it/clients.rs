//! Real third-party clients talk to the simulator and decode its answers: proof that it has not drifted.

use std::path::Path;

use serde_json::Value;
use testkit::clients::Python;

use crate::harness::Sim;

#[tokio::test]
async fn python_telegram_bot_understands_the_simulator() {
    run(MESSENGERS, "telegram_ptb.py", 31).await;
}

#[tokio::test]
async fn aiogram_understands_the_simulator() {
    run(MESSENGERS, "telegram_aiogram.py", 30).await;
}

#[tokio::test]
async fn maxapi_understands_the_simulator() {
    run(MESSENGERS, "max_maxapi.py", 23).await;
}

#[tokio::test]
async fn google_genai_understands_the_simulator() {
    run(MODELS, "gemini_genai.py", 16).await;
}

#[tokio::test]
async fn openai_understands_the_simulator() {
    run(MODELS, "openai_openai.py", 22).await;
}

/// Where packages are installed, and the list of them. Two places: what one client needs must not move another.
type Packages = (&'static str, &'static str);
const MESSENGERS: Packages = ("python", "requirements.txt");
const MODELS: Packages = ("python-models", "requirements-models.txt");

/// Runs a client script; every check it prints must be ok, and there must be that many of them.
async fn run((place, packages): Packages, script: &'static str, checks_min: usize) {
    let sim = Sim::start().await;
    let base = sim.base.clone();
    // A blocking thread: the simulator goes on serving on this one.
    let output = tokio::task::spawn_blocking(move || {
        let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        let python = Python::prepare(place, &clients.join(packages));
        python.command().arg(clients.join(script)).env("SIMULATORS_URL", base).output().expect("python runs")
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
