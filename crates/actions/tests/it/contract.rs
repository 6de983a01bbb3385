//! The files that clients use are the contract of today.

use std::{fs, path::Path};

#[test]
fn the_generated_files_are_fresh() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/javascript");
    let is_update = std::env::var_os("BERESTA_UPDATE_CONTRACT").is_some();
    for (name, fresh) in actions::generate::files() {
        let path = dir.join(name);
        if is_update {
            fs::create_dir_all(&dir).unwrap();
            fs::write(&path, fresh).unwrap();
            continue;
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == fresh, "clients/javascript/{name} is stale: run `cargo xtask contract` and commit it");
    }
}
