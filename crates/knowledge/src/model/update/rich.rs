//! Rich messages: a document of blocks instead of a text. Its words in reading order, its links and its files. Blocks of a kind that is not
//! known are read by the fields that the known ones have.

use serde_json::Value;

/// Fields of a block that are words of their own, in reading order.
const WORDS: [&str; 5] = ["summary", "text", "expression", "caption", "credit"];
/// Fields of a block that hold blocks.
const INNER: [&str; 2] = ["blocks", "items"];
const DEPTH_MAX: usize = 32;

pub(super) fn words(message: &Value) -> Option<String> {
    let mut lines = Vec::new();
    read_blocks(&message["blocks"], &mut lines, DEPTH_MAX);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn read_blocks(blocks: &Value, lines: &mut Vec<String>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for block in blocks.as_array().map(Vec::as_slice).unwrap_or_default() {
        for field in WORDS {
            // A caption has a text and a credit of its own.
            let parts = if block[field]["type"].is_null() && block[field].is_object() {
                vec![inline(&block[field]["text"], depth), inline(&block[field]["credit"], depth)]
            } else {
                vec![inline(&block[field], depth)]
            };
            lines.extend(parts.into_iter().filter(|part| !part.trim().is_empty()));
            // The quotation stands before the one who said it, and the items before what is said of them.
            if field == "text" {
                for inner in INNER {
                    read_blocks(&block[inner], lines, depth);
                }
                read_rows(&block["cells"], lines, depth);
            }
        }
    }
}

fn read_rows(rows: &Value, lines: &mut Vec<String>, depth: usize) {
    for row in rows.as_array().map(Vec::as_slice).unwrap_or_default() {
        let cells = row.as_array().map(Vec::as_slice).unwrap_or_default();
        let cells: Vec<String> = cells.iter().map(|cell| inline(&cell["text"], depth)).collect();
        if cells.iter().any(|cell| !cell.trim().is_empty()) {
            lines.push(cells.join("\t"));
        }
    }
}

/// Words within a line: a text, texts in a row, or one that is set in some way.
fn inline(text: &Value, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return String::new() };
    match text {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| inline(part, depth)).collect(),
        Value::Object(set) => match set.get("text").or_else(|| set.get("expression")) {
            Some(inner) => inline(inner, depth),
            None => set.get("alternative_text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        },
        _ => String::new(),
    }
}

/// Every object inside, so that links and files are found in whatever block they stand.
pub(super) fn objects<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| objects(value, found)),
        Value::Object(fields) => {
            found.push(value);
            fields.values().for_each(|value| objects(value, found));
        }
        _ => {}
    }
}
