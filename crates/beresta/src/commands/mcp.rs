//! `beresta mcp`: the planner and the tools of other modules for an assistant that starts us itself, over standard input and output.
//!
//! Standard output belongs to the protocol, one JSON message per line; everything else goes to standard error.

use std::process::ExitCode;

use anyhow::{Context, Result};
use kernel::SecretRef;
use planner::mcp::serve_stdio;
use platform::{bus::Bus, embedded::Use, http::App, objects::Objects};
use tokio_util::sync::CancellationToken;

use super::progress;
use crate::{
    config::{Config, read_secret},
    database::Database,
    modules,
    outside::Outside,
    server::asked_to_stop,
};

/// Where the token is kept unless somebody says otherwise. It is never an argument: those are for everybody to see.
const TOKEN: &str = "env:BERESTA_TOKEN";

pub(crate) async fn run(config: &Config, token: Option<&str>) -> Result<ExitCode> {
    let reference = SecretRef::parse(token.unwrap_or(TOKEN))?;
    let token = read_secret(&reference).context(
        "a token says whose goals these are: set BERESTA_TOKEN, or name another place with --token env:NAME or --token file:PATH; \
         make one with `beresta token create --person NAME --scope read,write`",
    )?;
    let database = Database::open(config, Use::Share, progress).await?;
    let stop = CancellationToken::new();
    let told = stop.clone();
    let asked_to_stop = asked_to_stop()?;
    tokio::spawn(async move {
        asked_to_stop.await;
        told.cancel();
    });
    let app = App {
        db: database.db.clone(),
        bus: Bus::new(database.db.clone()),
        objects: Objects::open(&config.objects)?,
        stop: stop.clone(),
    };
    let chats = actions::http::Surface::new(config.actions.http);
    let planner = modules::planner_alone(config, &app, &Outside::new(config)?, &chats);
    let served = serve_stdio(planner.clone(), token, stop).await;
    // What has begun comes to its end, and into the log, though nobody reads the answer.
    planner.ended().await;
    database.db.pool().close().await;
    served?;
    Ok(ExitCode::SUCCESS)
}
