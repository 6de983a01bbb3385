//! `beresta knowledge eval`: figures of the search on texts and questions of one's own.

use std::{
    fs::File,
    io::{BufRead, BufReader, IsTerminal},
    path::Path,
    sync::Mutex,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use knowledge::eval::{self, EvalInput, EvalReport};
use platform::{embedded::Use, objects::Objects};
use serde::de::DeserializeOwned;

use super::args::EvalArgs;
use crate::{commands::progress, database::Database, outside::Outside};

pub(super) async fn run(args: &EvalArgs) -> Result<()> {
    if args.vector_weight.is_some_and(|weight| !(0.0..=1.0).contains(&weight)) {
        bail!("--vector-weight is a number from 0 to 1");
    }
    let mut input = EvalInput {
        paragraphs: lines(&args.paragraphs)?,
        questions: lines(&args.questions)?,
        foreign: args.foreign.as_deref().map(lines).transpose()?.unwrap_or_default(),
        vector_weight: args.vector_weight,
        groups: args.groups,
        in_private: args.in_private,
        askers: args.askers,
    };
    let config = args.place.config_with(embedder(args.model.as_deref(), &mut input)?)?;
    let database = Database::open(&config, Use::Share, progress).await?;
    let archive = Outside::new(&config)?.knowledge(&database.db, &Objects::open(&config.objects)?);
    knowledge::jobs::registry(&archive).put_types(&database.db).await?;
    let told = Mutex::new((Instant::now(), String::new()));
    let is_terminal = std::io::stderr().is_terminal();
    let tell = |step: &str, done: usize, total: usize| {
        let mut last = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.1 != step || last.0.elapsed() > Duration::from_secs(5) {
            *last = (Instant::now(), step.to_owned());
            let line = format!("{step}: {done} of {total}");
            if is_terminal { eprint!("\r\x1b[K{line}") } else { progress(&line) }
        }
    };
    let report = eval::run(&archive, &input, &tell).await;
    if is_terminal {
        eprintln!();
    }
    let report = report?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

/// The settings of the model that is named.
fn embedder(model: Option<&str>, input: &mut EvalInput) -> Result<Vec<(&'static str, Option<String>)>> {
    let Some(model) = model else { return Ok(Vec::new()) };
    if model == "none" {
        input.vector_weight = Some(0.0);
        return Ok(vec![("embedder", Some("local".to_owned()))]);
    }
    let (provider, name) = model.split_once(':').map_or((model, None), |(provider, name)| (provider, Some(name.to_owned())));
    if !["local", "gemini", "openai"].contains(&provider) {
        bail!("--model is none, local, gemini, openai, gemini:MODEL or openai:MODEL, not `{model}`");
    }
    Ok(vec![("embedder", Some(provider.to_owned())), ("embedder_model", name)])
}

fn print(report: &EvalReport) {
    println!(
        "{} paragraphs, {} questions, {} foreign; vectors: {}",
        report.paragraphs, report.questions, report.foreign, report.model
    );
    println!("Recall@1 {:.4}   Recall@5 {:.4}   MRR@10 {:.4}", report.recall_at_1, report.recall_at_5, report.mrr_at_10);
    let foreign = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.4}"));
    println!(
        "refused: {:.4} of the answerable, {} of the foreign; AUROC {}",
        report.refused_answerable,
        foreign(report.refused_foreign),
        foreign(report.refusal_auroc)
    );
    println!("p50 {:.1} ms, p99 {:.1} ms; loaded in {:.1} s", report.p50_ms, report.p99_ms, report.load_seconds);
}

/// A file with one JSON object a line. A line that cannot be read is named.
fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut rows = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read {}", path.display()))?;
        if !line.trim().is_empty() {
            let row = serde_json::from_str(&line);
            rows.push(row.with_context(|| format!("{}, line {}: not what is expected here", path.display(), number + 1))?);
        }
    }
    Ok(rows)
}
