//! The JavaScript client against two real processes on one database: its own tests, run by Node.

use std::time::Duration;

use tokio::process::Command;

use crate::{
    console::Stage,
    support::{Serving, workspace_root},
};

#[tokio::test]
async fn the_javascript_client_passes_its_tests_against_two_real_processes() {
    let stage = Stage::new().await;
    let second = Serving::on_database(&stage.db.url, &[]);
    let running = Command::new("node")
        .args(["--test", "--test-reporter=spec"])
        .kill_on_drop(true)
        .current_dir(workspace_root().join("clients/javascript"))
        .env("BERESTA_URL", &stage.serving.base)
        .env("BERESTA_URL_2", &second.base)
        .env("BERESTA_TOKEN", stage.token.expose())
        .output();
    let output = tokio::time::timeout(Duration::from_mins(10), running).await.expect("the tests of the client end");
    let output = output.expect("node is installed");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(report.contains("skipped 0"), "tests against a server were left out:\n{report}");
}
