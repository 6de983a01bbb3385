//! `beresta seed`: the demo workspace and what to try with it.

use std::process::ExitCode;

use anyhow::Result;
use platform::embedded::Use;

use super::progress;
use crate::{config::Config, database::Database, seed};

pub(crate) async fn run(config: &Config, is_json: bool) -> Result<ExitCode> {
    let database = Database::open(config, Use::Share, progress).await?;
    let credentials = seed::load(config, &database).await?;
    if is_json {
        println!("{}", serde_json::to_string_pretty(&credentials)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("workspace_id     {}", credentials.workspace_id);
    println!("token            {}", credentials.token);
    println!("push_secret      {}", credentials.push_secret);
    println!("max_secret       {}", credentials.max_secret);
    println!("telegram_secret  {}", credentials.telegram_secret);
    println!();
    println!("What to try next:");
    println!("  beresta serve                                  # then open http://{} and sign in with the token", config.listen);
    println!("  curl -H 'Authorization: Bearer {}' http://{}/api/me", credentials.token, config.listen);
    Ok(ExitCode::SUCCESS)
}
