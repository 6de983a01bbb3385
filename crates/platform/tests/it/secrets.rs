//! Secrets are read where they are kept, and one that is slow is nobody else's trouble.

use std::{fs, path::Path, process::Command};

use platform::secrets::Secrets;

/// A file that answers when somebody writes into it, and not before.
fn pipe(path: &Path) -> String {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    format!("file:{}", path.display())
}

#[tokio::test]
async fn a_file_that_does_not_answer_holds_up_no_other_secret_and_is_read_when_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let (slow_path, quick_path) = (dir.path().join("slow"), dir.path().join("quick"));
    let slow = pipe(&slow_path);
    fs::write(&quick_path, "quick\n").unwrap();
    let secrets = Secrets::default();
    let waiting = [(); 3].map(|()| {
        let (secrets, slow) = (secrets.clone(), slow.clone());
        tokio::spawn(async move { secrets.find(&slow).await })
    });
    tokio::task::yield_now().await;
    let quick = secrets.find(&format!("file:{}", quick_path.display())).await.unwrap();
    assert_eq!(quick.expose(), "quick");
    assert!(waiting.iter().all(|task| !task.is_finished()));
    // Opened on a thread, because it waits for a reader; one reader, or the second would find nothing.
    tokio::task::spawn_blocking(move || fs::write(slow_path, "slow\n")).await.unwrap().unwrap();
    for task in waiting {
        assert_eq!(task.await.unwrap().unwrap().expose(), "slow");
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_for_a_file_that_never_answers_is_told_so_after_five_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let slow = pipe(&dir.path().join("slow"));
    let secrets = Secrets::default();
    for _ in 0..2 {
        let asked = tokio::time::Instant::now();
        let words = secrets.find(&slow).await.unwrap_err();
        assert!(words.ends_with("slow was not read within 5 seconds"), "{words}");
        assert_eq!(asked.elapsed().as_secs(), 5);
    }
}
