//! Text that is text already: plain, Markdown, CSV, JSON.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    model::Refusal,
    read::Found,
    text::{Spaces, Writing, clean},
};

pub(crate) fn text(raw: &str) -> Result<Found, Refusal> {
    let mut writing = Writing::default();
    writing.verbatim(raw)?;
    Ok(Found { writing, mime: "text/plain", ..Found::default() })
}

/// Markdown stays as it is: models read it. Its title is that of its front matter, or its first heading.
pub(crate) fn markdown(raw: &str) -> Result<Found, Refusal> {
    let mut writing = Writing::default();
    let (mut title, mut author, mut date) = (None, None, None);
    let raw = raw.trim_start_matches('\u{feff}');
    let body = match raw.strip_prefix("---").and_then(|rest| rest.split_once("\n---")) {
        Some((front, body)) if front.starts_with(['\n', '\r']) => {
            for line in front.lines() {
                let Some((key, value)) = line.split_once(':') else { continue };
                let value = Some(value.trim().trim_matches(['"', '\'']).to_owned());
                match key.trim() {
                    "title" => title = value,
                    "author" => author = value,
                    "date" => date = value,
                    _ => {}
                }
            }
            body.trim_start_matches('-')
        }
        _ => raw,
    };
    let heading =
        || body.lines().find_map(|line| line.strip_prefix("# ")).map(|line| line.trim_end_matches(['#', ' ']).to_owned());
    writing.verbatim(body)?;
    Ok(Found { writing, mime: "text/markdown", title: title.or_else(heading), author, date, ..Found::default() })
}

/// A row is a line; its cells are separated by tabs, as in every other table.
pub(crate) fn csv(raw: &str) -> Result<Found, Refusal> {
    let raw = raw.trim_start_matches('\u{feff}');
    let mut writing = Writing::default();
    let delimiter = delimiter(raw);
    let (mut row, mut cell, mut is_quoted, mut has_rows) = (Vec::new(), String::new(), false, false);
    let mut chars = raw.chars().chain(std::iter::once('\n')).peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                cell.push('"');
                chars.next();
            }
            // A quote in the middle of a cell is a quote.
            '"' if is_quoted || cell.trim().is_empty() => is_quoted = !is_quoted,
            c if c == delimiter && !is_quoted => row.push(std::mem::take(&mut cell)),
            '\n' | '\r' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                write_row(&mut writing, &row, &mut has_rows)?;
                row.clear();
            }
            c => cell.push(c),
        }
    }
    // A quote that was never closed.
    if !cell.is_empty() {
        row.push(cell);
        write_row(&mut writing, &row, &mut has_rows)?;
    }
    Ok(Found { writing, mime: "text/csv", ..Found::default() })
}

/// One line of a table. The first one begins a paragraph.
pub(crate) fn write_row(writing: &mut Writing, cells: &[String], has_rows: &mut bool) -> Result<(), Refusal> {
    if cells.iter().all(|cell| cell.trim().is_empty()) {
        return Ok(());
    }
    let cells: Vec<String> = cells.iter().map(|cell| clean(cell, Spaces::Collapse).replace(['\n', '\t'], " ")).collect();
    let row = cells.join("\t");
    if std::mem::replace(has_rows, true) { writing.line(&row) } else { writing.paragraph(&row) }
}

/// The one that stands on the first lines most often.
fn delimiter(raw: &str) -> char {
    let head: Vec<&str> = raw.lines().take(10).collect();
    let count = |delimiter: char| head.iter().map(|line| line.matches(delimiter).count()).sum::<usize>();
    [',', ';', '\t', '|'].into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(',')
}

/// Names and values, a line each, deeper ones further to the right. One value or several, one after another.
pub(crate) fn json(raw: &str) -> Result<Found, Refusal> {
    let mut lines = String::new();
    let mut values = 0;
    let mut deserializer = serde_json::Deserializer::from_str(raw.trim_start_matches('\u{feff}'));
    loop {
        match deserializer.end() {
            Ok(()) => break,
            Err(_) => match Value::deserialize(&mut deserializer) {
                Ok(value) => write_json(&value, 0, &mut lines),
                Err(err) if err.to_string().contains("recursion limit") => {
                    return Err(Refusal::broken("The JSON is nested deeper than anything that people read."));
                }
                // As text it says something still.
                Err(_) if values == 0 => return text(raw),
                Err(_) => return Err(Refusal::broken("The JSON ends in the middle or is damaged.")),
            },
        }
        values += 1;
    }
    let mut writing = Writing::default();
    writing.verbatim(&lines)?;
    Ok(Found { writing, mime: "application/json", ..Found::default() })
}

fn write_json(value: &Value, depth: usize, out: &mut String) {
    let indent = |out: &mut String| out.extend(std::iter::repeat_n("  ", depth));
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                indent(out);
                out.push_str(name);
                out.push(':');
                write_inside(value, depth, out);
            }
        }
        Value::Array(values) => {
            for value in values {
                indent(out);
                out.push('-');
                write_inside(value, depth, out);
            }
        }
        scalar => {
            indent(out);
            write_scalar(scalar, out);
            out.push('\n');
        }
    }
}

fn write_inside(value: &Value, depth: usize, out: &mut String) {
    if matches!(value, Value::Object(_) | Value::Array(_)) {
        out.push('\n');
        write_json(value, depth + 1, out);
    } else {
        out.push(' ');
        write_scalar(value, out);
        out.push('\n');
    }
}

fn write_scalar(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(text),
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(found: Result<Found, Refusal>) -> String {
        found.unwrap().writing.end().0
    }

    #[test]
    fn cells_of_csv_may_hold_delimiters_quotes_and_lines() {
        assert_eq!(
            of(csv("имя;цена\n\"чай; \"\"чёрный\"\"\";10\r\n\"две\nстроки\";5,5\n")),
            "имя\tцена\nчай; \"чёрный\"\t10\nдве строки\t5,5"
        );
        assert_eq!(of(csv("a,b\n\"never closed,1\n")), "a\tb\nnever closed,1");
    }

    #[test]
    fn json_becomes_names_and_values() {
        assert_eq!(of(json(r#"{"имя": "чай", "цены": [1, {"в": 2.5}]}"#)), "имя: чай\nцены:\n  - 1\n  -\n    в: 2.5");
        assert_eq!(of(json("{\"a\": 1}\n{\"a\": 2}\n")), "a: 1\na: 2");
        let deep = "[".repeat(100_000);
        assert!(json(&deep).is_err());
    }

    #[test]
    fn markdown_has_the_title_of_its_front_matter_or_its_first_heading() {
        let found = markdown("---\ntitle: \"Чай\"\nauthor: Я\n---\n# Другое\n\n    code\n").unwrap();
        assert_eq!((found.title.as_deref(), found.author.as_deref()), (Some("Чай"), Some("Я")));
        assert_eq!(markdown("intro\n\n# Другое #\n").unwrap().title.as_deref(), Some("Другое"));
        assert_eq!(of(markdown("# A\n\n    code  here\n\n\n\nend")), "# A\n\n    code  here\n\nend");
    }
}
