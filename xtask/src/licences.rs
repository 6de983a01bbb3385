//! Every dependency has a licence on the list of deny.toml; known vulnerabilities are looked up where cargo-deny is.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::run::{cargo, command, output, root, step};

pub(crate) fn run() -> Result<()> {
    let deny: toml::Table = toml::from_str(&std::fs::read_to_string(root().join("deny.toml"))?).context("deny.toml")?;
    let allow = deny.get("licenses").and_then(|table| table.get("allow")).and_then(toml::Value::as_array);
    let allowed: BTreeSet<&str> = allow.into_iter().flatten().filter_map(toml::Value::as_str).collect();
    let metadata: Value = serde_json::from_str(&output(cargo(&["metadata", "--format-version", "1", "--locked"]))?)?;
    let mut refused = Vec::new();
    let packages = metadata["packages"].as_array().context("packages")?;
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("none");
        if !is_allowed(licence, &allowed) {
            refused.push(format!("{} {}: {licence}", package["name"], package["version"]));
        }
    }
    ensure!(refused.is_empty(), "licences that deny.toml does not allow:\n{}", refused.join("\n"));
    println!("── licences: {} packages, all allowed\n", packages.len());
    let mut version = command("cargo-deny", &["--version"]);
    if version.output().is_ok_and(|found| found.status.success()) {
        step("advisories", cargo(&["deny", "check", "advisories"]))?;
    } else {
        println!("── advisories: cargo-deny is not installed here, so known vulnerabilities were not looked up\n");
    }
    Ok(())
}

/// An expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`: every AND part needs one allowed OR part.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    expression.split(" AND ").all(|part| part.split(" OR ").any(|licence| allowed.contains(licence.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_allowed_when_each_of_its_parts_can_be() {
        let allowed = BTreeSet::from(["MIT", "Unicode-3.0"]);
        assert!(is_allowed("MIT", &allowed));
        assert!(is_allowed("Apache-2.0 OR MIT", &allowed));
        assert!(is_allowed("Apache-2.0/MIT", &allowed));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0", &allowed));
        assert!(!is_allowed("MIT AND GPL-3.0", &allowed));
        assert!(!is_allowed("none", &allowed));
    }
}
