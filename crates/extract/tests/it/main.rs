//! Documents that the tests make themselves, read as the product reads them: in a child process.

mod bounds;
mod files;
mod formats;
mod poison;

use std::path::{Path, PathBuf};

use extract::{ExtractLimits, ExtractedText, Extractor, Refusal, Source};

const PROGRAM: &str = env!("CARGO_BIN_EXE_extract-file");

fn extractor(limits: ExtractLimits) -> Extractor {
    Extractor::new(PathBuf::from(PROGRAM), vec!["--child".to_owned()], limits)
}

/// An extractor whose children find programs in this folder first.
fn extractor_with_programs(dir: &Path, limits: ExtractLimits) -> Extractor {
    let path = format!("PATH={}:/usr/local/bin:/usr/bin:/bin", dir.display());
    Extractor::new(PathBuf::from("/usr/bin/env"), vec![path, PROGRAM.to_owned(), "--child".to_owned()], limits)
}

async fn read(bytes: &[u8]) -> Result<ExtractedText, Refusal> {
    read_named(bytes, "").await
}

async fn read_named(bytes: &[u8], file_name: &str) -> Result<ExtractedText, Refusal> {
    extractor(ExtractLimits::default()).extract(Source { bytes, file_name: Some(file_name), ..Source::default() }).await
}

/// What stands at each mark: the kind, its number, its name, and the first line.
fn at_marks(found: &ExtractedText) -> Vec<(u32, Option<&str>, String)> {
    let line = |at: usize| found.text.chars().skip(at).take_while(|c| *c != '\n').collect();
    found.marks.iter().map(|mark| (mark.number, mark.name.as_deref(), line(mark.at))).collect()
}
