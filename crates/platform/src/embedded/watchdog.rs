//! Stops the server when its last user is gone, however that user went.
//!
//! A file lock is released by the kernel even after `kill -9`, so the watchdog waits for the lock that every
//! user holds shared. It is ten lines of shell because it must outlive every process of ours, test binaries
//! included, and needs nothing but flock(1).

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use super::{Error, io_error};

const SCRIPT: &str = r#"
exec 3>"$1/watchdog.lock"
flock -n 3 || exit 0 # there is one already
exec 4<"$1/users.lock" 5<"$1/start.lock"
while :; do
    flock -x 4 # nobody uses the server any more
    flock -u 4
    sleep "$2"
    flock -x 5 # nobody starts it either
    flock -n -x 4 && break
    flock -u 5 # somebody came back
done
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) || exit 0
# A leftover file may name a pid that now belongs to somebody else.
[ ! -d /proc/self ] || [ "$(readlink "/proc/$pid/cwd")" = "$1/data" ] || exit 0
kill -INT "$pid" 2>/dev/null
# Its file goes when it is down; its pid may stay as a zombie.
while [ -e "$1/data/postmaster.pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
"#;

pub(super) fn spawn(home: &Path, linger: Duration) -> Result<(), Error> {
    let mut child = Command::new("sh")
        .args(["-c", SCRIPT, "beresta-postgres-watchdog"])
        .arg(home)
        .arg(linger.as_secs_f64().to_string())
        .current_dir("/")
        // Its own group, so that Ctrl-C in the terminal does not reach it.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(io_error("cannot start the watchdog of PostgreSQL"))?;
    // It ends long before us only when another watchdog is there; then it has to be reaped.
    std::thread::spawn(move || child.wait());
    Ok(())
}
