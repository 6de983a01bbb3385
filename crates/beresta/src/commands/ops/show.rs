//! Rows as a person reads them, or as JSON.

use anyhow::Result;
use serde_json::Value;

/// Prints every row: as JSON with all its fields, or as a table of these columns.
pub(crate) fn show(rows: &[Value], columns: &[&str], is_json: bool) -> Result<()> {
    if is_json {
        println!("{}", serde_json::to_string_pretty(rows)?);
    } else if !rows.is_empty() {
        print!("{}", table(rows, columns));
    }
    Ok(())
}

fn table(rows: &[Value], columns: &[&str]) -> String {
    let mut lines: Vec<Vec<String>> = vec![columns.iter().map(|&column| column.to_owned()).collect()];
    lines.extend(rows.iter().map(|row| columns.iter().map(|&column| cell(&row[column])).collect()));
    let widths: Vec<usize> =
        (0..columns.len()).map(|at| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or_default()).collect();
    let mut text = String::new();
    for line in lines {
        let padded: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        // One line for one row, whatever somebody wrote.
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_lines_up_whatever_its_cells_hold() {
        let rows =
            [json!({"channel_id": "канал", "attempt": 3, "paused_until": null}), json!({"channel_id": "b", "attempt": 10})];
        let expected = "channel_id  attempt  paused_until\nканал       3        -\nb           10       -\n";
        assert_eq!(table(&rows, &["channel_id", "attempt", "paused_until"]), expected);
        assert_eq!(cell(&json!("two\nlines")), "two lines");
    }
}
