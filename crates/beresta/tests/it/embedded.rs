//! The embedded PostgreSQL: one owner, no orphans, leftovers taken over, foreign versions refused.

use std::{fs, os::unix::process::CommandExt, path::Path, process::Stdio};

use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, Uid},
};

use crate::support::{Serving, beresta, data_dir, is_alive, postgres_pid, run, stderr, stdout, until};

fn path(dir: &Path) -> String {
    dir.to_string_lossy().into_owned()
}

#[tokio::test]
async fn a_second_server_on_the_same_directory_is_refused_with_the_pid_of_the_first() {
    let dir = data_dir();
    let first = Serving::embedded(dir.path(), &[]);
    let second = run(&["serve", "--listen", "127.0.0.1:0", "--data-dir", &path(dir.path())]);
    assert!(!second.status.success());
    let words = format!("is in use by process {}; stop that process, or give this one its own with --data-dir", first.pid());
    assert!(stderr(&second).contains(&words), "{}", stderr(&second));
    assert_eq!(first.get("/readyz").await.0, 200);
}

#[tokio::test]
async fn a_graceful_stop_ends_the_database_too_and_the_next_start_finds_everything() {
    let dir = data_dir();
    let serving = Serving::embedded(dir.path(), &[]);
    let postgres = postgres_pid(dir.path());
    let made = stdout(&run(&["workspace", "create", "ours", "--data-dir", &path(dir.path())]));
    assert!(serving.stop());
    until("PostgreSQL has ended", async || (!is_alive(postgres)).then_some(())).await;
    let again = stdout(&run(&["workspace", "create", "ours", "--data-dir", &path(dir.path())]));
    assert_eq!(made, again);
}

#[tokio::test]
async fn kill_9_leaves_no_orphan_and_the_next_start_takes_over() {
    let dir = data_dir();
    let serving = Serving::embedded(dir.path(), &[]);
    let postgres = postgres_pid(dir.path());
    serving.kill();
    until("the watchdog has stopped PostgreSQL", async || (!is_alive(postgres)).then_some(())).await;
    let again = Serving::embedded(dir.path(), &[]);
    assert_eq!(again.get("/readyz").await.0, 200);
}

#[tokio::test]
async fn leftovers_of_a_crash_of_everything_are_taken_over() {
    let dir = data_dir();
    let serving = Serving::embedded(dir.path(), &[]);
    let postgres = postgres_pid(dir.path());
    // Everything dies at once, as when the machine loses power: the pid files stay.
    kill(Pid::from_raw(serving.pid()), Signal::SIGSTOP).unwrap();
    kill(Pid::from_raw(postgres), Signal::SIGKILL).unwrap();
    serving.kill();
    until("PostgreSQL is gone", async || (!is_alive(postgres)).then_some(())).await;
    assert!(dir.path().join("postgres/data/postmaster.pid").exists());
    // And the pid in the file now belongs to some other program.
    let file = dir.path().join("postgres/data/postmaster.pid");
    let text = fs::read_to_string(&file).unwrap();
    let rest = text.split_once('\n').unwrap().1;
    fs::write(&file, format!("{}\n{rest}", std::process::id())).unwrap();
    let again = Serving::embedded(dir.path(), &[]);
    assert_eq!(again.get("/readyz").await.0, 200);
}

#[test]
fn a_directory_of_another_major_version_is_refused_and_left_as_it_is() {
    let dir = data_dir();
    let data = dir.path().join("postgres/data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("PG_VERSION"), "13\n").unwrap();
    let output = run(&["migrate", "--data-dir", &path(dir.path())]);
    assert!(!output.status.success());
    let text = stderr(&output);
    assert!(text.contains("was made by PostgreSQL 13, but the PostgreSQL here is"), "{text}");
    assert!(text.contains("pg_dump"), "{text}");
    assert_eq!(fs::read_to_string(data.join("PG_VERSION")).unwrap(), "13\n");
}

#[test]
fn it_works_as_an_ordinary_user_too() {
    if !Uid::effective().is_root() {
        // Then every other test here shows it.
        return;
    }
    let dir = data_dir();
    let nobody = 65534;
    std::os::unix::fs::chown(dir.path(), Some(nobody), Some(nobody)).unwrap();
    let mut command = beresta(&["workspace", "create", "ours", "--data-dir", &path(dir.path())]);
    let cache = platform::embedded::cache_dir();
    let output = command.uid(nobody).gid(nobody).env("BERESTA_CACHE_DIR", cache).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[tokio::test]
async fn a_directory_that_the_servers_user_cannot_reach_works_for_root_all_the_same() {
    if !Uid::effective().is_root() {
        return;
    }
    let dir = data_dir();
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let output = run(&["workspace", "create", "ours", "--data-dir", &path(&closed.join("data"))]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stderr(&output);
    let elsewhere = text.lines().find_map(|line| line.split("its files go to ").nth(1)).expect("it says where the files are");
    assert!(Path::new(elsewhere).join("data/PG_VERSION").exists());
    // The server stops by itself soon, and writes until then.
    let pid_file = Path::new(elsewhere).join("data/postmaster.pid");
    until("the server has gone", async || (!pid_file.exists()).then_some(())).await;
    fs::remove_dir_all(elsewhere).unwrap();
}

#[tokio::test]
async fn the_demo_passes_every_check_and_does_so_again_on_the_same_data() {
    let dir = data_dir();
    for _ in 0..2 {
        let played = run(&["demo", "--exit", "--listen", "127.0.0.1:0", "--data-dir", &path(dir.path())]);
        let told = stdout(&played);
        assert!(played.status.success() && told.contains(" checks passed, 0 failed"), "{told}{}", stderr(&played));
    }
}
