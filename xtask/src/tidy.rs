//! Habits that a compiler does not check.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail};

use crate::run::{command, output, root};

/// Who may depend on whom. No module depends on another module, and only the binary knows everything.
const EDGES: &[(&str, &[&str])] = &[
    ("kernel", &[]),
    ("outbound", &["kernel"]),
    ("platform", &["kernel"]),
    ("simulators", &[]),
    ("testkit", &["kernel", "platform"]),
    ("messengers", &["kernel", "outbound"]),
    ("posting", &["kernel", "platform", "outbound", "messengers"]),
    ("shopbot", &["kernel", "platform", "messengers"]),
    ("actions", &["kernel", "platform"]),
    ("planner", &["kernel", "platform"]),
    ("console", &["kernel", "platform", "posting", "shopbot", "actions", "planner"]),
    (
        "beresta",
        &["kernel", "platform", "outbound", "messengers", "posting", "shopbot", "actions", "planner", "simulators", "console"],
    ),
    ("xtask", &[]),
];
/// A file that a person reads in one sitting. Tests may be a little longer.
const LINES_MAX: usize = 500;

pub(crate) fn run() -> Result<()> {
    let mut found = Vec::new();
    check_edges(&mut found)?;
    let files = output(command("git", &["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let mut checked = 0;
    for name in files.lines() {
        let Ok(text) = fs::read_to_string(root().join(name)) else { continue };
        checked += 1;
        check_file(name, &text, &mut found);
    }
    if found.is_empty() {
        println!("── tidy: {checked} files, nothing to mend\n");
        return Ok(());
    }
    bail!("tidy found:\n{}", found.join("\n"));
}

fn check_edges(found: &mut Vec<String>) -> Result<()> {
    let allowed: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    for entry in fs::read_dir(root().join("crates"))? {
        let dir = entry?.path();
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest: toml::Table = toml::from_str(&fs::read_to_string(dir.join("Cargo.toml"))?).with_context(|| name.clone())?;
        let Some(edges) = allowed.get(name.as_str()) else {
            found.push(format!("{name}: tell xtask/src/tidy.rs what this crate may depend on"));
            continue;
        };
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        for dependency in dependencies.into_iter().flat_map(|table| table.keys()) {
            if allowed.contains_key(dependency.as_str()) && !edges.contains(&dependency.as_str()) {
                found.push(format!("{name} depends on {dependency}, which is not an edge of the map"));
            }
        }
    }
    Ok(())
}

fn check_file(name: &str, text: &str, found: &mut Vec<String>) {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if extension == "rs" && !name.ends_with("tests.rs") && !text.starts_with("//!") {
        found.push(format!("{name}: opens without `//!`: what it is and what it guarantees"));
    }
    if extension == "sql" && name.contains("/functions/") && !text.starts_with("--") {
        found.push(format!("{name}: opens without a comment that states its guarantee"));
    }
    if matches!(extension, "rs" | "sql" | "js") && name != "db/schema.sql" && text.lines().count() > LINES_MAX {
        found.push(format!("{name}: {} lines hold more than one room", text.lines().count()));
    }
    if name.contains("/functions/") && text.matches("create or replace function").count() > 1 {
        found.push(format!("{name}: one function per file"));
    }
}
