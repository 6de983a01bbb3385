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
/// What two files beside each other leave for a line of a function. Released migrations stay as they are.
const SQL_COLUMNS_MAX: usize = 120;
/// Names that more than one type may have, and why. Every other name is the name of one thing.
const SHARED_NAMES: [(&str, &str); 5] = [
    ("Docs", "the OpenAPI document of a router, named only beside it: `http::Docs`"),
    ("Error", "what can go wrong inside one module: `objects::Error`; the style asks for the short name"),
    ("Mark", "where a page begins in an extracted text; private to `posting::pull` is how far a source was read"),
    ("Refusal", "why a document has no text; in `actions`, which never meets it, why a request was refused"),
    ("Source", "a document to extract; private to `posting::pull` is where posts come from"),
];
/// The simulators speak the words of the providers and share no type with anything; their names are compared with nobody's.
const APART: &str = "crates/simulators/";

pub(crate) fn run() -> Result<()> {
    let mut found = Vec::new();
    check_edges(&mut found)?;
    let files = output(command("git", &["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let mut checked = 0;
    let mut types = TypeNames::new();
    for name in files.lines() {
        let Ok(text) = fs::read_to_string(root().join(name)) else { continue };
        checked += 1;
        check_file(name, &text, &mut found);
        note_types(name, &text, &mut types);
    }
    check_types(&types, &mut found);
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
    if extension == "sql" && (name.contains("/functions/") || name.contains("/prelude/")) {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| line.chars().count() > SQL_COLUMNS_MAX) {
            let columns = line.chars().count();
            found.push(format!("{name}:{}: {columns} columns; a line of SQL has {SQL_COLUMNS_MAX} at most", index + 1));
        }
    }
    if matches!(extension, "rs" | "sql" | "js") && name != "db/schema.sql" && text.lines().count() > LINES_MAX {
        found.push(format!("{name}: {} lines hold more than one room", text.lines().count()));
    }
    if name.contains("/functions/") && text.matches("create or replace function").count() > 1 {
        found.push(format!("{name}: one function per file"));
    }
}

/// Where each type is defined, by its name.
type TypeNames = BTreeMap<String, Vec<String>>;

/// Notes the types that a file of a program defines: a name stands for one thing, wherever it is read.
fn note_types(file: &str, text: &str, types: &mut TypeNames) {
    let is_rust = Path::new(file).extension().is_some_and(|extension| extension == "rs");
    let is_program = is_rust && (file.starts_with("crates/") || file.starts_with("xtask/")) && file.contains("/src/");
    if !is_program || file.starts_with(APART) || file.contains("/tests/") || file.ends_with("tests.rs") {
        return;
    }
    let program = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    for line in program.lines() {
        // An associated type has the name that its trait gives it.
        let is_item = !line.starts_with("    type ");
        if let Some(name) = type_name(line.trim_start()).filter(|_| is_item) {
            types.entry(name.to_owned()).or_default().push(file.to_owned());
        }
    }
}

/// The name that a line defines: `pub(super) struct Held {`.
fn type_name(line: &str) -> Option<&str> {
    let item = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| item.strip_prefix(word))?;
    let name = rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next()?;
    name.starts_with(|first: char| first.is_ascii_uppercase()).then_some(name)
}

fn check_types(types: &TypeNames, found: &mut Vec<String>) {
    let is_shared = |name: &str| SHARED_NAMES.iter().any(|(shared, _)| *shared == name);
    for (name, files) in types.iter().filter(|(name, files)| files.len() > 1 && !is_shared(name)) {
        found.push(format!("`{name}` is the name of {} types, in {}: say which is which", files.len(), files.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_type_outside_of_tests_and_simulators() {
        let mut types = TypeNames::new();
        note_types("crates/news/src/a.rs", "pub(super) struct Held<T> {\n}\nimpl X {\n    type Out = u8;\n}\n", &mut types);
        note_types(
            "crates/app/src/b.rs",
            "enum Held {}\nstruct Docs;\n#[cfg(test)]\nmod tests {\n    struct Seen;\n}",
            &mut types,
        );
        note_types("xtask/src/c.rs", "pub type Seen = u8;\npub struct Docs;\n// struct Held", &mut types);
        note_types("crates/simulators/src/d.rs", "struct Seen;", &mut types);
        note_types("crates/app/tests/it/e.rs", "struct Seen;", &mut types);
        let mut found = Vec::new();
        check_types(&types, &mut found);
        assert_eq!(found, ["`Held` is the name of 2 types, in crates/news/src/a.rs, crates/app/src/b.rs: say which is which"]);
    }

    #[test]
    fn a_line_of_a_function_has_120_columns_at_most_and_a_migration_stays_as_it_is() {
        let long = format!("-- {}\n", "я".repeat(118));
        let check = |name: &str, text: &str| {
            let mut found = Vec::new();
            check_file(name, text, &mut found);
            found
        };
        let words = "crates/news/sql/functions/a.sql:1: 121 columns; a line of SQL has 120 at most";
        assert_eq!(check("crates/news/sql/functions/a.sql", &long), [words]);
        assert!(check("crates/news/sql/functions/a.sql", &long[..long.len() - 3]).is_empty());
        assert!(check("crates/news/sql/migrations/0001_a.sql", &long).is_empty());
    }

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
