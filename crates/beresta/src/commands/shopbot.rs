//! `beresta shopbot`: talk to the bot in the terminal, and replay conversations, against the real rules of a workspace.
//! Nothing is written and nothing is sent.

use std::{io::Write, path::Path, process::ExitCode};

use anyhow::{Context, Result, bail};
use platform::{embedded::Use, workspaces};
use shopbot::{
    scenarios,
    talk::{Act, Said, Talk},
};

use serde_json::json;

use super::progress;
use crate::{config::Config, database::Database};

const HELP: &str = "write as a customer would; /start opens the chat, /press TEXT presses a button, /sticker sends one, \
                    /wait 16m lets time pass, /quit ends";

/// `beresta shopbot try`.
pub(crate) async fn try_rules(config: &Config, workspace: &str, provider: &str) -> Result<ExitCode> {
    let database = Database::open(config, Use::Share, progress).await?;
    let workspace = workspaces::find(&database.db, workspace).await?;
    let mut talk = Talk::new(&database.db, workspace.id(), provider);
    progress(HELP);
    loop {
        print!("> ");
        std::io::stdout().flush()?;
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line)? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let line = line.trim_end_matches(['\r', '\n']);
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let act = match command {
            "/quit" => return Ok(ExitCode::SUCCESS),
            "/help" => {
                progress(HELP);
                continue;
            }
            "/wait" => {
                match scenarios::duration(rest) {
                    Ok(time) => talk.wait(time),
                    Err(words) => progress(&words),
                }
                continue;
            }
            "/start" => Act::Starts,
            "/sticker" => Act::Sends,
            "/press" => Act::Presses(rest.to_owned()),
            _ => Act::Says(line.to_owned()),
        };
        show(&talk.act(&act).await?);
    }
}

/// The answer, then in one line which rule gave it and where the conversation stands.
fn show(said: &Said) {
    match &said.response {
        Some(response) => println!("{response}"),
        None => println!("(silence)"),
    }
    for row in &said.buttons {
        let labels: Vec<String> = row.iter().map(|button| format!("[{}]", button.text)).collect();
        println!("{}", labels.join(" "));
    }
    let rule = match (&said.rule_id, said.rule_version) {
        (Some(rule), Some(version)) => format!("rule {rule} version {version}"),
        _ => "no rule".to_owned(),
    };
    let why = if said.why.is_null() { String::new() } else { format!("  {}", said.why) };
    println!("    {}: {rule}, state {} → {}{why}", said.outcome, said.state_before, said.state_after);
}

/// `beresta shopbot test`.
pub(crate) async fn test_rules(config: &Config, workspace: &str, file: &Path, is_json: bool) -> Result<ExitCode> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let scenarios = match scenarios::read(&text) {
        Ok(scenarios) => scenarios,
        Err(words) => bail!("{}: {words}", file.display()),
    };
    let database = Database::open(config, Use::Share, progress).await?;
    let workspace = workspaces::find(&database.db, workspace).await?;
    let misses = scenarios::play(&database.db, workspace.id(), &scenarios).await?;
    if is_json {
        let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        println!("{}", json!({"scenarios": names, "misses": misses}));
        return Ok(if misses.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    for scenario in &scenarios {
        let mine: Vec<_> = misses.iter().filter(|miss| miss.scenario == scenario.name).collect();
        println!("{} {}", if mine.is_empty() { "ok  " } else { "MISS" }, scenario.name);
        for miss in mine {
            println!("       step {}: {}", miss.step, miss.words);
        }
    }
    Ok(if misses.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
