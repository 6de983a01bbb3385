//! `beresta migrate`: brings the database up to date and says what that took.

use std::process::ExitCode;

use anyhow::Result;
use platform::embedded::Use;

use super::progress;
use crate::{config::Config, database::Database};

pub(crate) async fn run(config: &Config) -> Result<ExitCode> {
    let database = Database::open(config, Use::Share, progress).await?;
    let installed = &database.installed;
    for name in &installed.migrations {
        println!("applied {name}");
    }
    if installed.is_newer {
        println!("the database was brought up to date by a newer program; nothing was changed");
    } else if installed.functions > 0 {
        println!("applied {} functions", installed.functions);
    } else {
        println!("the database is up to date");
    }
    Ok(ExitCode::SUCCESS)
}
