//! A private PostgreSQL in the data directory, for whoever has no `DATABASE_URL`.
//!
//! Guarantees: one server process per data directory; many processes of ours may share the server (tests do),
//! but only one may own the directory as the serving process; when the last of them is gone, however it went,
//! a watchdog stops the server; a leftover of a crash is taken over; a directory made by another major version
//! is refused and left as it is.

mod binaries;
mod cluster;
mod os_user;
mod watchdog;

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::Write,
    path::{Path, PathBuf},
    process::Child,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kernel::redact;
use sha2::{Digest, Sha256};

pub use binaries::{Binaries, cache_dir};
use cluster::Cluster;
use os_user::OsUser;

/// How a process uses the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The one serving process of this data directory; a second one is refused.
    Own,
    /// Beside the owner or alone: short commands and tests.
    Share,
}

#[derive(Clone, Debug)]
pub struct ClusterConfig {
    pub data_dir: PathBuf,
    pub mode: Use,
    /// Off only for tests, whose data may die with the machine.
    pub is_durable: bool,
    /// How long the server outlives its last user.
    pub linger: Duration,
    pub connections_max: u16,
    /// Told what is going on when it takes long enough to wonder.
    pub progress: fn(&str),
}

impl ClusterConfig {
    pub fn new(data_dir: impl Into<PathBuf>, mode: Use) -> Self {
        Self {
            data_dir: data_dir.into(),
            mode,
            is_durable: true,
            linger: Duration::ZERO,
            connections_max: 100,
            progress: |line| tracing::info!("{line}"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Stop the other process, or choose another `--data-dir`.
    #[error(
        "the data directory {} is in use by process {pid}; stop that process, or give this one its own with --data-dir",
        data_dir.display()
    )]
    InUse { data_dir: PathBuf, pid: String },
    #[error(
        "{} was made by PostgreSQL {found}, but the PostgreSQL here is {ours}; nothing was changed. Run it with a PostgreSQL {found} \
         (install one that has the `vector` extension), or move the data with pg_dump and pg_restore into a new data directory",
        data_dir.display()
    )]
    OtherMajor { data_dir: PathBuf, found: String, ours: u32 },
    #[error("{0}")]
    NoBinaries(String),
    #[error("PostgreSQL did not start: {reason}\nthe end of its log ({}):\n{tail}", log.display())]
    DidNotStart { reason: String, log: PathBuf, tail: String },
    #[error("no PostgreSQL is running for {}; start one with `beresta serve` or `beresta demo`", data_dir.display())]
    NotRunning { data_dir: PathBuf },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

fn io_error(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.into();
    move |source| Error::Io { what, source }
}

/// A running server that this process uses. It goes on while anybody uses it.
#[derive(Clone, Debug)]
pub struct Embedded {
    inner: Arc<ClusterInner>,
}

#[derive(Debug)]
struct ClusterInner {
    config: ClusterConfig,
    cluster: Cluster,
    /// Reaped here when it dies; absent when another process started the server.
    server: Mutex<Option<Child>>,
    _users_lock: File,
    _owner_lock: Option<File>,
}

impl Embedded {
    /// Starts the server, or joins the one that runs.
    pub async fn start(config: ClusterConfig) -> Result<Self, Error> {
        tokio::task::spawn_blocking(move || Self::start_blocking(config))
            .await
            .unwrap_or_else(|join| std::panic::resume_unwind(join.into_panic()))
    }

    pub fn start_blocking(config: ClusterConfig) -> Result<Self, Error> {
        let place = ClusterPlace::prepare(&config)?;
        let owner_lock = match config.mode {
            Use::Own => Some(own(&place.data_dir)?),
            Use::Share => None,
        };
        let binaries = Binaries::find_or_fetch(config.progress)?;
        let cluster = Cluster::new(place.home, binaries, place.user, &config);
        let users_lock = open_lock(&cluster.home.join("users.lock"))?;
        // All under one lock: a watchdog that is about to stop the server either does so before or sees us.
        let start_lock = cluster.lock_start()?;
        users_lock.lock_shared().map_err(io_error("cannot mark the server as used"))?;
        watchdog::spawn(&cluster.home, config.linger)?;
        let server = cluster.ensure_running(config.progress)?;
        drop(start_lock);
        let inner =
            ClusterInner { config, cluster, server: Mutex::new(server), _users_lock: users_lock, _owner_lock: owner_lock };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The address of a database on this server, for any client that speaks over a socket.
    pub fn url(&self, database: &str) -> String {
        self.inner.cluster.url(database)
    }

    pub fn server_pid(&self) -> Option<i32> {
        self.inner.cluster.server_pid()
    }

    pub fn binaries(&self) -> &Binaries {
        &self.inner.cluster.binaries
    }

    /// Starts the server again if it died. Returns whether it had to.
    pub fn revive_blocking(&self) -> Result<bool, Error> {
        let mut server = self.inner.server.lock().unwrap_or_else(PoisonError::into_inner);
        let has_died = match server.as_mut() {
            Some(child) => child.try_wait().map_err(io_error("cannot ask for the server's state"))?.is_some(),
            None => self.inner.cluster.server_pid().is_none(),
        };
        if !has_died {
            return Ok(false);
        }
        let _start_lock = self.inner.cluster.lock_start()?;
        *server = self.inner.cluster.ensure_running(self.inner.config.progress)?;
        Ok(true)
    }

    /// Keeps the server alive for as long as this handle is: looks once a second and revives it.
    pub async fn supervise(self) {
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let this = self.clone();
            match tokio::task::spawn_blocking(move || this.revive_blocking()).await {
                Ok(Ok(true)) => tracing::warn!("PostgreSQL had died and was started again"),
                Ok(Ok(false)) => {}
                Ok(Err(error)) => {
                    tracing::error!(error = %redact::redact_text(&error.to_string()), "PostgreSQL cannot be revived");
                }
                Err(_) => return,
            }
        }
    }
}

/// The URL of the server that runs for this data directory, without starting one.
pub fn running_url(data_dir: &Path, database: &str) -> Result<String, Error> {
    let config = ClusterConfig::new(data_dir, Use::Share);
    let not_running = || Error::NotRunning { data_dir: data_dir.to_owned() };
    if !data_dir.exists() {
        return Err(not_running());
    }
    let place = ClusterPlace::prepare(&config)?;
    let cluster = Cluster::new(place.home, Binaries::none(), place.user, &config);
    cluster.server_pid().map(|_| cluster.url(database)).ok_or_else(not_running)
}

/// Where the cluster of a data directory lives and who runs it.
struct ClusterPlace {
    data_dir: PathBuf,
    home: PathBuf,
    user: Option<OsUser>,
}

impl ClusterPlace {
    fn prepare(config: &ClusterConfig) -> Result<Self, Error> {
        let user = OsUser::for_server()?;
        let data_dir = &config.data_dir;
        let make = |dir: &Path, mode: u32| {
            os_user::make_dir(dir, mode).map_err(io_error(format!("cannot make the directory {}", dir.display())))
        };
        // PostgreSQL's user has to pass through the data directory, but not to read it.
        make(data_dir, if user.is_some() { 0o711 } else { 0o700 })?;
        let data_dir = fs::canonicalize(data_dir).map_err(io_error(format!("cannot open {}", data_dir.display())))?;
        let home = match &user {
            Some(user) if !user.can_reach(&data_dir) => {
                // A directory such as /root is closed to every other user, and PostgreSQL refuses to run as root.
                let elsewhere = Path::new("/var/lib/beresta").join(short_hash(&data_dir));
                (config.progress)(&format!(
                    "{} is closed to the user that runs PostgreSQL; its files go to {}",
                    data_dir.display(),
                    elsewhere.display()
                ));
                elsewhere
            }
            _ => data_dir.join("postgres"),
        };
        make(&home, if user.is_some() { 0o711 } else { 0o700 })?;
        Ok(Self { data_dir, home, user })
    }
}

fn short_hash(path: &Path) -> String {
    hex::encode(&Sha256::digest(path.as_os_str().as_encoded_bytes())[..8])
}

fn open_lock(path: &Path) -> Result<File, Error> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(io_error(format!("cannot open {}", path.display())))
}

/// Takes the data directory for this process; the pid inside is for the one who comes second.
fn own(data_dir: &Path) -> Result<File, Error> {
    let path = data_dir.join("owner.pid");
    let mut lock = open_lock(&path)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let pid = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            return Err(Error::InUse { data_dir: data_dir.to_owned(), pid });
        }
        Err(TryLockError::Error(error)) => return Err(io_error("cannot lock the data directory")(error)),
    }
    lock.set_len(0).map_err(io_error("cannot write the owner's pid"))?;
    writeln!(lock, "{}", std::process::id()).map_err(io_error("cannot write the owner's pid"))?;
    Ok(lock)
}

/// The psql to use: the one that came with the fetched server, or whatever is installed.
pub fn psql() -> PathBuf {
    Binaries::present().map(|found| found.program("psql")).filter(|path| path.exists()).unwrap_or_else(|| "psql".into())
}
