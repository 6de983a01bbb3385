//! Pictures to text, by the `tesseract` program where it is installed.

use std::{
    io::ErrorKind,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Stdio},
};

use crate::model::{Refusal, RefusalReason};

/// A page of print at 300 dpi has 9 million; leptonica takes about ten bytes for each.
pub(crate) const PIXELS_MAX: u64 = 50_000_000;
const LANGUAGES: &str = "rus+eng";

/// The text in a picture; pages of a picture that has several are separated by page breaks.
pub(crate) fn recognise(image: &[u8], extension: &str) -> Result<String, Refusal> {
    let dir = tempfile::tempdir().map_err(|err| Refusal::unavailable(format!("No temporary file can be made: {err}.")))?;
    let path = dir.path().join(format!("page.{extension}"));
    std::fs::write(&path, image).map_err(|err| Refusal::unavailable(format!("The picture cannot be stored for OCR: {err}.")))?;
    run(&path)
}

fn run(path: &Path) -> Result<String, Refusal> {
    let mut command = Command::new("tesseract");
    command.arg(path).args(["stdout", "-l", LANGUAGES]).stdin(Stdio::null());
    // On a machine with other work its threads wait for each other: one is faster.
    let output = match command.env("OMP_THREAD_LIMIT", "1").output() {
        Ok(output) => output,
        Err(err) if err.kind() == ErrorKind::NotFound => {
            return Err(no_ocr("The document is a picture, and OCR (`tesseract`) is not installed on this server."));
        }
        Err(err) => return Err(Refusal::unavailable(format!("OCR cannot be started: {err}."))),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("Failed loading language") || said.contains("Error opening data file") {
        return Err(no_ocr(
            "The document is a picture, and the data that OCR needs for Russian and English (`tesseract-ocr-rus`) are not installed.",
        ));
    }
    if output.status.success() {
        return Ok(joined(&String::from_utf8_lossy(&output.stdout)));
    }
    Err(match output.status.signal() {
        Some(_) => Refusal::too_much_work("Reading the picture took more time or memory than a document may have."),
        None => Refusal::broken("The picture is damaged: OCR cannot open it."),
    })
}

fn no_ocr(words: &str) -> Refusal {
    Refusal::new(RefusalReason::NoOcr, words)
}

/// Lines of a paragraph become one, and words that were divided at their ends become whole.
fn joined(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for paragraph in raw.trim_end_matches(['\u{c}', '\n']).split("\n\n") {
        out.push_str(&join_lines(paragraph.lines()));
        out.push_str("\n\n");
    }
    out
}

/// Joins the lines of a paragraph. A hyphen between two small letters at the end of a line divided a word.
fn join_lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        let head = out.strip_suffix(['-', '\u{2010}', '\u{ad}', '¬']);
        let is_divided = line.starts_with(char::is_lowercase) && head.is_some_and(|head| head.ends_with(char::is_lowercase));
        if is_divided {
            out.pop();
        } else if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_divided_at_the_end_of_a_line_becomes_whole() {
        assert_eq!(joined("Про-\nдажа чая\nи кофе\n\nООО-\nЧай 10 -\n20\n\u{c}"), "Продажа чая и кофе\n\nООО- Чай 10 - 20\n\n");
    }
}
