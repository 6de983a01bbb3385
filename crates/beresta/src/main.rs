//! Beresta: what a bot was told, did and said is never lost, never done twice, and can always be read back.

#[cfg(test)]
mod adding_a_module;
mod alerts;
mod answering;
mod cli;
mod commands;
mod config;
mod database;
mod listener;
mod models;
mod modules;
mod operations;
mod outside;
mod seed;
mod seed_archive;
mod seed_plan;
mod server;
mod telemetry;
mod tour;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // reqwest, sqlx and object_store are built without a default of their own.
    drop(rustls::crypto::ring::default_provider().install_default());
    // The child that reads foreign files is this program too. It has no threads and no configuration.
    if std::env::args_os().nth(1).is_some_and(|command| command == outside::EXTRACT_COMMAND) {
        return extract::run_child();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("beresta: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(cli::run());
    // Whatever still blocks a thread must not keep the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("beresta: {}", kernel::redact::redact_text(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}
