//! One cluster on disk: made once, started, judged alive or dead.

use std::{
    fs::{self, File},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{sys::signal::kill, unistd::Pid};

use super::{ClusterConfig, Error, binaries::Binaries, io_error, open_lock, os_user, os_user::OsUser, short_hash};

/// Generous: after a crash the server first replays up to its whole log.
const START_MAX: Duration = Duration::from_mins(5);
/// A UNIX socket's path holds 107 bytes; PostgreSQL appends `/.s.PGSQL.5432`.
const SOCKET_DIR_BYTES_MAX: usize = 90;
const LOG_BYTES_MAX: u64 = 10 << 20;

#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) home: PathBuf,
    pub(super) binaries: Binaries,
    user: Option<OsUser>,
    socket_dir: PathBuf,
    is_durable: bool,
    connections_max: u16,
}

impl Cluster {
    pub(super) fn new(home: PathBuf, binaries: Binaries, user: Option<OsUser>, config: &ClusterConfig) -> Self {
        let inside = home.join("run");
        let socket_dir = if inside.as_os_str().len() <= SOCKET_DIR_BYTES_MAX {
            inside
        } else {
            std::env::temp_dir().join(format!("beresta-{}", short_hash(&home)))
        };
        Self { home, binaries, user, socket_dir, is_durable: config.is_durable, connections_max: config.connections_max }
    }

    pub(super) fn url(&self, database: &str) -> String {
        let host: String = self.socket_dir.to_string_lossy().replace('%', "%25").replace(' ', "%20");
        format!("postgresql://beresta@localhost/{database}?host={host}")
    }

    /// The pid of the server, if it runs on this very directory.
    pub(super) fn server_pid(&self) -> Option<i32> {
        let text = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        let pid: i32 = text.lines().next()?.trim().parse().ok()?;
        let is_ours = fs::read_link(format!("/proc/{pid}/cwd")).ok().is_none_or(|cwd| cwd == self.data());
        (pid > 0 && kill(Pid::from_raw(pid), None).is_ok() && is_ours && !is_zombie(pid)).then_some(pid)
    }

    /// Nobody else starts or stops the server while this is held.
    pub(super) fn lock_start(&self) -> Result<File, Error> {
        let lock = open_lock(&self.home.join("start.lock"))?;
        lock.lock().map_err(io_error("cannot lock the start of PostgreSQL"))?;
        Ok(lock)
    }

    /// Starts the server unless it runs, under the start lock. Returns the child, if it is ours to reap.
    pub(super) fn ensure_running(&self, progress: fn(&str)) -> Result<Option<Child>, Error> {
        self.check_major()?;
        if self.server_pid().is_some() {
            self.wait_until_ready(None)?;
            return Ok(None);
        }
        self.init(progress)?;
        self.make_own(&self.socket_dir)?;
        self.disown_leftovers();
        let deadline = Instant::now() + START_MAX;
        loop {
            let mut child = self.spawn()?;
            match self.wait_until_ready(Some(&mut child)) {
                Ok(()) => return Ok(Some(child)),
                // The children of a killed server need a moment to notice that it is gone.
                Err(Error::DidNotStart { tail, .. })
                    if Instant::now() < deadline && tail.contains("pre-existing shared memory block") =>
                {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(error) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(error);
                }
            }
        }
    }

    fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    fn log(&self) -> PathBuf {
        self.home.join("postgres.log")
    }

    fn check_major(&self) -> Result<(), Error> {
        let Ok(found) = fs::read_to_string(self.data().join("PG_VERSION")) else { return Ok(()) };
        let found = found.trim().to_owned();
        if found == self.binaries.major.to_string() {
            return Ok(());
        }
        Err(Error::OtherMajor { data_dir: self.data(), found, ours: self.binaries.major })
    }

    /// Makes the cluster beside its place and moves it there whole, so that a crash leaves nothing half made.
    fn init(&self, progress: fn(&str)) -> Result<(), Error> {
        if self.data().join("PG_VERSION").exists() {
            return Ok(());
        }
        progress("making a new PostgreSQL cluster …");
        let fresh = self.home.join("data.new");
        if fresh.exists() {
            fs::remove_dir_all(&fresh).map_err(io_error("cannot clear a half-made cluster"))?;
        }
        self.make_own(&fresh)?;
        let mut initdb = self.command("initdb");
        initdb.arg("-D").arg(&fresh);
        initdb.args(["-U", "beresta", "-A", "trust", "-E", "UTF8", "--no-instructions"]);
        if self.binaries.major >= 17 {
            initdb.args(["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]);
        } else {
            initdb.arg("--locale=C.UTF-8");
        }
        if !self.is_durable {
            initdb.arg("--no-sync");
        }
        let output = initdb.stdin(Stdio::null()).output().map_err(io_error("cannot run initdb"))?;
        if !output.status.success() {
            return Err(Error::DidNotStart {
                reason: "initdb failed".into(),
                log: self.log(),
                tail: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        fs::rename(&fresh, self.data()).map_err(io_error("cannot move the new cluster to its place"))
    }

    /// A leftover pid file may name a pid that belongs to another program by now, or to a zombie; PostgreSQL would
    /// take that for a running server. It ignores its parent's pid, so the files get ours. They are not removed:
    /// PostgreSQL finds in them whether children of the dead server still have its memory.
    fn disown_leftovers(&self) {
        for path in [self.data().join("postmaster.pid"), self.socket_dir.join(".s.PGSQL.5432.lock")] {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
            let _ = fs::write(&path, format!("{}\n{rest}", std::process::id()));
        }
    }

    fn spawn(&self) -> Result<Child, Error> {
        let log_path = self.log();
        let is_long = fs::metadata(&log_path).is_ok_and(|meta| meta.len() > LOG_BYTES_MAX);
        let log =
            File::options().create(true).append(true).open(&log_path).map_err(io_error("cannot open the log of PostgreSQL"))?;
        if is_long {
            log.set_len(0).map_err(io_error("cannot shorten the log of PostgreSQL"))?;
        }
        let mut postgres = self.command("postgres");
        postgres.arg("-D").arg(self.data()).arg("-k").arg(&self.socket_dir);
        let mut set = |name: &str, value: &str| {
            postgres.arg("-c").arg(format!("{name}={value}"));
        };
        set("listen_addresses", "");
        set("max_connections", &self.connections_max.to_string());
        set("shared_buffers", "256MB");
        set("max_wal_size", "4GB");
        set("checkpoint_timeout", "15min");
        // The queries are short and many: compiling them costs more than it saves.
        set("jit", "off");
        if !self.is_durable {
            for name in ["fsync", "synchronous_commit", "full_page_writes"] {
                set(name, "off");
            }
        }
        postgres
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(io_error("cannot run postgres"))
    }

    fn wait_until_ready(&self, mut child: Option<&mut Child>) -> Result<(), Error> {
        let deadline = Instant::now() + START_MAX;
        let did_not_start = |reason: String| Error::DidNotStart { reason, log: self.log(), tail: tail_of(&self.log()) };
        loop {
            // Line 8 of the pid file is the server's own word on its state.
            let pid_file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            if pid_file.lines().nth(7).is_some_and(|state| state.trim() == "ready") && self.server_pid().is_some() {
                return Ok(());
            }
            if let Some(child) = child.as_deref_mut()
                && let Some(status) = child.try_wait().map_err(io_error("cannot wait for postgres"))?
            {
                return Err(did_not_start(format!("it ended with {status}")));
            }
            if Instant::now() > deadline {
                return Err(did_not_start(format!("it was not ready after {} s", START_MAX.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.program(program));
        command.current_dir("/").env_remove("PGDATA").env_remove("PGHOST").env_remove("PGPORT").env("LC_ALL", "C");
        if let Some(user) = &self.user {
            command.uid(user.uid).gid(user.gid);
        }
        command
    }

    /// A directory that only the server's user may enter.
    fn make_own(&self, dir: &Path) -> Result<(), Error> {
        let wrap = || io_error(format!("cannot make {}", dir.display()));
        os_user::make_dir(dir, 0o700).map_err(wrap())?;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(wrap())?;
        match &self.user {
            Some(user) => user.give(dir).map_err(wrap()),
            None => Ok(()),
        }
    }
}

fn is_zombie(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn tail_of(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}
