//! `beresta serve`: the server, until it is asked to stop.

use std::process::ExitCode;

use anyhow::Result;

use super::progress;
use crate::{
    config::Config,
    server::{Server, asked_to_stop},
};

pub(crate) async fn run(config: Config, has_demo_jobs: bool) -> Result<ExitCode> {
    let server = Server::start(&config, has_demo_jobs, progress).await?;
    let installed = &server.database.installed;
    if !installed.migrations.is_empty() {
        progress(&format!("applied {} migrations", installed.migrations.len()));
    }
    if installed.is_newer {
        progress("the database was brought up to date by a newer program; this one works with it as it is");
    }
    let asked_to_stop = asked_to_stop()?;
    // The line that scripts wait for: the port may have been chosen by the system.
    println!("beresta serves on http://{}", server.address);
    asked_to_stop.await;
    progress("stopping …");
    server.stop().await;
    Ok(ExitCode::SUCCESS)
}
