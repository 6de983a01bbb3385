//! The cluster that all test processes share. The first one starts it; it goes away shortly after the last.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use platform::embedded::{ClusterConfig, Embedded, Use};

/// Test binaries follow each other closely: keeping the server between them saves its start.
const LINGER: Duration = Duration::from_secs(20);

/// The shared server, started on first use.
pub fn server() -> &'static Embedded {
    static SERVER: OnceLock<Embedded> = OnceLock::new();
    SERVER.get_or_init(|| {
        let target = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-postgres");
        // `cargo xtask test` names a folder in memory.
        let dir = std::env::var_os("TEST_POSTGRES_DIR").map_or_else(target, PathBuf::from);
        let mut config = ClusterConfig::new(dir, Use::Share);
        config.is_durable = false;
        config.linger = LINGER;
        config.connections_max = 400;
        config.progress = |line| eprintln!("{line}");
        // On a thread of its own, because the first caller may be inside a runtime that must not block.
        std::thread::spawn(move || Embedded::start_blocking(config))
            .join()
            .expect("starting PostgreSQL does not panic")
            .expect("PostgreSQL for the tests starts")
    })
}
