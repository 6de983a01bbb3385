//! A folder in memory for what the tests write. A database for each test is hundreds of small files that live for a second: ext4 spent
//! more time with finding inodes for them than the tests did with everything else.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Result;
use nix::{
    sys::{
        signal::{Signal, kill},
        statvfs::statvfs,
    },
    unistd::Pid,
};

const MEMORY: &str = "/dev/shm";
const PREFIX: &str = "beresta-test-";
/// Several times of what a run needs.
const BYTES_MIN: u64 = 4 << 30;

/// Gone with this value, and with it the PostgreSQL that the tests shared.
pub(crate) struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// Nothing where there is no room in memory: then tests write where they do under `cargo test`.
    pub(crate) fn new() -> Result<Option<Self>> {
        let room = statvfs(MEMORY).map_or(0, |found| found.blocks_available() * found.fragment_size());
        if room < BYTES_MIN {
            println!("── {MEMORY} has less than 4 GiB free; with more, the tests would run faster\n");
            return Ok(None);
        }
        remove_leftovers()?;
        let scratch = Self { dir: Path::new(MEMORY).join(format!("{PREFIX}{}", std::process::id())) };
        fs::create_dir(&scratch.dir)?;
        fs::create_dir(scratch.temporary())?;
        // Servers run as other users.
        fs::set_permissions(scratch.temporary(), fs::Permissions::from_mode(0o1777))?;
        Ok(Some(scratch))
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    pub(crate) fn postgres(&self) -> PathBuf {
        self.dir.join("pg")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It would stop by itself, some seconds after its last user.
        let pid_file = self.postgres().join("postgres/data/postmaster.pid");
        let pid = fs::read_to_string(&pid_file).ok().and_then(|text| text.lines().next()?.trim().parse().ok());
        if let Some(pid) = pid {
            let _ = kill(Pid::from_raw(pid), Signal::SIGINT);
        }
        for _ in 0..200 {
            if !pid_file.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Of runs that were killed.
fn remove_leftovers() -> Result<()> {
    for entry in fs::read_dir(MEMORY)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix(PREFIX).and_then(|pid| pid.parse::<i32>().ok()) else { continue };
        if !Path::new("/proc").join(pid.to_string()).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}
