//! Habits that a compiler does not check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};

use crate::run::{command, output, root};

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

/// Who may depend on whom, by the table of rooms in ARCHITECTURE.md.
type Edges = BTreeMap<String, BTreeSet<String>>;

fn check_edges(found: &mut Vec<String>) -> Result<()> {
    let allowed = read_edges(&fs::read_to_string(root().join("ARCHITECTURE.md"))?)?;
    for entry in fs::read_dir(root().join("crates"))? {
        let dir = entry?.path();
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest: toml::Table = toml::from_str(&fs::read_to_string(dir.join("Cargo.toml"))?).with_context(|| name.clone())?;
        let Some(edges) = allowed.get(&name) else {
            found.push(format!("{name}: the table of rooms in ARCHITECTURE.md does not say what this crate may depend on"));
            continue;
        };
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        for dependency in dependencies.into_iter().flat_map(|table| table.keys()) {
            if allowed.contains_key(dependency) && !edges.contains(dependency) {
                found.push(format!("{name} depends on {dependency}, which the table of rooms in ARCHITECTURE.md does not allow"));
            }
        }
    }
    Ok(())
}

/// Rows such as ``| `crates/platform` | PostgreSQL machinery | kernel |``; the last cell may also be `–` or `all of the above`.
fn read_edges(architecture: &str) -> Result<Edges> {
    let mut edges = Edges::new();
    for line in architecture.lines() {
        let Some((name, rest)) = line.strip_prefix("| `crates/").and_then(|row| row.split_once('`')) else { continue };
        let cell = rest.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default().trim();
        let allowed = match cell {
            "–" => BTreeSet::new(),
            "all of the above" => edges.keys().cloned().collect(),
            names => names.split(", ").map(ToOwned::to_owned).collect(),
        };
        edges.insert(name.to_owned(), allowed);
    }
    if let Some(unknown) = edges.values().flatten().find(|name| !edges.contains_key(*name)) {
        bail!("the table of rooms in ARCHITECTURE.md has no crate `{unknown}`, which another may depend on");
    }
    Ok(edges)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_rooms_says_who_may_depend_on_whom() {
        let table = "| room | what it holds | may depend on |\n|---|---|---|\n\
                     | `crates/kernel` | words | – |\n| `crates/news` | posts | kernel |\n\
                     | `clients/x` | for browsers | – |\n| `crates/app` | the binary | all of the above |\n";
        let edges = read_edges(table).unwrap();
        let of = |name: &str| edges[name].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((of("kernel"), of("news"), of("app")), (vec![], vec!["kernel"], vec!["kernel", "news"]));
        assert!(read_edges("| `crates/news` | posts | kernal |").is_err());
    }
}
