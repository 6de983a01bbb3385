//! `cargo xtask test`: every test there is.

use std::{fs, time::Instant};

use anyhow::{Result, bail};

use crate::{
    licences, packages, programs,
    run::{cargo, command, output, root, step},
    tidy,
};

pub(crate) fn run() -> Result<()> {
    let started = Instant::now();
    let mut phases = Phases::default();
    phases.run("formatting", || step("formatting", cargo(&["fmt", "--all", "--check"])))?;
    phases.run("tidy", tidy::run)?;
    phases.run("licences", licences::run)?;
    phases.run("programs", install_programs)?;
    phases.run("client", check_client)?;
    let lints = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    phases.run("lints", || step("lints", cargo(&lints)))?;
    let programs = phases.run("build", programs::build)?;
    phases.run("tests", || programs::run(programs))?;
    phases.run("doc tests", || step("doc tests", cargo(&["test", "--workspace", "--doc", "--quiet"])))?;
    println!("everything passed in {:.0} s: {}", started.elapsed().as_secs_f64(), phases.0.join(", "));
    Ok(())
}

/// How long each took.
#[derive(Default)]
struct Phases(Vec<String>);

impl Phases {
    fn run<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let done = work()?;
        self.0.push(format!("{name} {:.1} s", started.elapsed().as_secs_f64()));
        Ok(done)
    }
}

pub(crate) fn write_schema() -> Result<()> {
    let mut test = cargo(&["test", "--package", "beresta", "--test", "it", "--quiet", "the_dumped_schema_is_fresh"]);
    test.env("BERESTA_UPDATE_SCHEMA", "1");
    step("db/schema.sql", test)
}

/// Writes what clients use of the contract of actions anew.
pub(crate) fn write_contract() -> Result<()> {
    let mut test = cargo(&["test", "--package", "actions", "--test", "it", "--quiet", "the_generated_files_are_fresh"]);
    test.env("BERESTA_UPDATE_CONTRACT", "1");
    step("clients/javascript", test)
}

const NODE_MIN: u32 = 20;

/// The types of the JavaScript client. What it promises is tested against real servers, by `crates/beresta/tests/it/client.rs`.
fn check_client() -> Result<()> {
    let version = output(command("node", &["--version"])).unwrap_or_default();
    let major = version.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < NODE_MIN) {
        bail!("the JavaScript client is tested with Node {NODE_MIN} or newer: install `nodejs` and `npm`");
    }
    let dir = root().join("clients/javascript");
    let written_at = |name: &str| fs::metadata(dir.join(name)).and_then(|file| file.modified()).ok();
    // npm writes the first when it has installed what the second says.
    if written_at("node_modules/.package-lock.json") < written_at("package-lock.json") {
        let npm = ["ci", "--prefix", "clients/javascript", "--no-audit", "--no-fund", "--loglevel=error"];
        step("the type checker of the client", command("npm", &npm))?;
    }
    step("types of the client", command("npm", &["run", "--silent", "--prefix", "clients/javascript", "types"]))
}

/// The console is tested in Chromium, and scans are read by tesseract. Both come from the system's packages.
fn install_programs() -> Result<()> {
    packages::install("the console is tested in a browser", &["chromium", "chromedriver"], &["chromium", "chromium-driver"])?;
    packages::install("pictures are read by OCR", &["tesseract"], &["tesseract-ocr", "tesseract-ocr-rus"])
}
