//! `beresta demo`: everything at once, on simulated providers, with a tour.

use std::process::ExitCode;

use anyhow::Result;
use simulators::Simulators;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::progress;
use crate::{
    config::Config,
    models::Models,
    seed,
    server::{Server, asked_to_stop},
    tour::Tour,
};

pub(crate) async fn run(mut config: Config, is_exit: bool) -> Result<ExitCode> {
    println!(
        "Beresta {} — what a bot was told, did and said is never lost, never done twice, and can always be read back.\n",
        env!("CARGO_PKG_VERSION")
    );
    let stop_simulators = CancellationToken::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let simulators_url = format!("http://{}", listener.local_addr()?);
    let simulating = tokio::spawn(simulators::serve(listener, Simulators::new(), stop_simulators.clone()));

    // The real providers are never called from a demo, whatever the settings say.
    for provider in &mut config.providers {
        provider.base_url = format!("{simulators_url}/{}", provider.name);
    }
    config.models = Models::offline();
    // A link to the simulated web site is one of the things that the tour shares.
    config.fetch_allow.push(simulators_url.trim_start_matches("http://").to_owned());
    let server = Server::start(&config, true, progress).await?;
    let credentials = seed::load(&config, &server.database).await?;
    println!("  console     http://{}", server.address);
    println!("  token       {}", credentials.token);
    println!("  simulators  {simulators_url}");
    println!("  database    beresta database psql\n");

    let tour = Tour::new(&server, credentials, simulators_url)?;
    let has_passed = tour.play().await;
    if !is_exit {
        let asked_to_stop = asked_to_stop()?;
        println!("\nThe console is at http://{} — sign in with the token above. Ctrl-C stops everything.", server.address);
        asked_to_stop.await;
        progress("stopping …");
    }
    server.stop().await;
    stop_simulators.cancel();
    simulating.await?;
    Ok(if has_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
