//! What the files of a module promise, told by reading them.

use std::{collections::BTreeSet, fs, path::Path};

use platform::SqlModule;
use serde_json::Value;

/// Every file under the `sql` folder of a crate is installed, and nothing else.
pub fn every_sql_file_is_installed(crate_dir: &str, module: &SqlModule) {
    for (dir, files) in [("prelude", module.prelude), ("migrations", module.migrations), ("functions", module.functions)] {
        let on_disk: BTreeSet<String> = fs::read_dir(Path::new(crate_dir).join("sql").join(dir))
            .into_iter()
            .flatten()
            .map(|entry| entry.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        let installed: BTreeSet<String> = files.iter().map(|file| file.name.to_owned()).collect();
        assert_eq!(on_disk, installed, "{dir}");
    }
}

/// A flow for n8n connects nodes that it has, and calls functions that exist; how many calls there are.
pub fn calls_of_flow(name: &str, schema: &str, functions: &BTreeSet<String>) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows").join(format!("{name}.json"));
    let flow: Value = serde_json::from_str(&fs::read_to_string(path).expect("a flow")).expect("JSON");
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let nodes = list(&flow["nodes"]);
    let names: BTreeSet<&str> = nodes.iter().map(|node| node["name"].as_str().expect("a name")).collect();
    for (from, outs) in flow["connections"].as_object().expect("connections") {
        assert!(names.contains(from.as_str()), "{name}: {from}");
        for link in list(&outs["main"]).iter().flat_map(&list) {
            assert!(names.contains(link["node"].as_str().expect("a node")), "{name}: {link}");
        }
    }
    let mut seen = 0;
    for query in nodes.iter().filter_map(|node| node["parameters"]["query"].as_str()) {
        for call in query.split(&format!("{schema}.")).skip(1).filter_map(|rest| rest.split_once('(')).map(|(name, _)| name) {
            if call.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                assert!(functions.contains(call), "{name} calls {schema}.{call}");
                seen += 1;
            }
        }
    }
    seen
}
