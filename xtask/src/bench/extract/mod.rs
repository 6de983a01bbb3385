//! `cargo xtask bench extract`: documents with a known text, read by ours in a child process each, and beside it, in the same run, by trafilatura and
//! pdftotext. How much of the text is there, whether it is in order, and what a document costs.

mod score;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use super::machine::{bench_dir, load_average};
use crate::{
    packages,
    run::{cargo, output, root, step},
};

#[derive(Args)]
pub(crate) struct ExtractBench {
    /// Where `docs` and `readability` are
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
}

/// The second is what the first imports and forgets to ask for.
const PEER_PACKAGES: [&str; 2] = ["trafilatura", "lxml_html_clean"];

/// A document and what it is known to say.
struct Case {
    name: String,
    path: PathBuf,
    known: String,
}

/// What somebody read of a document. No text is a failure.
struct PeerReading {
    text: Option<String>,
    words: String,
    seconds: f64,
    peak_kib: f64,
}

pub(crate) fn run(options: &ExtractBench) -> Result<()> {
    let data = fs::canonicalize(root().join(&options.data)).with_context(|| format!("no data in {}", options.data.display()))?;
    packages::install("pictures are read by OCR", &["tesseract"], &["tesseract-ocr", "tesseract-ocr-rus"])?;
    packages::install("pdftotext is a peer", &["pdftotext"], &["poppler-utils"])?;
    step("extract-file", cargo(&["build", "--release", "--locked", "--quiet", "-p", "extract"]))?;
    let peers = Peers::install()?;
    println!(
        "{:14} {:24} {:>5} {:>7} {:>7}  {:24} {:>7} {:>7} {:>8} {:>8} {:>8} {:>5}",
        "", "", "files", "F1", "worst", "", "order", "worst", "s/doc", "s worst", "peak MB", "load"
    );
    let pages = pages(&data, &peers)?;
    compare("pages", &pages, &[("trafilatura", "trafilatura")], &peers)?;
    let known = |number: usize| fs::read_to_string(data.join(format!("docs/ru/{number:02}.expected.txt")));
    let set = |endings: &[&str]| -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for number in 0..6 {
            for ending in endings {
                let name = format!("{number:02}.{ending}");
                cases.push(Case { path: data.join("docs/ru").join(&name), name, known: known(number)? });
            }
        }
        Ok(cases)
    };
    compare("DOCX", &set(&["python-docx.docx", "libreoffice.docx"])?, &[], &peers)?;
    compare("HTML cp1251", &set(&["cp1251.html"])?, &[("trafilatura", "trafilatura")], &peers)?;
    compare("PDF", &set(&["libreoffice.pdf", "reportlab.pdf"])?, &[("pdftotext", "pdftotext")], &peers)?;
    compare("two columns", &set(&["two-columns.pdf"])?, &[("pdftotext", "pdftotext")], &peers)?;
    let mut scans = set(&["scan.png"])?;
    let first_pages: Vec<PathBuf> = (0..6).map(|number| data.join(format!("docs/ru/{number:02}.libreoffice.pdf"))).collect();
    for (case, reading) in scans.iter_mut().zip(peers.read("first-page", &first_pages)?) {
        case.known = reading.text.unwrap_or_default();
    }
    compare("scans", &scans, &[], &peers)?;
    real(&data, &peers)
}

/// Pages with the articles in them.
fn pages(data: &Path, peers: &Peers) -> Result<Vec<Case>> {
    let mut dirs: Vec<PathBuf> = fs::read_dir(data.join("readability"))?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    dirs.retain(|dir| dir.join("source.html").exists());
    dirs.sort();
    let known = peers.read("page-text", &dirs.iter().map(|dir| dir.join("expected.html")).collect::<Vec<_>>())?;
    let case = |(dir, known): (&PathBuf, PeerReading)| Case {
        name: dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        path: dir.join("source.html"),
        known: known.text.unwrap_or_default(),
    };
    Ok(dirs.iter().zip(known).map(case).collect())
}

/// Ten files as people make them. What another program made of them is a second opinion, not the truth.
fn real(data: &Path, peers: &Peers) -> Result<()> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(data.join("docs/real"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Ok(known) = fs::read_to_string(format!("{}.md", path.display())) {
            cases.push(Case { name, path, known: known.replace("<!-- image -->", " ") });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    compare("real files", &cases, &[], peers)?;
    cases.retain(|case| case.path.extension().is_some_and(|extension| extension == "pdf"));
    compare("real PDFs", &cases, &[("pdftotext", "pdftotext")], peers)
}

/// One set of documents, read by us and by peers.
fn compare(set: &str, cases: &[Case], rivals: &[(&str, &str)], peers: &Peers) -> Result<()> {
    let paths: Vec<PathBuf> = cases.iter().map(|case| case.path.clone()).collect();
    let ours = paths.iter().map(|path| read_ours(path)).collect::<Result<Vec<_>>>()?;
    report(set, "extract", cases, &ours);
    for (name, kind) in rivals {
        report(set, name, cases, &peers.read(kind, &paths)?);
    }
    Ok(())
}

fn report(set: &str, reader: &str, cases: &[Case], readings: &[PeerReading]) {
    let (mut f1, mut order) = (Vec::new(), Vec::new());
    for (case, reading) in cases.iter().zip(readings) {
        let text = reading.text.as_deref().unwrap_or_default();
        f1.push((score::f1(&case.known, text), case.name.as_str()));
        // Of the documents that are short enough.
        order.extend(score::order(&case.known, text));
        if reading.text.is_none() {
            println!("FAILED {}: {}", case.name, reading.words);
        }
    }
    let count = f64::from(u32::try_from(cases.len().max(1)).unwrap_or(u32::MAX));
    let worst = f1.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, ""));
    let most = |value: fn(&PeerReading) -> f64| readings.iter().map(value).fold(0.0, f64::max);
    println!(
        "{set:14} {reader:24} {:5} {:7.4} {:7.4}  {:24} {:7.4} {:7.4} {:8.3} {:8.3} {:8.1} {:5.1}",
        cases.len(),
        f1.iter().map(|(value, _)| value).sum::<f64>() / count,
        worst.0,
        worst.1,
        order.iter().sum::<f64>() / f64::from(u32::try_from(order.len().max(1)).unwrap_or(u32::MAX)),
        order.iter().copied().fold(1.0, f64::min),
        readings.iter().map(|reading| reading.seconds).sum::<f64>() / count,
        most(|reading| reading.seconds),
        most(|reading| reading.peak_kib) / 1024.0,
        load_average(),
    );
}

/// A process for each document, so that its memory is its own.
fn read_ours(path: &Path) -> Result<PeerReading> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let mut command = Command::new(target.join("release/extract-file"));
    command.arg(path);
    let found: Value = serde_json::from_str(&output(command)?)?;
    let text = found["outcome"]["text"]["text"].as_str().map(ToOwned::to_owned);
    Ok(PeerReading { text, words: found["outcome"]["refused"]["message"].to_string(), ..reading(&found)? })
}

fn reading(found: &Value) -> Result<PeerReading> {
    Ok(PeerReading {
        text: found["text"].as_str().map(ToOwned::to_owned),
        words: String::new(),
        seconds: found["seconds"].as_f64().context("seconds")?,
        peak_kib: found["peak_kib"].as_f64().context("peak_kib")?,
    })
}

/// Readers in Python, in an environment of their own below `target`.
struct Peers {
    python: PathBuf,
}

impl Peers {
    fn install() -> Result<Self> {
        let dir = root().join("target/bench-extract");
        let python = dir.join("bin/python");
        let has_it = |python: &Path| {
            Command::new(python).args(["-c", "import trafilatura"]).output().is_ok_and(|found| found.status.success())
        };
        if !has_it(&python) {
            let mut venv = Command::new("python3");
            venv.args(["-m", "venv"]).arg(&dir);
            step("an environment for trafilatura", venv)?;
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PEER_PACKAGES);
            step("trafilatura", pip)?;
        }
        Ok(Self { python })
    }

    fn read(&self, kind: &str, paths: &[PathBuf]) -> Result<Vec<PeerReading>> {
        let mut command = Command::new(&self.python);
        command.arg(bench_dir().join("peers/extract/peer.py")).arg(kind).args(paths);
        let lines = output(command)?;
        let found = lines.lines().map(|line| reading(&serde_json::from_str(line)?)).collect::<Result<Vec<_>>>()?;
        ensure!(found.len() == paths.len(), "{kind} read {} of {} files", found.len(), paths.len());
        Ok(found)
    }
}
