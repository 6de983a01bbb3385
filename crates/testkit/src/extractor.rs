//! The program that reads foreign files, for tests of whoever calls it: it is built with the tests of the workspace, and made here if only one
//! crate is tested.

use std::{path::PathBuf, process::Command, sync::LazyLock};

/// The path of `extract-file`; with `--child` it is the child of an `Extractor`.
pub fn extract_program() -> PathBuf {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = std::env::current_exe().expect("a test program has a path");
        // target/debug/deps/NAME
        let program = test.ancestors().nth(2).expect("a target directory").join("extract-file");
        if !program.exists() {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let built = Command::new(cargo).args(["build", "--quiet", "--package", "extract", "--bin", "extract-file"]).status();
            assert!(built.is_ok_and(|status| status.success()), "extract-file cannot be built");
        }
        program
    });
    PROGRAM.clone()
}
