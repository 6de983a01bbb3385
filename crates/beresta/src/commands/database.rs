//! `beresta database`: the running database, for any other client.

use std::{
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};
use platform::embedded;

use crate::{config::Config, database};

fn running_url(config: &Config) -> Result<String> {
    match &config.database_url {
        Some(url) => Ok(url.expose().to_owned()),
        None => Ok(embedded::running_url(&config.data_dir, database::NAME)?),
    }
}

pub(crate) fn url(config: &Config) -> Result<ExitCode> {
    println!("{}", running_url(config)?);
    Ok(ExitCode::SUCCESS)
}

/// Becomes psql: the one of the embedded server, or an installed one.
pub(crate) fn psql(config: &Config, args: &[String]) -> Result<ExitCode> {
    let url = running_url(config)?;
    let error = Command::new(embedded::psql()).arg(url).args(args).exec();
    Err(error).context("psql cannot be run; use any other client with the URL that `beresta database url` prints")
}
